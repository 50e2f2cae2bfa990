import { expect, test } from 'vitest';
import type { Detection } from '../values/change.ts';
import type { WatchedPage } from '../values/look.ts';
import type { Observation, Outcome } from '../values/observation.ts';
import { usualSettings } from '../values/page.ts';
import { verdict } from './verdict.ts';

const url = 'https://a.example/';
const first: Detection = { kind: 'first', projection: { text: 'x', format: 'text' } };
const same: Detection = { kind: 'unchanged' };
const fetched: Outcome = {
  kind: 'fetched',
  status: 200,
  body: Buffer.from('x'),
  mediaType: 'text/html',
  charset: undefined,
  validators: {},
};
const gone: Outcome = { kind: 'gone', status: 410 };
const failed: Outcome = { kind: 'failed', fault: { code: 'connection-lost', sentence: 'lost' } };

/** What is told of a page, look by look. */
function told(looks: readonly (readonly [outcome: Outcome, detection?: Detection, movedTo?: string])[]) {
  let watched: WatchedPage = {
    page: { id: 'p', url, site: 'a.example', ...usualSettings, addedAtMs: 0 },
    state: { status: 'new', version: 0, toldVersion: 0, validators: {}, failures: 0, looks: 0, changes: 0 },
  };
  return looks.map(([outcome, detection, movedTo], n) => {
    const probe = { id: `${n}`, url, site: 'a.example', pageIds: ['p'], atMs: n, validators: {} };
    const times = { startedAtMs: n, endedAtMs: n + 1 };
    const moved = movedTo === undefined ? {} : { movedTo };
    const observation: Observation = { probe, ...times, outcome, ...moved, bytesReceived: 0, requests: 1 };
    const look = verdict(watched, observation, detection);
    watched = { ...watched, state: look.state };
    return look.change?.kind;
  });
}

test('a page that goes is told once, however often it is not there, and its return once', () => {
  expect(
    told([
      [fetched, first],
      [gone],
      [gone],
      [failed],
      [gone],
      [fetched, same],
      [fetched, same],
      [gone],
      [fetched, same],
    ]),
  ).toEqual([undefined, 'gone', undefined, undefined, undefined, 'returned', undefined, 'gone', 'returned']);
});

test('a page that was never there has not gone, and its coming is told', () => {
  expect(told([[gone], [gone], [fetched, first], [fetched, same]])).toEqual([
    undefined,
    undefined,
    'returned',
    undefined,
  ]);
});

test('a move for good is told once for each place, and again when it was back', () => {
  const there = 'https://b.example/';
  expect(
    told([
      [fetched, first],
      [fetched, same, there],
      [fetched, same, there],
      [failed],
      [fetched, same, there],
      [fetched, same, 'https://c.example/'],
      [fetched, same],
      [fetched, same, there],
    ]),
  ).toEqual([undefined, 'moved', undefined, undefined, undefined, 'moved', undefined, 'moved']);
});

test('failures tell nothing', () => {
  expect(told([[fetched, first], [failed], [failed], [fetched, same]])).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test('a look that was told of later is dated by its age, in the order of the looks and not before the page was there', () => {
  const page = { id: 'p', url, site: 'a.example', ...usualSettings, addedAtMs: 1_000 };
  const counts = { version: 1, toldVersion: 1, failures: 0, looks: 1, changes: 0 };
  const probe = { id: 'q', url, site: 'a.example', pageIds: ['p'], atMs: 90_000, validators: {} };
  const changed: Detection = { ...first, kind: 'changed', count: 1, summary: 's' };
  const dated = (toldAfterMs: number, lastLookMs?: number): readonly unknown[] => {
    const state = { status: 'present', validators: {}, ...counts, ...(lastLookMs === undefined ? {} : { lastLookMs }) };
    const times = { startedAtMs: 100_000, endedAtMs: 100_250, toldAfterMs };
    const seen: Observation = { probe, ...times, outcome: fetched, bytesReceived: 0, requests: 1 };
    const look = verdict({ page, state } as WatchedPage, seen, changed);
    expect([look.state.lastLookMs, look.state.lastChangeMs, look.change?.atMs]).toEqual([
      look.atMs,
      look.atMs,
      look.atMs,
    ]);
    return [look.atMs, look.endedAtMs - look.atMs];
  };
  expect(dated(60_000, 5_000)).toEqual([40_000, 250]);
  expect(dated(60_000, 50_000)).toEqual([50_001, 250]);
  expect(dated(1e9)).toEqual([1_000, 250]);
  expect(dated(0.4, 5_000)).toEqual([100_000, 250]);
});
