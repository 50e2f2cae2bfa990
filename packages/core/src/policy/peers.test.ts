import { expect, test } from 'vitest';
import { cho, lambdacrawl, lambdacrawlBinary, uniform } from './allocations.ts';
import { IntervalPolicy, type IntervalRule } from './interval-policy.ts';
import { heritrix, miniflux, nutch, stormcrawler } from './peer-rules.ts';
import { random } from '../simulate/random.ts';

const list = (values: Float64Array, digits: number) => [...values].map((value) => Number(value.toFixed(digits)));

test('LambdaCrawl gives the published rates', () => {
  const weights = Float64Array.of(1, 1, 2, 5, 10);
  const rates = Float64Array.of(0.1, 1, 0.5, 3, 0.05);
  const harmonic = lambdacrawl(rates, weights, 1);
  [0.065177, 0.098045, 0.162501, 0.465924, 0.208353].forEach((rate, i) => expect(harmonic[i]).toBeCloseTo(rate, 4));
  const binary = lambdacrawlBinary(rates, weights, 1);
  [0.149386, 0, 0.288628, 0.054342, 0.507644].forEach((rate, i) => expect(binary[i]).toBeCloseTo(rate, 5));
});

test("Cho and Garcia-Molina's five pages give the published rates", () => {
  expect(list(cho(Float64Array.of(1, 2, 3, 4, 5), new Float64Array(5).fill(1), 5), 2)).toEqual([
    1.15, 1.36, 1.35, 1.14, 0,
  ]);
});

test('allocations spend the whole budget, and freshness is never below uniform', () => {
  const next = random(5);
  for (let round = 0; round < 200; round++) {
    const n = 1 + Math.floor(next() * 12);
    const rates = Float64Array.from({ length: n }, () => Math.exp(8 * next() - 4));
    const weights = Float64Array.from({ length: n }, () => 0.2 + next());
    const budget = Math.exp(4 * next() - 2);
    const fresh = (shares: Float64Array): number =>
      shares.reduce((sum, f, i) => sum + (f > 0 ? (weights[i]! * f * -Math.expm1(-rates[i]! / f)) / rates[i]! : 0), 0);
    for (const allocate of [uniform, lambdacrawl, lambdacrawlBinary, cho]) {
      const shares = allocate(rates, weights, budget);
      expect(shares.reduce((a, b) => a + b, 0)).toBeCloseTo(budget, 8);
      expect(Math.min(...shares)).toBeGreaterThanOrEqual(0);
      expect(fresh(cho(rates, weights, budget))).toBeGreaterThanOrEqual(fresh(shares) - 1e-9);
    }
  }
});

/** Looks at one page as the rule wants, with the given outcomes; the waits in hours. */
function waits(rule: IntervalRule, outcomes: readonly boolean[], scale = 1): number[] {
  const policy = new IntervalPolicy(rule, scale);
  policy.watch({ page: 0, site: 0, folder: 0, weight: 1, spacingSeconds: 0 }, 0);
  policy.started(0);
  policy.looked(0, 0, { kind: 'first' });
  let now = 0;
  return [undefined, ...outcomes].map((changed) => {
    if (changed !== undefined) {
      policy.started(0);
      policy.looked(0, now, { kind: changed ? 'changed' : 'unchanged' });
    }
    const wait = policy.next()!.at - now;
    now += wait;
    return Number((wait / 3600).toFixed(4));
  });
}

test('the interval rules are the peers’', () => {
  expect(waits(heritrix, [false, false, true])).toEqual([24, 36, 54, 36]);
  expect(waits(stormcrawler, [false, true, true])).toEqual([24, 36, 18.5, 9.75]);
  expect(waits(miniflux, [true, true])).toEqual([24, 24, 24]);
  // Unchanged after 30 days: the interval is 42 days, 30 days have passed since the change that was assumed at the start.
  expect(waits(nutch, [false, true])).toEqual([720, 792, 806.4]);
  expect(waits(heritrix, [false, false, true], 0.5)).toEqual([12, 18, 27, 18]);
});

test('interval rules go on after a restart where they were', () => {
  const day = 86_400;
  for (const rule of [nutch, stormcrawler, heritrix, miniflux]) {
    const next = random(3);
    const page = { page: 0, site: 0, folder: 0, weight: 1, spacingSeconds: 0 };
    const before = new IntervalPolicy(rule);
    before.watch(page, 0);
    before.looked(0, 0, { kind: 'first' });
    let now = 0;
    const look = (policy: IntervalPolicy, changed: boolean): void => {
      policy.started(0);
      policy.looked(0, now, { kind: changed ? 'changed' : 'unchanged' });
    };
    for (let i = 0; i < 5; i++) {
      now = before.due(0);
      look(before, next() < 0.5);
    }
    const saved = before.save(0);
    expect(saved.length).toBeLessThanOrEqual(64);
    const after = new IntervalPolicy(rule);
    after.watch(page, now + 60);
    expect(after.restore(0, saved, now + 60)).toBe(true);
    expect(after.due(0)).toBeCloseTo(before.due(0), 6);
    for (let i = 0; i < 6; i++) {
      now = before.due(0);
      const changed = next() < 0.5;
      look(before, changed);
      look(after, changed);
      expect(after.due(0)).toBeCloseTo(before.due(0), 3);
    }
    expect(after.restore(0, new Uint8Array(57), now)).toBe(false);
    // A clock that was years ahead does not put the page off for years.
    const ahead = new IntervalPolicy(rule);
    ahead.watch(page, now - 4000 * day);
    ahead.restore(0, before.save(0), now - 4000 * day);
    expect(ahead.due(0)).toBeLessThan(now - 4000 * day + 366 * day);
  }
});
