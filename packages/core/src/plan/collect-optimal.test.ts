import fc from 'fast-check';
import loadHighs from 'highs';
import { describe, expect, test } from 'vitest';
import type { Collected } from '../loss/capture.ts';
import { random } from '../simulate/random.ts';
import { assign } from './assign.ts';
import { clear } from './clearing.ts';
import {
  allKinds,
  bestByTrying,
  gainByDefinition,
  randomEpoch,
  smallEpoch,
  utilityByDefinition,
} from './collect-instances.ts';
import { collectComplete } from './collect-complete.ts';
import { collectMarket } from './collect-market.ts';
import { collectOptimal, collectUpperBound } from './collect-optimal.ts';
import { type CollectProblem, collect } from './collect.ts';

// The package's types describe a module that its CommonJS form is not.
const load = loadHighs as unknown as () => Promise<{ solve(model: string): { ObjectiveValue: number } }>;
const highs = await load();
const seeds = fc.integer({ min: 0, max: 2 ** 31 });
const noLooks = (problem: CollectProblem) => problem.pages.map(() => ({ rows: new Int32Array(0), value: 0 }));

/** The linear programme over gaps, one unit of flow a page, as another solver sees it. */
function relaxationByHighs({ instants, capacity, pages }: CollectProblem, whole: boolean): number {
  const gaps = pages.flatMap((page, i) =>
    Array.from({ length: instants + 1 }, (_, s) => s).flatMap((s) =>
      Array.from({ length: instants - s }, (_, n) => s + 1 + n).map((f) => ({
        i,
        s,
        f,
        gain: gainByDefinition(page, s, f),
      })),
    ),
  );
  const name = (gap: { i: number; s: number; f: number }) => `x${gap.i}_${gap.s}_${gap.f}`;
  const sum = (list: readonly { i: number; s: number; f: number }[], sign = '+') =>
    list.map((gap) => ` ${sign} ${name(gap)}`).join('');
  const rows: string[] = [];
  pages.forEach((_, i) => {
    const own = gaps.filter((gap) => gap.i === i);
    rows.push(`${sum(own.filter((gap) => gap.s === 0))} <= 1`);
    for (let j = 1; j < instants; j++) {
      rows.push(
        `${sum(own.filter((gap) => gap.s === j))}${sum(
          own.filter((gap) => gap.f === j),
          '-',
        )} <= 0`,
      );
    }
  });
  for (let j = 1; j <= instants; j++) rows.push(`${sum(gaps.filter((gap) => gap.f === j))} <= ${capacity}`);
  const model = `Maximize\n obj:${gaps.map((gap) => ` + ${gap.gain.toFixed(12)} ${name(gap)}`).join('')}\nSubject To\n${rows
    .map((row, n) => ` c${n}:${row}`)
    .join('\n')}\n${whole ? `Binary\n ${gaps.map(name).join(' ')}\n` : ''}End`;
  return highs.solve(model).ObjectiveValue;
}

describe('the offline optimum', () => {
  test('is the best of all schedules', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const next = random(seed);
        const problem = smallEpoch(next);
        const found = collectOptimal(problem);
        expect(found.proven).toBe(true);
        expect(found.utility).toBeCloseTo(bestByTrying(problem), 8);
        expect(found.utility).toBeCloseTo(utilityByDefinition(problem, found.schedule), 9);
        expect(found.upperBound).toBeCloseTo(found.utility, 9);
        for (const list of found.schedule) expect(list.length).toBeLessThanOrEqual(problem.capacity);
      }),
      { seed: 51, numRuns: 300 },
    );
  });

  test('is the best of all that keep capacities per site', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const next = random(seed);
        const plain = randomEpoch(next, 2 + Math.floor(next() * 3), 3, 2);
        const problem = {
          ...plain,
          siteCapacity: [1, 1],
          pages: plain.pages.map((page, i) => ({ ...page, site: i % 2 })),
        };
        const found = collectOptimal(problem);
        expect(found.utility).toBeCloseTo(bestByTrying(problem), 8);
        for (const list of found.schedule) expect(list.filter((page) => page % 2 === 0).length).toBeLessThanOrEqual(1);
      }),
      { seed: 52, numRuns: 100 },
    );
  });

  test('agrees with a solver on the relaxation and on whole schedules', () => {
    for (let seed = 0; seed < 12; seed++) {
      const next = random(1000 + seed);
      const problem = randomEpoch(next, 6, 4, 1 + (seed % 2));
      const found = assign(collectMarket(problem), noLooks(problem), noLooks(problem), {
        branchRows: problem.instants,
        nodesMax: 1000,
        pivotsMax: 10_000,
      });
      expect(found.relaxed).toBeCloseTo(relaxationByHighs(problem, false), 5);
      expect(found.value).toBeCloseTo(relaxationByHighs(problem, true), 5);
    }
  });

  test('has no gap in the relaxation for append × uniform (docs/collect.md proves it), and hardly any else', () => {
    let split = 0;
    let worst = 0;
    for (let seed = 0; seed < 240; seed++) {
      const next = random(5000 + seed);
      const provable = seed % 2 === 0;
      const problem = randomEpoch(next, 2 + (seed % 9), 2 + (seed % 5), 1 + (seed % 3), {
        lives: provable ? ['append'] : allKinds.lives,
        urgencies: provable ? ['uniform'] : allKinds.urgencies,
      });
      const found = assign(collectMarket(problem), noLooks(problem), noLooks(problem), {
        branchRows: problem.instants,
        nodesMax: 1000,
        pivotsMax: 10_000,
      });
      expect(found.proven).toBe(true);
      const gap = found.relaxed / found.value - 1;
      if (gap < 1e-6 || found.value === 0) continue;
      expect(provable).toBe(false);
      split++;
      worst = Math.max(worst, gap);
    }
    expect(split).toBeLessThan(6);
    expect(worst).toBeLessThan(0.03);
  });

  test('completeness of known changes comes near the best of all schedules', () => {
    const next = random(77);
    let [got, most] = [0, 0];
    for (let n = 0; n < 200; n++) {
      const instants = 2 + (n % 5);
      const pages = Array.from({ length: 1 + (n % 5) }, (): Collected => ({
        weight: 2,
        change: { at: Array.from({ length: instants }, (_, j) => j + 1).filter(() => next() < 0.5) },
        life: { kind: 'append' },
        urgency: n % 2 === 0 ? { kind: 'uniform' } : { kind: 'decay', rate: 1 },
      }));
      const problem = { instants, capacity: 1 + (n % 2), pages };
      const complete = collectComplete(problem)!;
      const dense = pages.map((page) => ({
        ...page,
        change: Array.from({ length: instants }, (_, j) =>
          Array.from((page.change as { at: number[] }).at).includes(j + 1) ? 1 : 0,
        ),
      }));
      const best = bestByTrying({ ...problem, pages: dense });
      expect(complete.utility).toBeLessThanOrEqual(best + 1e-9);
      got += complete.utility;
      most += best;
      expect(utilityByDefinition({ ...problem, pages: dense }, complete.schedule)).toBeCloseTo(complete.utility, 9);
      for (const list of complete.schedule) expect(list.length).toBeLessThanOrEqual(problem.capacity);
    }
    expect(got).toBeGreaterThan(0.97 * most);
    expect(collectComplete(randomEpoch(next, 4, 3, 1))).toBeUndefined();
  });

  test("completeness only: the paper's 13.0", () => {
    const pages = Array.from({ length: 5 }, (_, i): Collected => ({
      weight: 1,
      change: i === 4 ? 0.3 : 0.1,
      life: { kind: 'append' },
      urgency: { kind: 'uniform' },
    }));
    const { utility, upperBound } = collectOptimal({ instants: 20, capacity: 1, pages });
    expect(utility).toBeCloseTo(13, 9);
    expect(upperBound).toBeCloseTo(13, 9);
    // §4: N·π′ + [(|P| − 1)·N − |P|·(|P| − 1) ⁄ 2]·π
    expect(utility).toBeCloseTo(20 * 0.3 + (4 * 20 - 10) * 0.1, 9);
  });
});

describe('prices', () => {
  test('bound every schedule, and the programme never says less than the optimum', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const next = random(seed);
        const problem = randomEpoch(next, 8, 5, 2);
        const market = collectMarket(problem);
        const cleared = clear(market, noLooks(problem), (_, price) => price, 10_000);
        expect(cleared.kind).toBe('cleared');
        const best = collectOptimal(problem).utility;
        expect(cleared.bound).toBeGreaterThanOrEqual(best - 1e-9);
        expect(collectUpperBound(problem, collect(problem))).toBeGreaterThanOrEqual(best - 1e-9);
      }),
      { seed: 53, numRuns: 60 },
    );
  });

  test('a few pages over many instants: the optimum, where branching alone left a gap of a third', () => {
    const change = [0.13, 0.11, 0.27, 0.1, 0.23];
    const pages = [2, 1, 2, 3, 2].map((weight, i): Collected => ({
      weight,
      change: change[i],
      life: { kind: 'append' },
      urgency: { kind: 'decay', rate: 0.9 },
    }));
    const problem = { instants: 60, capacity: 1, pages };
    const found = collectOptimal(problem);
    expect(found.utility).toBeCloseTo(81.609, 3);
    expect(found.proven).toBe(true);
    const bound = collectUpperBound(problem, collect(problem));
    expect(bound).toBeGreaterThanOrEqual(found.utility);
    expect(bound).toBeLessThan(81.83);
  });

  test.each([
    [20, 60, 1],
    [10, 40, 2],
    [30, 50, 4],
    [8, 100, 2],
  ])('%i pages over %i instants, %i in each: near the optimum, with a true gap', (count, instants, capacity) => {
    for (const lives of [
      ['append', 'overwrite'],
      ['window', 'changes'],
    ] as const) {
      const problem = randomEpoch(random(count), instants, count, capacity, { ...allKinds, lives });
      const found = collectOptimal(problem);
      expect(found.upperBound).toBeGreaterThanOrEqual(found.utility);
      expect(found.upperBound / found.utility - 1).toBeLessThan(0.005);
      expect(collectUpperBound(problem, found)).toBeGreaterThanOrEqual(found.utility - 1e-9);
      for (const list of found.schedule) expect(list.length).toBeLessThanOrEqual(capacity);
    }
  });

  test('what one more look is worth, also where only the moment counts or nothing can be looked at', () => {
    const page = (weight: number, urgency: Collected['urgency']): Collected => ({
      weight,
      change: [0.5, 0, 1],
      life: { kind: 'append' },
      urgency,
    });
    for (const urgency of [
      { kind: 'window', width: 0 },
      { kind: 'decay', rate: 0 },
    ] as const) {
      const found = collectOptimal({ instants: 3, capacity: 1, pages: [page(1, urgency), page(3, urgency)] });
      expect(Array.from(found.price ?? [])).toEqual([0.5, 0, 1]);
      // Nothing can be captured in the second instant, so nobody looks.
      expect(found.schedule.map((list) => Array.from(list))).toEqual([[1], [], [1]]);
    }
    const idle = collectOptimal({ instants: 3, capacity: 0, pages: [page(2, { kind: 'uniform' })] });
    expect(Array.from(idle.price ?? [])).toEqual([1, 1, 3]);
  });

  test('pages that are alike look in the order of their numbers', () => {
    const page: Collected = {
      weight: 1,
      change: { at: [1, 3] },
      life: { kind: 'append' },
      urgency: { kind: 'uniform' },
    };
    const { schedule } = collectOptimal({ instants: 4, capacity: 1, pages: [page, page] });
    const first = schedule.findIndex((list) => list.length > 0);
    expect(schedule[first][0]).toBe(0);
  });

  test('pages are not alike whose urgencies are different functions', () => {
    const page = (at: (delay: number) => number): Collected => ({
      weight: 1,
      change: [1, 0],
      life: { kind: 'append' },
      urgency: { kind: 'custom', at },
    });
    const pages = [page(() => 1), page((delay) => (delay === 0 ? 1 : 0))];
    const { schedule, utility } = collectOptimal({ instants: 2, capacity: 1, pages });
    expect(schedule.map((list) => Array.from(list))).toEqual([[1], [0]]);
    expect(utility).toBe(2);
  });

  test('a large epoch comes with a small, true gap', () => {
    const next = random(9);
    const pages = Array.from({ length: 150 }, (): Collected => {
      const at = new Set(Array.from({ length: 1 + Math.floor(next() * 6) }, () => 1 + Math.floor(next() * 300)));
      return {
        weight: 1,
        change: { at: Array.from(at).sort((a, b) => a - b) },
        life: { kind: 'append' },
        urgency: { kind: 'decay', rate: 0.9 },
      };
    });
    const problem = { instants: 300, capacity: 1, pages };
    const greedy = collect(problem);
    const found = collectOptimal(problem, { stepsMax: 3e6, gapRelative: 1e-5 });
    expect(found.utility).toBeGreaterThan(greedy.utility);
    expect(found.upperBound).toBeGreaterThanOrEqual(found.utility);
    expect(found.upperBound / found.utility - 1).toBeLessThan(0.01);
    for (const list of found.schedule) expect(list.length).toBeLessThanOrEqual(1);
    const dense = pages.map((page) => ({
      ...page,
      change: Array.from({ length: 300 }, (_, j) => ((page.change as { at: number[] }).at.includes(j + 1) ? 1 : 0)),
    }));
    expect(found.utility).toBeCloseTo(utilityByLooks({ ...problem, pages: dense }, found.schedule), 6);
  });
});

/** As utilityByDefinition, for append and decay, without its cubic cost. */
function utilityByLooks(problem: CollectProblem, schedule: readonly Int32Array[]): number {
  const last = new Int32Array(problem.pages.length);
  let sum = 0;
  schedule.forEach((list, index) => {
    for (const page of list) {
      const change = problem.pages[page].change as readonly number[];
      for (let k = last[page] + 1; k <= index + 1; k++) sum += change[k - 1] * 0.9 ** (index + 1 - k);
      last[page] = index + 1;
    }
  });
  return sum;
}
