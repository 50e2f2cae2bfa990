/**
 * Does Last-Modified name the time of the answer and not of the change? Many servers make pages as they are asked for and say "now".
 *
 * Without a unit of time no number of seconds can say so, but a share of the gap between two looks can. Of a page that changes m times
 * a gap in the mean, the last change before a look lies in the last hundredth of its gap with the chance
 *   (1 - exp(-m / 100)) / (1 - exp(-m)),
 * 1 in 100 where changes are rare and 1 in 6 where m is 20. So counted are the looks whose Last-Modified lies within their gap, and
 * those of them where it lies in its last hundredth (or as shortly after the look: clocks differ); m is the most that the looks alone
 * leave possible (the upper end of their 95 % interval), 20 where that is more. That as many or more are so late by chance is a
 * binomial tail, taken at the mean chance (unequal chances have a shorter tail, Hoeffding 1956). Where it is below one in a thousand
 * and nine in ten are so late, none is believed.
 *
 * So honest times are taken for answers' in one page of a thousand or less where it changes up to 20 times a gap, and hardly ever up
 * to 100 times where looks are many. Of a page that changes some hundred times in every gap they are taken for answers', and its rate is
 * then known as "at least": nothing tells such a page from one that is stamped.
 * Delicate: a Last-Modified at the very time of the look is no evidence, as times in whole days or steps have it by chance.
 * Cost: O(looks).
 */
import { estimateRate } from './rate.ts';

export interface StampedLook {
  readonly gap: number;
  readonly changed: boolean;
  /** From Last-Modified to the look; below 0 where the server's clock is ahead. */
  readonly age: number | undefined;
}

const late = 1 / 100;
const changesPerGapMax = 20;
const errorMax = 1 / 1000;
const lateShareMin = 9 / 10;

/** Looks after the first, each with the gap before it. */
export function namesAnswers(looks: readonly StampedLook[]): boolean {
  const stamped = looks.flatMap(({ gap, age }) =>
    age !== undefined && age !== 0 && age < gap && age >= -late * gap ? [{ gap, age }] : [],
  );
  const lateOnes = stamped.filter(({ gap, age }) => age <= late * gap).length;
  if (lateOnes === 0 || lateOnes < lateShareMin * stamped.length) return false;
  const rateMax = estimateRate({
    changedGaps: looks.filter(({ changed }) => changed).map(({ gap }) => gap),
    freeTime: looks.reduce((time, { gap, changed }) => (changed ? time : time + gap), 0),
    exact: 0,
  }).interval[1];
  const chances = stamped.map(({ gap }) => {
    const mean = Math.min(changesPerGapMax, rateMax * gap);
    return mean > 0 ? Math.expm1(-late * mean) / Math.expm1(-mean) : late;
  });
  const chance = chances.reduce((a, b) => a + b, 0) / chances.length;
  return binomialTail(stamped.length, lateOnes, chance) < errorMax;
}

/** The chance of `least` or more in `count` tries. */
function binomialTail(count: number, least: number, chance: number): number {
  let logTerm = count * Math.log1p(-chance);
  const odds = Math.log(chance) - Math.log1p(-chance);
  let below = 0;
  for (let k = 0; k < least; k++) {
    below += Math.exp(logTerm);
    logTerm += Math.log((count - k) / (k + 1)) + odds;
  }
  // Tails far below what is asked for are lost in the difference, which does not matter.
  return Math.max(0, 1 - below);
}
