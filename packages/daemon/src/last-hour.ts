/** How many times something happened within the last hour, to the minute, in sixty numbers. */
const minuteMs = 60_000;
const minutes = 60;

export class LastHour {
  readonly #counts = new Float64Array(minutes);
  #minute = -Infinity;

  add(count: number, nowMs: number): void {
    this.#pass(nowMs);
    this.#counts[this.#minute % minutes]! += count;
  }

  count(nowMs: number): number {
    this.#pass(nowMs);
    return this.#counts.reduce((sum, count) => sum + count, 0);
  }

  /** Minutes that have passed since the last call count for nothing any more. */
  #pass(nowMs: number): void {
    const minute = Math.floor(nowMs / minuteMs);
    // A clock that was set back goes on in the minute it had reached.
    if (minute <= this.#minute) return;
    for (let gone = Math.max(this.#minute + 1, minute - minutes + 1); gone <= minute; gone++)
      this.#counts[gone % minutes] = 0;
    this.#minute = minute;
  }
}
