/**
 * One plan for each page under shared capacities, whole plans only: the programme of clearing.ts and, where its solution
 * splits a page between plans, branching on whether that page looks at a row or not (best bound kept, deeper first).
 *
 * Exact when it ends; where `nodesMax` ends it first, the bound and the best assignment found are still true. Ties between
 * pages are decided by a bonus of about 10⁻⁸ of the greatest value to lower pages and earlier rows, which is taken out
 * again from every number that is returned.
 */
import { type Cleared, type Market, type Plan, clear, net } from './clearing.ts';

export interface Assignment {
  readonly plans: readonly Plan[];
  readonly value: number;
  /** No assignment is worth more. */
  readonly bound: number;
  /** Prices of the relaxation. */
  readonly price: Float64Array;
  /** The relaxation's own value: equal to `value` where it is integral. */
  readonly relaxed: number;
  readonly proven: boolean;
  /** Whether the relaxation was solved to its end. */
  readonly cleared: boolean;
}

export interface AssignLimits {
  /** Rows from this one on follow from others (a site's instants) and are never branched on. */
  readonly branchRows: number;
  readonly nodesMax: number;
  /** Over all nodes. */
  readonly pivotsMax: number;
}

interface Fix {
  readonly page: number;
  readonly row: number;
  readonly look: boolean;
}

/** `start` keeps within capacities: the first incumbent, and where the search begins. `none` is the plan without looks. */
export function assign(
  market: Market,
  start: readonly Plan[],
  none: readonly Plan[],
  limits: AssignLimits,
): Assignment {
  const free = new Float64Array(market.capacity.length);
  let scale = 1e-300;
  for (let page = 0; page < market.pages; page++) {
    scale = Math.max(scale, market.best(page, free).value - none[page].value);
  }
  const tieBonus = 1e-8 * scale;
  const force = 16 * scale * (1 + market.capacity.length);
  let incumbent = start;
  let value = total(start, tieBonus, market);
  let root: Cleared | undefined;
  let open = -Infinity;
  let nodes = 0;
  let pivotsLeft = limits.pivotsMax;
  const stack: { fixes: readonly Fix[]; bound: number }[] = [{ fixes: [], bound: Infinity }];
  for (;;) {
    const node = stack.pop();
    if (!node) break;
    if (node.bound <= value + 1e-10 * scale) continue;
    if (nodes++ >= limits.nodesMax || pivotsLeft <= 0) {
      open = Math.max(open, node.bound);
      continue;
    }
    const begin = node.fixes.length === 0 ? start : startWithin(market, none, node.fixes, force, limits.branchRows);
    if (!begin) continue;
    const cleared = clear(market, begin, adjuster(market, tieBonus, force, node.fixes), pivotsLeft);
    pivotsLeft -= cleared.steps + 1;
    root ??= cleared;
    const forced = node.fixes.filter((fix) => fix.look).length;
    const bound = Math.min(node.bound, cleared.bound - forced * force);
    if (bound <= value + 1e-10 * scale) continue;
    const split = mostSplit(cleared, limits.branchRows);
    if (!split) {
      const plans = cleared.shares.map((list) => list.reduce((a, b) => (b.share > a.share ? b : a)).plan);
      if (!fits(market, plans)) {
        open = Math.max(open, bound);
        continue;
      }
      const worth = total(plans, tieBonus, market);
      if (worth > value) [incumbent, value] = [plans, worth];
      if (cleared.kind === 'out-of-steps') open = Math.max(open, bound);
      continue;
    }
    const no = { fixes: [...node.fixes, { page: split.page, row: split.row, look: false }], bound };
    const yes = { fixes: [...node.fixes, { page: split.page, row: split.row, look: true }], bound };
    if (split.share >= 0.5) stack.push(no, yes);
    else stack.push(yes, no);
  }
  const price = root ? root.plain : free;
  const relaxed = priceBound(market, price);
  const worth = incumbent.reduce((sum, plan) => sum + plan.value, 0);
  const proven = open === -Infinity;
  const bound = proven ? worth : Math.min(relaxed, open);
  return { plans: incumbent, value: worth, bound, price, relaxed, proven, cleared: root?.kind === 'cleared' };
}

/** What no assignment can exceed, from any prices that are not negative. */
export function priceBound(market: Market, price: Float64Array): number {
  let bound = 0;
  for (let row = 0; row < price.length; row++) bound += price[row] * market.capacity[row];
  for (let page = 0; page < market.pages; page++) bound += net(market.best(page, price), price);
  return bound;
}

export function fits(market: Market, plans: readonly Plan[]): boolean {
  const used = new Int32Array(market.capacity.length);
  for (const plan of plans) for (const row of plan.rows) used[row]++;
  return used.every((count, row) => count <= market.capacity[row]);
}

function bonusOf(market: Market, tieBonus: number, page: number, row: number): number {
  return tieBonus * (2 - (page + row / market.capacity.length) / market.pages);
}

function total(plans: readonly Plan[], tieBonus: number, market: Market): number {
  let sum = 0;
  plans.forEach((plan, page) => {
    sum += plan.value;
    for (const row of plan.rows) sum += bonusOf(market, tieBonus, page, row);
  });
  return sum;
}

function adjuster(market: Market, tieBonus: number, force: number, fixes: readonly Fix[]) {
  const seen = new Float64Array(market.capacity.length);
  return (page: number, price: Float64Array): Float64Array => {
    for (let row = 0; row < seen.length; row++) seen[row] = price[row] - bonusOf(market, tieBonus, page, row);
    for (const fix of fixes) if (fix.page === page) seen[fix.row] += fix.look ? -force : force;
    return seen;
  };
}

/** The plans with which a branch begins: exactly the looks it forces. */
function startWithin(
  market: Market,
  none: readonly Plan[],
  fixes: readonly Fix[],
  force: number,
  branchRows: number,
): readonly Plan[] | undefined {
  const plans = [...none];
  for (const { page, look } of fixes) {
    if (!look) continue;
    const price = new Float64Array(market.capacity.length).fill(force, 0, branchRows);
    for (const fix of fixes) if (fix.page === page && fix.look) price[fix.row] = -force;
    plans[page] = market.best(page, price);
  }
  return fits(market, plans) ? plans : undefined;
}

function mostSplit(cleared: Cleared, rows: number): { page: number; row: number; share: number } | undefined {
  let found: { page: number; row: number; share: number } | undefined;
  let nearest = 0.5 - 1e-6;
  cleared.shares.forEach((list, page) => {
    if (list.length === 1) return;
    const share = new Float64Array(rows);
    for (const { plan, share: part } of list) for (const row of plan.rows) if (row < rows) share[row] += part;
    share.forEach((part, row) => {
      if (Math.abs(part - 0.5) < nearest) {
        nearest = Math.abs(part - 0.5);
        found = { page, row, share: part };
      }
    });
  });
  return found;
}
