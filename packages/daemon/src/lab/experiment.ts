/**
 * Policies against a recorded history: each gets the same number of looks over the same test, calibrated, and sees only
 * what a monitor sees; once for each budget. Runs in a worker, so that the daemon goes on; `simulate` on the command line
 * asks the same of core.
 */
import {
  type Policy,
  type Split,
  type Trace,
  calibrate,
  firstEvent,
  kinOf,
  lastEvent,
  borrowingSeconds,
  looksMost,
  looksSimulatedMax,
  policies,
  probesAllowed,
  replay,
  scoreProbes,
  sitePrefix,
  splitTrace,
  traceOf,
} from '@revisit/core';
import { readTrace } from './trace-file.ts';

/** The collection's own changes: who, and when in seconds. */
export interface History {
  readonly names: readonly string[];
  readonly sites: readonly string[];
  readonly events: readonly (readonly [page: number, seconds: number])[];
}

export interface Experiment {
  readonly source:
    | { readonly kind: 'history'; readonly history: History }
    | { readonly kind: 'trace'; readonly file: string };
  readonly policies: readonly string[];
  /** Looks a page and day; each is tried. */
  readonly budgets: readonly number[];
  /** The share of the history that is learned from. */
  readonly trainShare: number;
  readonly spacingSeconds: number;
}

export interface PolicyResult {
  readonly policy: string;
  readonly looksPerPageDay: number;
  /** Looks that the budget allowed, and that were made. */
  readonly allowed: number;
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
  readonly results: readonly PolicyResult[];
}

export type LabEvent =
  /** 0 to 1 over all policies and budgets. */
  | { readonly kind: 'progress'; readonly share: number }
  | { readonly kind: 'done'; readonly result: ExperimentResult }
  | { readonly kind: 'failed'; readonly sentence: string };

const daySeconds = 86_400;

async function openSource(
  source: Experiment['source'],
): Promise<{ trace: Trace; siteOf: (name: string) => string } | string> {
  if (source.kind === 'trace') {
    const read = await readTrace(source.file);
    return read.kind === 'wrong' ? read.sentence : { trace: read.value, siteOf: sitePrefix };
  }
  const { names, sites, events } = source.history;
  const siteOf = new Map(names.map((name, i) => [name, sites[i]!]));
  return {
    trace: traceOf(events.map(([page, seconds]) => [names[page]!, Math.floor(seconds)] as const)),
    siteOf: (name) => siteOf.get(name) ?? '',
  };
}

export async function runExperiment(given: Experiment, say: (event: LabEvent) => void): Promise<void> {
  const opened = await openSource(given.source);
  if (typeof opened === 'string') return say({ kind: 'failed', sentence: opened });
  const { trace, siteOf } = opened;
  const span = lastEvent(trace) - firstEvent(trace);
  const train = span * given.trainShare;
  const split = splitTrace(trace, train, span - train);
  const allowedAt = (looks: number): number => probesAllowed(split, { kind: 'per-page-day', looks });
  if (split.names.length === 0 || split.testChanges === 0 || Math.min(...given.budgets.map(allowedAt)) < 1)
    return say({
      kind: 'failed',
      sentence: 'The history is too short, or a budget too small, for a single look or change in the test.',
    });
  const most = Math.min(Math.max(...given.budgets.map(allowedAt)), looksMost(split));
  if (most > looksSimulatedMax)
    return say({
      kind: 'failed',
      sentence: `A budget comes to ${most.toLocaleString('en')} looks in the test, and ${looksSimulatedMax.toLocaleString('en')} at most are simulated: a smaller one or a shorter history is expected.`,
    });
  const kin = kinOf(split.names, siteOf);
  const steps = given.budgets.flatMap((looks) => given.policies.map((policy) => ({ looks, policy })));
  const results = steps.map(({ looks, policy }, step) => {
    const part = (share: number): void => say({ kind: 'progress', share: (step + share) / steps.length });
    part(0);
    const result = tryPolicy(split, kin, policy, allowedAt(looks), given.spacingSeconds, part);
    return { policy, looksPerPageDay: looks, ...result };
  });
  say({
    kind: 'done',
    result: {
      pages: split.names.length,
      changes: split.testChanges,
      testDays: (split.testEnd - split.testStart) / daySeconds,
      results,
    },
  });
}

function tryPolicy(
  split: Split,
  kin: ReturnType<typeof kinOf>,
  name: string,
  allowed: number,
  spacingSeconds: number,
  say: (share: number) => void,
): Omit<PolicyResult, 'policy' | 'looksPerPageDay'> {
  const entry = policies[name]!;
  const within = Math.min(allowed, looksMost(split));
  let runs = 0;
  const run = (knob: number) => {
    const policy: Policy =
      entry.knob === 'scale'
        ? entry.create(knob)
        : (entry.aimed?.({ horizonSeconds: borrowingSeconds(split) }) ?? entry.create());
    runs++;
    return replay(split, policy, {
      allowed: within,
      told: entry.knob === 'told' ? knob : 1,
      kin,
      learn: 'probes',
      spacingSeconds,
      progress: (share) => say(1 - (1 - share / 2) / 2 ** (runs - 1)),
    });
  };
  const { replay: best } = calibrate(within, run, { start: 1, rises: entry.knob === 'told' });
  const score = scoreProbes(split, best.log);
  const quantile = (share: number) =>
    score.delays[Math.min(score.delays.length - 1, Math.floor(share * score.delays.length))] ?? 0;
  say(1);
  return {
    allowed,
    probes: score.probes,
    changes: score.changes,
    meanDelayHours: score.meanDelayHours,
    freshness: score.freshness,
    hitRate: score.hitRate,
    delayQuantiles: Array.from({ length: 19 }, (_, i) => quantile((i + 1) / 20)),
  };
}
