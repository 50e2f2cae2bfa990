/**
 * Time that runs faster than the wall's by a factor, as long as this process keeps up: everything that takes a clock lives in
 * it without knowing. A process that is held up (a busy machine, a long computation) would find, on waking, that hours have
 * passed in which it could not look; here time has waited for it instead, and `pace` says by how much.
 *
 * Held up: the last beat is longer ago than a beat can be. Each beat adds the wall time since the one before, at most
 * `beatMsMax` of it, times the speed.
 */
import { type Clock, systemClock } from '../values/clock.ts';

/** At half an hour a second, a beat is nine seconds: fewer than a look at the budget of the demonstration. */
const beatMs = 5;
/** Timers come a millisecond or two late on any machine; what is later still, was held up. */
const beatMsMax = 8;

export interface PacedClock extends Clock {
  /** The share of the speed that was kept so far. */
  pace(): number;
  stop(): void;
}

export function pacedClock(startMs: number, speed: number, real: Clock = systemClock): PacedClock {
  const beginMs = real.nowMs();
  let beatAtMs = beginMs;
  let passedMs = 0;
  const sinceBeatMs = (): number => Math.min(Math.max(0, real.nowMs() - beatAtMs), beatMsMax);
  const beat = (): void => {
    passedMs += sinceBeatMs();
    beatAtMs = real.nowMs();
  };
  const stopped = new AbortController();
  void (async () => {
    while (!stopped.signal.aborted) {
      await real.sleep(beatMs, stopped.signal);
      beat();
    }
  })();
  const nowMs = (): number => startMs + (passedMs + sinceBeatMs()) * speed;
  return {
    nowMs,
    async sleep(ms, signal) {
      const untilMs = nowMs() + ms;
      // A millisecond is the least a timer waits, and time may have waited meanwhile.
      do await real.sleep(Math.max(0, untilMs - nowMs()) / speed, signal);
      while (!signal?.aborted && !stopped.signal.aborted && nowMs() < untilMs);
    },
    pace: () => {
      const wallMs = real.nowMs() - beginMs;
      return wallMs > 0 ? (passedMs + sinceBeatMs()) / wallMs : 1;
    },
    stop: () => stopped.abort(),
  };
}
