/**
 * WIC for pages that are watched for ever: taking the C greatest gains in every instant looks at each page whenever its gain
 * reaches the level of the C-th, and where rates are steady that level settles. So each page is looked at when what a look
 * would capture (its rate, weight, life and urgency) is worth the price, and the price is the one at which looks add up to
 * the budget. A page whose information is gone or worthless before it is worth the price is not looked at, as in the paper.
 */
import { type CaptureLaw, waitFor } from '../loss/capture-rate.ts';
import type { Watched } from './policy.ts';

/** Life and urgency count in hours, the instants of a running collection. */
export const instantSeconds = 3600;

const paperLaw: CaptureLaw = { life: { kind: 'append' }, urgency: { kind: 'uniform' } };

export function wicShares(
  rates: Float64Array,
  weights: Float64Array,
  budget: number,
  pages: readonly Watched[] = [],
): Float64Array {
  const laws = Array.from(rates, (_, i): CaptureLaw => {
    const { life, urgency } = pages[i] ?? {};
    return { life: life ?? paperLaw.life, urgency: urgency ?? paperLaw.urgency };
  });
  const share = (i: number, price: number) =>
    weights[i] > 0 ? 1 / (instantSeconds * waitFor(laws[i], rates[i] * instantSeconds, price / weights[i])) : 0;
  const total = (price: number) => {
    let sum = 0;
    for (let i = 0; i < rates.length; i++) sum += share(i, price);
    return sum;
  };
  let low = 1e-9;
  let high = 1;
  while (total(high) > budget && high < 1e12) high *= 8;
  for (let n = 0; n < 50; n++) {
    const middle = Math.sqrt(low * high);
    if (total(middle) > budget) low = middle;
    else high = middle;
  }
  return Float64Array.from(rates, (_, i) => share(i, high));
}
