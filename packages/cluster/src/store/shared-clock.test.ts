import { expect, test } from 'vitest';
import { SharedClock } from './shared-clock.ts';

test('two processes whose clocks are minutes off agree within what an answer takes, and time goes on without jumps', () => {
  let trueMs = 1e12;
  const offs = [420_000, -300_000, 0];
  const clocks = offs.map((_, i) => {
    const own = { nowMs: () => trueMs + offs[i]!, sleep: () => Promise.resolve() };
    return new SharedClock(own);
  });
  const askAll = (tookMs: number): void => {
    for (const clock of clocks) {
      const askedAtMs = clock.ownMs();
      trueMs += tookMs / 2;
      const serverMs = trueMs;
      trueMs += tookMs / 2;
      clock.heard(serverMs, askedAtMs);
    }
  };
  askAll(40);
  for (const clock of clocks) expect(Math.abs(clock.nowMs() - trueMs)).toBeLessThanOrEqual(20);
  // Whole milliseconds, as everybody else counts.
  for (const clock of clocks) expect(Number.isInteger(clock.nowMs())).toBe(true);
  // Slow answers say less than is known already.
  const before = clocks.map((clock) => clock.nowMs() - trueMs);
  askAll(3_000);
  expect(clocks.map((clock) => clock.nowMs() - trueMs)).toEqual(before);
  // A clock that is put right by its owner is followed at the next answer.
  offs[0] = 0;
  askAll(40);
  expect(Math.abs(clocks[0]!.nowMs() - trueMs)).toBeLessThanOrEqual(20);
});
