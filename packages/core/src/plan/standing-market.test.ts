import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Demand, clear } from './market.ts';
import { StandingMarket } from './standing-market.ts';

/** The same page as the general market sees it. */
function evenDemand(spacing: number): Demand {
  const every = (ratio: number): number => Math.max(spacing, Math.sqrt(2 * ratio));
  return {
    whole: false,
    looks: (ratio) => 1 / every(ratio),
    loss: (looks) => (looks > 0 ? 1 / (2 * looks) : Infinity),
    value: (ratio) => every(ratio) / 2 + ratio / every(ratio),
  };
}

const page = fc.record({
  scale: fc.double({ min: 1e-4, max: 10, noNaN: true }),
  site: fc.integer({ min: 0, max: 2 }),
  spacing: fc.constantFrom(0, 0, 0.5, 3),
});

describe('standing market', () => {
  test('agrees with the general market, and its bound with its loss', () => {
    fc.assert(
      fc.property(
        fc.array(page, { minLength: 1, maxLength: 12 }),
        fc.tuple(fc.constantFrom(Infinity, 0.7), fc.constantFrom(Infinity, 2), fc.constant(Infinity)),
        fc.double({ min: 0.05, max: 20, noNaN: true }),
        (pages, caps, budget) => {
          const market = new StandingMarket();
          caps.forEach((cap, site) => market.setCap(site, cap));
          pages.forEach(({ scale, site, spacing }, i) => market.set(i, scale, site, spacing));
          const standing = market.clear(budget);
          const general = clear({
            demand: pages.map((_, i) => i),
            demands: pages.map(({ spacing }) => evenDemand(spacing)),
            scale: Float64Array.from(pages, ({ scale }) => scale),
            site: Int32Array.from(pages, ({ site }) => site),
            caps: Float64Array.from(caps),
            budget,
          });
          expect(standing.looksPerSecond).toBeLessThanOrEqual(budget * (1 + 1e-9));
          expect(standing.loss / general.loss).toBeCloseTo(1, 6);
          expect(standing.lowerBound / standing.loss).toBeCloseTo(1, 6);
          const every = pages.map((_, i) => market.every(i, standing));
          expect(every.reduce((sum, gap, i) => sum + (pages[i].scale * gap) / 2, 0) / standing.loss).toBeCloseTo(1, 9);
          every.forEach((gap, i) => expect(gap).toBeGreaterThanOrEqual(pages[i].spacing));
        },
      ),
      { seed: 12, numRuns: 150 },
    );
  });

  test('a page’s new model takes the place of the old one', () => {
    const market = new StandingMarket();
    for (let i = 0; i < 100; i++) market.set(i, 1 / (i + 1), i % 7);
    const before = market.clear(5);
    for (let i = 0; i < 100; i++) market.set(i, 3, (i + 1) % 7, 1);
    market.set(100, 5, 2);
    market.remove(100);
    market.remove(100);
    for (let i = 0; i < 100; i++) market.set(i, 1 / (i + 1), i % 7);
    const after = market.clear(5);
    expect(after.price / before.price).toBeCloseTo(1, 9);
    expect(market.pages).toBe(100);
  });

  test('no pages, no changes, no budget', () => {
    expect(new StandingMarket().clear(1)).toMatchObject({ price: 0, loss: 0, looksPerSecond: 0 });
    const still = new StandingMarket();
    still.set(0, 0, 0);
    expect(still.every(0, still.clear(1))).toBe(Infinity);
    const poor = new StandingMarket();
    poor.set(0, 1, 0);
    expect(poor.clear(0).price).toBe(Infinity);
  });

  test('the whole spacing of one site is worth more than its cap allows: only that site is dear', () => {
    const market = new StandingMarket();
    market.setCap(0, 0.1);
    for (let i = 0; i < 50; i++) market.set(i, 1, i < 40 ? 0 : 1);
    const { dearSites, looksPerSecond } = market.clear(2);
    expect(dearSites.map(({ site }) => site)).toEqual([0]);
    expect(looksPerSecond).toBeCloseTo(2, 9);
    expect(market.every(0, market.clear(2))).toBeCloseTo(400, 6);
    expect(market.every(45, market.clear(2))).toBeCloseTo(10 / 1.9, 6);
  });
});
