/**
 * Whether any page starves. Of each page that is watched the time is counted in which it could have been looked at and was not:
 * outside of quiet hours, while the disk takes what is found, the machine is awake, its site (and the one it led to) is not left
 * alone after failures, and the robots.txt that was read allows it. That time has a bound that follows from the budget and the caps.
 */
import type { SiteRules } from '../observe/gate.ts';
import type { Store } from '../store/port.ts';
import type { Clock } from '../values/clock.ts';
import type { FaultyWeb } from './faulty-web.ts';

const hourMs = 3_600_000;
/** How often it is seen which pages there are. */
const tickMs = hourMs / 4;

export interface StarvationOptions {
  readonly clock: Clock;
  /** As it is, whatever the process's own way to it. */
  readonly store: Store;
  readonly web: FaultyWeb;
  readonly isFull: (atMs: number) => boolean;
  readonly quietUntilMs: SiteRules['quietUntilMs'];
  readonly boundMs: number;
  readonly endMs: number;
}

interface Waiting {
  readonly url: string;
  readonly addedAtMs: number;
  /** The time that counts, since its last look. */
  ms: number;
  told: boolean;
}

export class Starvation {
  readonly starved: string[] = [];
  readonly #options: StarvationOptions;
  /** Pages that were looked at since they were last seen to. */
  readonly #looked = new Set<string>();
  readonly #waiting = new Map<string, Waiting>();

  constructor(options: StarvationOptions) {
    this.#options = options;
  }

  /** Something was asked for because of these pages, whatever came of it. */
  looked(pageIds: readonly string[]): void {
    for (const id of pageIds) this.#looked.add(id);
  }

  async watch(): Promise<void> {
    const { clock, endMs } = this.#options;
    for (let sinceMs = clock.nowMs(); sinceMs < endMs;) {
      await clock.sleep(tickMs);
      await this.#see(sinceMs);
      sinceMs = clock.nowMs();
    }
  }

  async #see(sinceMs: number): Promise<void> {
    const { clock, store, boundMs } = this.#options;
    const nowMs = clock.nowMs();
    const resting = new Set(this.#waiting.keys());
    for (const { page } of await store.pages({ limit: 1_000 })) {
      if (page.paused) continue;
      const known = this.#waiting.get(page.id);
      const isSame = known && known.url === page.url && known.addedAtMs === page.addedAtMs;
      const waiting = isSame ? known : { url: page.url, addedAtMs: page.addedAtMs, ms: 0, told: false };
      this.#waiting.set(page.id, waiting);
      resting.delete(page.id);
      if (this.#looked.has(page.id)) Object.assign(waiting, { ms: 0, told: false });
      else if (isSame && this.#isOpen(page.url, sinceMs, nowMs)) waiting.ms += nowMs - sinceMs;
      if (waiting.ms <= boundMs || waiting.told) continue;
      waiting.told = true;
      const [hours, most] = [waiting.ms, boundMs].map((ms) => (ms / hourMs).toFixed(1));
      this.starved.push(`${page.url} could be looked at and was not for ${hours} hours, against ${most}`);
    }
    for (const id of resting) this.#waiting.delete(id);
    this.#looked.clear();
  }

  /** All that time; a machine that slept was up for less than it. */
  #isOpen(url: string, sinceMs: number, nowMs: number): boolean {
    const { isFull, quietUntilMs, web } = this.#options;
    if (nowMs - sinceMs > tickMs) return false;
    return [sinceMs, nowMs].every(
      (atMs) => !isFull(atMs) && quietUntilMs?.(atMs) === undefined && web.closedUntilMs(url, atMs) < sinceMs,
    );
  }
}
