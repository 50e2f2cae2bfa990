import fc from 'fast-check';
import loadHighs from 'highs';
import { describe, expect, test } from 'vitest';
import { type AgeChain, ageChain, agesAfter, changedSince, dayAgeChain, stepsStale } from '../model/age-chain.ts';
import { integer, random } from '../simulate/random.ts';
import { type HorizonLoss, type HorizonPage, costCells, costIndex, gapCosts } from './horizon-costs.ts';
import { planByPrices, planHorizon, planStrategies } from './horizon.ts';
import { observeGreedily } from './observe-greedy.ts';

const seeds = fc.integer({ min: 0, max: 2 ** 31 });
const losses: readonly HorizonLoss[] = ['stale', 'days-stale'];
// The package's types describe a module that its CommonJS form is not.
const load = loadHighs as unknown as () => Promise<{ solve(model: string): { ObjectiveValue: number } }>;
const highs = await load();

function randomPage(next: () => number): HorizonPage {
  return {
    chain: ageChain(Array.from({ length: 1 + integer(next, 4) }, () => (next() < 0.1 ? integer(next, 2) : next()))),
    age: integer(next, 5),
    since: 1 + integer(next, 4),
    weight: next() < 0.5 ? 1 : next(),
  };
}

/** The cost of one strategy by following the page day by day through every age it may be found at. */
function costByDefinition(
  page: HorizonPage,
  strategy: number,
  days: number,
  discount: number,
  loss: HorizonLoss,
): number {
  const follow = (day: number, age: number, since: number): number => {
    if (day > days) return 0;
    const size = age + since + 1;
    const wide: AgeChain = { ...page.chain, ages: Math.max(size, page.chain.ages) };
    if (strategy & (1 << (day - 1))) {
      let sum = 0;
      agesAfter(wide, age, since).forEach((mass, found) => {
        if (mass > 0) sum += mass * follow(day + 1, found, 1);
      });
      return sum;
    }
    const value = loss === 'stale' ? changedSince(page.chain, age, since) : stepsStale(page.chain, age, since);
    return discount ** (day - 1) * value + follow(day + 1, age, since + 1);
  };
  return page.weight * follow(1, page.age, page.since);
}

function costsOf(pages: readonly HorizonPage[], days: number, discount: number, loss: HorizonLoss): Float64Array[] {
  return pages.map((page) =>
    Float64Array.from({ length: 1 << days }, (_, strategy) => costByDefinition(page, strategy, days, discount, loss)),
  );
}

function optimumByHighs(costs: readonly Float64Array[], days: number, capacity: number): number {
  const terms = costs.flatMap((list, i) => Array.from(list, (cost, s) => ` + ${cost.toFixed(12)} x${i}_${s}`));
  const one = costs.map((list, i) => ` a${i}:${Array.from(list, (_, s) => ` + x${i}_${s}`).join('')} = 1`);
  const room = Array.from({ length: days }, (_, d) => {
    const sum = costs.flatMap((list, i) =>
      Array.from(list.keys()).flatMap((s) => (s & (1 << d) ? [` + x${i}_${s}`] : [])),
    );
    return ` d${d}:${sum.join('')} <= ${capacity}`;
  });
  const names = costs.flatMap((list, i) => Array.from(list.keys(), (s) => `x${i}_${s}`));
  const model = `Minimize\n obj:${terms.join('')}\nSubject To\n${[...one, ...room].join('\n')}\nBinary\n ${names.join(' ')}\nEnd`;
  return highs.solve(model).ObjectiveValue;
}

describe('the n-day plan', () => {
  test("is the paper's in Table 1: B first, then A, at 0.90", () => {
    const strategies = [0b00, 0b01, 0b10, 0b11];
    const a: Record<number, number> = { 0b00: 0.85 + 0.95, 0b01: 0.25, 0b10: 0.85, 0b11: 0 };
    const b: Record<number, number> = { 0b00: 0.8 + 0.81, 0b01: 0.05, 0b10: 0.8, 0b11: 0 };
    const costs = [a, b].map((page) => Float64Array.from(strategies, (s) => page[s]));
    const plan = planStrategies(costs, 2, 1);
    expect(plan.cost).toBeCloseTo(0.9, 12);
    expect(plan.lowerBound).toBeCloseTo(0.9, 12);
    expect(Array.from(plan.looks)).toEqual([0, 1, 1, 0]);
    expect([a[0b01] + b[0b10], a[0b10] + b[0b01], b[0], a[0]].map((x) => Number(x.toFixed(2)))).toEqual([
      1.05, 0.9, 1.61, 1.8,
    ]);
  });

  test('adds up gaps to what a strategy costs by (26)–(31), for every strategy', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const next = random(seed);
        const page = randomPage(next);
        const days = 1 + integer(next, 5);
        const discount = next() < 0.5 ? 1 : next();
        const loss = losses[integer(next, 2)];
        const gaps = new Float64Array(costCells(days));
        gapCosts(page, days, discount, loss, gaps, 0);
        for (let strategy = 0; strategy < 1 << days; strategy++) {
          let sum = 0;
          let last = 0;
          for (let d = 1; d <= days + 1; d++) {
            if (d <= days && !(strategy & (1 << (d - 1)))) continue;
            if (d > last + 1) sum += gaps[costIndex(days, last, d - 1)];
            last = d;
          }
          expect(sum).toBeCloseTo(costByDefinition(page, strategy, days, discount, loss), 9);
        }
      }),
      { seed: 71, numRuns: 150 },
    );
  });

  test('looks at one page are substitutes: XO + OX ≤ XX + OO', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const page = randomPage(random(seed));
        for (const loss of losses) {
          const [xx, ox, xo, oo] = costsOf([page], 2, 1, loss)[0];
          expect(xo + ox).toBeLessThanOrEqual(xx + oo + 1e-12);
        }
      }),
      { seed: 72, numRuns: 200 },
    );
  });

  test("equals a MIP solver's optimum on random instances, with no gap", () => {
    for (let n = 0; n < 18; n++) {
      const next = random(300 + n);
      const days = [2, 3, 5][n % 3];
      const pages = Array.from({ length: 2 + integer(next, 5) }, () => randomPage(next));
      const capacity = 1 + integer(next, 2);
      const loss = losses[n % 2];
      const plan = planHorizon({ days, capacity, discount: 0.9, loss, pages });
      const costs = costsOf(pages, days, 0.9, loss);
      expect(plan.cost).toBeCloseTo(optimumByHighs(costs, days, capacity), 5);
      expect(plan.lowerBound).toBeCloseTo(plan.cost, 9);
      for (let d = 0; d < days; d++) {
        const used = pages.reduce((sum, _, page) => sum + plan.looks[page * days + d], 0);
        expect(used).toBe(Math.min(capacity, pages.length));
      }
    }
  });

  test('costs by hand may have complements; the answer is still the optimum', () => {
    for (let n = 0; n < 20; n++) {
      const next = random(900 + n);
      const costs = Array.from({ length: 4 }, () => Float64Array.from({ length: 8 }, next));
      const plan = planStrategies(costs, 3, 1);
      expect(plan.cost).toBeCloseTo(optimumByHighs(costs, 3, 1), 6);
      expect(plan.lowerBound).toBeLessThanOrEqual(plan.cost + 1e-9);
    }
  });

  test('at scale the plan fits, the bound is true and the gap small; like pages are planned as one', () => {
    const next = random(5);
    const kinds = Array.from({ length: 40 }, () => randomPage(next));
    const distinct = Array.from({ length: 3000 }, () => randomPage(next));
    for (const pages of [distinct, Array.from({ length: 3000 }, (_, i) => kinds[i % 40])]) {
      for (const loss of losses) {
        const plan = planHorizon({ days: 7, capacity: 300, discount: 1, loss, pages });
        expect(plan.lowerBound).toBeLessThanOrEqual(plan.cost);
        expect(plan.cost / plan.lowerBound - 1).toBeLessThan(2e-3);
        for (let d = 0; d < 7; d++) {
          expect(pages.reduce((sum, _, page) => sum + plan.looks[page * 7 + d], 0)).toBe(300);
        }
      }
    }
  });

  test.each([
    [20, 20, 3],
    [60, 30, 6],
    [120, 15, 10],
  ])('%i pages over %i days, %i a day: within half a per cent of the bound', (count, days, capacity) => {
    for (const loss of losses) {
      const next = random(count);
      const pages = Array.from({ length: count }, () => randomPage(next));
      const plan = planHorizon({ days, capacity, discount: 1, loss, pages });
      expect(plan.lowerBound).toBeLessThanOrEqual(plan.cost);
      expect(plan.cost / plan.lowerBound - 1).toBeLessThan(0.005);
      for (let d = 0; d < days; d++) {
        expect(pages.reduce((sum, _, page) => sum + plan.looks[page * days + d], 0)).toBe(capacity);
      }
    }
  });

  test('of pages that are alike the lowest looks first', () => {
    const page: HorizonPage = { chain: ageChain([0.3]), age: 0, since: 1, weight: 1 };
    const plan = planHorizon({ days: 2, capacity: 1, discount: 1, loss: 'stale', pages: [page, page] });
    expect(Array.from(plan.looks)).toEqual([1, 0, 0, 1]);
    const costs = Float64Array.of(1.8, 0.25, 0.25, 0);
    expect(Array.from(planStrategies([costs, costs], 2, 1).looks)).toEqual([1, 0, 0, 1]);
  });

  test('certain change, no room, room for all, no pages, and ties to the lowest page', () => {
    const page: HorizonPage = { chain: ageChain([1]), age: 0, since: 1, weight: 1 };
    const plan = planHorizon({ days: 2, capacity: 1, discount: 1, loss: 'stale', pages: [page, page, page] });
    expect(plan.cost).toBe(4);
    expect(Array.from(plan.looks)).toEqual([1, 1, 0, 0, 0, 0]);
    expect(planHorizon({ days: 2, capacity: 0, discount: 1, loss: 'stale', pages: [page] }).cost).toBe(2);
    expect(planHorizon({ days: 2, capacity: 5, discount: 1, loss: 'days-stale', pages: [page, page] }).cost).toBe(0);
    expect(planHorizon({ days: 3, capacity: 1, discount: 1, loss: 'stale', pages: [] }).cost).toBe(0);
  });

  test('a page that rests at weekends is not looked at on Saturday', () => {
    const week = dayAgeChain([[0.9], [0.9], [0.9], [0.9], [0.9], [0], [0]]);
    // Seen on Friday morning; the first day planned is Friday.
    const other = { chain: ageChain([0.5]), age: 0, since: 1, weight: 1 };
    const pages = [{ chain: week, age: 0, since: 1, weight: 1, day: 4 }, other];
    const plan = planHorizon({ days: 3, capacity: 1, discount: 1, loss: 'stale', pages });
    expect(Array.from(plan.looks)).toEqual([1, 0, 0, 0, 1, 1]);
    expect(plan.cost).toBeCloseTo(0.5, 12);
  });
});

describe('greedy observation', () => {
  test('is alive: every page is observed again and again, for both losses', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const next = random(seed);
        for (const loss of losses) {
          const pages = Array.from({ length: 6 }, (_, i) => ({
            chain: ageChain([i === 0 ? 1 : 0.02 + next()].map((p) => Math.min(1, p))),
            age: 0,
            since: 1,
            weight: loss === 'stale' ? 1 : 0.1 + next(),
          }));
          const seen = pages.map(() => 0);
          for (let day = 0; day < 4000; day++) {
            const chosen = new Set(observeGreedily(pages, 2, loss));
            pages.forEach((page, i) => {
              if (chosen.has(i)) seen[i]++;
              page.since = chosen.has(i) ? 1 : page.since + 1;
            });
          }
          for (const count of seen) expect(count).toBeGreaterThan(1);
        }
      }),
      { seed: 73, numRuns: 8 },
    );
  });

  test('takes the pages that are most surely out of date', () => {
    const page = (p: number, since: number): HorizonPage => ({ chain: ageChain([p]), age: 0, since, weight: 1 });
    expect(Array.from(observeGreedily([page(0.1, 1), page(0.9, 1), page(0.1, 30)], 2, 'stale'))).toEqual([1, 2]);
    expect(Array.from(observeGreedily([page(0.1, 1), page(0.9, 1), page(0.1, 30)], 1, 'days-stale'))).toEqual([2]);
  });
});

describe('a few pages over many days', () => {
  test.each([
    [3, 1, 60],
    [4, 2, 50],
    [5, 1, 42],
  ])('%i pages, %i a day, %i days: the plan is optimal, and what it costs is what it says', (count, capacity, days) => {
    for (const loss of losses) {
      const next = random(90 + count);
      const pages = Array.from({ length: count }, () => randomPage(next));
      const plan = planHorizon({ days, capacity, discount: 1, loss, pages });
      expect(plan.cost - plan.lowerBound).toBeLessThanOrEqual(1e-9 * plan.cost);
      const used = new Int32Array(days);
      let cost = 0;
      pages.forEach((page, i) => {
        const gaps = new Float64Array(costCells(days));
        gapCosts(page, days, 1, loss, gaps, 0);
        let last = 0;
        for (let d = 1; d <= days + 1; d++) {
          if (d <= days && !plan.looks[i * days + d - 1]) continue;
          if (d > last + 1) cost += gaps[costIndex(days, last, d - 1)];
          if (d <= days) used[d - 1]++;
          last = d;
        }
      });
      expect(cost).toBeCloseTo(plan.cost, 9);
      expect(Math.max(...used)).toBeLessThanOrEqual(capacity);
    }
  });

  test('prices and search agree with the programme where both can answer', () => {
    const next = random(91);
    for (let n = 0; n < 12; n++) {
      const pages = Array.from({ length: 2 + (n % 3) }, () => randomPage(next));
      const problem = { days: 12, capacity: 1, discount: 0.95, loss: losses[n % 2], pages };
      const exact = planHorizon(problem);
      const searched = planByPrices(problem);
      expect(searched.cost).toBeCloseTo(exact.cost, 9);
      expect(searched.lowerBound).toBeCloseTo(exact.cost, 9);
    }
  });
});
