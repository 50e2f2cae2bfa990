import { expect, test } from 'vitest';
import { solve } from './solve.ts';

function solved(problem: Record<string, unknown>): Record<string, unknown> {
  const outcome = solve(problem);
  if (outcome.kind !== 'solved') throw new Error(outcome.sentence);
  return outcome.solution;
}

function refusal(problem: Record<string, unknown>): string {
  const outcome = solve(problem);
  return outcome.kind === 'refused' ? outcome.sentence : 'solved';
}

const tableOne = [{ costs: { XX: 1.8, XO: 0.85, OX: 0.25, OO: 0 } }, { costs: { XX: 1.61, XO: 0.8, OX: 0.05, OO: 0 } }];

test('Table 1 from costs given by hand', () => {
  const plan = solved({ kind: 'horizon', days: 2, capacity: 1, pages: tableOne });
  expect(plan['plan']).toEqual(['XO', 'OX']);
  expect(plan['cost']).toBeCloseTo(0.9, 12);
  expect(plan['lowerBound']).toBeCloseTo(0.9, 12);
  expect(plan['prices']).toHaveLength(2);
  expect(solved({ kind: 'horizon', days: 2, capacity: 1, discount: 1, loss: 'stale', pages: tableOne })).toEqual(plan);
  const bare = tableOne.map(({ costs }) => costs);
  expect(solved({ kind: 'horizon', days: 2, capacity: 1, costs: bare })['plan']).toEqual(['XO', 'OX']);
});

test('two days by (26)–(31): since k steps at the end of the first day', () => {
  const page = { reset: [0.5, 0.25], age: 0, since: 1 };
  const plan = solved({ kind: 'horizon', days: 2, capacity: 0, pages: [page] });
  // C_XX = 2·C_XO + P(k + i, i), with C_XO = 0.5 and P(1, 0) = 0.5 · 0.25.
  expect(plan['cost']).toBeCloseTo(2 * 0.5 + 0.5 * 0.25, 12);
  expect(plan['plan']).toEqual(['XX']);
  const stale = solved({ kind: 'horizon', days: 2, capacity: 0, loss: 'days-stale', discount: 0.5, pages: [page] });
  // Z(0, 1) = 0.5; Z(0, 2) = 0.5 + 0.625.
  expect(stale['cost']).toBeCloseTo(0.5 + 0.5 * 1.125, 12);
});

test('certain change everywhere, capacity 0 and above the number of pages', () => {
  const pages = [{ reset: [1] }, { reset: [1] }];
  expect(solved({ kind: 'horizon', days: 3, capacity: 1, pages })).toMatchObject({ plan: ['OOO', 'XXX'], cost: 3 });
  expect(solved({ kind: 'horizon', days: 3, capacity: 0, pages })).toMatchObject({ plan: ['XXX', 'XXX'], cost: 6 });
  expect(solved({ kind: 'horizon', days: 3, capacity: 9, pages })).toMatchObject({ plan: ['OOO', 'OOO'], cost: 0 });
  expect(solved({ kind: 'horizon', days: 3, capacity: 1, pages: [] })).toMatchObject({
    plan: [],
    cost: 0,
    lowerBound: 0,
  });
});

test.each([
  [{ days: 2, capacity: 1, pages: [{ reset: [1.2] }] }, 'pages[0].reset[0]: 1.2 is not allowed'],
  [{ days: 2, capacity: 1, pages: [{ reset: [] }] }, 'pages[0].reset: [] is not allowed'],
  [{ days: 2, capacity: 1, pages: [{ costs: { XX: 1 } }] }, 'pages[0].costs.OX: nothing is not allowed'],
  [
    { days: 2, capacity: 1, pages: [{ costs: { XXX: 1 } }] },
    'pages[0].costs.XXX: 1 is not allowed; known fields are XX, OX, XO, OO',
  ],
  [{ days: 0, capacity: 1, pages: [] }, 'days: 0 is not allowed'],
  [{ days: 2, capacity: 1, discount: 2, pages: [] }, 'discount: 2 is not allowed'],
  [
    { days: 2, capacity: 1, discount: 0.5, pages: tableOne },
    'discount: 0.5 is not allowed; costs given by strategy count as they are',
  ],
  [{ days: 2, capacity: 1, costs: [], pages: [] }, 'pages: [] is not allowed; either pages or costs'],
  [{ days: 1, capacity: 1, discount: 0.5, costs: [{ X: 1, O: 0 }] }, 'discount: 0.5 is not allowed'],
  [{ days: 2, capacity: 1, loss: 'days-stale', pages: tableOne }, 'loss: "days-stale" is not allowed'],
  [{ days: 2, capacity: 1, loss: 'age', pages: [] }, 'loss: "age" is not allowed'],
  [{ days: 2, capacity: 1, pages: [{ reset: [0.5], since: -1 }] }, 'pages[0].since: -1 is not allowed'],
])('%j is refused', (problem, sentence) => {
  expect(refusal({ kind: 'horizon', ...problem })).toContain(sentence);
});

test('order by B·P ⁄ T and its expected time', () => {
  const tasks = [
    { probability: 0.5, time: 2 },
    { probability: 0.5, time: 1 },
    { probability: 0.5, time: 4, benefit: 8 },
  ];
  const { order, expectedTime } = solved({ kind: 'order', tasks });
  expect(order).toEqual([2, 1, 0]);
  expect(expectedTime).toBeCloseTo(0.5 + 0.5 * (1 + 0.5 * 2), 12);
  expect(solved({ kind: 'order', tasks: [] })).toEqual({ order: [], expectedTime: 0 });
  expect(refusal({ kind: 'order', tasks: [{ probability: 2, time: 1 }] })).toContain('tasks[0].probability: 2');
  expect(refusal({ kind: 'order', tasks: [{ probability: 1, time: 0 }] })).toContain('tasks[0].time: 0');
});

test('reset probabilities from lifetimes and from ages', () => {
  expect(solved({ kind: 'estimate', from: 'lifetimes', values: [2, 2, 2], ages: 3 })).toEqual({
    reset: [0, 0, 1],
  });
  // The end of what was seen is not the end of all lives: the tail is memoryless unless ages say otherwise.
  expect(solved({ kind: 'estimate', from: 'lifetimes', values: [2, 2, 2] })).toEqual({ reset: [0, 0.5] });
  expect(solved({ kind: 'estimate', from: 'lifetimes', values: [2, 3, 3, 5, 2, 8, 3] })['reset']).toEqual([
    0,
    0,
    2 / 7,
    5 / 12,
  ]);
  expect(solved({ kind: 'estimate', from: 'lifetimes', values: [0, 0] })).toEqual({ reset: [1] });
  expect(solved({ kind: 'estimate', from: 'ages', values: [0, 1, 2, 3, 4, 5] })['reset']).not.toContain(1);
  expect(solved({ kind: 'estimate', from: 'lifetimes', values: [0, 1, 1, 2], ages: 2 })).toEqual({
    reset: [0.25, 3 / 4],
  });
  expect(solved({ kind: 'estimate', from: 'lifetimes', values: [0.25, 0.5, 0.25], ages: [0, 1, 2] })['reset']).toEqual([
    0.25,
    0.5 / 0.75,
    1,
  ]);
  expect(solved({ kind: 'estimate', from: 'ages', values: [0, 0, 0, 0, 1, 1, 2], ages: 3 })['reset']).toEqual([
    0.5, 0.5, 1,
  ]);
  expect(refusal({ kind: 'estimate', from: 'ages', values: [] })).toContain('values: [] is not allowed');
  expect(refusal({ kind: 'estimate', from: 'ages', values: [-1] })).toContain('values[0]: -1 is not allowed');
});
