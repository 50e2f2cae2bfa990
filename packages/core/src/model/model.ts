/**
 * What we believe of a page: a law of change in continuous time. Planners and losses ask these questions and nothing else,
 * so age chains and learned models stand behind the same interface as Poisson processes.
 */

/** What a look or a server's date told: at `at` the copy was current, and the page had last changed at `changedAt`. */
export interface Known {
  readonly at: number;
  readonly changedAt?: number;
}

export interface ChangeModel {
  /** Λ(s, f): expected changes in (s, f]. */
  expected(s: number, f: number): number;
  /** The probability of no change in (s, f]. */
  unchanged(s: number, f: number): number;
  /** The first time f ≥ s at which the probability of a change in (s, f] reaches `chance`; Infinity when it never does. */
  whenChanged(s: number, chance: number): number;
  /** The law after this became known. A process without memory answers itself. */
  given(known: Known): ChangeModel;
}
