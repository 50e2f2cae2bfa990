import { kinOf, random, splitTrace, traceOf } from '@revisit/core';
import { expect, test } from 'vitest';
import { comparePolicy } from './compare.ts';

const day = 86_400;

/** A clock by which the first run takes one second, the second two, and so on. */
function risingClock(): { readonly nowMs: () => number; readonly runs: () => number } {
  let calls = 0;
  return { nowMs: () => (calls++ % 2 === 0 ? 0 : 500 * calls), runs: () => calls / 2 };
}

function given(allowed: number) {
  const next = random(5);
  const events = Array.from({ length: 6 }, (_, page) =>
    Array.from({ length: 60 }, (_event, i) => [`site/p${page}`, Math.floor((i + next()) * 2 * day)] as const),
  ).flat();
  const split = splitTrace(traceOf(events), 80 * day, 38 * day);
  return { split, kin: kinOf(split.names), allowed, learn: 'probes', loss: 'obsolescence', spacingSeconds: 0 } as const;
}

test('what is told of a policy is of the run that stands, not of the last that was tried', () => {
  for (const allowed of [9, 20, 26, 50]) {
    const clock = risingClock();
    // Pages in step are looked at six at a time, so that no run comes to these budgets and an earlier one stands.
    const one = comparePolicy('revisit', given(allowed), () => {}, clock.nowMs);
    expect(one.score.probes).toBe(allowed - (allowed % 6));
    expect(one.runs).toBeLessThan(clock.runs());
    expect(one.seconds).toBe(one.runs);
    expect(one.reliability!.reduce((sum, { looks }) => sum + looks, 0)).toBe(one.score.probes);
  }
});
