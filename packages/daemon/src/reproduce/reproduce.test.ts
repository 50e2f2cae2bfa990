import { describe, expect, test } from 'vitest';
import { exhaustiveFinish, troubleOf } from './czumaj.ts';
import { type Findings, papers, verdictOf } from './item.ts';
import { reportHtml } from './report.ts';
import { contextOf, items, runItem } from './reproduce.ts';
import { plotSvg, ticks } from './svg.ts';

describe('what is reproduced', () => {
  test('every paper has items, and every item its own name', () => {
    expect(new Set(items.map((item) => item.id)).size).toBe(items.length);
    expect(new Set(items.map((item) => item.paper))).toEqual(new Set(Object.keys(papers)));
  });

  // The longer ones run in `revisit reproduce`; these take a second together.
  const quick = items.filter((item) => item.seconds <= 3);
  test.each(quick.map((item) => [item.id, item] as const))('%s', (_id, item) => {
    const { verdict, findings } = runItem(item, contextOf(undefined));
    expect(findings.checks.filter((check) => !check.agrees)).toEqual([]);
    expect(verdict).not.toBe('does not hold');
    expect(findings.checks.length).toBeGreaterThan(0);
  });

  test('an item that meets a bug does not hold, and says so', () => {
    const broken = {
      id: 'x',
      paper: 'open',
      title: 'x',
      seconds: 0,
      run: (): Findings => {
        throw new Error('no such planner');
      },
    } as const;
    expect(runItem(broken, contextOf(undefined))).toMatchObject({
      verdict: 'does not hold',
      findings: { checks: [{ ours: 'it met a fault: no such planner' }] },
    });
  });

  test('one disagreement is enough', () => {
    expect(verdictOf({ checks: [{ paper: 'a', ours: 'b', agrees: true }] })).toBe('holds');
    expect(verdictOf({ checks: [{ paper: 'a', ours: 'b', agrees: true }], remark: 'but' })).toBe('holds with a remark');
    expect(
      verdictOf({
        checks: [
          { paper: 'a', ours: 'b', agrees: true },
          { paper: 'a', ours: 'b', agrees: false },
        ],
        remark: 'but',
      }),
    ).toBe('does not hold');
  });
});

describe('the exhaustive optimum', () => {
  test('is what trying every order and every wait gives', () => {
    const lengths = [
      [3, 3, 1, 3, 3, 3, 3, 3, 3],
      [3, 1, 3, 3, 3, 3, 3, 3, 3],
    ];
    // Task 2 in unit 2, task 1 in unit 3: done after unit 3, though nothing runs in unit 1.
    expect(exhaustiveFinish(lengths)).toBe(3);
    expect(troubleOf(lengths, { start: [3, 2], finish: 3, optimal: true, lowerBound: 3 })).toBeUndefined();
    expect(troubleOf(lengths, { start: [2, 2], finish: 3, optimal: true, lowerBound: 3 })).toMatch(/overlap/);
  });
});

describe('the report', () => {
  test('needs nothing from outside and escapes what it is told', () => {
    const findings: Findings = {
      checks: [{ paper: '<b>5</b>', ours: '4', agrees: false }],
      tables: [{ title: 't', head: ['a'], rows: [['<script>']] }],
      plots: [
        {
          title: 'p & q',
          x: 'x',
          y: 'y',
          series: [
            {
              name: 's',
              points: [
                [0, 1],
                [1, 2],
              ],
            },
            { name: 'd', draw: 'dots', points: [[0.5, 1]] },
          ],
        },
      ],
    };
    const html = reportHtml(
      [{ item: { id: 'a', paper: 'wic', title: 'A' }, verdict: 'does not hold', findings, seconds: 1 }],
      { version: '1', traces: false },
    );
    expect(html).not.toMatch(/<script|<link|src=|@import|<b>/);
    expect(html.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:/);
    expect(html).toContain('does not hold');
  });

  test('axes have round numbers', () => {
    expect(ticks(0, 10)).toEqual([0, 2, 4, 6, 8, 10]);
    expect(ticks(-0.3, 0.4)).toEqual([-0.2, 0, 0.2, 0.4]);
    expect(
      plotSvg({
        title: 't',
        x: 'x',
        y: 'y',
        series: [
          {
            name: 's',
            draw: 'steps',
            points: [
              [1, 1],
              [2, 3],
            ],
          },
        ],
      }),
    ).toContain('<path d="M');
  });
});
