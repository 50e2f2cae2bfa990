/** What lies in the operator's own settings is not held against a site, and is tried anew with the next start. */
import { policies, random } from '@revisit/core';
import { expect, test } from 'vitest';
import { detector } from '../daemon.ts';
import { Desk } from '../desk.ts';
import { Loop } from '../loop.ts';
import type { Answer, Ask } from '../observe/ask.ts';
import { createObserver } from '../observe/observe.ts';
import { memoryStore } from '../simulation/index.ts';
import { VirtualClock } from '../simulation/virtual-clock.ts';
import { usualSettings } from '../values/page.ts';

const startMs = Date.UTC(2026, 0, 5);

test.each(['address-refused', 'proxy-failed'])(
  'what %s kept from being asked for is asked for once the settings allow it',
  async (code) => {
    const store = memoryStore();
    const clock = new VirtualClock(startMs);
    let allowed = false;
    const fetchPage = async ({ url }: Ask): Promise<Answer> => {
      const askedAtMs = clock.nowMs();
      await clock.sleep(50);
      if (!allowed) return { kind: 'failed', fault: { code, sentence: code }, bytesReceived: 0 };
      const times = { askedAtMs, answeredAtMs: clock.nowMs() };
      return {
        kind: 'answered',
        url,
        status: 200,
        headers: {},
        body: Buffer.from('words'),
        bytesReceived: 5,
        ...times,
      };
    };
    const begin = async () => {
      const common = { clock, random: random(3), spacingMs: 1_000 };
      const observer = createObserver({ ...common, userAgent: 'Revisit', allowNetworks: [], fetchPage });
      const parts = { ...common, store, observer, policy: policies['revisit']!.create(1), detect: detector(store) };
      const settings = { looksPerSecond: 0.2, spacingMs: 1_000, robots: 8, queueMax: 64 };
      const loop = new Loop({ ...parts, log: () => {} }, settings);
      await loop.load();
      const stop = new AbortController();
      const ended = loop.run(stop.signal);
      const end = async () => {
        stop.abort();
        await clock.runUntil(Infinity, ended);
      };
      return { end };
    };
    await new Desk(store, clock, () => {}).add([
      { url: 'https://inside.example/', site: 'inside.example', ...usualSettings },
    ]);
    const before = await begin();
    await clock.runUntil(startMs + 600_000);
    await before.end();
    const state = async () => (await store.pages({ limit: 1 }))[0]!.state;
    expect(await state()).toMatchObject({ status: 'new', fault: { code } });

    allowed = true;
    const restartMs = clock.nowMs();
    const after = await begin();
    await clock.runUntil(restartMs + 120_000);
    expect(await state()).toMatchObject({ status: 'present', version: 1 });
    await after.end();
  },
);
