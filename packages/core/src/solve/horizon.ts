/** `horizon`: on which days to observe which pages, with costs from age-dependent change or given by hand. */
import { type AgeChain, ageChain, dayAgeChain } from '../model/age-chain.ts';
import type { HorizonPage } from '../plan/horizon-costs.ts';
import { type HorizonPlan, planHorizon, planStrategies } from '../plan/horizon.ts';
import { type Fields, Refusal, choiceAt, fieldsAt, listAt, numberAt, numbersAt, onlyKeys } from './read.ts';

// A year: a page's gaps are days² ⁄ 2 numbers.
const daysMax = 366;
// 2ⁿ costs a page have to be written down by somebody.
const daysByHandMax = 12;

export function solveHorizon(problem: Fields): Record<string, unknown> {
  onlyKeys(problem, '', ['kind', 'days', 'capacity', 'discount', 'loss', 'pages', 'costs']);
  const days = numberAt(problem['days'], 'days', { whole: true, min: 1, max: daysMax });
  const capacity = numberAt(problem['capacity'], 'capacity', { whole: true, min: 0 });
  const discount =
    problem['discount'] === undefined ? 1 : numberAt(problem['discount'], 'discount', { min: 0, max: 1 });
  const loss = choiceAt(problem['loss'], 'loss', ['stale', 'days-stale'], 'stale');
  const byHand = problem['costs'] !== undefined;
  const list = byHand
    ? listAt(problem['costs'], 'costs').map((costs) => ({ costs }))
    : listAt(problem['pages'], 'pages').map((page, i) => fieldsAt(page, `pages[${i}]`));
  const name = (i: number) => (byHand ? `costs[${i}]` : `pages[${i}]`);
  if (byHand && problem['pages'] !== undefined)
    throw new Refusal('pages', problem['pages'], 'either pages or costs are expected, not both');
  if (list.some((page) => 'costs' in page)) {
    if (discount !== 1)
      throw new Refusal('discount', discount, 'costs given by strategy count as they are: leave it out, or 1');
    if (loss !== 'stale')
      throw new Refusal('loss', loss, 'costs given by strategy count as they are, so it is to be left out');
    if (days > daysByHandMax) {
      throw new Refusal('days', days, `at most ${daysByHandMax} are expected where costs are given by strategy`);
    }
    const costs = list.map((page, i) => costsAt(page, name(i), byHand, days));
    return solution(planStrategies(costs, days, capacity), days);
  }
  const chains = new Map<string, AgeChain>();
  const pages = list.map((page, i) => pageAt(page as Fields, name(i), chains));
  return solution(planHorizon({ days, capacity, discount, loss, pages }), days);
}

function solution({ looks, cost, lowerBound, prices }: HorizonPlan, days: number): Record<string, unknown> {
  const plan = Array.from({ length: looks.length / days }, (_, page) =>
    Array.from(looks.subarray(page * days, (page + 1) * days), (look) => (look ? 'O' : 'X')).join(''),
  );
  return { plan, cost, lowerBound, prices: Array.from(prices) };
}

function costsAt(page: Fields, field: string, byHand: boolean, days: number): Float64Array {
  const here = byHand ? field : `${field}.costs`;
  if (!byHand) onlyKeys(page, field, ['costs', 'weight']);
  const weight = page['weight'] === undefined ? 1 : numberAt(page['weight'], `${field}.weight`, { min: 0 });
  const given = fieldsAt(page['costs'], here);
  const known = Array.from({ length: 1 << days }, (_, strategy) => strategyName(strategy, days));
  onlyKeys(given, here, known);
  return Float64Array.from(known, (strategy) => weight * numberAt(given[strategy], `${here}.${strategy}`));
}

function strategyName(strategy: number, days: number): string {
  return Array.from({ length: days }, (_, d) => (strategy & (1 << d) ? 'O' : 'X')).join('');
}

function pageAt(page: Fields, field: string, chains: Map<string, AgeChain>): HorizonPage {
  onlyKeys(page, field, ['reset', 'age', 'since', 'weight', 'day']);
  const whole = (key: string, otherwise: number, min: number) =>
    page[key] === undefined ? otherwise : numberAt(page[key], `${field}.${key}`, { whole: true, min });
  return {
    chain: chainAt(page['reset'], `${field}.reset`, chains),
    age: whole('age', 0, 0),
    since: whole('since', 1, 0),
    weight: page['weight'] === undefined ? 1 : numberAt(page['weight'], `${field}.weight`, { min: 0 }),
    day: whole('day', 0, 0),
  };
}

/** Probabilities by age, or a list of such lists, one for each day of a cycle. Pages with the same ones share a chain. */
function chainAt(value: unknown, field: string, chains: Map<string, AgeChain>): AgeChain {
  const name = JSON.stringify(value) ?? '';
  const known = chains.get(name);
  if (known) return known;
  const chance = { min: 0, max: 1 };
  let chain: AgeChain;
  if (typeof value === 'number') chain = ageChain([numberAt(value, field, chance)]);
  else {
    const list = listAt(value, field, 1);
    chain = Array.isArray(list[0])
      ? dayAgeChain(list.map((row, d) => numbersAt(row, `${field}[${d}]`, chance, 1)))
      : ageChain(numbersAt(list, field, chance, 1));
  }
  chains.set(name, chain);
  return chain;
}
