import { describe, expect, test } from 'vitest';
import { solve } from './solve.ts';

const week = { breaks: [0, 5, 7], values: [4, 1], period: 7 };
const good = { kind: 'polite', horizon: 28, probes: 8, grid: 672, intensity: week };

function solved(problem: unknown): Record<string, unknown> {
  const outcome = solve(problem);
  if (outcome.kind !== 'solved') throw new Error(outcome.sentence);
  return outcome.solution;
}

describe('solve polite', () => {
  test('the solution has the fields the contract names', () => {
    const solution = solved(good);
    expect(Object.keys(solution).sort()).toEqual(['expectedCost', 'lowerBound', 'price', 'probes']);
    const probes = solution['probes'] as number[];
    expect(probes.length).toBe(8);
    expect(probes[7]).toBe(28);
    expect(solved({ ...good, improve: { gain: 1e-9 } })['moves']).toBeTypeOf('number');
    expect((solved({ ...good, curve: true })['curve'] as number[]).length).toBe(8);
  });

  test('each policy, and each loss, on and off the grid', () => {
    const optimum = solved({ ...good, grid: 'continuous' })['expectedCost'] as number;
    for (const policy of ['uniform', { threshold: 5 }, { firstArrival: 0.99 }]) {
      const { expectedCost, lowerBound, probes } = solved({ ...good, policy });
      expect(expectedCost).toBeGreaterThan(lowerBound as number);
      if ((probes as number[]).length === 8) expect(expectedCost).toBeGreaterThan(optimum);
    }
    expect((solved({ ...good, probes: undefined, policy: { threshold: 5 } })['probes'] as number[]).length).toBe(16);
    const stale = solved({ ...good, loss: 'staleness' });
    expect(stale['expectedCost']).toBeLessThan(28);
    // Improved off its grid, a schedule is held against the continuous optimum.
    const improved = solved({ ...good, grid: 28, improve: { gain: 1e-9 } });
    expect(improved['expectedCost']).toBeGreaterThanOrEqual(improved['lowerBound'] as number);
    expect(improved['expectedCost']).toBeLessThan(solved({ ...good, grid: 28 })['expectedCost'] as number);
  });

  test('what is wrong is named with its value and what is allowed', () => {
    const refusal = (problem: Record<string, unknown>): string => {
      const outcome = solve({ ...good, ...problem });
      return outcome.kind === 'refused' ? outcome.sentence : 'solved';
    };
    expect(refusal({ spacing: 4 })).toMatch(/^probes: 8 .*infeasible: at most 7 fit/);
    expect(refusal({ spacing: 0.3, probes: 80, grid: 100 })).toMatch(/probes: 80.*at most 50 .*grid of 100/);
    expect(refusal({ spacing: 30 })).toMatch(/infeasible/);
    expect(refusal({ probes: 0 })).toMatch(/^probes: 0 /);
    expect(refusal({ probes: 2.5 })).toMatch(/^probes: 2.5 .*whole/);
    expect(refusal({ horizon: -1 })).toMatch(/^horizon: -1 /);
    expect(refusal({ intensity: -1 })).toMatch(/^intensity: -1 /);
    expect(refusal({ intensity: { breaks: [0, 1], values: [1] } })).toMatch(/^intensity.breaks: .*horizon/);
    expect(refusal({ intensity: { breaks: [0, 1], values: [1], period: 2 } })).toMatch(/^intensity.period: 2 /);
    expect(refusal({ intensity: { breaks: [0, 1, 2], values: [1], period: 2 } })).toMatch(/^intensity.values: /);
    expect(refusal({ horizon: 1e9 })).toMatch(/^intensity.period: 7 .*at most 1000000 pieces/);
    expect(refusal({ importance: 'high' })).toMatch(/^importance: "high" /);
    expect(refusal({ grid: 'fine' })).toMatch(/^grid: "fine" /);
    expect(refusal({ curve: 'yes' })).toMatch(/^curve: "yes" .*true or false/);
    expect(refusal({ policy: 'best' })).toMatch(/^policy: "best" /);
    expect(refusal({ policy: { firstArrival: 2 } })).toMatch(/^policy.firstArrival: 2 /);
    expect(refusal({ improve: { shrink: 1 } })).toMatch(/^improve.shrink: 1 /);
    expect(refusal({ loss: 'age' })).toMatch(/^loss: "age" /);
    expect(refusal({ intensty: 1 })).toMatch(/^intensty: 1 .*known fields/);
  });
});

describe('solve estimate from events', () => {
  test('counts over exposure, piece by piece, with the exact interval', () => {
    const solution = solved({
      kind: 'estimate',
      from: 'events',
      events: [0.1, 0.2, 2.5, 4.4, 4.5, 5],
      span: 5,
      breaks: [0, 1, 2],
      period: 2,
    });
    // [0,1), [2,3), [4,5): 3 units in the first piece, with 5 events; the event at the very end closes it. 2 in the second.
    expect(solution['profile']).toEqual({ breaks: [0, 1, 2], values: [6 / 3, 0], period: 2 });
    const [first, second] = solution['interval'] as [number, number][];
    // Garwood for 6 events: 2.2019 to 13.0595; for none: 0 to 3.6889.
    expect(first[0] * 3).toBeCloseTo(2.2019, 3);
    expect(first[1] * 3).toBeCloseTo(13.0595, 3);
    expect(second[0]).toBe(0);
    expect(second[1] * 2).toBeCloseTo(3.6889, 3);
  });

  test('one rate without breaks; wrong input is named', () => {
    const rate = solved({
      kind: 'estimate',
      from: 'events',
      events: Array.from({ length: 400 }, (_, i) => i / 4),
      span: 100,
    });
    expect(rate['profile']).toEqual({ breaks: [0, 100], values: [4] });
    const [[low, high]] = rate['interval'] as [[number, number]];
    expect(low * 100).toBeCloseTo(361.76, 1);
    expect(high * 100).toBeCloseTo(441.18, 1);
    for (const [change, named] of [
      [{ events: [101] }, 'events[0]: 101'],
      [{ span: 0 }, 'span: 0'],
      [{ breaks: [0, 7] }, 'breaks: [0,7]'],
      [{ breaks: [7, 0], period: 7 }, 'breaks: [7,0]'],
      [{ from: 'guesses' }, 'from: "guesses"'],
    ] as const) {
      const outcome = solve({ kind: 'estimate', from: 'events', events: [1], span: 100, ...change });
      expect(outcome.kind === 'refused' && outcome.sentence).toContain(named);
    }
  });

  test('where nothing that changes counts, the plan still has its looks', () => {
    const answer = solved({
      kind: 'polite',
      horizon: 7,
      probes: 11,
      spacing: 0.41970593327091393,
      intensity: {
        breaks: [0, 2.757385050073711, 6.250259383983766, 7],
        values: [0, 6.926772249862552, 4.766809637658298],
      },
      importance: { breaks: [0, 0.3657629415903107, 4.3477398194218, 7], values: [0.7694626247975975, 0, 0] },
    });
    expect((answer['probes'] as number[]).at(-1)).toBe(7);
    expect(answer['expectedCost']).toBe(0);
  });
});
