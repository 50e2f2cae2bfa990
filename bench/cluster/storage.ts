/** What PostgreSQL takes for pages and looks. */
import type { Measurement } from '../../house/bench.ts';
import { connect } from '../../packages/cluster/src/store/connection.ts';
import { PostgresStore } from '../../packages/cluster/src/store/postgres.ts';
import type { PostgresServer } from '../../packages/cluster/src/trial/postgres-server.ts';
import type { Look } from '../../packages/daemon/src/values/look.ts';

/** The k-th most frequent of 20,000 words comes about 1/k as often as the first, as in a language: an index of words counts on that. */
function wordsOfALanguage(from: number): (count: number) => string {
  let seed = from;
  const word = (): string => {
    seed = (seed * 1664525 + 1013904223) >>> 0;
    return Math.floor(20_000 ** (seed / 2 ** 32))
      .toString(36)
      .padStart(5, 'w');
  };
  return (count) => Array.from({ length: count }, word).join(' ');
}

/** The page's look number `looks`; the first brings a text, the others find it unchanged. */
function lookOf(id: string, looks: number, text?: string): Look {
  const atMs = 1e12 + looks * 60_000;
  const seen = { status: 'present', version: 1, toldVersion: 1, validators: {}, failures: 0, changes: 0 } as const;
  return {
    pageId: id,
    probeId: `${id}-${looks}`,
    atMs,
    endedAtMs: atMs + 100,
    kind: text === undefined ? 'unchanged' : 'first',
    bytesReceived: 10_000,
    state: { ...seen, looks, lastLookMs: atMs, lastSeenMs: atMs, model: new Uint8Array(64) },
    ...(text === undefined ? {} : { projection: { text, format: 'text' } }),
  };
}

/** Bytes that PostgreSQL takes for a page with its state and first version, and for each look that finds nothing. */
async function storage(url: string): Promise<{ readonly page: number; readonly look: number }> {
  const connected = await connect(url);
  if (connected.kind === 'failed') throw new Error(connected.sentence);
  const { connection } = connected;
  const store = new PostgresStore(connection);
  /** All tables with their indexes, long values and what updates have left behind. */
  const size = async (): Promise<number> => {
    const rows = await connection.query<{ size: number }>(
      `SELECT sum(pg_total_relation_size(oid))::bigint AS size FROM pg_class
       WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
    );
    return rows[0]!.size;
  };
  /** Enough that the words of the language, which all pages share, do not count. */
  const count = 5_000;
  /** Enough that what sixteen partitions take when they are empty does not count, nor the looks that wait in the states. */
  const [lookedAt, lookRounds] = [1_000, 96];
  const before = await size();
  const about = { select: { kind: 'text' } as const, tags: [], weight: 1, paused: false, options: {}, addedAtMs: 1 };
  const ids: string[] = [];
  for (let i = 0; i < count; i += 500) {
    const pages = Array.from({ length: 500 }, (_, j) => ({
      ...about,
      url: `https://s${i + j}.example/page`,
      site: `s${i + j}.example`,
    }));
    const kept = await store.addPages(pages);
    if (kept.kind === 'failed') throw new Error(kept.fault.sentence);
    ids.push(...kept.value.map(({ page }) => page.page.id));
  }
  const words = wordsOfALanguage(7);
  for (let i = 0; i < count; i += 250) await store.commit(ids.slice(i, i + 250).map((id) => lookOf(id, 1, words(500))));
  const filled = await size();
  for (let looks = 2; looks <= 1 + lookRounds; looks++)
    for (let i = 0; i < lookedAt; i += 250) await store.commit(ids.slice(i, i + 250).map((id) => lookOf(id, looks)));
  const looked = await size();
  await connection.close();
  return { page: (filled - before) / count, look: (looked - filled) / lookedAt / lookRounds };
}

export async function storeRows(postgres: PostgresServer): Promise<Measurement[]> {
  const { page, look } = await storage(await postgres.database('storage'));
  return [
    {
      what: 'PostgreSQL: a page with its state, 64 bytes of model and a first version of 500 words',
      ours: `${page.toFixed(0)} B`,
      rival: '10,000 B',
      holds: page < 10_000,
    },
    { what: 'PostgreSQL: a look that found nothing', ours: `${look.toFixed(0)} B`, rival: '100 B', holds: look < 100 },
  ];
}
