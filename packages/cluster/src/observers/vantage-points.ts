/**
 * From where each site is observed: home (robots near the coordinators) or one of the observers, by Brewington's (41) and
 * (42) over the looks of the next day, from what was measured: latencies and seconds per byte of the three links, sizes of
 * the pages, how often looks find a change and what compression leaves of one. An observer that has a site already keeps
 * it unless the move pays for itself, so measurements that wander do not make sites wander.
 */
import { type Link, type VantageDocument, type VantagePoint, chooseVantage, moveObserver } from '@revisit/core';

/** What a mandate takes to send, and what each page adds to it. */
const mandate = { bytes: 500, bytesPerDocument: 400 };
/** A move must win at least this share of what staying costs. */
const worthMoving = 0.1;

/** How much of what is more, and of what is less, than was thought. */
const believed = { any: [0.2, 0.2], delay: [0.1, 0.5] } as const;

/**
 * A mean that forgets, of things that change slowly and are measured often. What can only be late, never early, is believed
 * sooner where it is less: a first look waits for connections and caches that later ones find ready.
 */
export class Measured {
  #mean: number | undefined;
  readonly #up: number;
  readonly #down: number;

  constructor(what: keyof typeof believed = 'any') {
    [this.#up, this.#down] = believed[what];
  }

  get mean(): number | undefined {
    return this.#mean;
  }

  learn(value: number): void {
    if (!Number.isFinite(value) || value < 0) return;
    this.#mean =
      this.#mean === undefined
        ? value
        : this.#mean + (value < this.#mean ? this.#down : this.#up) * (value - this.#mean);
  }
}

export interface SiteFacts {
  /** From home to the site. */
  readonly home: Link;
  readonly documents: readonly VantageDocument[];
  /** Looks of all its pages expected in the next day. */
  readonly looksPerDay: number;
  /** Who has it now; undefined for home. */
  readonly observer: string | undefined;
}

export interface ObserverFacts {
  readonly name: string;
  readonly fromHome: Link;
  /** From the observer to the site; undefined where it has not been tried. */
  readonly toSite: Link | undefined;
}

/** Who should have the site; undefined for home. */
export function whereFrom(site: SiteFacts, observers: readonly ObserverFacts[]): string | undefined {
  if (site.documents.length === 0) return site.observer;
  const tried = observers.flatMap((observer) => (observer.toSite ? [{ ...observer, toSite: observer.toSite }] : []));
  const points: VantagePoint[] = tried.map(({ fromHome, toSite }) => ({ fromHome, toDocuments: toSite, startup: 0 }));
  const rounds = Math.max(1, site.looksPerDay / site.documents.length);
  const { point, time, direct, remote } = chooseVantage(site.home, points, mandate, site.documents, rounds);
  const now = tried.findIndex(({ name }) => name === site.observer);
  const best = point === undefined ? undefined : tried[point]!.name;
  if (now < 0) return best !== undefined && time < (1 - worthMoving) * direct ? best : undefined;
  if (best === site.observer) return best;
  const stay = remote[now]!;
  if (time > (1 - worthMoving) * stay) return site.observer;
  if (point === undefined) return undefined;
  const trip = tried[point]!.fromHome;
  return moveObserver(points[now]!, points[point]!, trip, mandate, site.documents, rounds).move ? best : site.observer;
}
