/**
 * An upper bound on what any plan within capacities is worth, by a price p ≥ 0 for each row (an instant, a day, a site's instant):
 *
 *   D(p) = Σ_pages max over its plans of (worth − Σ p) + Σ_rows capacity · p  ≥  optimum   for every p ≥ 0.
 *
 * D is convex and its slope at p is capacity − looks wanted at p. Prices go down the slope by Polyak's step towards the best
 * plan known, deflected by the last direction (Camerini, Fratta and Maffioli 1975) so that they do not zigzag; the
 * step is made smaller when nothing is gained. The best bound met is kept, and is true whenever the search is stopped. Cost:
 * one best plan for every page an iteration.
 */
export interface Priced {
  readonly bound: number;
  readonly price: Float64Array;
}

/** D(p); `slope` gets the capacities less what is wanted at the prices. */
export type PricedValue = (price: Float64Array, slope: Float64Array) => number;

/** `visit` sees each new best price vector and may return the utility of a better plan. */
export function priceBoundByDescent(
  valueAt: PricedValue,
  start: Float64Array,
  utility: number,
  iterationsMax: number,
  gapRelative: number,
  visit: (price: Float64Array, bound: number, iteration: number) => number,
): Priced {
  const rows = start.length;
  let price = Float64Array.from(start);
  let best: Float64Array = Float64Array.from(start);
  let bound = Infinity;
  let target = utility;
  let relax = 1;
  let stalled = 0;
  const direction = new Float64Array(rows);
  const slope = new Float64Array(rows);
  for (let iteration = 0; iteration < iterationsMax; iteration++) {
    const value = valueAt(price, slope);
    if (value < bound) {
      stalled = bound - value > 1e-5 * Math.abs(value) * relax ? 0 : stalled + 1;
      bound = value;
      best = Float64Array.from(price);
      target = Math.max(target, visit(best, bound, iteration));
    } else stalled++;
    if (bound - target <= gapRelative * Math.abs(bound)) break;
    if (stalled >= 8) {
      relax *= 0.6;
      stalled = 0;
      price = Float64Array.from(best);
      direction.fill(0);
    }
    step(price, direction, slope, relax * Math.max(value - target, 1e-12 * Math.abs(value)));
  }
  return { bound, price: best };
}

function step(price: Float64Array, direction: Float64Array, slope: Float64Array, distance: number): void {
  let along = 0;
  let norm = 0;
  for (let row = 0; row < price.length; row++) {
    // A free row that is not wanted cannot fall further: its slope says nothing.
    if (price[row] === 0 && slope[row] > 0) slope[row] = 0;
    along += slope[row] * direction[row];
    norm += direction[row] * direction[row];
  }
  const deflect = along < 0 ? (-1.5 * along) / norm : 0;
  let length = 0;
  for (let row = 0; row < price.length; row++) {
    direction[row] = slope[row] + deflect * direction[row];
    length += direction[row] * direction[row];
  }
  if (length === 0) return;
  const size = distance / length;
  for (let row = 0; row < price.length; row++) price[row] = Math.max(0, price[row] - size * direction[row]);
}
