import { expect, test } from 'vitest';
import { spanText } from './commands/plan.ts';
import { plot } from './plot.ts';
import { stepPlot } from './step-plot.ts';

test('the curve is drawn from corner to corner with a mark', () => {
  const points = [1, 2, 4, 8, 16].map((x) => ({ x, y: 100 / x }));
  const text = plot(points, {
    width: 30,
    height: 7,
    mark: { x: 4, y: 25 },
    x: (x) => x.toFixed(0),
    y: (y) => y.toFixed(1),
  });
  const lines = text.split('\n');
  expect(lines.length).toBe(9);
  expect(lines[0]).toMatch(/^100\.0 │·/);
  expect(lines[3]).toMatch(/^ 25\.0 │ +·*●·*$/);
  expect(lines[6]).toMatch(/^ {2}6\.[23] │ +·+$/);
  expect(lines[8]).toMatch(/^ +1 +16$/);
});

test('time spans as people say them', () => {
  expect([0.001, 0.5, 3, 100].map(spanText)).toEqual(['3.6 seconds', '30 minutes', '3 hours', '4.17 days']);
});

test('a number over time holds from each moment until the next', () => {
  const day = (n: number) => Date.UTC(2026, 0, n);
  const moments = [
    { atMs: day(1), value: 10 },
    { atMs: day(3), value: 20 },
    { atMs: day(4), value: 15 },
  ];
  expect(stepPlot(moments, day(5), 9, 3).split('\n')).toEqual([
    '20 │    ──',
    '   │      ───',
    '10 │────',
    '   └─────────',
    '    2026-01-01 00:00 2026-01-05 00:00',
  ]);
  expect(stepPlot(moments.slice(0, 1), day(1), 9, 3)).toContain('10 │─────────');
});
