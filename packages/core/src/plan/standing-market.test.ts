import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Demand, clear } from './market.ts';
import { type Profile, profile } from '../time/profile.ts';
import { weekSeconds, weekShape } from '../time/week.ts';
import { StandingMarket } from './standing-market.ts';
import { steadyCurve } from './steady-curve.ts';
import { steadyShape } from './steady-shape.ts';

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

/** ∫ Λ(s, t) dt over (s, f] in steps of an hour and less. */
function pending(week: Profile, s: number, f: number): number {
  let [sum, waiting] = [0, 0];
  for (let t = s; t < f;) {
    const end = Math.min(f, (Math.floor(t / 3_600) + 1) * 3_600);
    const rate = week.values[Math.floor(t / 3_600) % 168]!;
    sum += waiting * (end - t) + (rate * (end - t) ** 2) / 2;
    waiting += rate * (end - t);
    t = end;
  }
  return sum;
}

const page = fc.record({
  scale: fc.double({ min: 1e-4, max: 10, noNaN: true }),
  site: fc.integer({ min: 0, max: 2 }),
  spacing: fc.constantFrom(0, 0, 0.5, 3),
});

/** Busy on weekdays around one o'clock. */
const working: Profile = weekShape(
  profile(
    Array.from({ length: 169 }, (_, i) => i * 3_600),
    Array.from({ length: 168 }, (_, i) => (i < 120 ? 1 : 0.3) * (0.2 + 1.8 * Math.exp(-(((i % 24) - 13) ** 2) / 18))),
    weekSeconds,
  ),
);

describe('standing market', () => {
  test('a week: the plan at the price costs what the market says, keeps the budget, and is within 1 % of the bound', () => {
    const market = new StandingMarket();
    const perDay = Array.from({ length: 14 }, (_, i) => 0.05 * 1.5 ** i);
    perDay.forEach((rate, i) => market.set(i, rate / 86_400, i % 5));
    const budget = 30 / 86_400;
    const standing = market.clear(budget, steadyCurve(working));
    expect(standing.looksPerSecond / budget).toBeCloseTo(1, 9);
    expect(standing.lowerBound).toBeLessThan(standing.loss);
    expect(standing.loss / standing.lowerBound).toBeLessThan(1.01);
    // The steady schedule itself, followed for a year.
    const steady = steadyShape(working, profile([0, 1], [1], 1));
    const year = 52 * weekSeconds;
    let [looks, loss] = [0, 0];
    for (const rate of perDay) {
      const scale = rate / 86_400;
      let at = 0;
      for (;;) {
        const next = steady.next(at, standing.price / scale);
        if (!(next <= year)) break;
        loss += (scale * pending(working, at, next)) / year;
        looks += 1 / year;
        at = next;
      }
      loss += (scale * pending(working, at, year)) / year;
    }
    expect(Math.abs(looks / budget - 1)).toBeLessThan(0.03);
    expect(Math.abs(loss / standing.loss - 1)).toBeLessThan(0.03);
    expect(loss + standing.price * (looks - budget)).toBeGreaterThan(0.999 * standing.lowerBound);
    // Knowing the week is worth a tenth here.
    const even = new StandingMarket();
    perDay.forEach((rate, i) => even.set(i, rate / 86_400, i % 5));
    expect(standing.loss / even.clear(budget).loss).toBeLessThan(0.93);
  });

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
