/**
 * Policies against a recorded history: each gets the same number of looks over the same test, calibrated, and sees only
 * what a monitor sees. Runs in a worker, so that the daemon goes on; `simulate` on the command line asks the same of core.
 */
import {
  type Policy,
  calibrate,
  kinOf,
  policies,
  probesAllowed,
  replay,
  scoreProbes,
  splitTrace,
  traceOf,
} from '@revisit/core';

export interface Experiment {
  /** Changes: who, and when in seconds. */
  readonly names: readonly string[];
  readonly sites: readonly string[];
  readonly events: readonly (readonly [page: number, seconds: number])[];
  readonly policies: readonly string[];
  readonly looksPerPageDay: number;
  /** The share of the history that is learned from. */
  readonly trainShare: number;
  readonly spacingSeconds: number;
}

export interface PolicyResult {
  readonly policy: string;
  readonly probes: number;
  readonly changes: number;
  readonly meanDelayHours: number;
  readonly freshness: number;
  readonly hitRate: number;
  /** Hours within which these shares of the changes were found: 5 %, 10 % … 95 %. */
  readonly delayQuantiles: readonly number[];
}

export interface ExperimentResult {
  readonly pages: number;
  readonly changes: number;
  readonly testDays: number;
  readonly allowed: number;
  readonly results: readonly PolicyResult[];
}

export type LabEvent =
  | { readonly kind: 'progress'; readonly policy: string; readonly share: number }
  | { readonly kind: 'done'; readonly result: ExperimentResult }
  | { readonly kind: 'failed'; readonly sentence: string };

const daySeconds = 86_400;

export function runExperiment(given: Experiment, say: (event: LabEvent) => void): void {
  const trace = traceOf(given.events.map(([page, seconds]) => [given.names[page]!, Math.floor(seconds)] as const));
  const ends = given.events.reduce(
    ([first, last], [, at]) => [Math.min(first, at), Math.max(last, at)] as [number, number],
    [Infinity, -Infinity] as [number, number],
  );
  const span = ends[1] - ends[0];
  const train = span * given.trainShare;
  const split = splitTrace(trace, train, span - train);
  const allowed = probesAllowed(split, { kind: 'per-page-day', looks: given.looksPerPageDay });
  if (split.names.length === 0 || allowed < 1)
    return say({
      kind: 'failed',
      sentence: 'The history is too short, or the budget too small, for a single look in the test.',
    });
  const siteOf = new Map(given.names.map((name, i) => [name, given.sites[i]!]));
  const kin = kinOf(split.names, (name) => siteOf.get(name) ?? '');
  const results = given.policies.map((name) => {
    const entry = policies[name]!;
    say({ kind: 'progress', policy: name, share: 0 });
    let runs = 0;
    const run = (knob: number) => {
      const policy: Policy = entry.knob === 'told' ? entry.create() : entry.create(knob);
      runs++;
      const part = (share: number) => say({ kind: 'progress', policy: name, share: 1 - (1 - share / 2) / runs });
      return replay(split, policy, {
        allowed,
        told: entry.knob === 'told' ? knob : 1,
        kin,
        learn: 'probes',
        spacingSeconds: given.spacingSeconds,
        progress: part,
      });
    };
    const { replay: best } = calibrate(allowed, run, { start: 1, rises: entry.knob === 'told' });
    const score = scoreProbes(split, best.log);
    const quantile = (share: number) =>
      score.delays[Math.min(score.delays.length - 1, Math.floor(share * score.delays.length))] ?? 0;
    say({ kind: 'progress', policy: name, share: 1 });
    return {
      policy: name,
      probes: score.probes,
      changes: score.changes,
      meanDelayHours: score.meanDelayHours,
      freshness: score.freshness,
      hitRate: score.hitRate,
      delayQuantiles: Array.from({ length: 19 }, (_, i) => quantile((i + 1) / 20)),
    };
  });
  say({
    kind: 'done',
    result: {
      pages: split.names.length,
      changes: split.testChanges,
      testDays: (split.testEnd - split.testStart) / daySeconds,
      allowed,
      results,
    },
  });
}
