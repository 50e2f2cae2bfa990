import { expect, test } from 'vitest';
import { Desk } from '../desk.ts';
import type { Loop } from '../loop.ts';
import { openSqlite } from '../store/sqlite.ts';
import { systemClock } from '../values/clock.ts';
import { createApi } from './server.ts';

test('while the store is away, whoever asks for readiness is told at once', async () => {
  const opened = openSqlite(':memory:');
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  const { store } = opened;
  const loop = { healthy: true } as Loop;
  const app = createApi(new Desk(store, systemClock, () => {}, loop));
  expect((await app.inject('/readyz')).json()).toEqual({ ready: true });
  Object.assign(loop, { healthy: false });
  store.counts = () => new Promise(() => {});
  const answer = await app.inject('/readyz');
  expect([answer.statusCode, answer.json()]).toEqual([503, { ready: false }]);
  // One that stands still says nothing of itself.
  Object.assign(loop, { healthy: true });
  const still = await app.inject('/readyz');
  expect([still.statusCode, still.json()]).toEqual([503, { ready: false }]);
  await app.close();
});
