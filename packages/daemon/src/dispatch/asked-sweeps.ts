/**
 * Sweeps that somebody waits for, each by a name of the asker's choosing. Where several processes share the pages, each sweeps its
 * own; a page that goes from one to another meanwhile is said to be lost by the one, and the other is asked to take it over.
 */
import type { Entry } from '../collection/collection.ts';
import type { Loop } from '../loop.ts';
import { gatheredLater, type Later } from './left-for-later.ts';
import type { Wait } from './page-waits.ts';

/** More are never waited for at once; the oldest is forgotten. */
const sweepsMax = 16;
/** Of the pages that are lost, so many are said at once: what goes between processes is small. */
export const lostMax = 5_000;

/** Plain values, as they go to other processes. */
export interface SweepAsked {
  readonly name: string;
  readonly all: boolean;
  /** When it began. */
  readonly sinceMs: number;
  /** Whether this begins it: who is first asked later looks only at what others have lost. */
  readonly begins: boolean;
  /** Pages that others have lost, `lostMax` at most. */
  readonly adopt: readonly string[];
}

export interface SweepProgress {
  /** Pages that were asked for and are not looked at yet. */
  readonly left: number;
  /** Pages that were asked for and have been looked at. */
  readonly looks: number;
  /** Requests that were made since it began, robots.txt and redirects too. */
  readonly requests: number;
  /** Pages that were asked for and are not here any more; perhaps not all of them. */
  readonly lost: readonly string[];
  /** Those of the pages to be taken over that are here now. */
  readonly adopted: readonly string[];
  /** Pages that nobody waits for, as their sites are shut for long: they are looked at when those open. */
  readonly later: readonly Later[];
}

interface Sweep {
  readonly requestsBefore: number;
  readonly left: Set<string>;
  readonly seen: Set<string>;
  readonly later: Map<string, Wait>;
  /** Until the asker knows of them. */
  readonly lost: Set<string>;
}

export class AskedSweeps {
  readonly #sweeps = new Map<string, Sweep>();

  /** Begins the sweep, unless it has begun; and says how far it is. */
  progress(loop: Loop, asked: SweepAsked): SweepProgress {
    const sweep = this.#sweeps.get(asked.name) ?? this.#begin(loop, asked);
    const { left, lost, seen, later } = sweep;
    const underWay = loop.underWay();
    const isSeen = (entry: Entry): boolean =>
      (entry.state.lastLookMs ?? 0) >= asked.sinceMs && !underWay.unkept.has(entry.page.id);
    const isComing = (entry: Entry): boolean =>
      underWay.asked.has(entry.page.id) || underWay.unkept.has(entry.page.id) || loop.isInLine(entry);
    const shutOut = (entry: Entry): Wait | undefined =>
      underWay.asked.has(entry.page.id) ? undefined : loop.leftForLater(entry, asked.all);
    const adopted = asked.adopt.filter((id) => loop.collection.byId(id));
    for (const id of asked.adopt) lost.delete(id);
    // A page that comes with a look under way, or was looked at before it came, is not asked for again.
    for (const id of adopted) {
      const entry = loop.collection.byId(id)!;
      if (entry.page.paused) continue;
      if (!isSeen(entry) && !isComing(entry)) loop.probeSoon(id);
      left.add(id);
    }
    for (const id of left) {
      const entry = loop.collection.byId(id);
      // The plan may want it again at once, so that it is always in line.
      if (entry && isComing(entry) && !isSeen(entry)) {
        const wait = shutOut(entry);
        if (!wait) continue;
        later.set(id, wait);
      }
      left.delete(id);
      if (!entry) lost.add(id);
      else if (isSeen(entry)) seen.add(id);
    }
    const requests = loop.counts().requests - sweep.requestsBefore;
    const waiting = gatheredLater([...later.values()].map((wait) => ({ ...wait, pages: 1 })));
    return { left: left.size, looks: seen.size, requests, lost: [...lost].slice(0, lostMax), adopted, later: waiting };
  }

  #begin(loop: Loop, { name, all, begins }: SweepAsked): Sweep {
    const requestsBefore = loop.counts().requests;
    const left = new Set(begins ? loop.askFor(all) : []);
    const sweep: Sweep = { requestsBefore, left, seen: new Set(), lost: new Set(), later: new Map() };
    this.#sweeps.set(name, sweep);
    if (this.#sweeps.size > sweepsMax) this.#sweeps.delete(this.#sweeps.keys().next().value!);
    return sweep;
  }
}
