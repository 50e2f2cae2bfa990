/**
 * Answers about a page are taken in the order in which it was asked for. Several looks at it may be under way at once: over several
 * connections the fast answer comes before the slow one, and of what a killed process had asked for the queue hands on first what it
 * likes. Taken as they come, what the page said before would be told as new, and what was told already would be told again after it.
 */
import type { Observation } from '../values/observation.ts';
import type { Probe } from '../values/probe.ts';

interface Waiting {
  /** When the last of the looks before it was made, as far as that is known. */
  lastMs: number;
  readonly begin: (lastMs: number) => void;
}

export class PageTurns<Asked extends Pick<Probe, 'pageIds'>> {
  /** By page, in the order in which they were asked for. */
  readonly #lines = new Map<string, Asked[]>();
  readonly #waiting = new Map<Asked, Waiting>();

  /** What is under way of a page. */
  of(id: string): readonly Asked[] {
    return this.#lines.get(id) ?? [];
  }

  join(probe: Asked): void {
    for (const id of probe.pageIds) {
      const line = this.#lines.get(id);
      if (line) line.push(probe);
      else this.#lines.set(id, [probe]);
    }
  }

  /**
   * Resolves when whatever was asked for before it of its pages has left, with when the last of those looks was made; undefined where
   * nothing was, as nearly always.
   */
  turn(probe: Asked): Promise<number> | undefined {
    if (this.#isNext(probe)) return undefined;
    return new Promise((begin) => this.#waiting.set(probe, { lastMs: -Infinity, begin }));
  }

  /** Its answer, of a look at that time, was taken; or none will be. */
  leave(probe: Asked, atMs = -Infinity): void {
    for (const id of probe.pageIds) {
      const line = this.#lines.get(id);
      const place = line?.indexOf(probe) ?? -1;
      if (!line || place < 0) continue;
      if (line.length === 1) this.#lines.delete(id);
      else line.splice(place, 1);
    }
    if (this.#waiting.size === 0) return;
    this.#waiting.delete(probe);
    for (const [next, waiting] of this.#waiting) {
      if (next.pageIds.some((id) => probe.pageIds.includes(id))) waiting.lastMs = Math.max(waiting.lastMs, atMs);
      if (!this.#isNext(next)) continue;
      this.#waiting.delete(next);
      waiting.begin(waiting.lastMs);
    }
  }

  #isNext(probe: Asked): boolean {
    return probe.pageIds.every((id) => this.#lines.get(id)?.[0] === probe);
  }
}

/** When the look was made, as far as that is known. */
export const madeMs = ({ startedAtMs, toldAfterMs = 0 }: Observation): number => startedAtMs - toldAfterMs;

/**
 * The observation as of a look after that time: of what was asked for by another process, it is known when it arrived and not when it
 * was made. Who tells how long ago it looked is believed as far as that fits (`lookedAtMs`).
 */
export function madeAfter(observation: Observation, atMs: number): Observation {
  const { startedAtMs, endedAtMs, toldAfterMs } = observation;
  if (toldAfterMs !== undefined || startedAtMs > atMs) return observation;
  const byMs = atMs + 1 - startedAtMs;
  return { ...observation, startedAtMs: startedAtMs + byMs, endedAtMs: endedAtMs + byMs };
}
