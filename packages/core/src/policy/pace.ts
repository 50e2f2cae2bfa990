/** The moments at which a budget allows looks: one after another at even distances, none hoarded while nobody looks. */
export class Pace {
  #budget = 0;
  #next = -Infinity;

  get budget(): number {
    return this.#budget;
  }

  /** When the next look may be. */
  get next(): number {
    return this.#next;
  }

  setBudget(looksPerSecond: number, now: number): void {
    // A wait that has begun is as many looks long as before.
    if (this.#next > now) {
      this.#next = looksPerSecond > 0 ? now + ((this.#next - now) * this.#budget) / looksPerSecond : now;
    }
    this.#budget = looksPerSecond;
  }

  spend(now: number): void {
    if (!(this.#budget > 0)) return;
    const gap = 1 / this.#budget;
    // Pages that stand in line cannot be chosen again, so no more than one look is in hand.
    this.#next = Math.max(this.#next, now - gap) + gap;
  }
}
