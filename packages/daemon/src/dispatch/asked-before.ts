/**
 * When sites were asked for what no page of theirs tells of: a look that was never kept, or one at a page that is gone. The process
 * that comes next must know it as well. When exactly nobody knows: robots.txt and redirects may have come before the page.
 */
import type { ClockBook } from './clock-book.ts';
import type { LoopParts } from '../loop-parts.ts';
import type { Kept } from '../store/port.ts';
import type { CapBook } from '../values/observation.ts';
import type { Probe } from '../values/probe.ts';

/** No site is spaced by more. */
const spacingMsMost = 86_400_000;
const memoryKey = 'asked-before';

export class AskedBefore {
  readonly #parts: Pick<LoopParts, 'clock' | 'observer' | 'store'>;
  readonly #clockBook: ClockBook;
  readonly #capBook: Pick<CapBook, 'recall'>;
  readonly #sites = new Map<string, number>();

  constructor(
    parts: Pick<LoopParts, 'clock' | 'observer' | 'store'>,
    clockBook: ClockBook,
    capBook: Pick<CapBook, 'recall'>,
  ) {
    this.#parts = parts;
    this.#clockBook = clockBook;
    this.#capBook = capBook;
  }

  /** As the processes before this one left it, and with what they had under way. */
  async open(unfinished: readonly Probe[]): Promise<ReadonlyMap<string, number>> {
    const { clock, observer, store } = this.#parts;
    const nowMs = clock.nowMs();
    const saved = await store.recall(memoryKey);
    const earlier = saved ? (JSON.parse(new TextDecoder().decode(saved)) as Record<string, number>) : {};
    for (const [site, keptMs] of Object.entries(earlier)) this.#note(site, Math.min(nowMs, keptMs + this.#setByMs));
    if (observer.outlives) return this.#sites;
    for (const probe of unfinished) {
      const { site } = probe;
      this.#note(site, this.isNoted(probe) ? Math.max(-Infinity, ...(await this.#capBook.recall(site))) : nowMs);
    }
    return this.#sites;
  }

  /** Whether it is known when the site was last asked, whatever became of the probe. */
  isNoted({ noted }: Probe): boolean {
    return noted === true && this.#parts.observer.countIn !== undefined;
  }

  /** The site was asked at that moment, and its page is going or gone. */
  async goes(site: string, atMs: number): Promise<void> {
    // In a cluster each holder of a shard would write over what the others have noted.
    if (!this.#parts.observer.outlives && this.#note(site, atMs)) await this.keep();
  }

  keep(): Promise<Kept<undefined>> {
    for (const [site, atMs] of this.#sites) if (!this.#matters(atMs)) this.#sites.delete(site);
    const kept = Object.fromEntries(Array.from(this.#sites, ([site, atMs]) => [site, atMs - this.#setByMs]));
    return this.#parts.store.remember(memoryKey, new TextEncoder().encode(JSON.stringify(kept)));
  }

  get #setByMs(): number {
    return this.#clockBook.totalMs;
  }

  #matters(atMs: number): boolean {
    return atMs > this.#parts.clock.nowMs() - spacingMsMost;
  }

  #note(site: string, atMs: number): boolean {
    if (!this.#matters(atMs) || atMs <= (this.#sites.get(site) ?? -Infinity)) return false;
    this.#sites.set(site, atMs);
    return true;
  }
}
