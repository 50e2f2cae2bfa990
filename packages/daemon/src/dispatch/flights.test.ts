import { policies, random } from '@revisit/core';
import { expect, test } from 'vitest';
import { siteSettings } from '../config/site-rules.ts';
import { detector } from '../daemon.ts';
import { Desk } from '../desk.ts';
import { Loop } from '../loop.ts';
import type { Answer, Ask } from '../observe/ask.ts';
import { createObserver } from '../observe/observe.ts';
import { memoryStore } from '../simulation/index.ts';
import { VirtualClock } from '../simulation/virtual-clock.ts';
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
