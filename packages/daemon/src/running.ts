/**
 * How a loop runs and ends: it sends what may go out, rests until something may let more go out, and at the end brings home what is
 * under way. A loop that was stopped or has died asks for nothing more.
 */
import type { CollectionMarket } from './plan/collection-market.ts';
import type { Departures } from './dispatch/departures.ts';
import type { Flights } from './dispatch/flights.ts';
import { gatheredLater, type Later, type Patience } from './dispatch/left-for-later.ts';
import type { Indexing } from './indexing/indexing.ts';
import type { Keeping } from './indexing/keeping.ts';
import type { LoopParts } from './loop-parts.ts';
import type { Saving } from './saving.ts';

interface Ways {
  readonly departures: Departures;
  readonly flights: Flights;
  readonly indexing: Indexing;
  readonly keeping: Keeping;
  readonly saving: Saving;
}

/** How long what was learned outside of looks may be known to this process alone. */
const savedAfterMs = 2_000;
/** How long what is under way at the end is waited for. */
const usualGraceMs = 4_000;

export class Running {
  readonly #parts: Pick<LoopParts, 'clock' | 'log'>;
  readonly #market: CollectionMarket;
  readonly #ways: Ways;
  /** Aborted at the end, so that no sleeper keeps the process alive. */
  readonly #ended = new AbortController();
  #stopping = false;
  #dead = false;
  #savesSoon = false;
  #wake: () => void = () => {};

  constructor(parts: Pick<LoopParts, 'clock' | 'log'>, market: CollectionMarket, ways: Ways) {
    this.#parts = parts;
    this.#market = market;
    this.#ways = ways;
  }

  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  get stopping(): boolean {
    return this.#stopping;
  }

  /** Something happened that may let a request go out. */
  wake(): void {
    this.#wake();
  }

  /** Something was learned that whoever follows must know, also where this process ends before the next look is kept. */
  async saveSoon(): Promise<void> {
    if (this.#savesSoon) return;
    this.#savesSoon = true;
    await this.#parts.clock.sleep(savedAfterMs, this.ended);
    this.#savesSoon = false;
    if (!this.#stopping) await this.#ways.saving.save(false);
  }

  die(): void {
    this.#dead = true;
    this.#stop();
    this.#ways.indexing.die();
    this.#ways.flights.die();
    this.#wake();
  }

  async run(signal: AbortSignal, graceMs = usualGraceMs): Promise<void> {
    this.#settle();
    const unheard = this.#heed(signal);
    while (!signal.aborted && !this.#dead) {
      const wait = await this.#sendDue(true);
      if (signal.aborted || this.#dead) break;
      await this.#rest(wait);
    }
    unheard();
    if (this.#dead) return;
    await this.#bringHome(graceMs);
  }

  /** Until all that was asked for is kept, but for what would take longer than there is patience for: that is told. */
  async sweep(signal: AbortSignal, patience: Patience): Promise<readonly Later[]> {
    const { departures, flights, indexing, keeping } = this.#ways;
    const busy = (): boolean => departures.asked > 0 || flights.inFlight > 0 || indexing.running !== undefined;
    this.#settle();
    const unheard = this.#heed(signal);
    const later: Later[] = [];
    while (!signal.aborted && busy()) {
      const waitMs = await this.#sendDue(false);
      if (signal.aborted || !busy()) break;
      const isIdle = flights.inFlight === 0 && indexing.running === undefined && !keeping.down;
      if (isIdle && waitMs > patience.siteMs)
        later.push(...departures.letGo(patience.siteMs).map((wait) => ({ ...wait, pages: 1 })));
      if (isIdle && departures.asked > 0 && waitMs > patience.budgetMs) {
        later.push({ pages: departures.asked, why: 'the budget', untilMs: this.#parts.clock.nowMs() + waitMs });
        break;
      }
      if (busy()) await this.#rest(waitMs);
    }
    unheard();
    await this.#bringHome(usualGraceMs);
    return gatheredLater(later);
  }

  /** What is under way is kept if it comes in time. Of what does not, nothing is kept any more: it is due again at the next start. */
  async #bringHome(graceMs: number): Promise<void> {
    const { flights, indexing } = this.#ways;
    this.#stop();
    if (!(await this.#within(graceMs, this.#drain()))) {
      this.#parts.log('warn', 'stopped with requests under way; they are due again at the next start', {
        inFlight: flights.inFlight,
        unread: indexing.queued,
      });
      // A large body whose reading is ended with this process would be said to be one that nobody can read.
      indexing.die();
      if (indexing.running) await this.#within(graceMs, indexing.running);
    }
    await this.#end();
  }

  async #within(ms: number, done: Promise<void>): Promise<boolean> {
    const over = new AbortController();
    const late = this.#parts.clock.sleep(ms, over.signal).then(() => false);
    const inTime = await Promise.race([late, done.then(() => true)]);
    over.abort();
    return inTime;
  }

  /** Nothing goes out before what the store did not take at the start is kept. */
  #settle(): void {
    void this.#ways.keeping.settle().then(() => this.#wake());
  }

  /** Only what is under way is brought home, without waiting for a store that cannot write. */
  #stop(): void {
    this.#stopping = true;
    this.#ways.flights.stop();
    this.#ways.keeping.stop();
  }

  async #end(): Promise<void> {
    this.#ended.abort('ended');
    await this.#ways.saving.save(true);
  }

  #sendDue(planned: boolean): Promise<number> {
    this.#market.tell(this.#parts.clock.nowMs() / 1000);
    return this.#ways.flights.sendDue(planned);
  }

  /** Whoever rests is woken when the signal comes, until what is answered is called. */
  #heed(signal: AbortSignal): () => void {
    const wake = (): void => this.#wake();
    signal.addEventListener('abort', wake, { once: true });
    return () => signal.removeEventListener('abort', wake);
  }

  /** Sleeps, or until something happens that may let a request go out. */
  async #rest(ms: number): Promise<void> {
    const woken = new AbortController();
    // A reason of our own: the standard one is an exception with a stack, and this happens at every look.
    this.#wake = () => woken.abort('woken');
    await this.#parts.clock.sleep(Math.min(ms, 3_600_000), woken.signal);
  }

  async #drain(): Promise<void> {
    const { flights, indexing } = this.#ways;
    while (flights.inFlight > 0 || indexing.running) {
      if (indexing.running) await indexing.running;
      else await this.#parts.clock.sleep(5);
    }
  }
}
