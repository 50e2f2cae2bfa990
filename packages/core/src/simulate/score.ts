/**
 * How good a list of probes was, read from the probes alone as anyone outside would.
 *
 * Every policy starts the test with a fresh copy of every page. A change at e in (testStart, testEnd] is found by the first
 * probe of its page at or after e; a change that no probe finds is counted as found at testEnd, so leaving pages alone
 * near the end gains nothing. Delays are weighed by the importance a(t) of the time that passes unseen:
 * obsolescence = sum over changes of the integral of a from the change until it is found, in hours.
 *
 * Cost: O(probes + changes) after one counting sort of the probes by page.
 */
import type { ProbeLog } from './probe-log.ts';
import type { Split } from './split.ts';

/** The importance of time: its integral from the epoch until t, in seconds. Undefined means 1 everywhere. */
export type ImportanceIntegral = (t: number) => number;

export interface Score {
  readonly probes: number;
  readonly changes: number;
  readonly meanDelayHours: number;
  /** Change-hours, each hour weighed by its importance and the page's weight. */
  readonly obsolescence: number;
  /**
   * Share of page-time in which the copy was what the page showed. Times are weighed by their importance; pages count alike whatever
   * their weights, as a page's hour is an hour of page-time.
   */
  readonly freshness: number;
  /** Share of probes that found a change. */
  readonly hitRate: number;
}

export interface ScoreDetail extends Score {
  /** Delay of every change in hours, ascending. */
  readonly delays: Float64Array;
}

export function scoreProbes(
  split: Split,
  log: ProbeLog,
  importance?: ImportanceIntegral,
  weights?: Float64Array,
): ScoreDetail {
  const pages = split.names.length;
  const starts = new Int32Array(pages + 1);
  for (let i = 0; i < log.length; i++) starts[log.page(i) + 1]!++;
  for (let p = 0; p < pages; p++) starts[p + 1]! += starts[p]!;
  const next = starts.slice();
  const byPage = new Float64Array(log.length);
  for (let i = 0; i < log.length; i++) byPage[next[log.page(i)]!++] = log.at(i);

  const integral = importance ?? ((t: number) => t);
  const delays = new Float64Array(split.testChanges);
  let changes = 0;
  let obsolescence = 0;
  let staleTime = 0;
  let hits = 0;
  for (let p = 0; p < pages; p++) {
    const times = split.times[p]!;
    let probe = starts[p]!;
    const end = starts[p + 1]!;
    let staleSince = -1;
    for (let e = firstAfter(times, split.testStart); e < times.length; e++) {
      const at = times[e]!;
      if (at > split.testEnd) break;
      // A new search starts only when an earlier change has been found.
      while (probe < end && byPage[probe]! < at) {
        if (staleSince >= 0) {
          hits++;
          staleTime += integral(byPage[probe]!) - integral(staleSince);
          staleSince = -1;
        }
        probe++;
      }
      if (staleSince < 0) staleSince = at;
      const found = probe < end ? byPage[probe]! : split.testEnd;
      delays[changes++] = (found - at) / 3600;
      obsolescence += (weights ? weights[p]! : 1) * (integral(found) - integral(at));
    }
    if (staleSince >= 0) {
      if (probe < end) hits++;
      staleTime += integral(probe < end ? byPage[probe]! : split.testEnd) - integral(staleSince);
    }
  }
  const span = integral(split.testEnd) - integral(split.testStart);
  const found = delays.subarray(0, changes).sort();
  return {
    probes: log.length,
    changes,
    meanDelayHours: changes > 0 ? found.reduce((sum, delay) => sum + delay, 0) / changes : 0,
    obsolescence: obsolescence / 3600,
    freshness: pages > 0 && span > 0 ? 1 - staleTime / (span * pages) : 1,
    hitRate: log.length > 0 ? hits / log.length : 0,
    delays: found,
  };
}

function firstAfter(times: Float64Array, limit: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle]! <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
