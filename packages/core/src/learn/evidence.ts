/**
 * How far a special model is believed over the general one: as far as it made looks likelier, before it learned from them.
 * Evidence is the sum of log likelihood ratios in nats; the share that it earns is 1 - exp(-evidence), 0 below 0.
 */

/** What a special model has to show first. */
export const evidenceStart = -2;
/** The most that is held for or against it, so that what moves is followed. */
const evidenceMax = 8;

export const heldEvidence = (evidence: number): number => Math.max(-evidenceMax, Math.min(evidenceMax, evidence));

export const shareOf = (evidence: number): number => (evidence > 0 ? -Math.expm1(-evidence) : 0);
