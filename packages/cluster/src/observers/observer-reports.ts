/** Observers as people are told of them. */
import type { ObserverReport } from 'revisit/ports';
import type { Roster } from './roster.ts';
import type { SiteBook } from './site-book.ts';

/** One that has no site and was not heard for so long is not spoken of any more. */
const silentMsMax = 10 * 60_000;

/** Why a site whose observer is away is asked by nobody; "until" and a time make it whole. */
export function awaitedAt(
  roster: Roster,
  book: SiteBook | undefined,
  site: string,
  nowMs: number,
): { readonly why: string; readonly untilMs: number } | undefined {
  const { observer, mandateEndsMs: untilMs } = book ?? {};
  if (observer === undefined || untilMs === undefined || untilMs <= nowMs || roster.isThere(observer)) return undefined;
  const why = roster.hasLeft(observer)
    ? `spacing of ${site}, at which the observer ${observer} looked,`
    : `the observer ${observer} is away and may be looking at ${site}`;
  return { why, untilMs };
}

export function reportsOf(
  roster: Roster,
  books: ReadonlyMap<string, SiteBook>,
  nowMs: number,
): readonly ObserverReport[] {
  return roster.all().flatMap((member) => {
    const sites = [...books].filter(([, book]) => book.observer === member.name).map(([site]) => site);
    if (sites.length === 0 && nowMs - member.heardMs > silentMsMax) return [];
    const linkBytes = member.errandBytes + member.reportBytes;
    return {
      name: member.name,
      state: roster.standing(member),
      // One that has said that it leaves counts as never heard.
      lastHeardMs: Number.isFinite(member.heardMs) ? member.heardMs : null,
      sites,
      places: member.word.places,
      // The observer's own count is of its whole life, and would not go with the others.
      looks: member.looks,
      reports: member.reports,
      sinceMs: member.sinceMs,
      latencyMs: member.latency.mean === undefined ? null : member.latency.mean * 1000,
      linkBytes,
      savedBytes: Math.max(0, member.wholeBytes - linkBytes),
    };
  });
}
