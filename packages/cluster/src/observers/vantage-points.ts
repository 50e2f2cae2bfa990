/**
 * From where each site is observed: home (robots near the coordinators) or one of the observers, by Brewington's (41) and
 * (42) over the looks of the next day, from what was measured: latencies and seconds per byte of the three links, sizes of
 * the pages, how often looks find a change and what compression leaves of one. Where it is now is judged by the best that its
 * measurements may mean, every other place by the worst: it moves when the gain is more than what they wander by, and pays for
 * the move.
 */
import { type Link, type VantageDocument, type VantagePoint, chooseVantage, moveObserver } from '@revisit/core';

/** What a mandate takes to send, and what each page adds to it. */
const mandate = { bytes: 500, bytesPerDocument: 400 };
/** A move must win at least this share of what staying costs. */
const worthMoving = 0.1;

/** How much of what is more, and of what is less, than was thought. */
const believed = { any: [0.2, 0.2], delay: [0.1, 0.5] } as const;
/** How much of how far off it was. */
const believedSpread = 0.2;
/** What a single measurement may be off by, as a share of itself. */
const firstSpread = 0.5;

/**
 * A mean that forgets, of things that change slowly and are measured often, and how far single measurements are from it. What can
 * only be late, never early, is believed sooner where it is less: a first look waits for connections and caches that later ones
 * find ready.
 */
export class Measured {
  #mean: number | undefined;
  #spread = 0;
  readonly #up: number;
  readonly #down: number;

  constructor(what: keyof typeof believed = 'any') {
    [this.#up, this.#down] = believed[what];
  }

  get mean(): number | undefined {
    return this.#mean;
  }

  /** The least and the most that the mean may well be; a mean of so few of the last is off by less than the spread of one. */
  get range(): readonly [number, number] | undefined {
    if (this.#mean === undefined) return undefined;
    return [Math.max(0, this.#mean - this.#spread), this.#mean + this.#spread];
  }

  learn(value: number): void {
    if (!Number.isFinite(value) || value < 0) return;
    if (this.#mean === undefined) {
      this.#mean = value;
      this.#spread = firstSpread * value;
      return;
    }
    const off = value - this.#mean;
    this.#spread += believedSpread * (Math.abs(off) - this.#spread);
    this.#mean += (off < 0 ? this.#down : this.#up) * off;
  }
}

/** A link as its measurements may well mean it: at its fastest and at its slowest. */
export interface LinkRange {
  readonly best: Link;
  readonly worst: Link;
}

export interface SiteFacts {
  /** From home to the site. */
  readonly home: LinkRange;
  readonly documents: readonly VantageDocument[];
  /** Looks of all its pages expected in the next day. */
  readonly looksPerDay: number;
  /** Who has it now; undefined for home. */
  readonly observer: string | undefined;
}

export interface ObserverFacts {
  readonly name: string;
  readonly fromHome: LinkRange;
  /** From the observer to the site; undefined where it has not been tried. */
  readonly toSite: LinkRange | undefined;
}

/** Who should have the site; undefined for home. */
export function whereFrom(site: SiteFacts, observers: readonly ObserverFacts[]): string | undefined {
  if (site.documents.length === 0) return site.observer;
  const tried = observers.flatMap((observer) => (observer.toSite ? [{ ...observer, toSite: observer.toSite }] : []));
  const points = tried.map(({ name, fromHome, toSite }): VantagePoint => {
    const as = name === site.observer ? 'best' : 'worst';
    return { fromHome: fromHome[as], toDocuments: toSite[as], startup: 0 };
  });
  const home = site.home[site.observer === undefined ? 'best' : 'worst'];
  const rounds = Math.max(1, site.looksPerDay / site.documents.length);
  const { point, time, direct, remote } = chooseVantage(home, points, mandate, site.documents, rounds);
  const now = tried.findIndex(({ name }) => name === site.observer);
  const best = point === undefined ? undefined : tried[point]!.name;
  if (now < 0) return best !== undefined && time < (1 - worthMoving) * direct ? best : undefined;
  if (best === site.observer) return best;
  const stay = remote[now]!;
  if (time > (1 - worthMoving) * stay) return site.observer;
  if (point === undefined) return undefined;
  const trip = points[point]!.fromHome;
  return moveObserver(points[now]!, points[point]!, trip, mandate, site.documents, rounds).move ? best : site.observer;
}
