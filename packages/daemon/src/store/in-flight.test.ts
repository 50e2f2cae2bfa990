import { appendFileSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freshFolder } from '../trial/command.ts';
import type { Probe } from '../values/probe.ts';
import { InFlight } from './in-flight.ts';

const probe = (id: string, pageId = 'p'): Probe => ({
  id,
  url: 'https://a.example/',
  site: 'a',
  pageIds: [pageId],
  atMs: 1,
  validators: {},
});
const open = (file: string, lastLookMs: (pageId: string) => number = () => 0) => new InFlight(file, lastLookMs);
const ids = (inFlight: InFlight): string[] => inFlight.probes().map(({ id }) => id);

test('what a killed process had asked for is read again, but for what ended', () => {
  const file = join(freshFolder(), 'in-flight');
  const killed = open(file);
  killed.add([probe('a'), probe('b'), probe('c', 'looked at')]);
  killed.add([probe('d')]);
  killed.end(['b', 'unknown']);
  killed.looked(['c']);
  expect(ids(killed)).toEqual(['a', 'd']);
  // A look needs no line: its page says when it was looked at.
  expect(ids(open(file))).toEqual(['a', 'c', 'd']);
  expect(ids(open(file, (id) => (id === 'looked at' ? 1 : 0)))).toEqual(['a', 'd']);
});

test('half a line is a probe that never went out, and what follows it is read', () => {
  const file = join(freshFolder(), 'in-flight');
  const killed = open(file);
  killed.add([probe('a')]);
  killed.close();
  appendFileSync(file, JSON.stringify(probe('b')).slice(0, 20));
  const next = open(file);
  expect(ids(next)).toEqual(['a']);
  next.add([probe('c')]);
  expect(ids(open(file))).toEqual(['a', 'c']);
});

test('the file stays small however many probes pass, and holds those under way', () => {
  const file = join(freshFolder(), 'in-flight');
  const inFlight = open(file);
  inFlight.add([probe('stays')]);
  const many = Array.from({ length: 1_000 }, (_, n) => `probe-${n}`);
  for (let round = 0; round < 100; round++) {
    inFlight.add(many.map((id) => probe(id)));
    inFlight.looked(many);
  }
  expect(statSync(file).size).toBeLessThan(5 * 2 ** 20);
  expect(ids(inFlight)).toEqual(['stays']);
  inFlight.add([probe('last')]);
  inFlight.close();
  expect(readFileSync(file, 'utf8')).toContain('"stays"');
  expect(ids(open(file)).filter((id) => !id.startsWith('probe-'))).toEqual(['stays', 'last']);
});
