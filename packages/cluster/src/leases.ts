/**
 * Who looks after which shard. Each coordinator says every second that it is there; shards whose holder has been silent for
 * the length of a lease are free, and each takes its even share of them. The server's clock is the only one that counts.
 *
 * Invariant: a shard has at most one holder, and no look is kept for it by anybody else, because every transaction that
 * keeps one reads its lease under a lock that renewing or taking it must wait for.
 */
import type { Connection, Sql } from './store/connection.ts';
import type { Mandate } from './store/postgres.ts';
import { shardCount } from './dispatch/streams.ts';

/** A lost coordinator's shards are free after this time: seconds, as the design asks, and several missed renewals. */
const leaseSeconds = 5;

export interface Turn {
  readonly gained: readonly number[];
  readonly lost: readonly number[];
  /** This coordinator's part of the budget, from 0 to 1. */
  readonly share: number;
}

export class Leases implements Mandate {
  readonly holder: string;
  readonly #connection: Connection;
  #held: ReadonlySet<number> = new Set();
  #confirmedMs = -Infinity;

  constructor(connection: Connection, holder: string) {
    this.#connection = connection;
    this.holder = holder;
  }

  held(): ReadonlySet<number> {
    return this.#held;
  }

  async confirmed(sql: Sql): Promise<ReadonlySet<number>> {
    const { rows } = await sql.query<{ shard: number }>(
      'SELECT shard FROM leases WHERE holder = $1 AND until > now() FOR SHARE',
      [this.holder],
    );
    return new Set(rows.map((row) => row.shard));
  }

  /** Renews, takes what is free up to an even share, and gives back what is more than that. `demand` is how much of the budget this one could use. */
  async renew(demand: number, nowMs: number): Promise<Turn> {
    const kept = await this.#connection.write(async (sql) => {
      await sql.query(
        `INSERT INTO coordinators VALUES ($1, $2, now() + make_interval(secs => ${leaseSeconds}))
         ON CONFLICT (holder) DO UPDATE SET demand = excluded.demand, until = excluded.until`,
        [this.holder, demand],
      );
      const { rows: there } = await sql.query<{ holder: string; demand: number }>(
        'SELECT holder, demand FROM coordinators WHERE until > now() ORDER BY holder',
      );
      const even = Math.ceil(shardCount / Math.max(1, there.length));
      const { rows: mine } = await sql.query<{ shard: number }>(
        `UPDATE leases SET until = now() + make_interval(secs => ${leaseSeconds}) WHERE holder = $1 AND until > now() RETURNING shard`,
        [this.holder],
      );
      const held = mine.map((row) => row.shard).sort((a, b) => a - b);
      const surplus = held.splice(even);
      if (surplus.length > 0)
        await sql.query('UPDATE leases SET until = now() WHERE holder = $1 AND shard = ANY ($2)', [
          this.holder,
          surplus,
        ]);
      const taken = held.length < even ? await this.#takeFree(sql, even - held.length) : [];
      const total = there.reduce((sum, row) => sum + row.demand, 0);
      return { held: [...held, ...taken], share: total > 0 ? demand / total : 1 / Math.max(1, there.length) };
    });
    if (kept.kind === 'failed') return this.#unheard(nowMs);
    this.#confirmedMs = nowMs;
    const before = this.#held;
    this.#held = new Set(kept.value.held);
    return {
      gained: kept.value.held.filter((shard) => !before.has(shard)),
      lost: [...before].filter((shard) => !this.#held.has(shard)),
      share: kept.value.share,
    };
  }

  async #takeFree(sql: Sql, wanted: number): Promise<number[]> {
    const { rows } = await sql.query<{ shard: number }>(
      `INSERT INTO leases (shard, holder, until)
       SELECT free.shard, $1, now() + make_interval(secs => ${leaseSeconds})
       FROM generate_series(0, ${shardCount - 1}) AS free (shard) LEFT JOIN leases USING (shard)
       WHERE leases.shard IS NULL OR leases.until <= now() ORDER BY free.shard LIMIT $2
       ON CONFLICT (shard) DO UPDATE SET holder = excluded.holder, until = excluded.until WHERE leases.until <= now()
       RETURNING shard`,
      [this.holder, wanted],
    );
    return rows.map((row) => row.shard);
  }

  /** The server does not answer: what is held stays held until its lease must have run out. */
  #unheard(nowMs: number): Turn {
    if (nowMs - this.#confirmedMs < leaseSeconds * 1000) return { gained: [], lost: [], share: NaN };
    const lost = [...this.#held];
    this.#held = new Set();
    return { gained: [], lost, share: NaN };
  }

  /** Lets go of everything, so that others need not wait. */
  async release(): Promise<void> {
    this.#held = new Set();
    await this.#connection.write(async (sql) => {
      await sql.query('UPDATE leases SET until = now() WHERE holder = $1', [this.holder]);
      await sql.query('DELETE FROM coordinators WHERE holder = $1', [this.holder]);
    });
  }
}
