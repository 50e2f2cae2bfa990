import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { planRobots } from '@revisit/core';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Desk } from '../desk.ts';
import { openSqlite } from '../store/sqlite.ts';
import { systemClock } from '../values/clock.ts';
import { robotsThere, robotsWanted } from './robots-wanted.ts';
import { createApi } from './server.ts';

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource: { readonly type: string; readonly uid: string };
  readonly fieldConfig: { readonly defaults: { readonly unit?: string } };
  readonly targets: readonly { readonly refId: string; readonly expr: string; readonly legendFormat?: string }[];
}

interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly refresh: string;
  readonly time: { readonly from: string; readonly to: string };
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string; readonly query: string }[];
  };
  readonly panels: readonly Panel[];
}

const file = readFileSync(join(import.meta.dirname, '../../../../deploy/grafana.json'), 'utf8');
const dashboard = JSON.parse(file) as Dashboard;

/** What `/metrics` says of each metric: its type, and the labels its samples carry. */
const metrics = new Map<string, { readonly type: string; readonly labels: Set<string> }>();
let app: FastifyInstance;

beforeAll(async () => {
  const opened = openSqlite(':memory:');
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  app = createApi(new Desk(opened.store, systemClock, () => {}));
  await app.inject('/api/status');
  const { body } = await app.inject('/metrics');
  for (const [, name, type] of body.matchAll(/^# TYPE (\w+) (\w+)$/gm))
    metrics.set(name!, { type: type!, labels: new Set() });
  for (const [, name, labels] of body.matchAll(/^(\w+)(?:\{([^}]*)\})? \S+$/gm)) {
    const metric = metrics.get(name!) ?? metrics.get(name!.replace(/_(bucket|sum|count)$/, ''));
    expect(metric, `${name} has no TYPE`).toBeDefined();
    for (const [, label] of (labels ?? '').matchAll(/(\w+)="/g)) metric!.labels.add(label!);
  }
});
afterAll(() => app.close());

const metricOf = (name: string) => metrics.get(name.replace(/_bucket$/, '')) ?? metrics.get(name);

test('every metric that the Grafana dashboard asks for is there, and is asked for as its type wants', () => {
  const exprs = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  expect(exprs.length).toBeGreaterThan(10);
  for (const expr of exprs) {
    const names = [...expr.matchAll(/revisit_\w+/g)].map(([name]) => name);
    expect(names.length, expr).toBeGreaterThan(0);
    for (const name of names) {
      const metric = metricOf(name);
      expect(metric, `${name} in ${expr}`).toBeDefined();
      // Counters and the buckets of histograms only grow: shown as they are they say nothing.
      const grows = metric!.type === 'counter' || metric!.type === 'histogram';
      expect(new RegExp(`(rate|increase)\\(${name}\\[\\d+[mhd]\\]\\)`).test(expr), expr).toBe(grows);
      if (metric!.type === 'histogram') expect(expr).toMatch(/histogram_quantile\(0?\.\d+, sum by \([^)]*\ble\b/);
    }
    for (const [, labels] of expr.matchAll(/\bby \(([^)]*)\)/g))
      for (const label of labels!.split(',').map((word) => word.trim()))
        expect(metricOf(names[0]!)!.labels, `${label} in ${expr}`).toContain(label);
    expect(expr.split('(').length, expr).toBe(expr.split(')').length);
  }
});

test('every metric that the manifests scale by is there', () => {
  for (const name of ['revisit.yaml', 'README.md']) {
    const text = readFileSync(join(import.meta.dirname, '../../../../deploy/kubernetes', name), 'utf8');
    const asked = [...text.matchAll(/\brevisit_\w+/g)].map(([metric]) => metric);
    expect(asked).toContain('revisit_robots_wanted');
    for (const metric of asked) expect(metrics.has(metric), metric).toBe(true);
  }
});

test('the Grafana dashboard has what an import asks for: ids, a source, a place for every panel', () => {
  expect(dashboard).toMatchObject({
    uid: 'revisit',
    title: 'Revisit',
    refresh: expect.stringMatching(/^\d+[smh]$/) as string,
  });
  expect(dashboard.schemaVersion).toBeGreaterThanOrEqual(36);
  expect(dashboard.time).toEqual({ from: expect.stringMatching(/^now-/) as string, to: 'now' });
  const sources = dashboard.templating.list.filter(
    ({ type, query }) => type === 'datasource' && query === 'prometheus',
  );
  expect(sources.length).toBe(1);
  const cells = new Set<string>();
  for (const { id, type, title, gridPos, datasource, fieldConfig, targets } of dashboard.panels) {
    expect(['stat', 'gauge', 'timeseries'], title).toContain(type);
    expect(datasource).toEqual({ type: 'prometheus', uid: `\${${sources[0]!.name}}` });
    expect(['short', 'percentunit', 's', 'bytes'], title).toContain(fieldConfig.defaults.unit);
    expect(new Set(targets.map(({ refId }) => refId)).size, title).toBe(targets.length);
    // Lines that share a panel are told apart by a name.
    if (targets.length > 1)
      expect(
        targets.every(({ legendFormat }) => legendFormat),
        title,
      ).toBe(true);
    expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        expect(cells.has(`${x} ${y}`), `${title} lies on another panel`).toBe(false);
        cells.add(`${x} ${y}`);
      }
    expect(dashboard.panels.filter((other) => other.id === id).length, title).toBe(1);
  }
});

/** A loop in which a fetch and the indexing of its answer take so long, in milliseconds. */
const loopOf = (fetchMsMean: number, indexMsMean: number, looksPerSecond = 1e9, size = 10) => ({
  collection: { size },
  settings: { looksPerSecond, queueMax: 100 },
  counts: () => ({ pool: { fetchMsMean, indexMsMean } }),
});

test('robots wanted: none without work, one to begin with, then as many as the budget and the queue can use', () => {
  expect(robotsWanted({})).toBe(0);
  expect(robotsWanted({ loop: loopOf(0, 0, 10, 0) })).toBe(0);
  expect(robotsWanted({ loop: loopOf(0, 0, 10) })).toBe(1);
  // 640 looks a second of one second each keep 640 requests under way, and a quarter to spare: 12.5 robots of breadth 64.
  expect(robotsWanted({ loop: loopOf(1_000, 0.01, 640) })).toBeCloseTo(12.5);
  expect(robotsWanted({ loop: loopOf(1_000, 0.01, 64) })).toBeCloseTo(1.25);
  // A queue that takes 100 answers a second keeps 100 requests of a second each busy, whatever the budget (Talim's static rule).
  const ruled = planRobots({ arrival: 1, service: 100, buffer: 100, starvationWeight: 1 }).robots;
  expect(robotsWanted({ loop: loopOf(1_000, 10) })).toBeCloseTo(ruled / 64);
  expect(ruled).toBeGreaterThan(80);
  expect(ruled).toBeLessThan(120);
});

test('robots are told in processes and requests in requests, and each says which', async () => {
  const { body } = await app.inject('/metrics');
  const help = (name: string): string => new RegExp(`^# HELP ${name} (.*)$`, 'm').exec(body)![1]!;
  for (const name of ['revisit_robots_wanted', 'revisit_robots_there']) expect(help(name)).toMatch(/^In processes/);
  for (const name of ['revisit_robots', 'revisit_robots_limit']) expect(help(name)).toMatch(/^In requests, not/);
  for (const name of ['revisit_requests_at_once', 'revisit_requests_at_once_limit'])
    expect(help(name)).toMatch(/^Requests of this process that may be under way at once/);
  const crew = [{ there: true }, { there: false }, { there: true }];
  expect(robotsThere({ loop: {}, robots: () => crew })).toBe(2);
  // Its own robot, where it looks at anything.
  expect(robotsThere({ loop: {}, robots: () => undefined })).toBe(1);
  expect(robotsThere({ robots: () => undefined })).toBe(0);
});
