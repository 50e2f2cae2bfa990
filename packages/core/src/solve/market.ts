/** `market`: when to look at many pages on many sites, within one budget. The form is in docs/solve.md. */
import { obsolescence } from '../loss/obsolescence.ts';
import { type MarketProblem, lossAgainstBudget, planMarket } from '../plan/market-plan.ts';
import { type HorizonShape, horizonShape } from '../plan/market-shape.ts';
import { constant, integral, scaled } from '../time/profile.ts';
import { profileCovering } from './profile.ts';
import { type Fields, Refusal, fieldsAt, listAt, numberAt, numbersAt, onlyKeys } from './read.ts';

/** The curve of a shape takes about grid² steps. */
const gridMax = 5_000;

export function solveMarket(problem: Fields): Record<string, unknown> {
  onlyKeys(problem, '', ['kind', 'horizon', 'budget', 'budgets', 'grid', 'shapes', 'sites', 'pages']);
  const horizon = numberAt(problem['horizon'], 'horizon', { above: 0 });
  const budget = numberAt(problem['budget'], 'budget', { min: 0, whole: true });
  const steps = numberAt(problem['grid'] ?? 672, 'grid', { whole: true, min: 2, max: gridMax });
  const sites = listAt(problem['sites'] ?? [], 'sites').map((value, i) => siteAt(value, `sites[${i}]`));
  const given = problem['shapes'] === undefined ? [{ intensity: 1 }] : listAt(problem['shapes'], 'shapes', 1);
  const losses = given.map((value, i) => shapeAt(value, `shapes[${i}]`, horizon));
  const pages = listAt(problem['pages'], 'pages', 1).map((value, i) =>
    pageAt(value, `pages[${i}]`, given.length, sites.length),
  );

  // Pages of one shape and one spacing share one curve.
  const shapes: HorizonShape[] = [];
  const known = new Map<string, number>();
  const shape = pages.map((page) => {
    const key = `${page.shape} ${page.spacing}`;
    let index = known.get(key);
    if (index === undefined) {
      index = shapes.push(horizonShape(losses[page.shape], steps, page.spacing)) - 1;
      known.set(key, index);
    }
    return index;
  });
  const market: MarketProblem = {
    horizon,
    budget,
    shapes,
    sites,
    shape,
    scale: Float64Array.from(pages, ({ rate, weight }) => rate * weight),
    site: Int32Array.from(pages, ({ site }) => site),
  };
  const plan = planMarket(market);
  const budgets = problem['budgets'];
  return {
    looks: plan.looks.map((times) => Array.from(times)),
    expectedCost: plan.loss,
    lowerBound: plan.lowerBound,
    gap: plan.gap,
    price: plan.price,
    sitePrices: Array.from(plan.sitePrices),
    ...(budgets === undefined
      ? {}
      : { curve: lossAgainstBudget(market, numbersAt(budgets, 'budgets', { min: 0, whole: true })) }),
  };
}

function siteAt(value: unknown, field: string): { readonly cap?: number; readonly spacing?: number } {
  const site = fieldsAt(value, field);
  onlyKeys(site, field, ['cap', 'spacing']);
  return {
    ...(site['cap'] === undefined ? {} : { cap: numberAt(site['cap'], `${field}.cap`, { min: 0, whole: true }) }),
    ...(site['spacing'] === undefined ? {} : { spacing: numberAt(site['spacing'], `${field}.spacing`, { min: 0 }) }),
  };
}

/** A shape's intensity counts only by its form: it is scaled to mean 1 over the horizon, and `rate` says how much. */
function shapeAt(value: unknown, field: string, horizon: number): ReturnType<typeof obsolescence> {
  const shape = fieldsAt(value, field);
  onlyKeys(shape, field, ['intensity', 'importance']);
  const intensity = profileCovering(shape['intensity'] ?? 1, `${field}.intensity`, horizon);
  const changes = integral(intensity, 0, horizon);
  if (!(changes > 0)) throw new Refusal(`${field}.intensity`, shape['intensity'], 'some time with changes is expected');
  const importance =
    shape['importance'] === undefined
      ? constant(1)
      : profileCovering(shape['importance'], `${field}.importance`, horizon);
  return obsolescence(scaled(intensity, horizon / changes), importance, 0, horizon);
}

function pageAt(
  value: unknown,
  field: string,
  shapes: number,
  sites: number,
): {
  readonly shape: number;
  readonly rate: number;
  readonly weight: number;
  readonly site: number;
  readonly spacing: number;
} {
  const page = fieldsAt(value, field);
  onlyKeys(page, field, ['shape', 'rate', 'weight', 'site', 'spacing']);
  return {
    shape: numberAt(page['shape'] ?? 0, `${field}.shape`, { whole: true, min: 0, max: shapes - 1 }),
    rate: numberAt(page['rate'], `${field}.rate`, { min: 0 }),
    weight: numberAt(page['weight'] ?? 1, `${field}.weight`, { min: 0 }),
    site:
      page['site'] === undefined
        ? -1
        : numberAt(page['site'], `${field}.site`, { whole: true, min: 0, max: sites - 1 }),
    spacing: numberAt(page['spacing'] ?? 0, `${field}.spacing`, { min: 0 }),
  };
}
