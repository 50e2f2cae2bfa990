import { afterAll, beforeAll, expect, test } from 'vitest';
import { verdict } from '../../../daemon/src/detect/verdict.ts';
import type { WatchedPage } from 'revisit/ports';
import { storeContract } from '../../../daemon/src/store/contract.oracle.ts';
import { searchContract } from '../../../daemon/src/store/search.oracle.ts';
import { type PostgresServer, startPostgres } from '../trial/postgres-server.ts';
import { connect } from './connection.ts';
import { shardCount, shardOf } from '../dispatch/streams.ts';
import { type Mandate, PostgresStore } from './postgres.ts';

let server: PostgresServer;
let databases = 0;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.end());

async function open(url?: string, mandate?: Mandate): Promise<PostgresStore> {
  const connected = await connect(url ?? (await server.database(`d${databases++}`)));
  if (connected.kind === 'failed') throw new Error(connected.sentence);
  return new PostgresStore(connected.connection, mandate);
}

storeContract('PostgreSQL', () => open());
searchContract('PostgreSQL', () => open());

test('a process that stops in the middle of its work keeps what it has locked from nobody for long, and nothing of it is kept', async () => {
  const url = await server.database('stopped');
  const [stopped, other] = await Promise.all([connect(url, { pauseMs: 300 }), connect(url)]);
  if (stopped.kind === 'failed' || other.kind === 'failed') throw new Error('It is there.');
  const lock = 'UPDATE log_end SET sequence = sequence + $1 RETURNING sequence';
  let goOn = (): void => {};
  let isAtIt = (): void => {};
  const atIt = new Promise<void>((resolve) => (isAtIt = resolve));
  const stands = stopped.connection.write(async (sql) => {
    await sql.query(lock, [100]);
    isAtIt();
    await new Promise<void>((resolve) => (goOn = resolve));
    return sql.query(lock, [100]);
  });
  await atIt;
  const kept = await other.connection.write((sql) => sql.query<{ sequence: number }>(lock, [1]));
  expect(kept.kind === 'kept' && kept.value.rows).toEqual([{ sequence: 1 }]);
  goOn();
  expect(await stands).toMatchObject({ kind: 'failed', fault: { code: 'store-away' } });
  await Promise.all([stopped.connection.close(), other.connection.close()]);
});

test('two stores append to one log at once: no holes, no order that readers could miss', async () => {
  const url = await server.database('two');
  const stores = [await open(url), await open(url)];
  const page = (i: number) => ({
    url: `https://a.example/${i}`,
    site: 'a.example',
    select: { kind: 'text' } as const,
    tags: [],
    weight: 1,
    paused: false,
    options: {},
    addedAtMs: 1,
  });
  const kept = await stores[0]!.addPages(Array.from({ length: 20 }, (_, i) => page(i)));
  if (kept.kind === 'failed') throw new Error(kept.fault.sentence);
  const ids = kept.value.map(({ page: watched }) => watched.page.id);
  const commitOne = (store: PostgresStore, id: string, version: number) =>
    store.commit([
      {
        pageId: id,
        probeId: `${id}-${version}`,
        atMs: version * 1000,
        endedAtMs: version * 1000 + 1,
        kind: 'changed',
        bytesReceived: 1,
        state: {
          status: 'present',
          version,
          toldVersion: version,
          validators: {},
          failures: 0,
          looks: version,
          changes: version,
        },
        projection: { text: `text ${version} of ${id}`, format: 'text' },
        change: {
          pageId: id,
          url: '',
          site: 'a.example',
          tags: [],
          kind: 'changed',
          atMs: version * 1000,
          count: 1,
          summary: '',
        },
      },
    ]);
  const work = Promise.all(
    ids.map(async (id, i) => {
      for (let version = 1; version <= 5; version++) await commitOne(stores[i % 2]!, id, version);
    }),
  );
  // A reader that follows with a cursor must see every sequence exactly once, in order.
  const seen: number[] = [];
  let done = false;
  void work.then(() => (done = true));
  while (!done || seen.length < 100) {
    const more = await stores[0]!.changes({ after: seen.at(-1) ?? 0, limit: 7 });
    seen.push(...more.map((change) => change.sequence));
  }
  expect(seen).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
  // A look that comes a second time changes nothing.
  expect(await commitOne(stores[1]!, ids[0]!, 5)).toEqual({ kind: 'kept', value: [] });
  expect((await stores[0]!.counts()).changes).toBe(100);
  for (const store of stores) await store.close();
});

test('a look that was compared with something else than the last one is not kept, and its shard is read anew', async () => {
  const doubted: number[] = [];
  const held = new Set(Array.from({ length: shardCount }, (_, shard) => shard));
  const store = await open(undefined, {
    held: () => held,
    confirmed: () => Promise.resolve(held),
    doubt: (shard) => doubted.push(shard),
  });
  const site = 'a.example';
  const settings = { site, select: { kind: 'text' } as const, tags: [], weight: 1, paused: false, options: {} };
  const added = await store.addPages([{ ...settings, url: 'https://a.example/', addedAtMs: 1 }]);
  if (added.kind === 'failed') throw new Error(added.fault.sentence);
  const before = added.value[0]!.page;
  const fetched = (text: string, atMs: number, watched: WatchedPage) => {
    const probe = {
      id: `probe-${atMs}`,
      pageIds: [watched.page.id],
      url: watched.page.url,
      site,
      atMs,
      validators: {},
    };
    const outcome = {
      kind: 'fetched' as const,
      status: 200,
      mediaType: 'text/plain',
      charset: 'utf-8',
      body: Buffer.from(text),
      validators: {},
    };
    const seen = { probe, outcome, startedAtMs: atMs, endedAtMs: atMs + 1, requests: 1, bytesReceived: 1 };
    const projection = { text, format: 'text' as const };
    return verdict(
      watched,
      seen,
      watched.state.version === 0
        ? { kind: 'first', projection }
        : { kind: 'changed', projection, count: 1, summary: text, since: 'last' },
    );
  };
  const first = fetched('one', 1_000, before);
  await store.commit([first]);
  const read = { page: before.page, state: first.state };
  // Two readings of the page: one is kept first, and the other goes on from what it was.
  await store.commit([fetched('two', 2_000, read)]);
  const stale = fetched('three', 3_000, read);
  expect(await store.commit([stale])).toEqual({ kind: 'kept', value: [] });
  const unchanged = { ...stale, atMs: 4_000, probeId: 'probe-4000', kind: 'unchanged' as const };
  const { projection: _projection, change: _change, ...next } = unchanged;
  const state = { ...stale.state, looks: stale.state.looks + 1, lastLookMs: 4_000 };
  await store.commit([{ ...next, state, after: { looks: stale.state.looks, lastLookMs: 3_000 } }]);
  expect(doubted).toEqual([shardOf(site), shardOf(site)]);
  const standing = (await store.page(before.page.id))!;
  expect(standing.state).toMatchObject({ version: 2, looks: 2, lastLookMs: 2_000 });
  // Read anew, the change is found.
  const kept = await store.commit([fetched('three', 5_000, standing)]);
  expect(kept).toMatchObject({ kind: 'kept', value: [{ toVersion: 3 }] });
  // What an observer found is told once, with whichever probe it comes: the page does not go back to it.
  const third = (await store.page(before.page.id))!;
  const cause = 'near/finding';
  expect(await store.commit([{ ...fetched('four', 6_000, third), cause }])).toMatchObject({
    value: [{ toVersion: 4 }],
  });
  await store.commit([fetched('five', 7_000, (await store.page(before.page.id))!)]);
  const again = { ...fetched('four', 8_000, (await store.page(before.page.id))!), cause };
  expect(await store.commit([again])).toEqual({ kind: 'kept', value: [] });
  expect(doubted).toHaveLength(3);
  expect((await store.page(before.page.id))!.state.version).toBe(5);
  await store.close();
});

test('a wish is kept until the look of a probe that left after it is, and goes with its page', async () => {
  const store = await open();
  const site = 'a.example';
  const settings = { site, select: { kind: 'text' } as const, tags: [], weight: 1, paused: false, options: {} };
  const urls = ['https://a.example/1', 'https://a.example/2'];
  const added = await store.addPages(urls.map((url) => ({ ...settings, url, addedAtMs: 1 })));
  if (added.kind === 'failed') throw new Error(added.fault.sentence);
  const [one, two] = added.value.map(({ page }) => page.page.id) as [string, string];
  const wished = async () => (await store.wishesOf([shardOf(site)])).map(({ id, hurried }) => [id, hurried]);
  let looks = 0;
  const look = async (atMs: number) => {
    const id = `p${++looks}`;
    await store.dispatched([{ id, url: urls[0]!, site, pageIds: [one], atMs, validators: {} }]);
    const state = { ...added.value[0]!.page.state, looks, lastLookMs: 9_000 + looks };
    const times = { atMs: 9_000 + looks, endedAtMs: 9_001 + looks };
    await store.commit([{ pageId: one, probeId: id, ...times, kind: 'unchanged', bytesReceived: 1, state }]);
  };
  expect(await store.wish([one, 'nobody', two], 2_000, false)).toEqual({ kind: 'kept', value: [one, two] });
  expect(await store.wish([two], 3_000, true)).toEqual({ kind: 'kept', value: [two] });
  await store.wish([two], 2_500, false);
  // However late it comes home.
  await look(1_999);
  expect(await wished()).toEqual([
    [one, false],
    [two, true],
  ]);
  await look(2_000);
  expect(await wished()).toEqual([[two, true]]);
  expect(await store.wishesOf([(shardOf(site) + 1) % shardCount])).toEqual([]);
  await store.removePages([two]);
  expect(await wished()).toEqual([]);
  await store.close();
});

test('a server that went away is a fault, not an exception, and the store works again when it is back', async () => {
  const store = await open();
  await server.stop();
  expect(await store.remember('k', new Uint8Array([1]))).toMatchObject({
    kind: 'failed',
    fault: { code: 'store-away' },
  });
  await server.start();
  expect(await store.remember('k', new Uint8Array([2]))).toEqual({ kind: 'kept', value: undefined });
  expect([...(await store.recall('k'))!]).toEqual([2]);
  await store.close();
});

test('a wrong address is said in a sentence', async () => {
  expect(await connect('postgres://nobody:x@127.0.0.1:1/none')).toMatchObject({ kind: 'failed' });
});
