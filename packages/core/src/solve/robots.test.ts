import { describe, expect, test } from 'vitest';
import { solve } from './solve.ts';

function solution(problem: Record<string, unknown>): Record<string, unknown> {
  const outcome = solve({ kind: 'robots', ...problem });
  if (outcome.kind === 'refused') throw new Error(outcome.sentence);
  return outcome.solution;
}

function sentence(problem: Record<string, unknown>): string {
  const outcome = solve({ kind: 'robots', ...problem });
  return outcome.kind === 'refused' ? outcome.sentence : 'solved';
}

const base = { arrival: 1, service: 5.7, buffer: 10, starvationWeight: 0.5 };

describe('a fixed number', () => {
  test('the paper’s example', () => {
    const found = solution(base);
    expect(found).toMatchObject({ robots: 5 });
    expect(found['load']).toBeCloseTo(5 / 5.7, 12);
    expect(found['cost']).toBeCloseTo(0.5 * (found['starvation'] as number) + (found['loss'] as number), 12);
    expect(found['bestLoad']).toBeCloseTo(0.89152, 5);
  });

  test('other service times', () => {
    for (const serviceTime of [
      'deterministic',
      { erlang: 4 },
      {
        hyperexponential: [
          [0.5, 3],
          [0.5, 50],
        ],
      },
      { measured: [1, 2] },
    ]) {
      const found = solution({ ...base, serviceTime });
      expect(Object.keys(found).sort()).toEqual(['cost', 'load', 'loss', 'robots', 'starvation']);
    }
  });
});

describe('by queue length', () => {
  test('one number for each length, never dearer than a fixed number', () => {
    const found = solution({ ...base, mode: 'dynamic' });
    expect(found['robots']).toHaveLength(11);
    expect(found['cost']).toBeLessThan(solution(base)['cost'] as number);
  });

  test('a cost of switching gives a band', () => {
    const found = solution({ ...base, mode: 'dynamic', switchCost: 0.1, robotsMax: 12 });
    const [raiseTo, lowerTo] = [found['raiseTo'] as number[], found['lowerTo'] as number[]];
    raiseTo.forEach((low, i) => expect(low).toBeLessThanOrEqual(lowerTo[i]!));
    expect(found['robots']).toEqual(raiseTo);
  });

  test('near and far robots', () => {
    const kinds = [
      { arrival: 1, count: 4 },
      { arrival: 0.5, count: 8, runningCost: 0.01 },
    ];
    const { arrival: _, ...queue } = base;
    const found = solution({ ...queue, kinds, mode: 'dynamic' });
    expect(found['running']).toHaveLength(2);
    expect(solution({ ...queue, kinds })['running']).toHaveLength(2);
  });
});

test('edges are answered or refused in one sentence', () => {
  expect(solution({ ...base, arrival: 0 })).toMatchObject({ robots: 0, starvation: 1, loss: 0 });
  expect(solution({ ...base, arrival: 0, mode: 'dynamic' })).toMatchObject({ load: 0, starvation: 1, loss: 0 });
  expect(solution({ ...base, buffer: 2 })).toMatchObject({ robots: 2 });
  expect(solution({ ...base, buffer: 1e6 })).toMatchObject({ robots: 6 });
  expect(sentence({ ...base, buffer: 1 })).toContain('buffer: 1 is not allowed');
  expect(sentence({ ...base, service: 0 })).toContain('service: 0 is not allowed');
  expect(sentence({ ...base, starvationWeight: 0 })).toContain('starvationWeight: 0 is not allowed');
  expect(sentence({ ...base, arrival: -1 })).toContain('arrival: -1 is not allowed');
  expect(sentence({ ...base, serviceTime: 'gamma' })).toContain('serviceTime: "gamma" is not allowed');
  expect(sentence({ ...base, serviceTime: { hyperexponential: [[0.5, 1]] } })).toContain('add up to 1');
  expect(sentence({ ...base, switchCost: 1 })).toContain('dynamic');
  expect(sentence({ ...base, mode: 'dynamic', serviceTime: 'deterministic' })).toContain('exponential');
  expect(sentence({ ...base, mode: 'dynamic', switchCost: 1, robotsMax: 1e5 })).toContain('robotsMax');
  expect(sentence({ ...base, robot: 1 })).toContain('known fields are');
});
