/** What a coordinator knows of a site that observers may have: who has it, what its links take, how often it is asked. */
import type { Observation } from 'revisit/ports';
import { Measured } from './vantage-points.ts';

/** Looks of the observer's own between two errands. */
export const looksPerErrand = 4;
/** What a look from home costs beyond its body. */
const defaultLink = { latency: 0.05, secondsPerByte: 1e-7 };

/** However long it was, the last time between two errands counts for no more than so many times the usual. */
const gapMsGrowth = 2;
const gapMsUsual = 1_000;

export interface MeasuredLink {
  readonly latency: Measured;
  readonly secondsPerByte: Measured;
}

interface TriedLink extends MeasuredLink {
  triedMs: number;
  tries: number;
}

interface Pace {
  readonly gapMs: Measured;
  lastMs: number;
  /** The next time it is asked for because something was found there, not because the plan wants it. */
  urged: boolean;
}

export interface SiteBook {
  observer: string | undefined;
  /** When the last mandate ends at the latest. */
  mandateEndsMs: number;
  readonly home: MeasuredLink;
  readonly from: Map<string, TriedLink>;
  readonly compression: Measured;
  /** How often each URL is asked for by the plan. */
  readonly pace: Map<string, Pace>;
  errands: number;
  /** Errands that were handed out and not answered. */
  underWay: number;
  /** While the site is on its way from one to another: nothing is handed out before it is decided who has it. */
  moving: Promise<void> | undefined;
  /** What the observer last said a URL's fingerprint was, while a look from home said otherwise. */
  readonly contested: Map<string, string>;
}

export function freshBook(): SiteBook {
  return {
    observer: undefined,
    mandateEndsMs: -Infinity,
    home: { latency: new Measured('delay'), secondsPerByte: new Measured() },
    from: new Map(),
    compression: new Measured(),
    pace: new Map(),
    errands: 0,
    underWay: 0,
    moving: undefined,
    contested: new Map(),
  };
}

export function fromOf(book: SiteBook, observer: string): TriedLink {
  let from = book.from.get(observer);
  if (!from) {
    from = { latency: new Measured('delay'), secondsPerByte: new Measured(), triedMs: -Infinity, tries: 0 };
    book.from.set(observer, from);
  }
  return from;
}

/** The URL is asked for now. */
export function keepPace(book: SiteBook, url: string, nowMs: number): void {
  const pace = book.pace.get(url);
  if (!pace) {
    book.pace.set(url, { gapMs: new Measured('pace'), lastMs: nowMs, urged: false });
    return;
  }
  const gapMs = nowMs - pace.lastMs;
  // The first time at an observer it is asked for as often as from home; and a time in which nobody could ask is no pace.
  const rarer = book.observer === undefined ? 1 : looksPerErrand;
  const { mean } = pace.gapMs;
  if (!pace.urged)
    pace.gapMs.learn(mean === undefined ? rarer * gapMs : Math.min(gapMs, gapMsGrowth * Math.max(mean, gapMsUsual)));
  pace.lastMs = nowMs;
  pace.urged = false;
}

export function looksPerDay(book: SiteBook): number {
  let looks = 0;
  for (const { gapMs } of book.pace.values())
    if (gapMs.mean !== undefined) looks += 86_400_000 / Math.max(1, gapMs.mean);
  return Math.max(1, looks * (book.observer === undefined ? 1 : looksPerErrand));
}

export function linkOf(from: MeasuredLink): {
  latency: number;
  secondsPerByte: number;
} {
  return {
    latency: from.latency.mean ?? defaultLink.latency,
    secondsPerByte: from.secondsPerByte.mean ?? defaultLink.secondsPerByte,
  };
}

/** Half the time to the first byte is one way; the rest of the time went into the body. */
export function learnLink(
  link: MeasuredLink,
  observation: Pick<Observation, 'outcome' | 'latencyMs' | 'startedAtMs' | 'endedAtMs' | 'bytesReceived'>,
): void {
  const { outcome, latencyMs, bytesReceived } = observation;
  if (outcome.kind !== 'fetched' && outcome.kind !== 'not-modified') return;
  const tookMs = observation.endedAtMs - observation.startedAtMs;
  link.latency.learn((latencyMs ?? tookMs) / 2_000);
  if (latencyMs !== undefined && bytesReceived > 2_000)
    link.secondsPerByte.learn(Math.max(0, tookMs - latencyMs) / 1_000 / bytesReceived);
}
