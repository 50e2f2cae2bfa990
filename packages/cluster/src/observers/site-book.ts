/** What a coordinator knows of a site that observers may have: who has it, what its links take, how often it is asked. */
import type { Link, VantageDocument } from '@revisit/core';
import type { Observation, Page, PageState } from 'revisit/ports';
import { Claims } from './claims.ts';
import type { Report } from './errand.ts';
import { PastMandates } from './past-mandates.ts';
import { type LinkRange, Measured } from './vantage-points.ts';

/** What a look from home costs beyond its body. */
const defaultLink = { latency: 0.05, secondsPerByte: 1e-7 };

export interface Watched {
  readonly page: Page;
  readonly state: PageState;
}

export interface MeasuredLink {
  readonly latency: Measured;
  readonly secondsPerByte: Measured;
}

interface TriedLink extends MeasuredLink {
  triedMs: number;
  tries: number;
}

export interface SiteBook {
  observer: string | undefined;
  /** Which giving of the site that is; a name of its own for each. */
  given: string;
  /** Which process of the observer (life.ts) was lent what there is to be lent of it; undefined where it has not said. */
  life: string | undefined;
  /** When the last mandate ends at the latest. */
  mandateEndsMs: number;
  /** Of observers whose findings may come after home has looked. */
  readonly past: PastMandates;
  readonly home: MeasuredLink;
  readonly from: Map<string, TriedLink>;
  readonly compression: Measured;
  readonly requestsPerLook: Measured;
  /** How long after its last look the plan wanted each URL, when it last did. */
  readonly plannedMs: Map<string, number>;
  errands: number;
  /** Errands that were handed out and not answered. */
  underWay: number;
  /** While the site is on its way from one to another: nothing is handed out before it is decided who has it. */
  moving: Promise<void> | undefined;
  /** What its observer was told of each URL's pages: their settings. */
  readonly said: Map<string, string>;
  /** What those that are only being tried said URLs were, where home had seen something else before. */
  readonly claims: Claims;
  /** URLs of which somebody has been asked only for what it found before. */
  readonly foundOnly: Set<string>;
  /** What the observer last said a URL's fingerprint was, while a look from home said otherwise, and when. */
  readonly contested: Map<string, { readonly print: string; readonly atMs: number }>;
  /** When the observer last said of each URL what it is. */
  readonly toldMs: Map<string, number>;
  /** When the last look from home at each URL left. */
  readonly homeMs: Map<string, number>;
  /** When a look from home at each URL of an observer's site left. */
  readonly auditedMs: Map<string, number>;
}

export function freshBook(): SiteBook {
  return {
    observer: undefined,
    given: '',
    life: undefined,
    mandateEndsMs: -Infinity,
    past: new PastMandates(),
    home: { latency: new Measured('delay'), secondsPerByte: new Measured() },
    from: new Map(),
    compression: new Measured(),
    requestsPerLook: new Measured(),
    plannedMs: new Map(),
    errands: 0,
    underWay: 0,
    moving: undefined,
    said: new Map(),
    claims: new Claims(),
    foundOnly: new Set(),
    contested: new Map(),
    toldMs: new Map(),
    homeMs: new Map(),
    auditedMs: new Map(),
  };
}

export function fromOf(book: SiteBook, observer: string): TriedLink {
  return book.from.get(observer) ?? untried(book, observer);
}

/** What was measured from there counts no more. */
export function untried(book: SiteBook, observer: string): TriedLink {
  const { triedMs = -Infinity, tries = 0 } = book.from.get(observer) ?? {};
  const from = { latency: new Measured('delay'), secondsPerByte: new Measured(), triedMs, tries };
  book.from.set(observer, from);
  return from;
}

export function looksPerDay(book: SiteBook, spacingMs: number): number {
  let looks = 0;
  for (const plannedMs of book.plannedMs.values()) looks += 86_400_000 / Math.max(1, spacingMs, plannedMs);
  return Math.max(1, looks);
}

/** Its pages as far as their sizes are known: how large they are, and what a look at one brings. */
export function documentsOf(
  pages: readonly Watched[],
  book: SiteBook,
  sizeOf: (url: string) => number | undefined,
): VantageDocument[] {
  const documents: VantageDocument[] = [];
  for (const { page, state } of pages) {
    const bytes = page.paused ? undefined : sizeOf(page.url);
    if (bytes === undefined) continue;
    const changedShare = Math.min(1, (state.changes + 0.5) / (state.looks + 1));
    documents.push({ bytes, changedShare, compression: book.compression.mean ?? 0.1 });
  }
  return documents;
}

/**
 * Home saw another page than the observer had told of: one that goes on seeing the old after that says what is not so. Undefined where a
 * report says nothing of that.
 */
export function stillTrue(
  { contested, toldMs }: SiteBook,
  url: string,
  { fingerprint, agoMs }: Pick<Report, 'fingerprint' | 'agoMs'>,
  nowMs: number,
): boolean | undefined {
  const open = contested.get(url);
  toldMs.set(url, nowMs);
  // What it saw before home looked was true then.
  if (!open || nowMs - agoMs < open.atMs) return undefined;
  contested.delete(url);
  return open.print !== fingerprint;
}

/** With redirects and robots.txt. */
export function requestsPerLook(book: SiteBook): number {
  return Math.max(1, book.requestsPerLook.mean ?? 1);
}

export function linkOf({ latency, secondsPerByte }: MeasuredLink): LinkRange {
  const at = (end: 0 | 1): Link => ({
    latency: latency.range?.[end] ?? defaultLink.latency,
    secondsPerByte: secondsPerByte.range?.[end] ?? defaultLink.secondsPerByte,
  });
  return { best: at(0), worst: at(1) };
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
