import type { Observation, Probe } from 'revisit/ports';
import { expect, test } from 'vitest';
import { readWord } from '../observers/roster.ts';
import { handedBack, inOurTime, malformed, packObservation, unpackNotice, unpackObservation } from './wire.ts';

const probe: Probe = { id: 'p', url: 'https://a.example/', site: 'a.example', pageIds: [], atMs: 0, validators: {} };
const body = new TextEncoder().encode('words');
const fetched: Observation = {
  probe,
  startedAtMs: 1_000,
  endedAtMs: 1_500,
  latencyMs: 20,
  outcome: {
    kind: 'fetched',
    status: 200,
    body,
    mediaType: 'text/html',
    charset: undefined,
    validators: { etag: 'x' },
  },
  bytesReceived: 5,
  requests: 1,
};

test('what a robot says is read as it was said', () => {
  const said = unpackObservation(packObservation(fetched))!;
  expect(said).toMatchObject({ ...fetched, outcome: { kind: 'fetched', body, validators: { etag: 'x' } } });
  const lost = handedBack(probe, 7, 'Lost.');
  expect(unpackObservation(packObservation(lost))).toEqual(lost);
});

test.each([
  ['a time that is none', { endedAtMs: 'soon' }, 'a time that is none'],
  ['an end before the beginning', { endedAtMs: 1 }, 'a time that is none'],
  ['bytes below none', { bytesReceived: -1 }, 'a count that is none'],
  ['half a byte', { bytesReceived: 1.5 }, 'a count that is none'],
  ['a look of long ago', { toldAfterMs: 1e9 }, 'an age that is reckoned here'],
  ['a latency without end', { latencyMs: null }, 'a time that is none'],
  ['an address that nobody visits', { finalUrl: 'file:///etc/passwd' }, 'an answer from file:///etc/passwd'],
  ['a move to nowhere', { movedTo: 'javascript:0' }, 'an answer from javascript:0'],
  ['looks that nobody asked for', { watchedForMs: 1e12 }, 'a mandate that nobody gave'],
  ['no outcome', { outcome: {} }, 'an outcome that is none'],
  ['an outcome of its own', { outcome: { kind: 'run', code: 'x' } }, 'an outcome that is none'],
  ['a status that is no success', { outcome: { ...fetched.outcome, status: 500 } }, 'status 500'],
  ['a header that is an object', { outcome: { ...fetched.outcome, charset: {} } }, 'a header that is none'],
  ['a fault without a sentence', { outcome: { kind: 'failed', fault: { code: 'x' } } }, 'a fault that is none'],
  [
    'a site closed until never',
    { outcome: { kind: 'refused', fault: { code: 'x', sentence: 'y' }, siteUntilMs: 'never' } },
    'a time that is none',
  ],
])('%s is refused', (_what, part, sentence) => {
  const said = { ...fetched, ...part } as unknown as Observation;
  expect(malformed(said)).toBe(sentence);
  expect(unpackObservation(packObservation(said))).toBeUndefined();
});

test('times of a robot whose clock is wrong are taken relative to ours, those of the site it was led to as well', () => {
  const fault = { code: 'site-busy', sentence: 'Not yet.' };
  const elsewhere = { site: 'b.example', untilMs: 3_000 };
  const refused = {
    ...fetched,
    outcome: { kind: 'refused', fault, untilMs: 2_000, siteUntilMs: 2_500, elsewhere } as const,
  };
  expect(inOurTime({ ...fetched, endedAtMs: 1_500.4 }, probe, 90_000, 100_000).startedAtMs).toBe(99_500);
  expect(inOurTime(refused, probe, 90_000, 100_000)).toMatchObject({
    startedAtMs: 99_500,
    endedAtMs: 100_000,
    outcome: { untilMs: 100_500, siteUntilMs: 101_000, elsewhere: { site: 'b.example', untilMs: 101_500 } },
  });
});

test('what is no word of an observer and no notice of a coordinator moves nothing', () => {
  const word = { atMs: 1, places: 0, looks: 0, reports: 0, wholeBytes: 0, sentBytes: 0, stirred: ['x'] };
  expect(readWord(JSON.stringify(word))).toEqual(word);
  for (const wrong of [
    null,
    [],
    { ...word, stirred: undefined },
    { ...word, stirred: [1] },
    { ...word, looks: 'many' },
  ])
    expect(readWord(JSON.stringify(wrong))).toBeUndefined();
  expect(readWord('no JSON')).toBeUndefined();
  const notice = (text: string): readonly string[] => unpackNotice(Buffer.from(text));
  expect(notice('["a", 1, "b"]')).toEqual(['a', 'b']);
  expect([notice('{"id":"p"}'), notice('null'), notice('no JSON')]).toEqual([[], [], []]);
});
