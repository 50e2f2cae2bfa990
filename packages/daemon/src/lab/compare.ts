/** Policies on one split of a trace, each calibrated to the same number of looks, with all that a report wants to show. */
import {
  type Aims,
  type Kin,
  type Policy,
  ProbeLog,
  type Replay,
  type ScoreDetail,
  type Split,
  RevisitPolicy,
  bound,
  boundEntry,
  calibrate,
  borrowingSeconds,
  looksMost,
  policies,
  replay,
  scoreProbes,
} from '@revisit/core';
import type { Importance } from './importance.ts';

export interface Comparison {
  readonly split: Split;
  readonly kin: Kin;
  readonly allowed: number;
  readonly learn: 'probes' | 'events';
  /** What policies that can be asked are asked for. */
  readonly loss: NonNullable<Aims['loss']>;
  readonly spacingSeconds: number;
  readonly importance?: Importance;
  readonly weights?: Float64Array;
}

/** What the policy said of its copies, in tenths of probability, and what looks then showed. */
export interface ReliabilityBin {
  readonly looks: number;
  readonly said: number;
  readonly held: number;
}

/** Of what is no policy but what a plan would reach that knew the rates. */
export const boundSentence =
  'bound is revisit told how often each page will change in the test, which no policy can know; when it changes it must learn as ever.';

export interface Compared {
  readonly policy: string;
  readonly score: ScoreDetail;
  readonly log: ProbeLog;
  readonly seconds: number;
  readonly knob: number;
  readonly runs: number;
  readonly reliability?: readonly ReliabilityBin[];
  readonly week?: readonly number[];
  /** Of sites that have a week of their own, those of most pages. */
  readonly siteWeeks?: readonly SiteWeek[];
}

export interface SiteWeek {
  readonly site: string;
  readonly pages: number;
  readonly week: readonly number[];
}

/** More weeks than this nobody reads. */
const siteWeeksMost = 12;

function siteWeeksOf(policy: RevisitPolicy, { site, siteNames }: Kin): SiteWeek[] {
  const pages = new Map<number, number>();
  for (const own of site) pages.set(own, (pages.get(own) ?? 0) + 1);
  return [...policy.siteWeeks()]
    .map(([own, week]) => ({ site: siteNames[own]!, pages: pages.get(own) ?? 0, week: Array.from(week) }))
    .toSorted((a, b) => b.pages - a.pages || a.site.localeCompare(b.site))
    .slice(0, siteWeeksMost);
}

class Reliability {
  readonly #looks = new Float64Array(10);
  readonly #said = new Float64Array(10);
  readonly #held = new Float64Array(10);

  add(said: number, held: boolean): void {
    const bin = Math.min(9, Math.max(0, Math.floor(10 * said)));
    this.#looks[bin]!++;
    this.#said[bin]! += said;
    if (held) this.#held[bin]!++;
  }

  bins(): ReliabilityBin[] {
    return Array.from(this.#looks, (looks, i) => ({
      looks,
      said: looks > 0 ? this.#said[i]! / looks : 0,
      held: looks > 0 ? this.#held[i]! / looks : 0,
    }));
  }
}

export function comparePolicy(
  name: string,
  given: Comparison,
  progress: (share: number) => void,
  clockMs: () => number,
): Compared {
  const entry = name === bound ? boundEntry(given.split) : policies[name]!;
  // Asking for more than there is room for would turn the knob in vain, run after run.
  const allowed = Math.min(given.allowed, looksMost(given.split, given.kin, given.spacingSeconds));
  const aims: Aims = {
    loss: given.loss,
    horizonSeconds: borrowingSeconds(given.split),
    ...(given.importance ? { importance: given.importance.at } : {}),
  };
  // Of each run, as the last is not always the one that stands; what a policy keeps in memory is let go with its run.
  const seen = new WeakMap<Replay, Pick<Compared, 'seconds' | 'reliability' | 'week' | 'siteWeeks'>>();
  let runs = 0;
  const run = (knob: number) => {
    runs++;
    const reliability = new Reliability();
    const policy: Policy =
      entry.knob === 'scale' ? entry.create(knob) : entry.aimed ? entry.aimed(aims) : entry.create();
    const believing = policy instanceof RevisitPolicy && name !== bound ? policy : undefined;
    const started = clockMs();
    const outcome = replay(given.split, policy, {
      allowed,
      told: entry.knob === 'told' ? knob : 1,
      kin: given.kin,
      learn: given.learn,
      spacingSeconds: given.spacingSeconds,
      // Nobody knows how many runs it will take: each goes half of the way that is left.
      progress: (share) => progress(1 - (1 - share / 2) / 2 ** (runs - 1)),
      ...(given.weights ? { weights: given.weights } : {}),
      ...(believing
        ? { audit: (page, at, changed) => reliability.add(believing.belief(page, at).current, !changed) }
        : {}),
    });
    const seconds = (clockMs() - started) / 1000;
    seen.set(outcome, {
      seconds,
      ...(believing
        ? {
            reliability: reliability.bins(),
            week: Array.from(believing.weekShape()),
            siteWeeks: siteWeeksOf(believing, given.kin),
          }
        : {}),
    });
    return outcome;
  };
  const done = calibrate(allowed, run, { start: 1, rises: entry.knob === 'told' });
  const { log } = done.replay;
  return {
    policy: name,
    score: scoreProbes(given.split, log, given.importance?.integral, given.weights),
    log,
    knob: done.knob,
    runs: done.runs,
    ...seen.get(done.replay)!,
  };
}
