/**
 * How long fetching takes, measured and by the hour: a page's own level times a factor for the hour of the day that all
 * pages share (Brewington §2.4.2: a rush hour slows all pages alike and leaves their order as it was, but a schedule over
 * hours must know). Logarithms are averaged, so one stalled fetch does not double a page's time.
 */

const hours = 24;
// Weights of a new measurement: pages change slowly, and an hour's factor is learned from all pages.
const pageMemory = 0.2;
const hourMemory = 0.02;

export class RetrievalTimes {
  readonly #level: (number | undefined)[] = [];
  readonly #hour = new Float64Array(hours);
  readonly #firstGuess: number;

  constructor(firstGuessSeconds = 1) {
    this.#firstGuess = Math.log(firstGuessSeconds);
  }

  /** A fetch at `at` (seconds) took so long. */
  measured(page: number, at: number, seconds: number): void {
    const log = Math.log(Math.max(1e-6, seconds));
    const hour = hourOf(at);
    const level = this.#level[page];
    if (level === undefined) {
      this.#level[page] = log - this.#hour[hour];
      return;
    }
    const surprise = log - level - this.#hour[hour];
    this.#level[page] = level + pageMemory * surprise;
    this.#hour[hour] += hourMemory * surprise;
  }

  expected(page: number, at: number): number {
    return Math.exp((this.#level[page] ?? this.#firstGuess) + this.#hour[hourOf(at)]);
  }

  /** The page's own level, the logarithm of seconds; NaN where nothing was measured. */
  save(page: number): number {
    return this.#level[page] ?? NaN;
  }

  restore(page: number, level: number): void {
    this.#level[page] = Number.isNaN(level) ? undefined : level;
  }

  saveShared(): number[] {
    return Array.from(this.#hour);
  }

  restoreShared(hour: readonly number[]): void {
    if (hour.length === hours) this.#hour.set(hour);
  }

  forget(page: number): void {
    this.#level[page] = undefined;
  }
}

function hourOf(at: number): number {
  return Math.floor(at / 3600) % hours;
}
