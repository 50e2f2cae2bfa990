/**
 * Poisson processes: changes that do not influence each other (Eckstein, Gal and Reiner §2.1). With intensity λ(t) the
 * number of changes in (s, f] is Poisson with mean Λ(s, f) = ∫ λ, so nothing is unchanged with probability exp(−Λ).
 */
import { type Profile, constant, integral, reach, scaled } from '../time/profile.ts';
import type { ChangeModel } from './model.ts';

export interface PoissonModel extends ChangeModel {
  readonly kind: 'poisson';
  readonly intensity: Profile;
}

/** Intensity that varies with time. */
export function poisson(intensity: Profile): PoissonModel {
  const model: PoissonModel = {
    kind: 'poisson',
    intensity,
    expected: (s, f) => integral(intensity, s, f),
    unchanged: (s, f) => Math.exp(-integral(intensity, s, f)),
    whenChanged: (s, chance) => (chance < 1 ? reach(intensity, s, -Math.log1p(-chance)) : Infinity),
    given: () => model,
  };
  return model;
}

/** The same rate at all times. */
export function homogeneous(rate: number): PoissonModel {
  return poisson(constant(rate));
}

/** A page that changes `rate` times as often as the shape says, at the times the shape says. */
export function shaped(rate: number, shape: Profile): PoissonModel {
  return poisson(scaled(shape, rate));
}
