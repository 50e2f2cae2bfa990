/** Looks that the plan wants and that wait: for a faster hour of their site, for the end of a lifetime, for a hub. */

interface Shifted {
  readonly untilMs: number;
  /** How long after the last look the plan wanted it. */
  readonly plannedMs: number | undefined;
}

export class ShiftedLooks {
  readonly #looks = new Map<number, Shifted>();

  set(page: number, shifted: Shifted): void {
    this.#looks.set(page, shifted);
  }

  get(page: number): Shifted | undefined {
    return this.#looks.get(page);
  }

  delete(page: number): void {
    this.#looks.delete(page);
  }

  /** Hands out those whose time has come; answers how long the next one waits. */
  release(nowMs: number, take: (page: number, plannedMs: number | undefined) => void): number {
    let waitMs = Infinity;
    for (const [page, { untilMs, plannedMs }] of this.#looks) {
      if (untilMs > nowMs) {
        waitMs = Math.min(waitMs, untilMs - nowMs);
        continue;
      }
      this.#looks.delete(page);
      take(page, plannedMs);
    }
    return waitMs;
  }
}
