/**
 * The two-stage lifetime (Brewington §2.1): a page changes when motivation has come (rate λ₁) and its maintainer has
 * responded (rate λ₂), both memoryless; their sum is not. Density (3)
 *
 *   D₃(t) = λ₁λ₂ ⁄ (λ₂ − λ₁) · (e^{−λ₁t} − e^{−λ₂t}),   λ²·t·e^{−λt} where the rates are equal,
 *
 * greatest at ln(λ₁ ⁄ λ₂) ⁄ (λ₁ − λ₂) (eq. 4 as it should be printed). Numerically delicate: rates that are nearly equal, so
 * differences of exponentials go through expm1.
 */

/** (e^{−a t} − e^{−b t}) ⁄ (b − a), finite where a = b. */
function difference(a: number, b: number, t: number): number {
  const d = (b - a) * t;
  return Math.abs(d) < 1e-12 ? t * Math.exp(-a * t) : (-Math.expm1(-d) / d) * t * Math.exp(-a * t);
}

export function twoStageDensity(motivation: number, response: number, t: number): number {
  return t < 0 ? 0 : motivation * response * difference(motivation, response, t);
}

/** The probability of a lifetime beyond t. */
export function twoStageSurvival(motivation: number, response: number, t: number): number {
  if (t <= 0) return 1;
  const [slow, fast] = motivation < response ? [motivation, response] : [response, motivation];
  return Math.exp(-fast * t) + fast * difference(slow, fast, t);
}

/** Eq. 4: the lifetime with the greatest density. */
export function twoStageMode(motivation: number, response: number): number {
  const ratio = motivation / response;
  if (Math.abs(ratio - 1) < 1e-9) return 1 / motivation;
  return Math.log(ratio) / (motivation - response);
}

/** Reset probabilities by age, in steps of length `step`: the chance to change within the next step, given the age. */
export function twoStageReset(motivation: number, response: number, step: number, ages: number): Float64Array {
  return Float64Array.from({ length: ages }, (_, t) => {
    const alive = twoStageSurvival(motivation, response, t * step);
    // Far out the slower stage alone is left (memoryless tail), and both survivals may have run to 0.
    if (alive < 1e-290) return -Math.expm1(-Math.min(motivation, response) * step);
    return Math.min(1, Math.max(0, 1 - twoStageSurvival(motivation, response, (t + 1) * step) / alive));
  });
}
