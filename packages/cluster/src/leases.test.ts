import { afterAll, beforeAll, expect, test } from 'vitest';
import { shardCount } from './dispatch/streams.ts';
import { Leases } from './leases.ts';
import { type Connection, connect } from './store/connection.ts';
import { SharedClock } from './store/shared-clock.ts';
import { startPooled } from './trial/pooler.ts';
import type { PostgresServer } from './trial/postgres-server.ts';

let server: PostgresServer;
let connection: Connection;
beforeAll(async () => {
  server = await startPooled();
  const connected = await connect(await server.database('leases'));
  if (connected.kind === 'failed') throw new Error(connected.sentence);
  connection = connected.connection;
});
afterAll(async () => {
  await connection.close();
  await server.end();
});

const silent = (holder: string): Promise<unknown> =>
  connection.query(`UPDATE coordinators SET until = now() WHERE holder = $1`, [holder]);
const confirmed = async (leases: Leases): Promise<number> =>
  (await connection.must((sql) => leases.confirmed(sql))).size;

test('shards are shared evenly, move when a holder is silent, and are kept by nobody else', async () => {
  const [a, b] = [new Leases(connection, 'a'), new Leases(connection, 'b')];
  expect(await a.renew(1)).toEqual({ lost: [], share: 1, coordinators: 1 });
  expect(a.held().size).toBe(shardCount);
  expect([a.surelyHolds(0), b.surelyHolds(0)]).toEqual([true, false]);
  await b.renew(3);
  expect(b.held().size).toBe(0);
  expect((await a.renew(1)).lost).toHaveLength(shardCount / 2);
  expect(await b.renew(3)).toEqual({ lost: [], share: 3 / 4, coordinators: 2 });
  expect([a.held().size, b.held().size]).toEqual([shardCount / 2, shardCount / 2]);

  await silent('a');
  // Silent for too long, but nobody has taken anything: what it keeps is still its own to keep.
  expect(await confirmed(a)).toBe(shardCount / 2);
  await b.renew(3);
  expect(b.held().size).toBe(shardCount);
  expect(await confirmed(a)).toBe(0);
  // It comes back, gives up what is no longer its own, and gets its part again.
  expect((await a.renew(1)).lost).toHaveLength(shardCount / 2);
  expect((await b.renew(3)).lost).toHaveLength(shardCount / 2);
  await a.renew(1);
  expect([a.held().size, b.held().size]).toEqual([shardCount / 2, shardCount / 2]);

  // What could not be kept is read anew, by giving it up and taking it again.
  const [shard] = [...a.held()];
  a.doubt(shard!);
  expect((await a.renew(1)).lost).toEqual([shard]);
  expect(a.held().has(shard!)).toBe(true);
  expect((await a.renew(1)).lost).toEqual([]);

  await a.release();
  await b.renew(3);
  expect(b.held().size).toBe(shardCount);
});

test('one that cannot reach the robots leaves its shards to those that can, and gets them again; where nobody can, all stay', async () => {
  const [c, d] = [new Leases(connection, 'c'), new Leases(connection, 'd')];
  const sizes = (): number[] => [c.held().size, d.held().size];
  const half = [shardCount / 2, shardCount / 2];
  await connection.query(`UPDATE coordinators SET until = now()`);
  const turn = async (linked: readonly [boolean, boolean]): Promise<void> => {
    // Those that have more than their part give it up first.
    for (const _ of [0, 1]) {
      await c.renew(1, linked[0]);
      await d.renew(1, linked[1]);
    }
  };
  await turn([true, true]);
  expect(sizes()).toEqual(half);
  await turn([false, true]);
  expect(sizes()).toEqual([0, shardCount]);
  await turn([false, false]);
  expect(sizes()).toEqual([0, shardCount]);
  await turn([true, true]);
  expect(sizes()).toEqual(half);
  await turn([false, false]);
  expect(sizes()).toEqual(half);
});

test('one that has not renewed for the length of a lease holds nothing surely', async () => {
  let nowMs = 1e12;
  const own = { nowMs: () => nowMs, sleep: () => Promise.resolve() };
  const leases = new Leases(connection, 'late', 4_000, new SharedClock(own));
  await connection.query('DELETE FROM leases');
  await leases.renew(1);
  const [shard] = leases.held();
  expect(leases.surelyHolds(shard!)).toBe(true);
  nowMs += 4_000;
  expect([leases.surelyHolds(shard!), leases.held().has(shard!)]).toEqual([false, true]);
  await leases.renew(1);
  expect(leases.surelyHolds(shard!)).toBe(true);
});
