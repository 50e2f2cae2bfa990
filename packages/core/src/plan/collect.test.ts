import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Collected, isSparse, momentsOf, urgencyGrowth } from '../loss/capture.ts';
import { random } from '../simulate/random.ts';
import {
  bestByTrying,
  gainByDefinition,
  kindsAndTables,
  randomEpoch,
  smallEpoch,
  utilityByDefinition,
} from './collect-instances.ts';
import { collectOptimal } from './collect-optimal.ts';
import { pageMarket } from './collect-page.ts';
import { collect, wic } from './collect.ts';

const seeds = fc.integer({ min: 0, max: 2 ** 31 });
const lists = (schedule: readonly Int32Array[]) => schedule.map((list) => Array.from(list));

/** Algorithm 1 word for word. */
function algorithmOne(problem: ReturnType<typeof randomEpoch>): number[][] {
  const last = problem.pages.map(() => 0);
  return Array.from({ length: problem.instants }, (_, index) => {
    const gains = problem.pages.map((page, i) => gainByDefinition(page, last[i], index + 1));
    const order = gains
      .map((_, i) => i)
      .sort((a, b) => (Math.abs(gains[a] - gains[b]) < 1e-11 ? a - b : gains[b] - gains[a]));
    const chosen = order.slice(0, problem.capacity).sort((a, b) => a - b);
    for (const page of chosen) last[page] = index + 1;
    return chosen;
  });
}

describe('the numbers of the paper', () => {
  const scenario = (urgency: Collected['urgency'], special = 4): Collected[] =>
    Array.from({ length: 5 }, (_, i) => ({
      weight: 1,
      change: i === special ? 0.3 : 0.1,
      life: { kind: 'append' },
      urgency,
    }));

  test('timeliness only captures N·π′ = 6, greedy completeness 12.7', () => {
    const timely = scenario({ kind: 'window', width: 0 });
    expect(collect({ instants: 20, capacity: 1, pages: timely }).utility).toBeCloseTo(6, 12);
    expect(collect({ instants: 20, capacity: 1, pages: scenario({ kind: 'decay', rate: 0 }) }).utility).toBeCloseTo(
      6,
      12,
    );
    expect(collect({ instants: 20, capacity: 1, pages: scenario({ kind: 'uniform' }) }).utility).toBeCloseTo(12.7, 12);
  });

  test('§4: completeness costs timeliness, by the closed forms', () => {
    const cases = [
      [5, 20, 0.1, 0.3],
      [3, 12, 0.05, 0.4],
      [6, 15, 0.2, 0.25],
    ] as const;
    for (const [count, instants, chance, special] of cases) {
      const pages = (urgency: Collected['urgency']) =>
        Array.from({ length: count }, (_, i): Collected => {
          const change = i === count - 1 ? special : chance;
          return { weight: 1, change, life: { kind: 'append' }, urgency };
        });
      const problem = (urgency: Collected['urgency']) => ({ instants, capacity: 1, pages: pages(urgency) });
      const completeness = problem({ kind: 'uniform' });
      const atOnce = problem({ kind: 'window', width: 0 });
      // Timeliness only: the special page at every instant, and all that it captures is captured at once.
      const timely = collect(atOnce).schedule;
      expect(utilityByDefinition(atOnce, timely)).toBeCloseTo(instants * special, 12);
      expect(utilityByDefinition(completeness, timely)).toBeCloseTo(instants * special, 12);
      // Completeness only: the special page until everybody else is visited once, then it again.
      const complete = Array.from({ length: instants }, (_, j) => {
        const last = j - (instants - count);
        return [last < 0 || last === count - 1 ? count - 1 : last];
      });
      const most = instants * special + ((count - 1) * instants - (count * (count - 1)) / 2) * chance;
      expect(utilityByDefinition(completeness, complete)).toBeCloseTo(most, 12);
      expect(utilityByDefinition(atOnce, complete)).toBeCloseTo(
        instants * special - (count - 1) * (special - chance),
        12,
      );
      const best = collectOptimal(completeness);
      expect(best.utility).toBeCloseTo(most, 9);
      expect(utilityByDefinition(atOnce, best.schedule)).toBeLessThan(instants * special);
    }
  });

  test('0.1 three times over ties with 0.3, and the lower page wins', () => {
    const { schedule } = collect({ instants: 3, capacity: 1, pages: scenario({ kind: 'uniform' }) });
    expect(lists(schedule)).toEqual([[4], [4], [0]]);
  });
});

describe('Algorithm 1', () => {
  test('is what collect does, for every life and urgency, given dense, sparse or an instant ahead', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const next = random(seed);
        const problem = randomEpoch(
          next,
          1 + Math.floor(next() * 12),
          1 + Math.floor(next() * 6),
          Math.floor(next() * 4),
          kindsAndTables,
        );
        const found = collect(problem);
        expect(lists(found.schedule)).toEqual(algorithmOne(problem));
        expect(found.utility).toBeCloseTo(utilityByDefinition(problem, found.schedule), 9);

        const moments = problem.pages.map((page) => momentsOf(page.change, problem.instants));
        const sparse = problem.pages.map((page, i) => ({ ...page, change: moments[i] }));
        expect(sparse.every((page) => isSparse(page.change))).toBe(true);
        expect(lists(collect({ ...problem, pages: sparse }).schedule)).toEqual(lists(found.schedule));

        const online = wic(problem.pages, problem.capacity, problem.instants);
        for (let j = 1; j <= problem.instants; j++) {
          const chances = problem.pages.map(({ change }) =>
            typeof change === 'number' ? change : (change as readonly number[])[j - 1],
          );
          expect(Array.from(online.step(chances))).toEqual(Array.from(found.schedule[j - 1]));
        }
        expect(online.utility).toBeCloseTo(found.utility, 9);
      }),
      { seed: 41, numRuns: 250 },
    );
  });

  test('reaches 1 ⁄ (1 + a) of the optimum, and all of it when only the moment counts', () => {
    let worst = 1;
    fc.assert(
      fc.property(seeds, (seed) => {
        const next = random(seed);
        const problem = smallEpoch(next);
        const best = bestByTrying(problem);
        const growth = Math.max(...problem.pages.map(({ urgency }) => urgencyGrowth(urgency, problem.instants)));
        const { utility } = collect(problem);
        expect(utility * (1 + growth)).toBeGreaterThanOrEqual(best - 1e-9);
        if (growth <= 1 && best > 0) worst = Math.min(worst, utility / best);
        const timely = problem.pages.map((page): Collected => ({ ...page, urgency: { kind: 'window', width: 0 } }));
        const now = { ...problem, pages: timely };
        expect(collect(now).utility).toBeCloseTo(bestByTrying(now), 9);
      }),
      { seed: 42, numRuns: 200 },
    );
    expect(worst).toBeGreaterThanOrEqual(0.5);
    expect(worst).toBeLessThan(0.8);
  });

  test('pages that sleep until they matter are chosen as if they had been gone through', () => {
    const next = random(77);
    const pages = Array.from({ length: 5000 }, (_, i): Collected => ({
      weight: i % 3 === 0 ? 0.5 : 1,
      change: i % 7 === 0 ? 0.001 : next() ** 6,
      life: { kind: i % 2 === 0 ? 'append' : 'overwrite' },
      urgency: i % 5 === 0 ? { kind: 'decay', rate: 0.9 } : { kind: 'uniform' },
    }));
    const instants = 100;
    const dense = pages.map((page) => ({ ...page, change: new Float64Array(instants).fill(page.change as number) }));
    for (const capacity of [3, 60]) {
      const asleep = collect({ instants, capacity, pages });
      const gone = collect({ instants, capacity, pages: dense });
      expect(lists(asleep.schedule)).toEqual(lists(gone.schedule));
      expect(asleep.utility).toBeCloseTo(gone.utility, 6);
    }
  });

  test('keeps capacities per site beside the global one, and takes what fits', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const next = random(seed);
        const plain = randomEpoch(next, 6, 6, 3);
        const problem = {
          ...plain,
          siteCapacity: [1, 2],
          pages: plain.pages.map((page, i) => ({ ...page, site: i % 2 })),
        };
        const { schedule, utility } = collect(problem);
        for (const list of schedule) {
          expect(list.length).toBe(3);
          expect(list.filter((page) => page % 2 === 0).length).toBeLessThanOrEqual(1);
          expect(list.filter((page) => page % 2 === 1).length).toBeLessThanOrEqual(2);
        }
        expect(utility).toBeCloseTo(utilityByDefinition(problem, schedule), 9);
      }),
      { seed: 43, numRuns: 60 },
    );
  });

  test('has an answer for nothing to watch, nothing to spend and more than enough', () => {
    expect(collect({ instants: 3, capacity: 2, pages: [] })).toEqual({
      schedule: [new Int32Array(), new Int32Array(), new Int32Array()],
      utility: 0,
    });
    const page: Collected = { weight: 1, change: 1, life: { kind: 'overwrite' }, urgency: { kind: 'uniform' } };
    expect(collect({ instants: 2, capacity: 0, pages: [page] }).utility).toBe(0);
    const enough = collect({ instants: 4, capacity: 9, pages: [page, page] });
    expect(lists(enough.schedule)).toEqual(Array(4).fill([0, 1]));
    expect(enough.utility).toBe(8);
  });
});

describe('one page at prices', () => {
  test('its best path is the best of all sets of looks, whatever the signs of the prices', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const next = random(seed);
        const instants = 1 + Math.floor(next() * 7);
        const { pages } = randomEpoch(next, instants, 1, 1, kindsAndTables);
        const anySign = next() < 0.5;
        const price = Float64Array.from({ length: instants }, () =>
          anySign ? next() * 2 - 1 : Math.floor(next() * 3) / 2,
        );
        let best = -Infinity;
        for (let set = 0; set < 1 << instants; set++) {
          let last = 0;
          let net = 0;
          for (let f = 1; f <= instants; f++) {
            if (!(set & (1 << (f - 1)))) continue;
            net += gainByDefinition(pages[0], last, f) - price[f - 1];
            last = f;
          }
          best = Math.max(best, net);
        }
        const { looks, gain } = pageMarket(pages, instants).at(price, anySign)(0);
        const paid = looks.reduce((sum, f) => sum + price[f - 1], 0);
        expect(gain - paid).toBeCloseTo(best, 9);
        const schedule = Array.from({ length: instants }, (_, j) => (looks.includes(j + 1) ? [0] : []));
        expect(gain).toBeCloseTo(utilityByDefinition({ instants, capacity: 1, pages }, schedule), 9);
      }),
      { seed: 44, numRuns: 400 },
    );
  });
});
