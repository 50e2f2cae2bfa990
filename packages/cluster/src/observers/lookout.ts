/**
 * An observer near its sources (Brewington §2.5). It carries a copy, a fingerprint and what detection remembers of each of
 * its pages, looks by itself within the mandate of the last errand, and answers errands with what is new.
 *
 * A place is one URL under mandate:
 *   watched     looked at when an errand comes and, between errands, every `everyMs`
 *   stirred     looks found changes; each is kept, oldest first, and the coordinators hear of it until an errand shows that
 *               they have it; this goes on without a link, and nothing found is dropped but the last of too many
 *   shed        the mandate ended or was taken back; what is still unreported stays until it is asked for, until the
 *               coordinator says that it has looked itself, or for a week
 *
 * What is unreported is also in the journal, where there is one, and comes back from there into places that are shed.
 */
import type { Clock, Observation, Observer, Outcome, Probe } from 'revisit/ports';
import { packObservation } from '../dispatch/wire.ts';
import {
  type Errand,
  type Mandate,
  type ObservedPage,
  type Report,
  differenceFrom,
  fingerprint,
  packReport,
} from './errand.ts';
import type { Finding, Journal } from './journal.ts';
import { zstdCompressSync } from 'node:zlib';

type Fetched = Extract<Outcome, { kind: 'fetched' }>;

/** What is remembered of a page, for telling a change from the same; the daemon's own detection reads and writes it. */
export interface Remembered {
  readonly state: string;
  readonly atMs: number;
  readonly text: string | undefined;
}

export type Judge = (
  page: ObservedPage,
  fetched: Fetched,
  at: { readonly url: string; readonly ms: number },
  before: Remembered | undefined,
) => Promise<{ readonly changed: boolean; readonly remembered: Remembered }>;

/** Changes of one place that wait to be reported; beyond, the newest replaces the one before it. */
const unreportedMax = 50;
/** What nobody has asked for in so long belongs to a page that nobody watches any more. */
const unreportedMsMax = 7 * 86_400_000;
/** How many of the last reports are known by their fingerprints; more are never under way. */
const saidMax = 8;
/** What a robot sends for an answer without a body. */
const bodylessBytes = 250;

/** What was found and waits to be told; `kept` is its number in the journal. */
interface Unreported extends Finding {
  readonly kept: number | undefined;
}

type Seen = Pick<Finding, 'observation' | 'atMs'>;

interface Place {
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
  /** Found by the process before, which may have told what this one knows nothing of. */
  restored: boolean;
  /** What the coordinator last said it has, and what it was sent since. */
  base: string;
  readonly said: string[];
  /** Found and not known to have arrived, oldest first; and which of them was told last. */
  readonly unreported: Unreported[];
  told: Unreported | undefined;
  /** Of what was seen since the last report. */
  looks: number;
  requests: number;
  wholeBytes: number;
  reportedMs: number;
  busy: Promise<void> | undefined;
}

export interface LookoutCounts {
  readonly places: number;
  readonly looks: number;
  readonly reports: number;
  readonly wholeBytes: number;
  readonly sentBytes: number;
}

export class Lookout {
  readonly #observer: Observer;
  readonly #judge: Judge;
  readonly #clock: Clock;
  readonly #journal: Journal | undefined;
  readonly #places = new Map<string, Place>();
  /** Called when there is something new to tell. */
  onFound: () => void = () => {};
  #looks = 0;
  #reports = 0;
  #wholeBytes = 0;
  #sentBytes = 0;

  constructor(observer: Observer, judge: Judge, clock: Clock, journal?: Journal) {
    this.#observer = observer;
    this.#judge = judge;
    this.#clock = clock;
    this.#journal = journal;
    for (const { id, finding } of journal?.findings() ?? []) this.#restore(id, finding);
  }

  /** What was found before this process began; without a mandate nothing is looked at for it. */
  #restore(id: number, finding: Finding): void {
    const { probe, outcome } = finding.observation;
    const key = keyOf(probe);
    const place =
      this.#places.get(key) ??
      freshPlace(probe, finding.pages, { everyMs: 0, forMs: 0, sinceMs: 0 }, this.#clock.nowMs());
    this.#places.set(key, place);
    place.restored = true;
    if (place.unreported.length === 0) {
      place.base = finding.bases[0] ?? '';
      place.said.push(...finding.bases);
    }
    place.unreported.push({ ...finding, kept: id });
    if (outcome.kind === 'fetched')
      place.seen = { fetched: outcome, print: fingerprint(outcome.body), packedBytes: packedSize(finding.observation) };
  }

  /** Whether anything is known here of what the errand is about. */
  knows(errand: Errand): boolean {
    return this.#places.has(keyOf(errand.probe));
  }

  counts(): LookoutCounts {
    return {
      places: this.#places.size,
      looks: this.#looks,
      reports: this.#reports,
      wholeBytes: this.#wholeBytes,
      sentBytes: this.#sentBytes,
    };
  }

  /** Pages with changes that nobody has asked for yet. */
  stirred(most: number): readonly string[] {
    const ids: string[] = [];
    for (const place of this.#places.values()) {
      if (place.unreported.length > 0) ids.push(...place.probe.pageIds);
      if (ids.length >= most) break;
    }
    return ids.slice(0, most);
  }

  /** The coordinator has looked at these pages itself since: what was found before is of no use to it. */
  async forget(ids: readonly string[]): Promise<void> {
    const gone = new Set(ids);
    for (const place of this.#places.values())
      if (place.untilMs <= this.#clock.nowMs() && place.probe.pageIds.every((id) => gone.has(id)))
        await this.#drop(place, place.unreported.length);
  }

  /**
   * Lets go of a site's places; answers after how many milliseconds without a request from here. While something of it is
   * untold it is not let go of: a look from elsewhere would overtake that.
   */
  async shed(site: string): Promise<number | 'untold'> {
    const places = [...this.#places].filter(([, place]) => place.probe.site === site);
    for (const [, place] of places) await place.busy;
    if (places.some(([, place]) => place.unreported.length > 0)) return 'untold';
    let lastMs = -Infinity;
    for (const [key, place] of places) {
      place.untilMs = -Infinity;
      lastMs = Math.max(lastMs, place.last?.observation.endedAtMs ?? -Infinity);
      this.#places.delete(key);
    }
    return Math.max(0, Math.min(this.#clock.nowMs() - lastMs, 1e9));
  }

  /** Looks at what is due under its mandate; answers when the next is. */
  async patrol(): Promise<number> {
    const nowMs = this.#clock.nowMs();
    let nextMs = Infinity;
    const due: Place[] = [];
    for (const [key, place] of this.#places) {
      if (place.untilMs <= nowMs) {
        const newest = place.unreported.at(-1)?.atMs ?? -Infinity;
        if (nowMs - newest > unreportedMsMax) await this.#drop(place, place.unreported.length);
        if (place.unreported.length === 0 && !place.busy) this.#places.delete(key);
      } else if (place.nextMs > nowMs) nextMs = Math.min(nextMs, place.nextMs);
      else if (!place.busy) due.push(place);
    }
    await Promise.all(due.map((place) => this.#look(place)));
    return Math.max(0, Math.min(nextMs, ...due.map((place) => place.nextMs)) - this.#clock.nowMs());
  }

  /** The answer to an errand, or undefined when the errand leaves out what was never said here. */
  async answer(errand: Errand): Promise<Uint8Array | undefined> {
    const place = this.#place(errand);
    if (!place) return undefined;
    await place.busy;
    await this.#confirm(place, errand.base);
    const nowMs = this.#clock.nowMs();
    const recent = place.last !== undefined && nowMs - place.last.atMs < place.mandate.everyMs / 2;
    if (place.unreported.length === 0 && !recent) await this.#look(place);
    place.told = place.unreported[0];
    return this.#report(place, place.told ?? place.last!, errand.base);
  }

  /**
   * What the coordinator has is let go of: what was told last, when its copy is that body. A copy that came to it from
   * elsewhere, a look from home, has overtaken what was found before that; unless the process before may have told it.
   */
  async #confirm(place: Place, base: string): Promise<void> {
    const moved = base !== '' && base !== place.base;
    place.base = base;
    const [oldest] = place.unreported;
    if (!oldest) return;
    const arrived = oldest === place.told && (printOf(oldest) ?? base) === base;
    const at = place.unreported.findIndex((finding) => printOf(finding) === base);
    if (arrived) await this.#drop(place, 1);
    else if (moved && at >= 0) await this.#drop(place, at + 1);
    else if (moved && !place.restored && !place.said.includes(base)) await this.#drop(place, place.unreported.length);
    if (place.unreported.length === 0) place.restored = false;
  }

  async #drop(place: Place, count: number): Promise<void> {
    for (const { kept } of place.unreported.splice(0, count))
      if (kept !== undefined) await this.#journal?.letGo(kept).catch(() => {});
  }

  #place(errand: Errand): Place | undefined {
    const { probe, mandate, pages } = errand;
    const key = keyOf(probe);
    const nowMs = this.#clock.nowMs();
    const untilMs = Math.min(nowMs, mandate.sinceMs) + mandate.forMs;
    const known = this.#places.get(key);
    if (!known && !pages) return undefined;
    const place = known ?? freshPlace(probe, pages!, mandate, nowMs);
    const nextMs = Math.min(place.nextMs, nowMs + mandate.everyMs);
    Object.assign(place, { probe, mandate, untilMs, nextMs }, pages ? { pages } : {});
    this.#places.set(key, place);
    return place;
  }

  #look(place: Place): Promise<void> {
    place.busy ??= this.#lookNow(place).finally(() => (place.busy = undefined));
    return place.busy;
  }

  async #lookNow(place: Place): Promise<void> {
    const validators = place.seen?.fetched.validators ?? {};
    const observation = await this.#observer.observe({ ...place.probe, validators });
    // A look that an errand asked for before its time was that one: the mandate's looks are no more for being asked.
    place.nextMs = Math.max(this.#clock.nowMs(), place.nextMs) + place.mandate.everyMs;
    place.requests += observation.requests;
    if (observation.requests > 0) {
      place.looks++;
      this.#looks++;
    }
    const finding = { observation, atMs: this.#clock.nowMs() };
    const { outcome } = observation;
    if (outcome.kind !== 'fetched') {
      place.wholeBytes += bodylessBytes;
      const before = place.last?.observation.outcome.kind;
      // That a page is gone is news; that it is the same, or that the site did not answer, is not.
      if (outcome.kind === 'gone' && before !== 'gone' && place.last) await this.#stir(place, finding);
      place.last = finding;
      return;
    }
    const print = fingerprint(outcome.body);
    const same = place.seen?.print === print;
    const packedBytes = same ? place.seen!.packedBytes : packedSize(observation);
    place.wholeBytes += packedBytes;
    const known = place.seen !== undefined;
    const changed = same ? false : await this.#changed(place, observation, outcome);
    place.seen = { fetched: outcome, print, packedBytes };
    if (known && changed) await this.#stir(place, finding);
    place.last = finding;
  }

  /** Nobody hears of it before it is in the journal; one that takes no more leaves it to the memory. */
  async #stir(place: Place, seen: Seen): Promise<void> {
    const finding: Finding = { ...seen, pages: place.pages, bases: [place.base, ...place.said] };
    const kept = await this.#journal?.keep(finding).catch(() => undefined);
    const replaced = place.unreported.length >= unreportedMax ? place.unreported.pop() : undefined;
    place.unreported.push({ ...finding, kept });
    this.onFound();
    if (replaced?.kept !== undefined) await this.#journal?.letGo(replaced.kept).catch(() => {});
  }

  async #changed(place: Place, observation: Observation, fetched: Fetched): Promise<boolean> {
    let changed = false;
    for (const page of place.pages) {
      const at = { url: observation.finalUrl ?? place.probe.url, ms: observation.startedAtMs };
      const judged = await this.#judge(page, fetched, at, place.remembered.get(page.id));
      place.remembered.set(page.id, judged.remembered);
      changed ||= judged.changed;
    }
    return changed;
  }

  #report(place: Place, finding: Seen, base: string): Uint8Array {
    const { probe: _probe, ...known } = finding.observation;
    const { outcome } = known;
    // "Not modified" was said to our validators; it stands for the copy that we have.
    const fetched =
      outcome.kind === 'fetched' ? outcome : outcome.kind === 'not-modified' ? place.seen?.fetched : undefined;
    const told = this.#told(place, fetched, base);
    const nowMs = this.#clock.nowMs();
    const report: Report = {
      observation: { ...known, outcome: fetched ? withoutBody(fetched) : outcome, requests: place.requests },
      what: told.what,
      fingerprint: told.print,
      agoMs: Math.max(0, nowMs - finding.atMs),
      looks: place.looks,
      overMs: Math.max(0, nowMs - place.reportedMs),
      wholeBytes: place.wholeBytes,
      more: Math.max(0, place.unreported.length - 1),
    };
    const bytes = packReport(report, told.payload);
    this.#reports++;
    this.#wholeBytes += place.wholeBytes;
    this.#sentBytes += bytes.length;
    Object.assign(place, { looks: 0, requests: 0, wholeBytes: 0, reportedMs: nowMs });
    return bytes;
  }

  /** The body as briefly as the coordinator can understand it. */
  #told(
    place: Place,
    fetched: Fetched | undefined,
    base: string,
  ): { readonly what: Report['what']; readonly print: string; readonly payload: Uint8Array } {
    const nothing = new Uint8Array();
    if (!fetched) return { what: 'no-body', print: '', payload: nothing };
    const print = fingerprint(fetched.body);
    const { reported } = place;
    place.reported = fetched.body;
    place.said.push(print);
    place.said.splice(0, place.said.length - saidMax);
    if (print === base) return { what: 'same', print, payload: nothing };
    if (reported && base !== '' && fingerprint(reported) === base)
      return { what: 'difference', print, payload: differenceFrom(reported, fetched.body) };
    return { what: 'whole', print, payload: zstdCompressSync(fetched.body) };
  }
}

function keyOf(probe: Probe): string {
  return `${probe.url}\n${JSON.stringify([probe.headers, probe.render])}`;
}

function freshPlace(probe: Probe, pages: readonly ObservedPage[], mandate: Mandate, nowMs: number): Place {
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
    restored: false,
    base: '',
    said: [],
    unreported: [],
    told: undefined,
    looks: 0,
    requests: 0,
    wholeBytes: 0,
    reportedMs: nowMs,
    busy: undefined,
  };
}

/** Undefined where there was no body. */
function printOf({ observation }: Seen): string | undefined {
  return observation.outcome.kind === 'fetched' ? fingerprint(observation.outcome.body) : undefined;
}

function withoutBody(fetched: Fetched): Fetched {
  return { ...fetched, body: undefined as unknown as Uint8Array };
}

function packedSize(observation: Observation): number {
  return packObservation(observation).reduce((sum, piece) => sum + piece.length, 0);
}
