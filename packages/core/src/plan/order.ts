/**
 * Pages that take unequal times to fetch (Brewington §2.4): the order in which a changed page is found soonest, or a unit of
 * benefit gained soonest,
 *
 *   min over orders of  T₁ ⁄ B₁ + (1 − P₁)·[T₂ ⁄ B₂ + (1 − P₂)·[…]]        (35), (37) as they should be printed,
 *
 * is by falling B·P ⁄ T (36), (38): an exchange of neighbours shows it. Ties go to the lowest index. O(n log n).
 *
 * By itself this order never reaches a page that is dear enough (§2.4.3): policy/fair-order.ts keeps a share of the fetching
 * time for whoever has waited longest.
 */

export interface Task {
  /** That a look finds a change. */
  readonly probability: number;
  /** Seconds, or any unit. */
  readonly time: number;
  /** What a change found is worth. */
  readonly benefit: number;
}

export function bestOrder(tasks: readonly Task[]): Int32Array {
  // The same quotient written otherwise (0.3 ⁄ 3 and 0.1 ⁄ 1) is a tie: twelve digits decide.
  const rate = Float64Array.from(tasks, (task) => Number(payoff(task).toPrecision(12)));
  return Int32Array.from(tasks.keys()).sort((a, b) => (rate[a] === rate[b] ? a - b : rate[b] - rate[a]));
}

/** B·P ⁄ T; a page that takes no time pays without limit unless there is nothing to find. */
export function payoff({ probability, time, benefit }: Task): number {
  const gain = probability * benefit;
  return gain === 0 ? 0 : gain / time;
}

/** Expected time to the first unit of benefit in this order. */
export function expectedTime(tasks: readonly Task[], order: ArrayLike<number>): number {
  let sum = 0;
  let still = 1;
  for (let n = 0; n < order.length && still > 0; n++) {
    const { probability, time, benefit } = tasks[order[n]];
    // What brings no benefit takes for ever to bring a unit of it; it stands where nothing is left to find.
    if (benefit > 0) sum += (still * time) / benefit;
    else if (time > 0) sum = Infinity;
    still *= 1 - probability;
  }
  return sum;
}

/** By which factor an order has become slower than the best one for what is believed now: 1 is still the best. */
export function orderDrift(tasks: readonly Task[], order: ArrayLike<number>): number {
  const now = expectedTime(tasks, order);
  const best = expectedTime(tasks, bestOrder(tasks));
  return best > 0 && Number.isFinite(now) ? now / best : 1;
}
