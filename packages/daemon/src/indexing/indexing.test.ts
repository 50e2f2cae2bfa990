import { policies } from '@revisit/core';
import { expect, test } from 'vitest';
import { createWorld, memoryStore, poissonLaw, startLoop } from '../simulation/index.ts';
import { calmSite } from '../simulation/simulated-web.ts';

const pages = Array.from({ length: 1_000 }, (_, n) => {
  const site = `site${n % 100}.example`;
  return { url: `https://${site}/page/${n}`, site, law: poissonLaw(86_400_000) };
});

/** How many looks each transaction keeps in the second sweep, when it is known how fast answers come. */
async function transactions(latencyMeanMs: number): Promise<readonly number[]> {
  const store = memoryStore();
  const sizes: number[] = [];
  const siteLaw = () => ({ ...calmSite, latencyMeanMs });
  const world = await createWorld({ seed: 1, startMs: Date.UTC(2026, 0, 5), store, pages, siteLaw });
  const commit = store.commit.bind(store);
  store.commit = (looks) => {
    sizes.push(looks.length);
    return commit(looks);
  };
  const settings = { looksPerSecond: 1e6, spacingMs: 0, robots: 64, queueMax: 4096 };
  const loop = await startLoop(world, policies['uniform']!.create(1), settings);
  for (let sweep = 0; sweep < 2; sweep++) {
    sizes.length = 0;
    const swept = loop.sweep(new AbortController().signal, true);
    await world.clock.runUntil(Infinity, swept);
    await swept;
  }
  return sizes;
}

const sum = (sizes: readonly number[]) => sizes.reduce((all, size) => all + size, 0);

test('answers that come by the millisecond are kept together', async () => {
  const sizes = await transactions(5);
  expect(sum(sizes)).toBe(pages.length);
  // In 50 ms there come hundreds; those of the last moments are kept as they come.
  expect(Math.max(...sizes)).toBeGreaterThan(200);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(512);
  expect(sizes.length).toBeLessThan(40);
});

test('answers that take their time are kept as they come', async () => {
  const sizes = await transactions(1_000);
  expect(sum(sizes)).toBe(pages.length);
  expect(Math.max(...sizes)).toBeLessThan(20);
});
