/**
 * Who looks after which shard. Each coordinator says every second that it is there; shards whose holder has been silent for
 * the length of a lease are free, and each takes its even share of them. The server's clock is the only one that counts.
 *
 * Invariant: a shard has at most one holder, and no probe goes out and no look is kept for it by anybody else, because every
 * transaction that does either locks the lease's row against whoever would take it. A holder that was silent for too long
 * and finds its name still in the row has lost nothing: nobody else has held the shard since.
 */
import type { Connection, Sql } from './store/connection.ts';
import type { Mandate } from './store/postgres.ts';
import { SharedClock } from './store/shared-clock.ts';
import { shardCount } from './dispatch/streams.ts';

/** A lost coordinator's shards are free after this time unless another is set: seconds, as the design asks, and several missed renewals. */
const usualLeaseMs = 4_000;
/** Milliseconds since the epoch by the server's clock, as it answers. */
export const serverNow = '(extract(epoch FROM clock_timestamp()) * 1000)::float8';
/** Nobody's: given back, free for whoever comes first. */
const nobody = '';

export interface Turn {
  /** Shards whose pages must be let go of; those still held are to be read anew. */
  readonly lost: readonly number[];
  /** This coordinator's part of the budget, from 0 to 1; undefined while the server does not answer. */
  readonly share: number | undefined;
  /** How many coordinators there are; undefined likewise. */
  readonly coordinators: number | undefined;
}

export class Leases implements Mandate {
  readonly holder: string;
  readonly #connection: Connection;
  readonly #leaseMs: number;
  readonly #clock: SharedClock;
  #held: ReadonlySet<number> = new Set();
  /** When the last renewal that came through was asked for, by this process's own clock. */
  #renewedMs = -Infinity;
  readonly #doubtful = new Set<number>();

  constructor(connection: Connection, holder: string, leaseMs = usualLeaseMs, clock = new SharedClock()) {
    this.#connection = connection;
    this.#leaseMs = leaseMs;
    this.#clock = clock;
    this.holder = holder;
  }

  held(): ReadonlySet<number> {
    return this.#held;
  }

  /** Whether nobody else can hold it by now. */
  surelyHolds(shard: number): boolean {
    return this.#held.has(shard) && this.#clock.ownMs() - this.#renewedMs < this.#leaseMs;
  }

  async confirmed(sql: Sql): Promise<ReadonlySet<number>> {
    const { rows } = await sql.query<{ shard: number }>(
      'SELECT shard FROM leases WHERE holder = $1 ORDER BY shard FOR SHARE',
      [this.holder],
    );
    return new Set(rows.map((row) => row.shard));
  }

  /** Something of this shard could not be kept, so what is in memory may be ahead of the store. */
  doubt(shard: number): void {
    this.#doubtful.add(shard);
  }

  /**
   * Renews, takes what is free up to an even share, and gives back what is more than that. `demand` is how much of the budget this one could
   * use. One that is not `linked` to the robots leaves its shards to those that are; where nobody is, all keep theirs, as giving
   * them away would help nobody.
   */
  async renew(demand: number, linked = true): Promise<Turn> {
    const doubtful = [...this.#doubtful];
    const renewingMs = this.#clock.ownMs();
    const kept = await this.#connection.write(async (sql) => {
      await sql.query(
        `INSERT INTO coordinators (holder, demand, until, linked) VALUES ($1, $2, now() + make_interval(secs => $3), $4)
         ON CONFLICT (holder) DO UPDATE SET demand = excluded.demand, until = excluded.until, linked = excluded.linked`,
        [this.holder, demand, this.#leaseMs / 1000, linked],
      );
      const askedAtMs = this.#clock.ownMs();
      const { rows: there } = await sql.query<{ holder: string; demand: number; linked: boolean; now: number }>(
        `SELECT holder, demand, linked, ${serverNow} AS now FROM coordinators WHERE until > now() ORDER BY holder`,
      );
      if (there[0]) this.#clock.heard(there[0].now, askedAtMs);
      const linkedNow = there.filter((one) => one.linked);
      const able = linkedNow.length > 0 ? linkedNow : there;
      const even = able.some(({ holder }) => holder === this.holder) ? Math.ceil(shardCount / able.length) : 0;
      const { rows: mine } = await sql.query<{ shard: number }>('SELECT shard FROM leases WHERE holder = $1', [
        this.holder,
      ]);
      const held = mine.map((row) => row.shard).sort((a, b) => a - b);
      const surplus = linkedNow.length > 0 ? held.splice(even) : [];
      if (surplus.length > 0)
        await sql.query('UPDATE leases SET holder = $2 WHERE holder = $1 AND shard = ANY ($3)', [
          this.holder,
          nobody,
          surplus,
        ]);
      const taken = held.length < even ? await this.#takeFree(sql, even - held.length) : [];
      const total = there.reduce((sum, row) => sum + row.demand, 0);
      const share = total > 0 ? demand / total : 1 / Math.max(1, there.length);
      return { held, taken, share, coordinators: there.length };
    });
    if (kept.kind === 'failed') return { lost: [], share: undefined, coordinators: undefined };
    const { held, taken, share, coordinators } = kept.value;
    this.#renewedMs = renewingMs;
    const before = this.#held;
    this.#held = new Set([...held, ...taken]);
    for (const shard of doubtful) this.#doubtful.delete(shard);
    const anew = new Set([...taken, ...doubtful]);
    return { lost: [...before].filter((shard) => anew.has(shard) || !this.#held.has(shard)), share, coordinators };
  }

  async #takeFree(sql: Sql, wanted: number): Promise<number[]> {
    const alive = 'SELECT 1 FROM coordinators WHERE coordinators.holder = leases.holder AND coordinators.until > now()';
    const { rows } = await sql.query<{ shard: number }>(
      `INSERT INTO leases (shard, holder, until)
       SELECT free.shard, $1, now() FROM generate_series(0, ${shardCount - 1}) AS free (shard) LEFT JOIN leases USING (shard)
       WHERE NOT EXISTS (${alive}) ORDER BY free.shard LIMIT $2
       ON CONFLICT (shard) DO UPDATE SET holder = excluded.holder, until = excluded.until WHERE NOT EXISTS (${alive})
       RETURNING shard`,
      [this.holder, wanted],
    );
    return rows.map((row) => row.shard);
  }

  /** Lets go of everything, so that others need not wait. */
  async release(): Promise<void> {
    this.#held = new Set();
    await this.#connection.write(async (sql) => {
      await sql.query('UPDATE leases SET holder = $2 WHERE holder = $1', [this.holder, nobody]);
      await sql.query(`DELETE FROM coordinators WHERE holder = $1 OR until < now() - interval '1 day'`, [this.holder]);
    });
  }
}
