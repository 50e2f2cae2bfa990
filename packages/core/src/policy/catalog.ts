/** The policies by name, each with the knob that brings it to a budget. */
import { AgePolicy } from './age-policy.ts';
import { cho, lambdacrawl, proportional, uniform } from './allocations.ts';
import { HorizonPolicy } from './horizon-policy.ts';
import { IntervalPolicy } from './interval-policy.ts';
import { heritrix, miniflux, nutch, stormcrawler } from './peer-rules.ts';
import type { Policy } from './policy.ts';
import { RatePolicy } from './rate-policy.ts';
import { type Aims, RevisitPolicy } from './revisit.ts';
import { WeekPolicy } from './week-policy.ts';
import { WicPolicy } from './wic-policy.ts';
import { wicShares } from './wic-shares.ts';

export type PolicyEntry =
  /** Told its budget; calibration turns what it is told. */
  | { readonly knob: 'told'; readonly create: () => Policy; readonly aimed?: (aims: Aims) => Policy }
  /** Deaf to budgets; calibration stretches its intervals, or moves its threshold. */
  | { readonly knob: 'scale'; readonly create: (scale: number) => Policy };

export const policies: Readonly<Record<string, PolicyEntry>> = {
  uniform: { knob: 'told', create: () => new RatePolicy('uniform', uniform) },
  proportional: { knob: 'told', create: () => new RatePolicy('proportional', proportional) },
  nutch: { knob: 'scale', create: (scale) => new IntervalPolicy(nutch, scale) },
  stormcrawler: { knob: 'scale', create: (scale) => new IntervalPolicy(stormcrawler, scale) },
  heritrix: { knob: 'scale', create: (scale) => new IntervalPolicy(heritrix, scale) },
  miniflux: { knob: 'scale', create: (scale) => new IntervalPolicy(miniflux, scale) },
  cho: { knob: 'told', create: () => new RatePolicy('cho', cho, 'mean gap') },
  doe: { knob: 'told', create: () => new WeekPolicy('doe') },
  threshold: { knob: 'told', create: () => new WeekPolicy('threshold') },
  'first-arrival': { knob: 'told', create: () => new WeekPolicy('first-arrival') },
  wic: { knob: 'told', create: () => new WicPolicy() },
  'wic-steady': { knob: 'told', create: () => new RatePolicy('wic-steady', wicShares) },
  brewington: { knob: 'told', create: () => new HorizonPolicy() },
  'brewington-greedy': { knob: 'told', create: () => new AgePolicy() },
  revisit: { knob: 'told', create: () => new RevisitPolicy(), aimed: (aims) => new RevisitPolicy(aims) },
  lambdacrawl: { knob: 'told', create: () => new RatePolicy('lambdacrawl', lambdacrawl) },
};
