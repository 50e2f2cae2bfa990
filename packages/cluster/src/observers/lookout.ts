/**
 * An observer near its sources (Brewington §2.5). It carries a copy, a fingerprint and what detection remembers of each of
 * its pages, looks by itself within the mandate of the last errand, and answers errands with what is new.
 *
 * A place is one URL under mandate:
 *   watched     looked at when an errand comes and, between errands, every `everyMs`; where something waits to be told, only by the first
 *               errand after a restart: nobody has looked since, and to tell it all may take minutes
 *   stirred     looks found changes; each is kept, oldest first, the coordinators hear of it until they ask for it, and it is told
 *               until an errand says that it has arrived; this goes on without a link, and nothing found is dropped but the last
 *               of too many
 *   tried       looked at for one errand, without a mandate; where that is not what the coordinator has, it is found, too: home may see
 *               yet another page when it looks
 *   shed        the mandate ended or was taken back; what is still unreported stays until it is asked for, until the
 *               coordinator says that it knows of no mandate there, or for a week
 *
 * What is unreported is also in the journal, where there is one, and comes back from there into places that are shed.
 */
import { randomBytes } from 'node:crypto';
import type { Clock, MayAsk, Observation, Observer } from 'revisit/ports';
import { packObservation } from '../dispatch/wire.ts';
import { type Errand, type ObservedPage, fingerprint, unlooked } from './errand.ts';
import type { Finding, Journal } from './journal.ts';
import {
  type Fetched,
  type Place,
  type Remembered,
  type Seen,
  type Unreported,
  freshPlace,
  keyOf,
  reportOf,
} from './watched-place.ts';

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
/** How long whoever was told of something may take to say that it has arrived, where no mandate makes it ask again. */
const heardMsMax = 10_000;
/** Enough that no two findings are called the same. */
const nameBytes = 9;
/** What a robot sends for an answer without a body. */
const bodylessBytes = 250;

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
  readonly #leaveAway: ((site: string) => MayAsk) | undefined;
  readonly #places = new Map<string, Place>();
  /** Called when there is something new to tell. */
  onFound: () => void = () => {};
  #looks = 0;
  #reports = 0;
  #wholeBytes = 0;
  #sentBytes = 0;

  /** `leaveAway`: within mandates it asks nobody for leave at their own sites, but sites that redirects lead to are others'. */
  constructor(observer: Observer, judge: Judge, clock: Clock, journal?: Journal, leaveAway?: (site: string) => MayAsk) {
    this.#observer = observer;
    this.#judge = judge;
    this.#clock = clock;
    this.#journal = journal;
    this.#leaveAway = leaveAway;
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
    place.given = finding.given;
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

  /** Whether anything waits here that was found under a mandate and that its coordinator may not have. */
  get hasUntold(): boolean {
    return [...this.#places.values()].some(owes);
  }

  /**
   * Pages with changes that nobody has asked for yet. Of one that was told, the next errand says whether it arrived; where none comes,
   * whoever heard of it may have been lost with it.
   */
  stirred(most: number): readonly string[] {
    const nowMs = this.#clock.nowMs();
    const ids: string[] = [];
    for (const place of this.#places.values()) {
      const { unreported, told, toldMs, untilMs } = place;
      const isUnheard = unreported.length > 0 && untilMs <= nowMs && nowMs - toldMs >= heardMsMax;
      if (isUnheard || unreported.some((finding) => finding !== told)) ids.push(...place.probe.pageIds);
      if (ids.length >= most) break;
    }
    return ids.slice(0, most);
  }

  /** What these say was seen without a mandate, and home has seen it too, or does not believe it. */
  async forget(names: readonly string[]): Promise<void> {
    for (const place of this.#places.values()) {
      const gone = place.unreported.filter(({ name, given }) => given === undefined && names.includes(name));
      if (gone.length > 0) await this.#drop(place, gone);
    }
  }

  /**
   * Lets go of a site's places; answers after how many milliseconds without a request from here. While something of it is
   * untold it is not let go of: a look from elsewhere would overtake that.
   */
  async shed(site: string): Promise<number | 'untold'> {
    const places = [...this.#places].filter(([, place]) => place.probe.site === site);
    for (const [, place] of places) await place.busy;
    if (places.some(([, place]) => owes(place))) return 'untold';
    let lastMs = -Infinity;
    for (const [key, place] of places) {
      place.untilMs = -Infinity;
      lastMs = Math.max(lastMs, place.last?.observation.endedAtMs ?? -Infinity);
      if (place.unreported.length === 0) this.#places.delete(key);
    }
    return Math.max(0, Math.min(this.#clock.nowMs() - lastMs, 1e9));
  }

  /** Looks at these sites only so often as this share of their mandates; the next errands say it anew. */
  slow(sites: readonly string[], factor: number): void {
    const all = new Set(sites);
    for (const place of this.#places.values()) {
      if (!all.has(place.probe.site)) continue;
      const everyMs = place.mandate.everyMs / factor;
      place.nextMs += everyMs - place.mandate.everyMs;
      place.mandate = { ...place.mandate, everyMs };
    }
  }

  /** Looks at what is due under its mandate; answers when the next is. */
  async patrol(): Promise<number> {
    const nowMs = this.#clock.nowMs();
    let nextMs = Infinity;
    const due: Place[] = [];
    for (const [key, place] of this.#places) {
      if (place.untilMs <= nowMs) {
        const newest = place.unreported.at(-1)?.atMs ?? -Infinity;
        if (nowMs - newest > unreportedMsMax) await this.#drop(place, [...place.unreported]);
        if (place.unreported.length === 0 && !place.busy) this.#places.delete(key);
      } else if (place.nextMs > nowMs) nextMs = Math.min(nextMs, place.nextMs);
      else if (!place.busy) due.push(place);
    }
    await Promise.all(due.map((place) => this.#look(place)));
    return Math.max(0, Math.min(nextMs, ...due.map((place) => place.nextMs)) - this.#clock.nowMs());
  }

  /** The answer to an errand, or undefined when the errand leaves out what was never said here. */
  async answer(errand: Errand, mayAsk?: MayAsk): Promise<Uint8Array | undefined> {
    const taken = this.#take(errand);
    if (!taken) return undefined;
    const { place, beginsMs } = taken;
    // One that waits for its site's turn is told of when it has found something; an errand that waited with it would keep those of
    // other pages from being asked for what was found of them.
    if (place.last === undefined || place.untilMs <= this.#clock.nowMs()) await place.busy;
    place.base = errand.base;
    if (errand.arrived !== undefined) await this.#arrived(place, errand.arrived);
    if (errand.foundOnly && place.unreported.length === 0) return unlooked(errand, this.#clock.nowMs());
    // What is under way began before somebody asked.
    if (errand.probe.afresh) await place.busy;
    const nowMs = this.#clock.nowMs();
    const soon = place.busy !== undefined;
    const isRecent = place.last !== undefined && (soon || nowMs - place.last.atMs < place.mandate.everyMs / 2);
    const recent = isRecent && !errand.probe.afresh;
    const tells = errand.foundOnly || (place.unreported.length > 0 && place.last !== undefined);
    if (!tells && !recent) await this.#look(place, mayAsk);
    // It is lent from then on, and a look for the errand is not of it: the first of its own comes when it has been lent enough for one.
    if (beginsMs !== undefined) place.nextMs = beginsMs + place.mandate.everyMs;
    place.told = place.unreported[0];
    place.toldMs = this.#clock.nowMs();
    return this.#report(place, place.told ?? this.#nothingNew(place), errand.base);
  }

  /** The last look, with how many before it found nothing new either. */
  #nothingNew(place: Place): Seen {
    const { observation, atMs } = place.last!;
    const unchangedLooks = Math.max(0, place.unchanged - 1);
    place.unchanged = 0;
    return { observation: { ...observation, unchangedLooks }, atMs };
  }

  /** What was found up to this one is kept where it was told. */
  #arrived(place: Place, name: string): Promise<void> {
    const at = place.unreported.findIndex((finding) => finding.name === name);
    return this.#drop(place, place.unreported.slice(0, at + 1));
  }

  async #drop(place: Place, findings: readonly Unreported[]): Promise<void> {
    for (const finding of findings) {
      const at = place.unreported.indexOf(finding);
      // Somebody else has let go of it while the one before was written.
      if (at < 0) continue;
      place.unreported.splice(at, 1);
      if (finding.kept !== undefined) await this.#journal?.letGo(finding.kept).catch(() => {});
    }
  }

  /** The place that the errand is about, and when its mandate begins, where it had none. */
  #take(errand: Errand): { readonly place: Place; readonly beginsMs?: number } | undefined {
    const { probe, mandate, pages } = errand;
    const key = keyOf(probe);
    const nowMs = this.#clock.nowMs();
    // A look for somebody's eyes only; what is watched there goes on as it was.
    if (probe.pageIds.length === 0) return { place: freshPlace(probe, [], mandate, nowMs) };
    const untilMs = Math.min(nowMs, mandate.sinceMs) + mandate.forMs;
    const known = this.#places.get(key);
    if (!known && !pages) return undefined;
    const place = known ?? freshPlace(probe, pages!, mandate, nowMs);
    // Nothing was lent for the time in which there was no mandate: what is told from now on is not about that.
    const begins = place.untilMs <= nowMs;
    if (begins) Object.assign(place, { lookedMs: nowMs, reportedMs: nowMs, nextMs: Infinity });
    const nextMs = Math.min(place.nextMs, nowMs + mandate.everyMs);
    Object.assign(place, { probe, mandate, untilMs, nextMs }, pages ? { pages: saidAnew(pages, place.pages) } : {});
    if (pages && !errand.foundOnly) place.given = errand.given;
    this.#places.set(key, place);
    return begins ? { place, beginsMs: nowMs } : { place };
  }

  #look(place: Place, mayAsk?: MayAsk): Promise<void> {
    place.busy ??= this.#lookNow(place, mayAsk).finally(() => (place.busy = undefined));
    return place.busy;
  }

  async #lookNow(place: Place, mayAsk?: MayAsk): Promise<void> {
    const validators = place.seen?.fetched.validators ?? {};
    // Counted from when it begins: from when it ends, slow sites would be looked at less often than was lent for them.
    // A look that an errand asked for before its time was that one: the mandate's looks are no more for being asked.
    const beganMs = this.#clock.nowMs();
    place.nextMs = Math.max(beganMs, place.nextMs) + place.mandate.everyMs;
    const leave = mayAsk ?? this.#leaveAway?.(place.probe.site);
    const observation = await this.#observer.observe({ ...place.probe, validators }, undefined, leave);
    place.lookedMs = beganMs;
    place.requests += observation.requests;
    if (observation.requests > 0) {
      place.looks++;
      this.#looks++;
    }
    const finding = { observation, atMs: this.#clock.nowMs() };
    if (await this.#isNews(place, observation)) await this.#stir(place, finding);
    else if (observation.outcome.kind === 'fetched' || observation.outcome.kind === 'not-modified') place.unchanged++;
    place.last = finding;
  }

  /** That a page is gone is news; that it is the same, or that the site did not answer, is not. */
  async #isNews(place: Place, observation: Observation): Promise<boolean> {
    const { outcome } = observation;
    if (outcome.kind !== 'fetched') {
      place.wholeBytes += bodylessBytes;
      return outcome.kind === 'gone' && place.last !== undefined && place.last.observation.outcome.kind !== 'gone';
    }
    const print = fingerprint(outcome.body);
    const same = place.seen?.print === print;
    const packedBytes = same ? place.seen!.packedBytes : packedSize(observation);
    place.wholeBytes += packedBytes;
    const known = place.seen !== undefined;
    const changed = same ? false : await this.#changed(place, observation, outcome);
    place.seen = { fetched: outcome, print, packedBytes };
    // Whoever asked for the first look may be lost before it is kept; one that has just taken over the site has no copy to say that this is it.
    if (place.given !== undefined) return known ? changed : print !== place.base;
    const isUnsaid = changed || !known || (same && place.unreported.length === 0);
    return place.base !== '' && print !== place.base && isUnsaid;
  }

  /** Nobody hears of it before it is in the journal; one that takes no more leaves it to the memory. */
  async #stir(place: Place, seen: Seen): Promise<void> {
    const observation = { ...seen.observation, unchangedLooks: place.unchanged };
    const named = { name: randomBytes(nameBytes).toString('base64url'), given: place.given };
    const finding: Finding = { ...seen, observation, pages: place.pages, ...named };
    place.unchanged = 0;
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
    const { wholeBytes } = place;
    const bytes = reportOf(place, finding, base, this.#clock.nowMs());
    this.#reports++;
    this.#wholeBytes += wholeBytes;
    this.#sentBytes += bytes.length;
    return bytes;
  }
}

/** Whether it has something to tell that it found under a mandate. */
function owes({ unreported }: Place): boolean {
  return unreported.some(({ given }) => given !== undefined);
}

/** What is ignored stays as it was said last where nothing is said of it. */
function saidAnew(pages: readonly ObservedPage[], before: readonly ObservedPage[]): readonly ObservedPage[] {
  return pages.map((page) => ({ ...page, noise: page.noise ?? before.find(({ id }) => id === page.id)?.noise }));
}

function packedSize(observation: Observation): number {
  return packObservation(observation).reduce((sum, piece) => sum + piece.length, 0);
}
