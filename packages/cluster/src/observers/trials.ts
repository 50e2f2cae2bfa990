/** Observers that have not been tried at a site look a few times, without a mandate; at what home has seen, to compare. */
import { contradictedMax } from './claims.ts';
import type { Roster } from './roster.ts';
import { type SiteBook, fromOf, untried } from './site-book.ts';

/**
 * A site is tried from an observer so many times, and as often again after some seconds, and after twice as long each time,
 * up to a day, judged by these alone: a moment in which a machine was busy must not decide for long.
 */
const triesAtOnce = 4;
const tryAgainMsMin = 15_000;
const tryAgainMsMax = 86_400_000;
/** After so many rounds of tries it rests for as long as any. */
const restedOften = 1 + Math.ceil(Math.log2(tryAgainMsMax / tryAgainMsMin));

/** Who looks at the URL once, if anybody is to be tried there now. */
export function nextTrial(book: SiteBook, url: string, roster: Roster, nowMs: number): string | undefined {
  if (book.home.latency.mean === undefined || book.claims.has(url)) return undefined;
  for (const { name } of roster.all()) {
    const { tries, triedMs } = fromOf(book, name);
    const begins = tries % triesAtOnce === 0;
    const often = Math.floor(tries / triesAtOnce);
    const restMs = begins ? Math.min(tryAgainMsMax, tryAgainMsMin * 2 ** (often - 1)) : 0;
    if (!roster.isThere(name) || (tries > 0 && nowMs - triedMs < restMs)) continue;
    const from = begins ? untried(book, name) : fromOf(book, name);
    from.tries++;
    from.triedMs = nowMs;
    return name;
  }
  return undefined;
}

/**
 * An observer that alone sees another page is tried anew, later; when that has happened again and again it has no business with the
 * site for as long as any rests. Answers whether it has come to that.
 */
export function rests(book: SiteBook, observer: string, nowMs: number): boolean {
  const isOver = book.claims.timesContradicted(observer) >= contradictedMax;
  const { tries } = fromOf(book, observer);
  const rounds = isOver ? restedOften : Math.max(1, Math.ceil(tries / triesAtOnce));
  Object.assign(untried(book, observer), { tries: triesAtOnce * rounds, triedMs: nowMs });
  return isOver;
}
