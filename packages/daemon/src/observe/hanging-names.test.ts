import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../values/clock.ts';
import type { ResolvedAddress } from './resolve.ts';
import { observerOn, probeOf, serve } from './test/loopback.ts';

const sites = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${name}${i}`);

test('names that nobody answers for keep no other site waiting, and are said to be what they are', async () => {
  const server = await serve((_request, response) => response.end('page'));
  let aheadMs = 0;
  const clock = {
    nowMs: () => systemClock.nowMs() + aheadMs,
    // The limits of a real wait, a hundred times as fast.
    sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / 100, signal),
  };
  const lookedUp: string[] = [];
  const resolve = (name: string): Promise<ResolvedAddress[]> => {
    lookedUp.push(name);
    return name.startsWith('dead') ? new Promise(() => {}) : Promise.resolve([{ address: '127.0.0.1', family: 4 }]);
  };
  const observer = observerOn({ clock, resolve });
  onTestFinished(() => observer.close().then(() => server.close()));
  const look = (name: string) => observer.observe(probeOf(`http://${name}.example:${server.port}/`));
  await Promise.all(sites('live', 6).map(look));

  const dead = Promise.all(sites('dead', 24).map(look));
  for (let round = 0; round < 3; round++) {
    aheadMs += 61_000;
    for (const { outcome } of await Promise.all(sites('live', 6).map(look))) expect(outcome.kind).toBe('fetched');
  }
  expect(lookedUp.filter((name) => name === 'live0.example')).toHaveLength(4);
  for (const { outcome, probe } of await dead) {
    const { host } = new URL(probe.url);
    expect(outcome).toMatchObject({ fault: { code: 'dns-failed' } });
    expect('fault' in outcome && outcome.fault.sentence).toContain(`${host}: no name server answered for it in time`);
  }
});
