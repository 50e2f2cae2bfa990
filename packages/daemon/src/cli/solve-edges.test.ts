import { expect, test } from 'vitest';
import { revisit } from '../trial/command.ts';

/** The edges of `collect`, `horizon`, `order` and `estimate`, through the real command: an answer, or one sentence. */
const answers: readonly [what: string, problem: object, solution: object][] = [
  [
    'no pages to collect from',
    { kind: 'collect', instants: 3, capacity: 1, pages: [] },
    { schedule: [[], [], []], utility: 0, upperBound: 0 },
  ],
  [
    'no capacity',
    { kind: 'collect', instants: 2, capacity: 0, pages: [{ change: 0.5 }] },
    { schedule: [[], []], utility: 0, upperBound: 0 },
  ],
  [
    'more capacity than pages',
    { kind: 'collect', instants: 2, capacity: 7, pages: [{ change: 0.5 }, { change: 1 }] },
    { utility: 3, upperBound: 3 },
  ],
  [
    'an urgency that rises',
    {
      kind: 'collect',
      instants: 3,
      capacity: 1,
      policy: 'optimal',
      pages: [{ change: { at: [1] }, urgency: { kind: 'table', values: [1, 2, 4] } }],
    },
    { schedule: [[], [], [0]], utility: 4, upperBound: 4 },
  ],
  [
    'reset = 1 everywhere',
    { kind: 'horizon', days: 3, capacity: 1, pages: [{ reset: 1 }, { reset: [1, 1] }] },
    { plan: ['OOO', 'XXX'], cost: 3, lowerBound: 3 },
  ],
  [
    'no looks at all',
    { kind: 'horizon', days: 2, capacity: 0, pages: [{ reset: 0.5 }] },
    { plan: ['XX'], cost: 1.25, lowerBound: 1.25 },
  ],
  [
    'looks for everybody',
    { kind: 'horizon', days: 2, capacity: 9, pages: [{ reset: 0.5 }] },
    { plan: ['OO'], cost: 0, lowerBound: 0 },
  ],
  ['no pages to observe', { kind: 'horizon', days: 2, capacity: 1, pages: [] }, { plan: [], cost: 0, lowerBound: 0 }],
  ['nothing to order', { kind: 'order', tasks: [] }, { order: [], expectedTime: 0 }],
];

const refusals: readonly [problem: object, sentence: RegExp][] = [
  [
    { kind: 'collect', instants: 3, capacity: 1, pages: [{ change: [0.5, 1.2, 0] }] },
    /^revisit: pages\[0\]\.change\[1\]: 1\.2 is not allowed; .*at least 0, at most 1 is expected$/,
  ],
  [{ kind: 'collect', instants: 3, capacity: 1, pages: [{ change: -0.1 }] }, /pages\[0\]\.change: -0\.1 is not/],
  [{ kind: 'collect', instants: 3, capacity: 1.5, pages: [] }, /capacity: 1\.5 is not allowed/],
  [
    { kind: 'collect', instants: 2, capacity: 1, pages: [{ change: 1, urgency: { kind: 'table', values: [0.5] } }] },
    /urgency\.values\[0\]: 0\.5 is not allowed; 1/,
  ],
  [{ kind: 'horizon', days: 2, capacity: 1, pages: [{ reset: [0.5, 1.5] }] }, /pages\[0\]\.reset\[1\]: 1\.5 is not/],
  [{ kind: 'horizon', days: 2, capacity: -1, pages: [] }, /capacity: -1 is not allowed/],
  [{ kind: 'order', tasks: [{ probability: 2, time: 1 }] }, /tasks\[0\]\.probability: 2 is not allowed/],
  [{ kind: 'estimate', from: 'lifetimes', values: [] }, /values: \[\] is not allowed/],
];

test.concurrent.each(answers)('%s', async (_what, problem, solution) => {
  const ended = await revisit(['solve', '-'], { input: JSON.stringify(problem) });
  expect(ended).toMatchObject({ code: 0, err: '' });
  expect(JSON.parse(ended.out)).toMatchObject(solution);
});

test.concurrent('a problem that comes later than the command is ready is waited for', async () => {
  const problem = JSON.stringify({ kind: 'order', tasks: [{ probability: 0.5, time: 2 }] });
  const ended = await revisit(['solve', '-'], { input: problem, inputAfterMs: 1_500 });
  expect(ended).toMatchObject({ code: 0, err: '' });
  expect(JSON.parse(ended.out)).toEqual({ order: [0], expectedTime: 2 });
});

test.concurrent.each(refusals)('%j is refused in one sentence', async (problem, sentence) => {
  const ended = await revisit(['solve', '-'], { input: JSON.stringify(problem) });
  expect(ended).toMatchObject({ code: 2, out: '' });
  expect(ended.err.trim()).toMatch(sentence);
  expect(ended.err.trim()).not.toContain('\n');
});
