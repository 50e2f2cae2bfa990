/** Time that runs faster than the wall's by a factor: everything that takes a clock lives in it without knowing. */
import { type Clock, systemClock } from '../values/clock.ts';

export function scaledClock(startMs: number, speed: number, real: Clock = systemClock): Clock {
  const beginMs = real.nowMs();
  return {
    nowMs: () => startMs + (real.nowMs() - beginMs) * speed,
    sleep: (ms, signal) => real.sleep(ms / speed, signal),
  };
}
