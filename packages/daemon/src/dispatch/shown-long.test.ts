/** A page in the browser may take a minute; what else its site has is looked at meanwhile. */
import { policies } from '@revisit/core';
import { expect, test } from 'vitest';
import { memoryStore } from '../simulation/index.ts';
import { poissonLaw } from '../simulation/simulated-web.ts';
import { createWorld, startLoop } from '../simulation/world.ts';
import type { Observation, Observer } from '../values/observation.ts';
import type { Probe } from '../values/probe.ts';

const startMs = Date.UTC(2026, 0, 5);
const shownForMs = 60_000;

test('others of its site are looked at while a page is shown for a minute, spaced, and it is told of when it ends', async () => {
  const store = memoryStore();
  const page = (path: string, render: boolean) => ({
    url: `https://a.example/${path}`,
    site: 'a.example',
    law: poissonLaw(1e9),
    settings: render ? { render } : {},
  });
  const world = await createWorld({ seed: 1, startMs, store, pages: [page('shown', true), page('plain', false)] });
  const { clock } = world;
  const asked: { readonly path: string; readonly atMs: number }[] = [];
  const observer: Observer = {
    observe: async (probe: Probe): Promise<Observation> => {
      const startedAtMs = clock.nowMs();
      asked.push({ path: new URL(probe.url).pathname, atMs: startedAtMs });
      if (probe.render) await clock.sleep(shownForMs);
      const body = new TextEncoder().encode('<p>the page</p>');
      const about = { mediaType: 'text/html', charset: 'utf-8', validators: {} };
      const took = { startedAtMs, endedAtMs: clock.nowMs(), latencyMs: 1, bytesReceived: 1, requests: 1 };
      return { probe, ...took, outcome: { kind: 'fetched', status: 200, body, ...about } };
    },
    close: () => Promise.resolve(),
  };
  const settings = { looksPerSecond: 0.2, spacingMs: 2_000, robots: 4, queueMax: 100 };
  const loop = await startLoop(world, policies['uniform']!.create(1), settings, undefined, { observer });
  void loop.run(new AbortController().signal);
  await clock.runUntil(startMs + 600_000);
  const shown = asked.filter(({ path }) => path === '/shown');
  expect(shown.length).toBeGreaterThan(5);
  for (const { atMs } of shown.slice(0, -1)) {
    const meanwhile = asked.filter(
      (each) => each.path === '/plain' && each.atMs > atMs && each.atMs < atMs + shownForMs,
    );
    expect(meanwhile.length).toBeGreaterThan(1);
  }
  const gaps = asked.slice(1).map(({ atMs }, n) => atMs - asked[n]!.atMs);
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(2_000);
  expect(loop.counts().inFlight).toBeLessThan(3);
  loop.die();
  const kept = (await store.pages({ limit: 10 })).map(({ state }) => state.looks);
  expect(Math.min(...kept)).toBeGreaterThan(4);
  await store.close();
});
