/**
 * Somebody who cannot leave the collection alone: pages are removed and added again (at once, or hours later), rest, move to
 * another address, and are asked for, in the middle of everything. Remembers nothing but what the store says: a process may be
 * killed between an order and its answer.
 */
import { exponential, integer, type Random } from '@revisit/core';
import { Desk } from '../desk.ts';
import type { Loop } from '../loop.ts';
import type { Store } from '../store/port.ts';
import type { Clock } from '../values/clock.ts';
import { usualSettings } from '../values/page.ts';
import type { Process } from './witness.ts';

const hourMs = 3_600_000;
const restlessMs = 6 * hourMs;

export interface UserOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** What is to be watched; the first is never touched. */
  readonly urls: readonly string[];
  /** From here on all pages are watched and left alone. */
  readonly calmMs: number;
}

/** The other address of the same site at which a page may be watched. */
export const otherAddress = (url: string): string => `${url}/other`;

export class RestlessUser {
  readonly #options: UserOptions;
  /** How often something was changed or asked for. */
  meddled = 0;

  constructor(options: UserOptions) {
    this.#options = options;
  }

  /** The first pages, before any process runs. */
  async begin(store: Store): Promise<void> {
    const desk = new Desk(store, this.#options.clock, () => {});
    for (const url of this.#options.urls) await this.#add(desk, url);
  }

  /** Sits at one process for as long as it lives. */
  async sitAt(loop: Loop, store: Store, process: Process): Promise<void> {
    const { clock, random, calmMs } = this.#options;
    const desk = new Desk(store, clock, () => {}, loop);
    for (;;) {
      await clock.sleep(Math.min(exponential(random, restlessMs), calmMs - clock.nowMs()));
      if (!process.alive) return;
      if (clock.nowMs() >= calmMs) break;
      await this.#meddle(desk, process);
    }
    while (process.alive && !(await this.#tidied(desk))) await clock.sleep(60_000);
  }

  /** Hours, but no longer than there is trouble. */
  #awhile(): Promise<void> {
    const { clock, random, calmMs } = this.#options;
    return clock.sleep(Math.min(exponential(random, 4 * hourMs), calmMs - clock.nowMs()));
  }

  async #meddle(desk: Desk, process: Process): Promise<void> {
    const { clock, random, urls } = this.#options;
    const watched = (await desk.store.pages({ limit: 1000 })).filter(({ page }) => page.url !== urls[0]);
    const page = watched[integer(random, watched.length)]?.page;
    if (!page) return;
    this.meddled++;
    if (random() < 0.6) {
      await desk.probeNow([page.id]);
      // Its look may be under way by then.
      await clock.sleep(integer(random, 2) * integer(random, 400));
      if (!process.alive) return;
    }
    const roll = random();
    if (roll < 0.4) {
      await desk.remove([page.id]);
      if (roll < 0.3) await clock.sleep(integer(random, 3) * integer(random, 100));
      else await this.#awhile();
      if (process.alive) await this.#add(desk, page.url);
    } else if (roll < 0.6) {
      await desk.update(page.id, { paused: true });
      await this.#awhile();
      if (process.alive) await desk.update(page.id, { paused: false });
    } else if (roll < 0.8) {
      const own = urls.find((url) => otherAddress(url) === page.url);
      await desk.update(page.id, { url: own ?? otherAddress(page.url) });
    } else await desk.update(page.id, { tags: [String(integer(random, 9))] });
  }

  /** Whether all pages are there and none rests; what is not so is ordered. */
  async #tidied(desk: Desk): Promise<boolean> {
    const watched = await desk.store.pages({ limit: 1000 });
    const there = new Set(watched.map(({ page }) => page.url));
    const missing = this.#options.urls.filter((url) => !there.has(url) && !there.has(otherAddress(url)));
    const resting = watched.filter(({ page }) => page.paused);
    if (missing.length + resting.length > 0) this.meddled++;
    for (const url of missing) await this.#add(desk, url);
    for (const { page } of resting) await desk.update(page.id, { paused: false });
    return missing.length + resting.length === 0;
  }

  async #add(desk: Desk, url: string): Promise<void> {
    await desk.add([{ url, site: new URL(url).hostname, ...usualSettings }]);
  }
}
