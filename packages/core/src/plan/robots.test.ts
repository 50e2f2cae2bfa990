import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bestLoad, bestLoadBounds, planRobots, queueShares, robotsCost, robotsForLargeBuffer } from './robots.ts';

const robots = (starvationWeight: number, buffer: number, ratio = 5.7) =>
  planRobots({ arrival: 1, service: ratio, buffer, starvationWeight }).robots;

describe('the paper', () => {
  test('the best numbers of robots at μ/λ = 5.7', () => {
    expect(robots(0.5, 10)).toBe(5);
    for (const buffer of [2, 3, 5, 10, 100, 1e4, 1e6]) expect(robots(1, buffer)).toBe(6);
    expect(robots(2, 5)).toBe(7);
    expect(robots(5, 10)).toBe(7);
  });

  test('the best loads', () => {
    expect(bestLoad(0.5, 10)).toBeCloseTo(0.89152, 5);
    expect(bestLoad(2, 5)).toBeCloseTo(1.29376, 5);
    expect(bestLoad(1, 1e6)).toBe(1);
  });

  test('the rule (10) is what large buffers lead to', () => {
    for (const ratio of [0.4, 1, 1.5, 5.7, 12.01, 12.99]) {
      for (const starvationWeight of [0.1, 0.5, 2, 10]) {
        const rule = robotsForLargeBuffer({ arrival: 1, service: ratio, starvationWeight });
        expect(robots(starvationWeight, 1e6, ratio)).toBe(rule);
      }
    }
  });
});

/** Proposition 1 summed term by term in logarithms: slow and independent. */
function sharesBySum(load: number, buffer: number): { starvation: number; loss: number } {
  const logs = Array.from({ length: buffer + 1 }, (_, i) => i * Math.log(load));
  const top = Math.max(...logs);
  const sum = logs.reduce((total, value) => total + Math.exp(value - top), 0);
  return { starvation: Math.exp(-top) / sum, loss: Math.exp(logs[buffer]! - top) / sum };
}

const weights = fc.double({ min: -30, max: 30, noNaN: true }).map(Math.exp);
const buffers = fc.oneof(fc.integer({ min: 2, max: 30 }), fc.integer({ min: 31, max: 1_000_000 }));

describe('properties', () => {
  test('shares equal the sum over all lengths', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.01, max: 50, noNaN: true }), fc.integer({ min: 2, max: 400 }), (load, buffer) => {
        const slow = sharesBySum(load, buffer);
        const fast = queueShares(load, buffer);
        expect(fast.loss).toBeCloseTo(slow.loss, 11);
        if (slow.starvation > 1e-290) expect(fast.starvation / slow.starvation).toBeCloseTo(1, 9);
      }),
      { seed: 1, numRuns: 300 },
    );
  });

  test('the best load lies within (6) and (7), and no other load is better', () => {
    fc.assert(
      fc.property(weights, buffers, (starvationWeight, buffer) => {
        const load = bestLoad(starvationWeight, buffer);
        const [lower, upper] = bestLoadBounds(starvationWeight, buffer);
        expect(load).toBeGreaterThan(lower);
        expect(load).toBeLessThan(upper);
        const cost = robotsCost(load, { starvationWeight, buffer });
        for (const other of [1 - 1e-3, 1 - 1e-7, 1 + 1e-7, 1 + 1e-3, 0.5, 2]) {
          const otherCost = robotsCost(load * other, { starvationWeight, buffer });
          expect(cost).toBeLessThanOrEqual(otherCost * (1 + 1e-13));
        }
      }),
      { seed: 2, numRuns: 1000 },
    );
  });

  test('the best load rises with the weight of starvation and mirrors its inverse', () => {
    fc.assert(
      fc.property(weights, buffers, (starvationWeight, buffer) => {
        const load = bestLoad(starvationWeight, buffer);
        expect(bestLoad(starvationWeight * 1.5, buffer)).toBeGreaterThan(load);
        expect(bestLoad(1 / starvationWeight, buffer) * load).toBeCloseTo(1, 10);
      }),
      { seed: 3, numRuns: 300 },
    );
  });

  test('no number of robots in a wide range is better', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.1, max: 30, noNaN: true }),
        fc.double({ min: -3, max: 3, noNaN: true }).map(Math.exp),
        fc.integer({ min: 2, max: 60 }),
        (ratio, starvationWeight, buffer) => {
          const plan = planRobots({ arrival: 1, service: ratio, buffer, starvationWeight });
          for (let n = 0; n <= 400; n++) {
            const cost = robotsCost(n / ratio, { starvationWeight, buffer });
            expect(plan.cost).toBeLessThanOrEqual(cost + 1e-15);
          }
        },
      ),
      { seed: 4, numRuns: 60 },
    );
  });
});

describe('the ends of the ranges', () => {
  test('robots that bring nothing: none are needed and the queue starves', () => {
    const plan = planRobots({ arrival: 0, service: 1, buffer: 5, starvationWeight: 2 });
    expect(plan).toEqual({ robots: 0, load: 0, cost: 2, starvation: 1, loss: 0 });
  });

  test('γ → 0 and γ → ∞', () => {
    expect(robots(1e-300, 2)).toBe(0);
    expect(robots(1e-300, 1e6)).toBe(5);
    expect(robots(1e300, 1e6)).toBe(6);
    expect(bestLoad(1e300, 2)).toBeCloseTo(2e300, -290);
    expect(bestLoad(1e-12, 2)).toBeCloseTo(5e-13, 20);
  });

  test('nothing overflows at K = 10⁶', () => {
    for (const load of [1e-300, 0.5, 1 - 1e-9, 1, 1 + 1e-9, 2, 1e300]) {
      const { starvation, loss } = queueShares(load, 1e6);
      expect(starvation).toBeGreaterThanOrEqual(0);
      expect(loss).toBeGreaterThanOrEqual(0);
      expect(starvation + loss).toBeLessThanOrEqual(1);
      // What is served is what is not lost: ρ(1 − loss) = 1 − starvation.
      if (load > 0.1 && load < 10) expect((load * (1 - loss)) / (1 - starvation)).toBeCloseTo(1, 6);
    }
  });
});
