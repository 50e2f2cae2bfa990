/**
 * The schedules the paper compares with (Eckstein, Gal and Reiner §5.2): uniform looks; a look as soon as the expected cost
 * since the last one reaches Π (threshold); a look as soon as the probability of anything new reaches π (first arrival,
 * which sees neither importance nor how much is pending). Each ends with a look at the horizon, keeps the spacing, and
 * makes at most `probesMax` looks.
 */
import type { Loss } from '../loss/loss.ts';
import type { ChangeModel } from '../model/model.ts';

export function uniformSchedule(horizon: number, probes: number): Float64Array {
  return Float64Array.from({ length: probes }, (_, i) => (i === probes - 1 ? horizon : ((i + 1) * horizon) / probes));
}

export function thresholdSchedule(loss: Loss, threshold: number, spacing: number, probesMax: number): Float64Array {
  return following(loss.from, loss.to, spacing, probesMax, (s) => {
    if (loss.gap(s, loss.to) < threshold) return Infinity;
    return firstTime((t) => loss.gap(s, t) >= threshold, s, loss.to);
  });
}

export function firstArrivalSchedule(
  model: ChangeModel,
  chance: number,
  horizon: number,
  spacing: number,
  probesMax: number,
): Float64Array {
  return following(0, horizon, spacing, probesMax, (s) => model.whenChanged(s, chance));
}

function following(
  from: number,
  to: number,
  spacing: number,
  probesMax: number,
  next: (s: number) => number,
): Float64Array {
  const looks: number[] = [];
  for (let s = from; looks.length < probesMax - 1;) {
    const t = Math.max(next(s), s + spacing);
    // A look at which time stands still, or too near to the end, is left to the last one.
    if (!(t > s) || !(t < to) || to - t < spacing) break;
    looks.push(t);
    s = t;
  }
  return Float64Array.from([...looks, to]);
}

/** The first time in (low, high] from which a condition holds that, once true, stays true; by bisection to rounding. */
function firstTime(holds: (t: number) => boolean, low: number, high: number): number {
  for (let turn = 0; turn < 200; turn++) {
    const middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
}
