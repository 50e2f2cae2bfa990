import type { Observation, Outcome } from 'revisit/ports';
import { expect, test } from 'vitest';
import { CrewBook } from './crew-book.ts';
import { handedBack } from './wire.ts';

const startMs = Date.UTC(2026, 0, 5);
const probe = { id: 'p', url: 'https://a.example/', site: 'a.example', pageIds: ['x'], atMs: 0, validators: {} };
const look = (outcome: Outcome = { kind: 'not-modified' }, requests = 1): Observation => ({
  probe,
  startedAtMs: 1,
  endedAtMs: 2,
  outcome,
  bytesReceived: 1,
  requests,
});
const back = handedBack(probe, startMs, 'It stood still.');

test('counts what each robot answered, in all and in the last minute, and what it gave back unlooked', () => {
  const book = new CrewBook();
  for (let second = 0; second < 90; second++) book.heard('r1', 'm-1', look(), startMs + second * 1_000);
  book.heard('r1', 'm-1', back, startMs + 90_000);
  // Forbidden by robots.txt that was known: an answer for all that, though nothing was asked.
  const fault = { code: 'robots', sentence: 'no' };
  book.heard('r2', 'm-1', look({ kind: 'refused', fault }, 0), startMs + 90_000);
  expect(book.reports(startMs + 90_000)).toEqual([
    {
      name: 'r1',
      process: 'm-1',
      sinceMs: startMs,
      looks: 90,
      looksLastMinute: 59,
      handedBack: 1,
      there: true,
      lastHeardMs: startMs + 90_000,
    },
    {
      name: 'r2',
      process: 'm-1',
      sinceMs: startMs + 90_000,
      looks: 1,
      looksLastMinute: 1,
      handedBack: 0,
      there: true,
      lastHeardMs: startMs + 90_000,
    },
  ]);
  expect(book.reports(startMs + 170_000).map(({ looksLastMinute }) => looksLastMinute)).toEqual([0, 0]);
});

test('robots that share a name are told apart by what they say of themselves, which is bounded', () => {
  const book = new CrewBook();
  for (const said of ['pod-1', 'pod-2', 'pod-1', '', '<b>', 'x'.repeat(81)])
    book.heard('robots', said, look(), startMs);
  expect(book.reports(startMs).map(({ process, looks }) => [process, looks])).toEqual([
    ['pod-2', 1],
    ['pod-1', 2],
    ['', 3],
  ]);
});

test('those silent for ten minutes are forgotten, and of too many the longest silent', () => {
  const book = new CrewBook();
  const names = (nowMs: number): string[] => book.reports(nowMs).map(({ name }) => name);
  book.heard('gone', '', look(), startMs);
  book.heard('there', '', look(), startMs);
  book.heard('there', '', look(), startMs + 1);
  expect(names(startMs + 600_000)).toEqual(['gone', 'there']);
  expect(names(startMs + 600_001)).toEqual(['there']);
  expect(names(startMs + 600_002)).toEqual([]);
  // Who comes again begins again.
  book.heard('gone', '', look(), startMs + 600_003);
  expect(book.reports(startMs + 600_003)).toMatchObject([{ name: 'gone', looks: 1 }]);
  for (let i = 0; i < 3_000; i++) book.heard(`r${i}`, '', look(), startMs + 600_004);
  const kept = names(startMs + 600_004);
  expect(kept).toHaveLength(2_000);
  expect([kept[0], kept.at(-1)]).toEqual(['r1000', 'r2999']);
});

test('one that says so is there, with or without work; one that is silent for two leases is named with when it was last heard', () => {
  const book = new CrewBook();
  book.heard('r1', 'm-1', look(), startMs);
  for (let ms = 0; ms <= 20_000; ms += 2_000) book.there('r2', 'm-2', startMs + ms);
  const standing = (ms: number) =>
    book.reports(startMs + ms, 4_000).map(({ name, there, lastHeardMs }) => [name, there, lastHeardMs - startMs]);
  expect(standing(20_000)).toEqual([
    ['r1', false, 0],
    ['r2', true, 20_000],
  ]);
  expect(standing(28_001)).toEqual([
    ['r1', false, 0],
    ['r2', false, 20_000],
  ]);
  expect(standing(601_000)).toEqual([['r2', false, 20_000]]);
});
