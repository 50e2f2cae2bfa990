/** How many times something happened within the last hour, or minute, in sixty numbers and as exactly as those say. */
const slots = 60;

export class Lately {
  readonly #counts = new Float64Array(slots);
  readonly #slotMs: number;
  #slot = -Infinity;

  constructor(spanMs: number) {
    this.#slotMs = spanMs / slots;
  }

  add(count: number, nowMs: number): void {
    this.#pass(nowMs);
    this.#counts[this.#slot % slots]! += count;
  }

  count(nowMs: number): number {
    this.#pass(nowMs);
    return this.#counts.reduce((sum, count) => sum + count, 0);
  }

  /** Slots that have passed since the last call count for nothing any more. */
  #pass(nowMs: number): void {
    const slot = Math.floor(nowMs / this.#slotMs);
    // A clock that was set back goes on in the slot it had reached.
    if (slot <= this.#slot) return;
    for (let gone = Math.max(this.#slot + 1, slot - slots + 1); gone <= slot; gone++) this.#counts[gone % slots] = 0;
    this.#slot = slot;
  }
}
