/**
 * How far the clock was set over the lives of a data folder. A process that saw it says so; for one that was set back while nobody
 * ran, the time at which somebody last did lies in the future. Set forward, that looks like a machine that was off, unless the store
 * takes nothing: then those who saw it may not have been able to say so.
 */
import { putRightMs } from './even-clock.ts';
import type { Kept, Store } from '../store/port.ts';
import type { Clock } from '../values/clock.ts';
import type { ClockSetByMs } from '../values/observation.ts';

/** Longer than sites are spaced: for so long after the clock was set, times of looks may be of before. */
const latelyMs = 3_600_000;

interface Written {
  readonly totalMs: ClockSetByMs;
  /** When the clock was last set and when a process was last seen alive, by the clock as it was then. */
  readonly setAtMs: number | undefined;
  readonly aliveMs: number;
}

export class ClockBook {
  readonly #clock: Clock;
  readonly #store: Pick<Store, 'recall' | 'remember'>;
  totalMs: ClockSetByMs = 0;
  #setAtMs: number | undefined;
  #isKept = false;

  constructor(clock: Clock, store: Pick<Store, 'recall' | 'remember'>) {
    this.#clock = clock;
    this.#store = store;
  }

  /** At the start of a process; `seenMs` is what the one before it saw. Answers by how much the clock was set. */
  async open(seenMs: number): Promise<number> {
    const nowMs = this.#clock.nowMs();
    const saved = await this.#store.recall('clock');
    const written = saved && (JSON.parse(new TextDecoder().decode(saved)) as Written);
    const unseenMs = nowMs - (written?.aliveMs ?? nowMs);
    const setBy = (byMs: number): number => {
      this.totalMs = (written?.totalMs ?? 0) + byMs;
      this.#setAtMs = byMs === 0 ? written?.setAtMs : nowMs;
      return byMs;
    };
    const byMs = setBy(seenMs === 0 && unseenMs < -putRightMs ? unseenMs : seenMs);
    const kept = await this.alive();
    if (kept.kind === 'kept' || Math.abs(unseenMs) <= putRightMs) return byMs;
    // To wait once more for what was over is better than to ask again after no time at all.
    return setBy(unseenMs);
  }

  /** Whether whoever starts next knows the total as well: nothing can be noted by it before. */
  get isKept(): boolean {
    return this.#isKept;
  }

  get setLately(): boolean {
    return this.#setAtMs !== undefined && Math.abs(this.#clock.nowMs() - this.#setAtMs) < latelyMs;
  }

  async alive(): Promise<Kept<undefined>> {
    const written: Written = { totalMs: this.totalMs, setAtMs: this.#setAtMs, aliveMs: this.#clock.nowMs() };
    const kept = await this.#store.remember('clock', new TextEncoder().encode(JSON.stringify(written)));
    if (kept.kind === 'kept') this.#isKept = true;
    return kept;
  }
}
