import { policies } from '@revisit/core';
import { expect, test } from 'vitest';
import { memoryStore } from '../simulation/index.ts';
import { poissonLaw, SimulatedWeb } from '../simulation/simulated-web.ts';
import { createWorld, startLoop } from '../simulation/world.ts';
import type { Observer } from '../values/observation.ts';

const startMs = Date.UTC(2026, 0, 5);
const minuteMs = 60_000;

test.each(['uniform', 'revisit'])(
  'with %s, a page that its robot may not visit is tried less and less often, and seen once one may',
  async (policy) => {
    const inner = memoryStore();
    const pages = [{ url: 'https://a.example/', site: 'a.example', law: poissonLaw(Number.MAX_SAFE_INTEGER) }];
    const world = await createWorld({ seed: 1, startMs, store: inner, pages });
    const { clock, web } = world;
    const tried: number[] = [];
    let mayVisit = false;
    const observer = Object.assign(Object.create(web) as SimulatedWeb, {
      observe: (probe) => {
        tried.push(clock.nowMs());
        if (mayVisit) return web.observe(probe);
        const times = { startedAtMs: clock.nowMs(), endedAtMs: clock.nowMs() };
        const fault = { code: 'address-refused', sentence: 'a.example leads to 10.0.0.1' };
        const outcome = { kind: 'refused', fault, onlyHere: true } as const;
        return Promise.resolve({ probe, ...times, outcome, bytesReceived: 0, requests: 0 });
      },
    } satisfies Pick<Observer, 'observe'>);
    const settings = { looksPerSecond: 1, spacingMs: 100, robots: 2, queueMax: 16 };
    const loop = await startLoop(world, policies[policy]!.create(1), settings, undefined, { observer });
    void loop.run(new AbortController().signal);
    await clock.runUntil(startMs + 60 * minuteMs);
    // Seconds apart at first, ten minutes and more at last.
    expect(tried.length).toBeLessThan(16);
    expect(tried[1]! - tried[0]!).toBeLessThan(30_000);
    expect(tried.at(-1)! - tried.at(-2)!).toBeGreaterThanOrEqual(10 * minuteMs);
    mayVisit = true;
    await clock.runUntil(clock.nowMs() + 15 * minuteMs);
    expect((await world.store.pages({ limit: 1 }))[0]!.state).toMatchObject({ status: 'present', failures: 0 });
    loop.die();
    await inner.close();
  },
);
