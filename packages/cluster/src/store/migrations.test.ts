import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keepContent } from '../../../daemon/src/store/versions.ts';
import { type PostgresServer, startPostgres } from '../trial/postgres-server.ts';
import { connect } from './connection.ts';
import { migrations } from './migrations.ts';
import { PostgresStore } from './postgres.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.end());

const lookCount = 40;
const hourMs = 3_600_000;

/** A database as it was before the words of first versions stood once and looks in packs: two pages, one of which has changed. */
async function earlier(url: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  for (const step of migrations.slice(0, 2)) await client.query(step);
  await client.query('CREATE TABLE schema_steps (taken integer NOT NULL); INSERT INTO schema_steps VALUES (2)');
  for (const [pk, texts] of [
    [1, ['red lamp']],
    [2, ['red kettle', 'green kettle']],
  ] as const) {
    await client.query(
      `INSERT INTO pages (id, url, selection, site, shard, settings, added_at)
       VALUES ($1, $2, 'text', 'a.example', 0, '{"select":{"kind":"text"},"tags":[],"weight":1,"paused":false,"options":{}}', 1)`,
      [`page${pk}`, `https://a.example/${pk}`],
    );
    await client.query(
      `INSERT INTO states (pk, status, version, told_version, failures, looks, changes, last_look)
       VALUES ($1, 'present', $2, 1, 0, $3, 0, $4)`,
      [pk, texts.length, lookCount, lookCount * hourMs],
    );
    await client.query(
      `INSERT INTO looks SELECT $1, n * ${hourMs}, CASE n WHEN 1 THEN 0 ELSE 2 END, 100 + n, 5000000000 FROM generate_series(1, $2) AS n`,
      [pk, lookCount],
    );
    for (const [i, text] of texts.entries()) {
      const put = async (name: string, packed: Uint8Array) => {
        await client.query('INSERT INTO contents VALUES ($1, NULL, $2, $3)', [
          Buffer.from(name, 'hex'),
          text.length,
          Buffer.from(packed),
        ]);
        await client.query(
          `INSERT INTO versions VALUES ($1, $2, $3, $4, NULL, 'text', 9, NULL, to_tsvector('simple', $5))`,
          [pk, i + 1, (i + 1) * hourMs, Buffer.from(name, 'hex'), i === 0 ? text : 'green kettle'],
        );
      };
      const kept: Promise<void>[] = [];
      keepContent(
        { get: () => undefined, put: (name, { packed }) => kept.push(put(name, packed)) },
        Buffer.from(text),
        undefined,
      );
      await Promise.all(kept);
    }
    await client.query(`INSERT INTO current_words VALUES ($1, to_tsvector('simple', $2))`, [pk, texts.at(-1)]);
  }
  await client.end();
}

test('a database of an earlier schema keeps its looks and is searched as before', async () => {
  const url = await server.database('earlier');
  await earlier(url);
  const connected = await connect(url);
  if (connected.kind === 'failed') throw new Error(connected.sentence);
  const store = new PostgresStore(connected.connection);
  for (const id of ['page1', 'page2']) {
    const looks = await store.looks(id, 1_000);
    expect(looks).toHaveLength(lookCount);
    expect(looks[0]).toEqual({
      atMs: lookCount * hourMs,
      kind: 'unchanged',
      durationMs: 100 + lookCount,
      bytesReceived: 2 ** 32 - 1,
    });
    expect(looks.at(-1)).toMatchObject({ atMs: hourMs, kind: 'first', durationMs: 101 });
    expect((await store.looks(id, 3)).map(({ atMs }) => atMs / hourMs)).toEqual([40, 39, 38]);
  }
  const found = async (words: string, past: boolean): Promise<string[]> =>
    (await store.search({ words, past, limit: 9 })).map(({ pageId, version }) => `${pageId}@${version}`).sort();
  expect(await found('red', false)).toEqual(['page1@1']);
  expect(await found('red', true)).toEqual(['page1@1', 'page2@1']);
  expect(await found('green', true)).toEqual(['page2@2']);
  // The first page's version is found by the words of its current copy alone, until it changes.
  const atMs = 50 * hourMs;
  const state = { status: 'present' as const, validators: {}, failures: 0, changes: 1, looks: 41, lastLookMs: atMs };
  const look = { pageId: 'page1', probeId: 'p', atMs, endedAtMs: atMs, kind: 'changed' as const, bytesReceived: 1 };
  const projection = { text: 'blue lamp', format: 'text' as const };
  await store.commit([{ ...look, state: { ...state, version: 2, toldVersion: 2 }, projection }]);
  expect(await found('red', true)).toEqual(['page1@1', 'page2@1']);
  expect(await found('blue', true)).toEqual(['page1@2']);
  expect(await found('red', false)).toEqual([]);
  expect(await store.looks('page1', 1_000)).toHaveLength(lookCount + 1);
  await store.close();
});
