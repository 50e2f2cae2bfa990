import { expect, test } from 'vitest';
import type { ObserverReport } from '../values/observer-report.ts';
import { crewOf, observersOf } from './robots.ts';

const robot = (name: string, there: boolean, looks: number, lastHeardMs: number, process = 'a-1') => ({
  name,
  process,
  there,
  looks,
  sinceMs: lastHeardMs - 5,
  looksLastMinute: 0,
  handedBack: 0,
  lastHeardMs,
});

test('robots are one by one what all coordinators know of them, those that are there first, the second before the tenth', () => {
  const crew = crewOf([
    { crew: [robot('r-10', true, 3, 50), robot('r-2', false, 1, 10), robot('r-1', false, 9, 40)] },
    { crew: [robot('r-2', true, 2, 60), robot('r-1', true, 1, 70, 'a-2')] },
  ]);
  expect(
    crew!.map(({ name, process, there, looks, lastHeardAt }) => [name, process, there, looks, lastHeardAt]),
  ).toEqual([
    ['r-1', 'a-2', true, 1, '1970-01-01T00:00:00.070Z'],
    ['r-2', 'a-1', true, 3, '1970-01-01T00:00:00.060Z'],
    ['r-10', 'a-1', true, 3, '1970-01-01T00:00:00.050Z'],
    ['r-1', 'a-1', false, 9, '1970-01-01T00:00:00.040Z'],
  ]);
  // Its counts are of two coordinators, of which one began earlier.
  expect(crew![1]).toMatchObject({ name: 'r-2', countedSince: '1970-01-01T00:00:00.005Z' });
  expect(crewOf([{ crew: undefined }])).toBeNull();
});

test('of an observer it is said when anybody last heard it; of one that has left, that it was not heard', () => {
  const report = (name: string, lastHeardMs: number | null, sites: readonly string[]): ObserverReport => ({
    name,
    state: 'away',
    lastHeardMs,
    sites,
    places: 0,
    looks: 1,
    reports: 2,
    sinceMs: (lastHeardMs ?? 40) + 1,
    latencyMs: null,
    linkBytes: 1,
    savedBytes: 1,
  });
  const said = observersOf([
    { observers: [report('o-10', 5, ['s10', 's2']), report('o-2', null, [])] },
    { observers: [report('o-10', 20, ['s1'])] },
  ]);
  expect(said.map(({ name, lastHeardAt, sites }) => [name, lastHeardAt, sites])).toEqual([
    ['o-2', null, []],
    ['o-10', '1970-01-01T00:00:00.020Z', ['s1', 's2', 's10']],
  ]);
  expect(said.map(({ looks, reports, countedSince }) => [looks, reports, countedSince])).toEqual([
    [1, 2, '1970-01-01T00:00:00.041Z'],
    [2, 4, '1970-01-01T00:00:00.006Z'],
  ]);
});
