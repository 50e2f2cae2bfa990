import { expect, test } from 'vitest';
import { solve } from './solve.ts';

const lengths = [
  [1, 2, 2, 2, 2, 2, 2, 2],
  [1, 2, 2, 2, 2, 2, 2, 2],
  [2, 1, 2, 1, 2, 1, 2, 2],
  [1, 2, 2, 2, 1, 2, 2, 2],
  [1, 2, 1, 2, 1, 2, 2, 2],
  [2, 2, 2, 2, 2, 2, 1, 1],
];

function solution(problem: Record<string, unknown>): Record<string, unknown> {
  const outcome = solve({ kind: 'sequence', ...problem });
  if (outcome.kind === 'refused') throw new Error(outcome.sentence);
  return outcome.solution;
}

function sentence(problem: Record<string, unknown>): string {
  const outcome = solve({ kind: 'sequence', ...problem });
  return outcome.kind === 'refused' ? outcome.sentence : 'solved';
}

test('the paper’s table by every method', () => {
  for (const method of ['best', 'matching']) {
    expect(solution({ lengths, method })).toMatchObject({ finish: 8, optimal: true, lowerBound: 8 });
  }
  for (const method of ['two-speed', 'coupon', 'perfect']) {
    const found = solution({ lengths, method, seed: 3 });
    expect(Object.keys(found)).toEqual(['start', 'finish', 'optimal', 'lowerBound']);
    expect(found['finish']).toBeGreaterThanOrEqual(8);
    expect(found['lowerBound']).toBeLessThanOrEqual(8);
  }
});

test('two tasks that take i when started at i end at 3', () => {
  expect(
    solution({
      lengths: [
        [1, 2, 3],
        [1, 2, 3],
      ],
    }),
  ).toMatchObject({ finish: 3, optimal: true });
});

test('robots, sites, releases and deadlines', () => {
  const found = solution({
    lengths,
    robots: 2,
    sites: [0, 0, 1, 1, 2, 2],
    spacing: 2,
    release: [1, 1, 1, 1, 1, 3],
    deadline: [9, 9, 9, 9, 9, 9],
  });
  expect(found['robot']).toHaveLength(6);
  expect(found['late']).toEqual([]);
});

test('what is wrong is named in one sentence', () => {
  expect(sentence({ lengths: [] })).toContain('lengths: [] is not allowed');
  expect(sentence({ lengths: [[]] })).toContain('lengths[0]');
  expect(sentence({ lengths: [[1, 2], [1]] })).toContain('lengths[1]');
  expect(sentence({ lengths: [[0]] })).toContain('lengths[0][0]: 0 is not allowed');
  expect(sentence({ lengths: [[3]], method: 'matching' })).toContain('lengths 1 and 2');
  expect(sentence({ lengths: [[1, 2, 3]], method: 'two-speed' })).toContain('two different lengths');
  expect(sentence({ lengths, method: 'matching', robots: 2 })).toContain('one robot');
  expect(sentence({ lengths, spacing: 2 })).toContain('sites');
});
