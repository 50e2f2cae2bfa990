import { expect, test } from 'vitest';
import { solve } from './solve.ts';

const base = {
  kind: 'vantage',
  documentBytes: 100_000,
  agentBytes: 50_000,
  startup: 2,
  observations: 10,
  changedShare: 0.1,
  compression: 0.3,
  links: {
    AB: { latency: 0.2, secondsPerByte: 1e-5 },
    AC: { latency: 0.2, secondsPerByte: 1e-5 },
    CB: { latency: 0.01, secondsPerByte: 1e-7 },
  },
};

function solution(problem: Record<string, unknown>): Record<string, unknown> {
  const outcome = solve(problem);
  if (outcome.kind === 'refused') throw new Error(outcome.sentence);
  return outcome.solution;
}

test('the four numbers', () => {
  const found = solution(base);
  expect(found['direct']).toBeCloseTo(14, 9);
  expect(found['remote']).toBeCloseTo(2.7 + 10 * 0.08, 9);
  expect(found).toMatchObject({ choose: 'remote', breakEven: 3 });
  expect(solution({ ...base, observations: 2 })).toMatchObject({ choose: 'direct', breakEven: 3 });
  expect(solution({ ...base, observations: 0 })).toMatchObject({ direct: 0, choose: 'direct' });
  expect(solution({ ...base, links: { ...base.links, CB: base.links.AB } })['breakEven']).toBeNull();
});

test('several documents and several points', () => {
  const documents = [{}, { documentBytes: 1_000_000, changedShare: 0 }];
  const found = solution({
    ...base,
    documents,
    agentBytesPerDocument: 16,
    points: [{ AC: base.links.AC, CB: { latency: 0, secondsPerByte: 0 }, startup: 0 }],
  });
  expect(found).toMatchObject({ choose: 'remote', point: 1 });
  expect(found['points']).toHaveLength(2);
});

test('what is wrong is named', () => {
  const refused = (problem: Record<string, unknown>) => {
    const outcome = solve({ ...base, ...problem });
    return outcome.kind === 'refused' ? outcome.field : undefined;
  };
  expect(refused({ changedShare: 1.5 })).toBe('changedShare');
  expect(refused({ links: { ...base.links, AC: { latency: 1 } } })).toBe('links.AC.secondsPerByte');
  expect(refused({ observations: 1.5 })).toBe('observations');
  expect(refused({ documents: [] })).toBe('documents');
});
