/** A look that may be a little late meets its site at an hour at which that is faster. */
import type { AccessTimes } from '@revisit/core';
import type { Entry } from '../collection/collection.ts';

/** A look may be late by this share of the time since the last one, and by no more than this, to meet its site at a fast hour. */
const shiftShareMost = 0.05;
const shiftMsMost = 7_200_000;
/** What must be won by it: seconds of waiting, and as a share of them. */
const shiftGain = { seconds: 0.5, share: 1 / 3 };

/** The beginning of an hour within the look's tolerance at which its site is clearly faster; now when there is none. */
export function fasterHour(access: AccessTimes, entry: Entry, now: number): number {
  const { lastLookMs } = entry.state;
  if (lastLookMs === undefined) return now;
  const latest = now + Math.min(shiftMsMost, shiftShareMost * (now - lastLookMs));
  const today = access.expected(entry.page.site, now / 1000);
  let [best, bestSeconds] = [now, Math.min(today - shiftGain.seconds, today * (1 - shiftGain.share))];
  for (let at = now - (now % 3_600_000) + 3_600_000; at <= latest; at += 3_600_000) {
    const seconds = access.expected(entry.page.site, at / 1000);
    if (seconds < bestSeconds) [best, bestSeconds] = [at, seconds];
  }
  return best;
}
