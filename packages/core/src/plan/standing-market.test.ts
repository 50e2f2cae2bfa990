import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Demand, clear } from './market.ts';
import { type Profile, profile } from '../time/profile.ts';
import { weekSeconds, weekShape } from '../time/week.ts';
import { type Asks, fadingOf, lossAt } from '../loss/fading.ts';
import { random } from '../simulate/random.ts';
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

  test('sites that stand on one server share its cap: every limit is kept, and the bound proves that nothing better can be had', () => {
    const cap = fc.constantFrom(Infinity, 0.7, 0.1);
    let bound = 0;
    fc.assert(
      fc.property(
        fc.array(page, { minLength: 3, maxLength: 12 }),
        fc.array(cap, { minLength: 3, maxLength: 3 }),
        fc.constantFrom(0.2, 0.8, 2),
        fc.double({ min: 0.05, max: 20, noNaN: true }),
        (pages, caps, serverCap, budget) => {
          const market = new StandingMarket();
          caps.forEach((most, site) => market.setCap(site, most));
          pages.forEach(({ scale, site, spacing }, i) => market.set(i, scale, site, spacing));
          // The third stood there once.
          for (const site of [0, 1, 2]) market.standAt(site, 7, serverCap);
          market.standAt(2, undefined);
          const standing = market.clear(budget);
          const looks = [0, 0, 0];
          pages.forEach(({ site }, i) => (looks[site]! += 1 / market.every(i, standing)));
          const exact = 1 + 1e-6;
          expect(looks[0]! + looks[1]! + looks[2]!).toBeLessThanOrEqual(budget * exact);
          expect(looks[0]! + looks[1]!).toBeLessThanOrEqual(serverCap * exact);
          caps.forEach((most, site) => expect(looks[site]).toBeLessThanOrEqual(most * exact));
          expect(standing.lowerBound / standing.loss).toBeCloseTo(1, 5);
          const dear = new Map(standing.dearSites.map(({ site, looksPerSecond }) => [site, looksPerSecond]));
          for (const [site, many] of dear) expect(many / looks[site]!).toBeCloseTo(1, 6);
          if (dear.has(0) && dear.has(1) && looks[0]! < caps[0]! / exact) bound++;
        },
      ),
      { seed: 7, numRuns: 200 },
    );
    expect(bound).toBeGreaterThan(20);
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

  test('a limit as large as the budget leaves the price that the budget has', () => {
    for (const budget of Array.from({ length: 50 }, (_, i) => 0.1 * (i + 1))) {
      const market = new StandingMarket();
      for (let i = 0; i < 3; i++) market.set(i, 1e-4 * (i + 1), 0);
      const { price } = market.clear(budget);
      market.setCap(0, budget);
      expect(market.clear(budget).price / price).toBeCloseTo(1, 9);
    }
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

  test('every page by its own loss: the budget is kept, the bound is below, and a hundred kinds are as good as looking page by page', () => {
    const luck = random(12);
    const asks: readonly Asks[] = [
      {},
      { loss: 'staleness' },
      { life: { kind: 'overwrite' }, urgency: { kind: 'decay', rate: 0.7 } },
      { life: { kind: 'changes', count: 3 } },
      { urgency: { kind: 'polynomial', power: 1 } },
    ];
    const market = new StandingMarket();
    const pages = Array.from({ length: 400 }, (_, i) => {
      const rate = 10 ** (3 * luck() - 3) / 3_600;
      const weight = 1 + Math.floor(4 * luck());
      const fading = fadingOf(rate, weight, asks[i % asks.length]!);
      market.set(i, rate * weight, i % 7, 0, fading);
      return { rate, weight, fading };
    });
    market.setCap(3, 6 / 3_600);
    for (const perHour of [20, 100, 400]) {
      const budget = perHour / 3_600;
      const standing = market.clear(budget);
      let [looks, loss] = [0, 0];
      pages.forEach(({ rate, weight, fading }, i) => {
        const every = market.every(i, standing);
        looks += 1 / every;
        loss += fading ? fading.b * lossAt(fading.fading, fading.a * every) : (rate * weight * every) / 2;
      });
      expect(looks / budget).toBeCloseTo(1, 3);
      expect(loss).toBeLessThanOrEqual(standing.loss * (1 + 1e-9));
      expect(standing.lowerBound).toBeLessThanOrEqual(loss);
      expect(standing.loss / standing.lowerBound).toBeLessThan(1.001);
      // One more look saves the price, whatever it is spent on.
      const more = market.clear(budget * 1.001);
      expect((standing.loss - more.loss) / (0.001 * budget) / standing.price).toBeCloseTo(1, 1);
    }
    // A page that is taken out and put back leaves the market as it was.
    const before = market.prices(100 / 3_600).price;
    for (const i of [1, 2, 3, 4]) market.remove(i);
    for (const i of [1, 2, 3, 4]) market.set(i, pages[i]!.rate * pages[i]!.weight, i % 7, 0, pages[i]!.fading);
    expect(market.prices(100 / 3_600).price / before).toBeCloseTo(1, 9);
  });

  test('where nobody is worth a look at any price that spends the budget, the price is low and nothing fails', () => {
    const market = new StandingMarket();
    for (let i = 0; i < 5; i++) market.set(i, 1e-6, 0, 0, fadingOf(1e-6, 1, { loss: 'staleness' }));
    const standing = market.clear(1);
    expect(standing.looksPerSecond).toBeCloseTo(1, 6);
    expect(standing.loss / standing.lowerBound).toBeLessThan(1.001);
    market.set(0, 1e6, 0, 0, fadingOf(1e6, 1, { loss: 'staleness' }));
    expect(market.every(0, market.prices(1e-7))).toBe(Infinity);
  });
});
