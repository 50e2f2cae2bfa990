/** One URL under an observer's eyes: what it knows of it, and what it has to tell of it. */
import { zstdCompressSync } from 'node:zlib';
import type { Outcome, Probe } from 'revisit/ports';
import { type Mandate, type ObservedPage, type Report, differenceFrom, fingerprint, packReport } from './errand.ts';
import type { Finding } from './journal.ts';

export type Fetched = Extract<Outcome, { kind: 'fetched' }>;

/** What is remembered of a page, for telling a change from the same; the daemon's own detection reads and writes it. */
export interface Remembered {
  readonly state: string;
  readonly atMs: number;
  readonly text: string | undefined;
}

/** What was found and waits to be told; `kept` is its number in the journal. */
export interface Unreported extends Finding {
  readonly kept: number | undefined;
}

export type Seen = Pick<Finding, 'observation' | 'atMs'>;

export interface Place {
  probe: Probe;
  pages: readonly ObservedPage[];
  mandate: Mandate;
  untilMs: number;
  nextMs: number;
  readonly remembered: Map<string, Remembered>;
  /** The last body that was reported, which the coordinator has. */
  reported: Uint8Array | undefined;
  /** The last body that was seen, and with which words of its server. */
  seen: { readonly fetched: Fetched; readonly print: string; readonly packedBytes: number } | undefined;
  last: Seen | undefined;
  /** Which giving of its site it is looked at under; undefined where it is only tried. */
  given: string | undefined;
  /** What the coordinator last said it has. */
  base: string;
  /** Found and not known to have arrived, oldest first; which of them was told last, and when. */
  readonly unreported: Unreported[];
  told: Unreported | undefined;
  toldMs: number;
  /** Looks with nothing new since the last that was told of or waits to be. */
  unchanged: number;
  /** Of what was seen since the last report. */
  looks: number;
  requests: number;
  wholeBytes: number;
  /** When the last look began, and the last of which a report has told. */
  lookedMs: number;
  reportedMs: number;
  busy: Promise<void> | undefined;
}

export function keyOf(probe: Probe): string {
  return `${probe.url}\n${JSON.stringify([probe.headers, probe.render])}`;
}

export function freshPlace(probe: Probe, pages: readonly ObservedPage[], mandate: Mandate, nowMs: number): Place {
  return {
    probe,
    pages,
    mandate,
    untilMs: -Infinity,
    nextMs: nowMs,
    remembered: new Map(),
    reported: undefined,
    seen: undefined,
    last: undefined,
    given: undefined,
    base: '',
    unreported: [],
    told: undefined,
    toldMs: -Infinity,
    unchanged: 0,
    looks: 0,
    requests: 0,
    wholeBytes: 0,
    lookedMs: nowMs,
    reportedMs: nowMs,
    busy: undefined,
  };
}

/** What an errand is answered with: the finding, and the counts of all looks since the last report, which begin anew. */
export function reportOf(place: Place, finding: Seen, base: string, nowMs: number): Uint8Array {
  const { probe: _probe, ...known } = finding.observation;
  const { outcome } = known;
  // "Not modified" was said to our validators; it stands for the copy that we have.
  const fetched =
    outcome.kind === 'fetched' ? outcome : outcome.kind === 'not-modified' ? place.seen?.fetched : undefined;
  const told = toldOf(place, fetched, base);
  const report: Report = {
    observation: { ...known, outcome: fetched ? withoutBody(fetched) : outcome, requests: place.requests },
    what: told.what,
    fingerprint: told.print,
    agoMs: Math.max(0, nowMs - finding.atMs),
    looks: place.looks,
    // Not to now: what was lent since the last look pays for the next.
    overMs: Math.max(0, place.lookedMs - place.reportedMs),
    wholeBytes: place.wholeBytes,
    ...(finding === place.told ? nameOf(place.told) : {}),
    more: Math.max(0, place.unreported.length - 1),
  };
  const bytes = packReport(report, told.payload);
  Object.assign(place, { looks: 0, requests: 0, wholeBytes: 0, reportedMs: place.lookedMs });
  return bytes;
}

function nameOf({ name, given }: Finding): Pick<Report, 'finding' | 'given'> {
  return { finding: name, ...(given === undefined ? {} : { given }) };
}

/** The body as briefly as the coordinator can understand it. */
function toldOf(
  place: Place,
  fetched: Fetched | undefined,
  base: string,
): { readonly what: Report['what']; readonly print: string; readonly payload: Uint8Array } {
  const nothing = new Uint8Array();
  if (!fetched) return { what: 'no-body', print: '', payload: nothing };
  const print = fingerprint(fetched.body);
  const { reported } = place;
  place.reported = fetched.body;
  if (print === base) return { what: 'same', print, payload: nothing };
  if (reported && base !== '' && fingerprint(reported) === base)
    return { what: 'difference', print, payload: differenceFrom(reported, fetched.body) };
  return { what: 'whole', print, payload: zstdCompressSync(fetched.body) };
}

function withoutBody(fetched: Fetched): Fetched {
  return { ...fetched, body: undefined as unknown as Uint8Array };
}
