/**
 * A trace split by time into a part to learn from and a part to score on.
 *
 * The test ends with the trace's last event and covers (testStart, testEnd]; training covers [trainStart, testStart]. A
 * source takes part when it has an event in training. It is watched from its birth, its first event in the whole trace,
 * or from the start of training when it was born before.
 */
import type { Kin } from '../model/kin.ts';
import { type Trace, countUpTo, firstEvent, lastEvent } from './trace.ts';

export interface Split {
  readonly trainStart: number;
  readonly testStart: number;
  readonly testEnd: number;
  /** The sources that take part, in the order of the trace; everything below counts in these. */
  readonly names: readonly string[];
  readonly times: readonly Float64Array[];
  readonly birth: Float64Array;
  /** Changes (births are not) seen in training, over all sources that take part. */
  readonly trainChanges: number;
  /** What training leads one to expect in the test: the same number a second. */
  readonly expectedChanges: number;
  readonly testChanges: number;
}

export type Budget =
  | { readonly kind: 'per-page-day'; readonly looks: number }
  | { readonly kind: 'per-change'; readonly looks: number };

export function splitTrace(trace: Trace, trainSeconds: number, testSeconds: number): Split {
  const testEnd = lastEvent(trace);
  const testStart = testEnd - testSeconds;
  const trainStart = Math.max(testStart - trainSeconds, firstEvent(trace));
  const names: string[] = [];
  const times: Float64Array[] = [];
  const birth: number[] = [];
  let trainChanges = 0;
  let testChanges = 0;
  for (let i = 0; i < trace.names.length; i++) {
    const all = trace.times[i]!;
    let before = countUpTo(all, trainStart);
    while (before > 0 && all[before - 1] === trainStart) before--;
    const known = countUpTo(all, testStart);
    if (known === before) continue;
    names.push(trace.names[i]!);
    times.push(all);
    birth.push(Math.max(all[0]!, trainStart));
    trainChanges += known - Math.max(before, 1);
    testChanges += all.length - known;
  }
  const expectedChanges = testStart > trainStart ? (trainChanges * testSeconds) / (testStart - trainStart) : 0;
  const born = Float64Array.from(birth);
  return { trainStart, testStart, testEnd, names, times, birth: born, trainChanges, expectedChanges, testChanges };
}

/** How many probes the test allows. */
export function probesAllowed(split: Split, budget: Budget): number {
  const days = (split.testEnd - split.testStart) / 86_400;
  const looks = budget.kind === 'per-change' ? split.expectedChanges : split.names.length * days;
  return Math.floor(budget.looks * looks);
}

/** Probes of a run are kept in memory, twelve bytes each and as much again while they grow: more than these would take gigabytes and hours. */
export const looksSimulatedMax = 50_000_000;

/** What busy weeks borrow must be paid back within the test: in a twentieth of it, and in a month at most. */
export const borrowingSeconds = ({ testStart, testEnd }: Split): number =>
  Math.min(30 * 86_400, (testEnd - testStart) / 20);

/** How many looks there are room for: each page once in every second of the test, and each site as often as its spacing lets it. */
export function looksMost(split: Split, kin?: Pick<Kin, 'site'>, spacingSeconds = 0): number {
  const seconds = Math.max(0, Math.ceil(split.testEnd) - Math.floor(split.testStart) - 1);
  if (!kin || spacingSeconds === 0) return split.names.length * seconds;
  const pages = new Map<number, number>();
  for (const site of kin.site.slice(0, split.names.length)) pages.set(site, (pages.get(site) ?? 0) + 1);
  const turns = Math.floor(seconds / spacingSeconds) + 1;
  return [...pages.values()].reduce((sum, count) => sum + Math.min(count * seconds, turns), 0);
}
