import { expect, test } from 'vitest';
import { solve } from './solve.ts';

const page = { weight: 1, change: 0.5, life: { kind: 'append' }, urgency: { kind: 'uniform' } };

function solved(problem: Record<string, unknown>): Record<string, unknown> {
  const outcome = solve({ kind: 'collect', ...problem });
  if (outcome.kind !== 'solved') throw new Error(outcome.sentence);
  return outcome.solution;
}

function refusal(problem: Record<string, unknown>): string {
  const outcome = solve({ kind: 'collect', instants: 3, capacity: 1, pages: [page], ...problem });
  return outcome.kind === 'refused' ? outcome.sentence : 'solved';
}

test('greedy and optimum of section 4, with their bounds', () => {
  const pages = [0.1, 0.1, 0.1, 0.1, 0.3].map((change) => ({ ...page, change }));
  const greedy = solved({ instants: 20, capacity: 1, pages });
  expect(greedy['utility']).toBeCloseTo(12.7, 9);
  expect(greedy['upperBound']).toBeCloseTo(13, 9);
  expect(greedy['schedule']).toHaveLength(20);
  const best = solved({ instants: 20, capacity: 1, pages, policy: 'optimal' });
  expect(best['utility']).toBeCloseTo(13, 9);
  expect(best['upperBound']).toBeCloseTo(13, 9);
});

test('changes may be given where they are', () => {
  const at = { ...page, change: { at: [3, 1] }, urgency: { kind: 'decay', rate: 0.5 } };
  const { schedule, utility } = solved({ instants: 3, capacity: 1, pages: [at] });
  expect(schedule).toEqual([[0], [0], [0]]);
  expect(utility).toBe(2);
});

test('nothing to watch and nothing to spend', () => {
  expect(solved({ instants: 2, capacity: 1, pages: [] })).toEqual({ schedule: [[], []], utility: 0, upperBound: 0 });
  expect(solved({ instants: 2, capacity: 0, pages: [page], policy: 'optimal' })).toMatchObject({
    schedule: [[], []],
    utility: 0,
    upperBound: 0,
  });
});

test('an urgency that rises is planned for, and its gap is honest', () => {
  const late = { ...page, change: [1, 0, 0], urgency: { kind: 'table', values: [1, 2, 4] } };
  expect(solved({ instants: 3, capacity: 1, pages: [late] })).toMatchObject({ utility: 1, upperBound: 4 });
  expect(solved({ instants: 3, capacity: 1, pages: [late], policy: 'optimal' })).toMatchObject({
    schedule: [[], [], [0]],
    utility: 4,
    upperBound: 4,
  });
});

test.each([
  [
    { pages: [{ ...page, change: 1.5 }] },
    'pages[0].change: 1.5 is not allowed; a finite number, at least 0, at most 1 is expected',
  ],
  [{ pages: [{ ...page, change: [0.5, -0.1, 0] }] }, 'pages[0].change[1]: -0.1 is not allowed'],
  [{ pages: [{ ...page, change: [0.5] }] }, 'pages[0].change: [0.5] is not allowed; 3 probabilities'],
  [{ pages: [{ ...page, change: { at: [4] } }] }, 'pages[0].change.at[0]: 4 is not allowed'],
  [{ pages: [{ ...page, change: { at: [2, 2] } }] }, 'each instant once'],
  [{ pages: [{ ...page, urgency: { kind: 'decay', rate: 2 } }] }, 'pages[0].urgency.rate: 2 is not allowed'],
  [{ pages: [{ ...page, urgency: { kind: 'polynomial', power: -1 } }] }, 'pages[0].urgency.power: -1'],
  [{ pages: [{ ...page, urgency: { kind: 'table', values: [0.5] } }] }, 'pages[0].urgency.values[0]: 0.5'],
  [{ pages: [{ ...page, life: { kind: 'changes', count: 0 } }] }, 'pages[0].life.count: 0 is not allowed'],
  [{ pages: [{ ...page, weigth: 1 }] }, 'pages[0].weigth: 1 is not allowed; known fields'],
  [{ capacity: -1 }, 'capacity: -1 is not allowed'],
  [{ instants: 0 }, 'instants: 0 is not allowed'],
  [{ policy: 'best' }, 'policy: "best" is not allowed'],
])('%j is refused with one sentence', (problem, sentence) => {
  expect(refusal(problem)).toContain(sentence);
});
