import { policies, random } from '@revisit/core';
import { expect, test } from 'vitest';
import { siteSettings } from '../config/site-rules.ts';
import { detector } from '../daemon.ts';
import { Desk } from '../desk.ts';
import { Loop } from '../loop.ts';
import type { Answer, Ask } from '../observe/ask.ts';
import { createObserver } from '../observe/observe.ts';
import { createWorld, memoryStore, poissonLaw, startLoop } from '../simulation/index.ts';
import { VirtualClock } from '../simulation/virtual-clock.ts';
import type { Observation, Observer } from '../values/observation.ts';
import { usualSettings } from '../values/page.ts';

const startMs = Date.UTC(2026, 0, 5, 1);
const hourMs = 3_600_000;

test('a probe that politeness keeps back counts as sent when it has asked, and once', async () => {
  const store = memoryStore();
  const clock = new VirtualClock(startMs);
  const fetchPage = ({ url }: Ask): Promise<Answer> => {
    const times = { askedAtMs: clock.nowMs(), answeredAtMs: clock.nowMs() };
    const status = url.pathname === '/robots.txt' ? 404 : 200;
    return Promise.resolve({
      kind: 'answered',
      url,
      status,
      headers: {},
      body: Buffer.from('x'),
      bytesReceived: 1,
      ...times,
    });
  };
  const common = { clock, random: random(3), siteRules: siteSettings({ 'quiet.example': { quiet: ['22:00-07:00'] } }) };
  const observer = createObserver({ ...common, userAgent: 'Revisit', allowNetworks: [], spacingMs: 1_000, fetchPage });
  const parts = { ...common, store, observer, policy: policies['uniform']!.create(1), detect: detector(store) };
  const loop = new Loop(
    { ...parts, log: () => {} },
    { looksPerSecond: 1e-4, spacingMs: 1_000, robots: 8, queueMax: 64 },
  );
  const site = 'quiet.example';
  await new Desk(store, clock, () => {}).add([{ url: `https://${site}/`, site, ...usualSettings }]);
  await loop.load();
  void loop.run(new AbortController().signal);
  await clock.runUntil(startMs + hourMs);
  expect(loop.counts()).toMatchObject({ sent: 0, sentLastHour: 0, kept: 0 });
  while (loop.counts().kept === 0 && clock.nowMs() < startMs + 12 * hourMs) await clock.runUntil(clock.nowMs() + 1_000);
  expect(loop.counts()).toMatchObject({ sent: 1, sentLastHour: 1, kept: 1 });
  loop.die();
  await store.close();
});

test.each([
  ['kept back at the wire', 'site-busy', 0],
  ['lost with its robot', 'robot-lost', 1],
])('a probe %s whose page was removed meanwhile is over', async (_, code, requests) => {
  const store = memoryStore();
  const page = { url: 'https://a.example/', site: 'a.example', law: poissonLaw(hourMs) };
  const world = await createWorld({ seed: 1, startMs, store, pages: [page] });
  const { clock } = world;
  let desk: Desk | undefined;
  const observer: Observer = {
    close: () => world.web.close(),
    observe: async (probe): Promise<Observation> => {
      await desk!.remove(probe.pageIds);
      const took = { startedAtMs: clock.nowMs(), endedAtMs: clock.nowMs(), bytesReceived: 0, requests };
      const siteUntilMs = clock.nowMs() + 60_000;
      return { probe, ...took, outcome: { kind: 'refused', fault: { code, sentence: 'Not now.' }, siteUntilMs } };
    },
  };
  const settings = { looksPerSecond: 1, spacingMs: 1_000, robots: 4, queueMax: 64 };
  const loop = await startLoop(world, policies['uniform']!.create(1), settings, undefined, { observer });
  desk = new Desk(store, clock, () => {}, loop);
  void loop.run(new AbortController().signal);
  await clock.runUntil(startMs + hourMs);
  expect(await store.counts()).toMatchObject({ pages: 0 });
  expect(await store.unfinished()).toEqual([]);
  loop.die();
  await store.close();
});
