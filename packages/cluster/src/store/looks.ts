/**
 * Looks on their way into PostgreSQL, however many in a few statements: where each statement is a round trip, one for each
 * look and table would be most of what a look costs.
 */
import { type Look, type PageState, changeId, lookKinds, stateValues } from 'revisit/ports';
import { keepVersions } from './archive.ts';
import type { Sql } from './connection.ts';
import { packMax, packed } from './look-packs.ts';

const stateColumns = {
  pk: 'bigint',
  status: 'text',
  version: 'integer',
  told_version: 'integer',
  hash: 'text',
  etag: 'text',
  last_modified: 'text',
  last_look: 'bigint',
  last_seen: 'bigint',
  last_change: 'bigint',
  fault_code: 'text',
  fault_sentence: 'text',
  failures: 'integer',
  looks: 'integer',
  changes: 'integer',
  moved_to: 'text',
  seen_title: 'text',
  model: 'bytea',
  detect_state: 'text',
  validators_url: 'text',
  revealed: 'text',
} as const;
/** What a state leaves out stays as it was. */
const lasting: ReadonlySet<string> = new Set(['hash', 'detect_state']);
export const stateNames = Object.keys(stateColumns);

type Value = string | number | Uint8Array | null;

function storable(value: Value): Value {
  // PostgreSQL's texts cannot hold a NUL.
  if (typeof value === 'string') return value.replaceAll('\0', '');
  return value instanceof Uint8Array ? Buffer.from(value) : value;
}

function stateArrays(states: readonly { readonly pk: number; readonly state: PageState }[]): Value[][] {
  const rows = states.map(({ pk, state }) => [pk, ...stateValues(state)].map(storable));
  return stateNames.map((_, column) => rows.map((row) => row[column]!));
}

export async function addStates(
  sql: Sql,
  states: readonly { readonly pk: number; readonly state: PageState }[],
): Promise<void> {
  await sql.query(
    `INSERT INTO states (${stateNames.join(', ')}) SELECT * FROM unnest(${Object.values(stateColumns)
      .map((type, i) => `$${i + 1}::${type}[]`)
      .join(', ')})`,
    stateArrays(states),
  );
}

/** Looks in their order, cut where a page comes again: one statement can write a row once. */
function rounds(looks: readonly Look[]): readonly (readonly Look[])[] {
  const cut: Look[][] = [];
  let pages = new Set<string>();
  for (const look of looks) {
    if (cut.length === 0 || pages.has(look.pageId)) {
      cut.push([]);
      pages = new Set();
    }
    cut.at(-1)!.push(look);
    pages.add(look.pageId);
  }
  return cut;
}

interface Standing {
  readonly id: string;
  readonly pk: number;
  readonly shard: number;
  readonly version: number;
  readonly looks: number;
  readonly lastLook: number | null;
}

/**
 * How a look fits what stands: `next` to it; `kept` before, its answer lost on the way; or `stale`, compared with something
 * else than the page's last look. A coordinator that gave a shard up and took it again may have read a page while its own
 * look at it was being kept: all that it goes on to find of the page hangs from a look that the store does not know.
 */
function fit(look: Look, page: Standing): 'next' | 'kept' | 'stale' {
  const { state, after } = look;
  if (page.looks === state.looks && page.lastLook === (state.lastLookMs ?? null)) return 'kept';
  if (after && (page.looks !== after.looks || page.lastLook !== (after.lastLookMs ?? null))) return 'stale';
  return look.projection && page.version >= state.version ? 'kept' : 'next';
}

/** Looks that would tell of a finding which the log has: whoever sends them did not know that. */
async function toldBefore(sql: Sql, looks: readonly Look[]): Promise<ReadonlySet<Look>> {
  const found = looks.filter(({ cause, change }) => cause !== undefined && change);
  if (found.length === 0) return new Set();
  const ids = found.map((look) => changeId(look, look.change!));
  const { rows } = await sql.query<{ id: string }>('SELECT id FROM changes WHERE id = ANY ($1)', [ids]);
  return new Set(found.filter((_, i) => rows.some(({ id }) => id === ids[i])));
}

/** Those of the looks that have something for the log. `doubt` hears of shards that are another's, or of which this one knows something else than the store. */
export async function keepLooks(
  sql: Sql,
  looks: readonly Look[],
  held: ReadonlySet<number>,
  doubt: (shard: number) => void,
): Promise<readonly Look[]> {
  const told: Look[] = [];
  for (const round of rounds(looks)) {
    // In one order for all, so that two who write the same pages wait for each other once.
    const { rows } = await sql.query<Standing>(
      `SELECT id, pk, shard, version, looks, last_look AS "lastLook" FROM pages JOIN states USING (pk)
       WHERE id = ANY ($1) ORDER BY pk FOR UPDATE OF states`,
      [round.map((look) => look.pageId)],
    );
    const standing = new Map(rows.map((row) => [row.id, row]));
    const ours = round.filter((look) => {
      const shard = standing.get(look.pageId)?.shard;
      if (shard === undefined || held.has(shard)) return true;
      doubt(shard);
      return false;
    });
    const known = await toldBefore(sql, ours);
    const kept = ours.flatMap((look) => {
      const page = standing.get(look.pageId);
      // The page was removed while we looked.
      if (!page) return [];
      const how = known.has(look) ? 'stale' : fit(look, page);
      if (how === 'stale') doubt(page.shard);
      return how === 'next' ? [{ look, pk: page.pk }] : [];
    });
    await write(sql, ours, kept);
    await keepVersions(
      sql,
      kept.filter(({ look }) => look.projection),
    );
    told.push(...kept.map(({ look }) => look).filter((look) => look.change !== undefined));
  }
  return told;
}

/** What `write` is given of each look: its state and itself. */
const given = { ...stateColumns, at: 'bigint', kind: 'smallint', duration: 'integer', bytes: 'bigint', probe: 'text' };
const full = `cardinality(states.recent_at) >= ${packMax}`;
const recent = (column: string, look: string): string =>
  `${column} = CASE WHEN ${full} THEN ARRAY[${look}] ELSE states.${column} || ${look} END`;
/**
 * A page whose last looks are a pack begins another, and the pack goes to the others. A wish has come true with a look of a probe that left
 * after it: when an answer is late, nobody knows when the look was made.
 */
const writeText = `WITH new AS (
    SELECT * FROM unnest(${Object.values(given)
      .map((type, i) => `$${i + 2}::${type}[]`)
      .join(', ')}) AS new (${Object.keys(given).join(', ')})
  ), ended AS (
    DELETE FROM in_flight WHERE id = ANY ($1)
  ), granted AS (
    DELETE FROM wishes USING new, in_flight
    WHERE wishes.pk = new.pk AND in_flight.id = new.probe AND wishes.at <= in_flight.at
  ), packs AS (
    INSERT INTO looks (pk, upto, at, what)
    SELECT pk, recent_at[cardinality(recent_at)], recent_at, recent_what FROM states JOIN new USING (pk) WHERE ${full}
  )
  UPDATE states SET ${stateNames
    .slice(1)
    .map((name) => `${name} = ${lasting.has(name) ? `coalesce(new.${name}, states.${name})` : `new.${name}`}`)
    .join(', ')},
    ${recent('recent_at', 'new.at')},
    ${recent('recent_what', packed('new.kind', 'new.duration', 'new.bytes'))}
  FROM new WHERE states.pk = new.pk`;

/** The probes have ended, and so have wishes that are older than they; states and looks are as found. */
async function write(
  sql: Sql,
  ended: readonly Look[],
  kept: readonly { readonly look: Look; readonly pk: number }[],
): Promise<void> {
  if (ended.length === 0) return;
  await sql.query(writeText, [
    ended.map((look) => look.probeId),
    ...stateArrays(kept.map(({ look, pk }) => ({ pk, state: look.state }))),
    kept.map(({ look }) => look.atMs),
    kept.map(({ look }) => lookKinds.indexOf(look.kind)),
    kept.map(({ look }) => look.endedAtMs - look.atMs),
    kept.map(({ look }) => look.bytesReceived),
    kept.map(({ look }) => look.probeId),
  ]);
}
