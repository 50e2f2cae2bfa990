import { policies, random } from '@revisit/core';
import { expect, test } from 'vitest';
import { detector } from './daemon.ts';
import { Desk } from './desk.ts';
import { Loop } from './loop.ts';
import type { Answer, Ask } from './observe/ask.ts';
import { createObserver } from './observe/observe.ts';
import { memoryStore } from './simulation/index.ts';
import { VirtualClock } from './simulation/virtual-clock.ts';
import type { Observer } from './values/observation.ts';
import { usualSettings } from './values/page.ts';

const startMs = Date.UTC(2026, 0, 5);
const hosts = ['a.example', 'b.example', 'c.example'];

/** Ten minutes with more budget than the server's spacing lets out; answers when what left and when it was asked for. */
async function lookedAt(address: string, spacingMs: number) {
  const store = memoryStore();
  const clock = new VirtualClock(startMs);
  const luck = random(1);
  const asked: number[] = [];
  const fetchPage = async ({ url }: Ask): Promise<Answer> => {
    const askedAtMs = clock.nowMs();
    asked.push(askedAtMs);
    await clock.sleep(20 + 80 * luck());
    const status = url.pathname === '/robots.txt' ? 404 : 200;
    const times = { askedAtMs, answeredAtMs: clock.nowMs() };
    return { kind: 'answered', url, status, headers: {}, body: Buffer.from('x'), bytesReceived: 1, ...times };
  };
  const web = createObserver({
    clock,
    random: luck,
    userAgent: 'Revisit',
    allowNetworks: ['10.0.0.0/8'],
    spacingMs,
    resolve: () => Promise.resolve([{ address, family: 4 }]),
    fetchPage,
  });
  /** How long the wire kept probes that left. */
  const held: { readonly atMs: number; readonly forMs: number }[] = [];
  const observer: Observer = {
    ...web,
    observe: async (probe) => {
      const atMs = clock.nowMs();
      const observation = await web.observe(probe);
      held.push({ atMs, forMs: observation.startedAtMs - atMs });
      return observation;
    },
  };
  await new Desk(store, clock, () => {}).add(
    hosts.flatMap((site) => [1, 2, 3].map((n) => ({ url: `https://${site}/${n}`, site, ...usualSettings }))),
  );
  const policy = policies['uniform']!.create(1);
  const parts = { clock, random: luck, store, observer, policy, detect: detector(store), log: () => {} };
  const loop = new Loop(parts, { looksPerSecond: 20, spacingMs, robots: 16, queueMax: 64 });
  await loop.load();
  void loop.run(new AbortController().signal);
  await clock.runUntil(startMs + 600_000);
  loop.die();
  await store.close();
  return { asked, held };
}

test.each([
  ['10.0.0.5', 2_000],
  ['93.184.216.34', 200],
])(
  'names that share the server at %s leave as it is spaced, and the wire has nothing to keep back',
  async (address, spacingMs) => {
    const { asked, held } = await lookedAt(address, spacingMs);
    const gaps = asked.slice(1).map((atMs, i) => atMs - asked[i]!);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(spacingMs);
    // It is asked about as often as it may be: nobody waits for longer than the spacing wants.
    expect(asked.length).toBeGreaterThan(600_000 / (spacingMs + 200));
    const known = held.filter(({ atMs }) => atMs > startMs + 60_000);
    expect(known.length).toBeGreaterThan(100);
    expect(known.filter(({ forMs }) => forMs > 0)).toEqual([]);
  },
);
