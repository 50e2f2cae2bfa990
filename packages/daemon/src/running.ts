/**
 * How a loop runs and ends: it sends what may go out, rests until something may let more go out, and at the end brings home what is
 * under way. A loop that was stopped or has died asks for nothing more.
 */
import type { CollectionMarket } from './plan/collection-market.ts';
import type { Departures } from './dispatch/departures.ts';
import type { Flights } from './dispatch/flights.ts';
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

  async run(signal: AbortSignal, graceMs = 4_000): Promise<void> {
    const { clock } = this.#parts;
    this.#settle();
    while (!signal.aborted && !this.#dead) {
      const wait = await this.#sendDue(true);
      if (signal.aborted || this.#dead) break;
      await this.#rest(wait, signal);
    }
    if (this.#dead) return;
    this.#stop();
    const giveUp = new AbortController();
    const grace = clock.sleep(graceMs, giveUp.signal).then(() => 'late' as const);
    const drained = this.#drain().then(() => 'drained' as const);
    if ((await Promise.race([grace, drained])) === 'late')
      this.#parts.log('warn', 'stopped with requests under way; they are due again at the next start', {
        inFlight: this.#ways.flights.inFlight,
      });
    giveUp.abort();
    await this.#end();
  }

  /** Until all that was asked for is kept. */
  async sweep(signal: AbortSignal): Promise<void> {
    const { departures, flights, indexing } = this.#ways;
    const busy = (): boolean => departures.asked > 0 || flights.inFlight > 0 || indexing.running !== undefined;
    this.#settle();
    while (!signal.aborted && busy()) {
      const wait = await this.#sendDue(false);
      if (!busy()) break;
      await this.#rest(wait, signal);
    }
    this.#stop();
    await this.#drain();
    await this.#end();
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

  /** Sleeps, or until something happens that may let a request go out. */
  async #rest(ms: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    // A reason of our own: the standard one is an exception with a stack, and this happens at every look.
    const wake = (): void => woken.abort('woken');
    this.#wake = wake;
    signal.addEventListener('abort', wake, { once: true });
    if (signal.aborted) wake();
    await this.#parts.clock.sleep(Math.min(ms, 3_600_000), woken.signal);
    signal.removeEventListener('abort', wake);
  }

  async #drain(): Promise<void> {
    const { flights, indexing } = this.#ways;
    while (flights.inFlight > 0 || indexing.running) {
      if (indexing.running) await indexing.running;
      else await this.#parts.clock.sleep(5);
    }
  }
}
