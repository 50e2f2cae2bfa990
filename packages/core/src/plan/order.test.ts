import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RetrievalTimes } from '../learn/retrieval-time.ts';
import { random } from '../simulate/random.ts';
import { FairOrder, type Task, bestOrder, expectedTime, orderDrift } from './order.ts';

const tasks = fc.array(
  fc.record({
    probability: fc.double({ min: 0, max: 1, noNaN: true }),
    time: fc.double({ min: 0.1, max: 10, noNaN: true }),
    benefit: fc.double({ min: 0.1, max: 3, noNaN: true }),
  }),
  { minLength: 1, maxLength: 5 },
);

function permutations(n: number): number[][] {
  if (n === 0) return [[]];
  return permutations(n - 1).flatMap((order) => Array.from({ length: n }, (_, at) => order.toSpliced(at, 0, n - 1)));
}

describe('the order of fetching', () => {
  test('by B·P ⁄ T no other order is faster', () => {
    fc.assert(
      fc.property(tasks, (list) => {
        const best = expectedTime(list, bestOrder(list));
        for (const order of permutations(list.length))
          expect(best).toBeLessThanOrEqual(expectedTime(list, order) + 1e-9);
      }),
      { seed: 81, numRuns: 150 },
    );
  });

  test('the corrected (35), and ties to the lowest', () => {
    const list = [
      { probability: 0.9, time: 1, benefit: 1 },
      { probability: 0.45, time: 0.5, benefit: 1 },
      { probability: 0.5, time: 0.1, benefit: 1 },
    ];
    expect(Array.from(bestOrder(list))).toEqual([2, 0, 1]);
    expect(expectedTime(list, [2, 0, 1])).toBeCloseTo(0.1 + 0.5 * (1 + 0.1 * 0.5), 12);
    expect(orderDrift(list, [1, 0, 2])).toBeGreaterThan(1.5);
    expect(orderDrift(list, [2, 0, 1])).toBe(1);
  });

  test('every page gets its turn within the stated time, however costly', () => {
    const next = random(3);
    const times = Array.from({ length: 30 }, (_, i) => (i === 7 ? 500 : 0.5 + next()));
    const share = 0.2;
    const order = new FairOrder(share);
    const round = times.reduce((a, b) => a + b, 0);
    const lookedAt = new Float64Array(30);
    const longest = new Float64Array(30);
    let now = 0;
    while (now < 12 * (round / share)) {
      const list = times.map((time, i): Task => ({
        probability: 1 - Math.exp(-(now - lookedAt[i]) / 50),
        time,
        benefit: 1,
      }));
      const page = order.next(list, lookedAt);
      longest[page] = Math.max(longest[page], now - lookedAt[page]);
      now += times[page];
      order.fetched(page, times[page]);
      lookedAt[page] = now;
    }
    expect(Math.max(...longest)).toBeLessThanOrEqual(round / share + 500);
    expect(longest.every((wait) => wait > 0)).toBe(true);
    // Without the share the dear page would starve: its payoff never reaches that of the others.
    const cheap = Math.min(...times.map((time, i) => (i === 7 ? Infinity : 1 / time)));
    expect(1 / 500).toBeLessThan(cheap / 100);
  });

  test('is planned again when a better page turns up', () => {
    const order = new FairOrder(0, 1.05);
    const before = [0.9, 0.5, 0.1].map((probability) => ({ probability, time: 1, benefit: 1 }));
    order.fetched(order.next(before, [0, 0, 0]), 1);
    expect(order.next(before, [1, 0, 0])).toBe(0);
  });
});

test('retrieval times learn the page and the hour', () => {
  const times = new RetrievalTimes();
  for (let day = 0; day < 200; day++) {
    for (let hour = 0; hour < 24; hour++) {
      for (const page of [0, 1]) times.measured(page, (day * 24 + hour) * 3600, (page + 1) * (hour === 16 ? 4 : 1));
    }
  }
  const at = (hour: number) => (201 * 24 + hour) * 3600;
  expect(times.expected(1, at(3)) / times.expected(0, at(3))).toBeCloseTo(2, 1);
  expect(times.expected(0, at(16)) / times.expected(0, at(3))).toBeGreaterThan(3);
});
