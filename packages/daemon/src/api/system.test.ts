import { expect, test } from 'vitest';
import { Desk } from '../desk.ts';
import type { Loop } from '../loop.ts';
import { openSqlite } from '../store/sqlite.ts';
import { systemClock } from '../values/clock.ts';
import { createApi } from './server.ts';

test('while the store is away, whoever asks for health or readiness is told at once; of one that stands still, within two seconds', async () => {
  const opened = openSqlite(':memory:');
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  const { store } = opened;
  const loop = { healthy: true } as Loop;
  const app = createApi(new Desk(store, systemClock, () => {}, loop));
  const well = async () => {
    const [health, readiness] = await Promise.all(['/healthz', '/readyz'].map((route) => app.inject(route)));
    const { healthy } = health!.json<{ healthy: boolean }>();
    const { ready } = readiness!.json<{ ready: boolean }>();
    return [health!.statusCode, healthy, readiness!.statusCode, ready];
  };
  expect(await well()).toEqual([200, true, 200, true]);
  let [asked, answer] = [0, () => {}];
  store.recall = () => {
    asked++;
    return new Promise((resolve) => (answer = () => resolve(undefined)));
  };
  Object.assign(loop, { healthy: false });
  expect(await well()).toEqual([503, false, 503, false]);
  expect(asked).toBe(0);
  // One that stands still says nothing of itself; what it said last holds for a second.
  Object.assign(loop, { healthy: true });
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  for (const waitedMsMax of [4_000, 500]) {
    const beganMs = performance.now();
    expect(await well()).toEqual([503, false, 503, false]);
    expect(performance.now() - beganMs).toBeLessThan(waitedMsMax);
  }
  expect(asked).toBe(1);
  answer();
  expect(await well()).toEqual([200, true, 200, true]);
  await app.close();
});
