import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RetrievalTimes } from '../learn/retrieval-time.ts';
import { bestOrder, expectedTime, orderDrift } from './order.ts';

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
