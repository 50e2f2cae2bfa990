import { expect, test } from 'vitest';
import type { Ask } from '../observe/ask.ts';
import { type Process, Witness } from './witness.ts';

const startMs = Date.UTC(2026, 0, 5);
const minuteMs = 60_000;
const rules = { spacingMs: 0, connections: 1 };
const ask: Ask = { url: new URL('https://a.example/robots.txt'), headers: {} } as Ask;

/** What it says of a process that asks after five minutes, where another was told to wait for ten and lived so long. */
function said(lifeMs: number | undefined, fullForMs: number): number {
  const isFull = (atMs: number) => atMs >= startMs && atMs < startMs + fullForMs;
  const options = { requestsPerMs: 1, robots: 1, serverOf: () => undefined, serverRules: rules, startMs, isFull };
  const witness = new Witness({ ...options, rules });
  const told: Process = { alive: true };
  witness.toldToWait('a.example', { atMs: startMs, untilMs: startMs + 10 * minuteMs, process: told });
  if (lifeMs !== undefined) Object.assign(told, { alive: false, diedMs: startMs + lifeMs });
  witness.asked(ask, startMs + 5 * minuteMs, lifeMs === undefined ? told : { alive: true });
  return witness.violations.length;
}

test('a process that is killed before it could note what a site asked for is not blamed on the next', () => {
  expect(said(undefined, 0)).toBe(1);
  expect(said(44, 0)).toBe(0);
  expect(said(3_000, 0)).toBe(1);
  expect(said(3_000, minuteMs)).toBe(0);
  expect(said(minuteMs + 1_000, minuteMs)).toBe(0);
  expect(said(minuteMs + 10_000, minuteMs)).toBe(1);
  // Whoever was told knows it, disk or no disk.
  expect(said(undefined, minuteMs)).toBe(1);
});
