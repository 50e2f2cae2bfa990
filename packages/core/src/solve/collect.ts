/** `collect`: which pages to look at in each instant so that most is captured in time (WIC), or the best that can be certified. */
import type { Chances, Collected, InstantUrgency } from '../loss/capture.ts';
import type { Life } from '../loss/utility.ts';
import { collectOptimal, collectUpperBound } from '../plan/collect-optimal.ts';
import { type CollectProblem, collect } from '../plan/collect.ts';
import { type Fields, Refusal, choiceAt, fieldsAt, isFields, listAt, numberAt, numbersAt, onlyKeys } from './read.ts';

// A schedule is one list an instant; beyond this it would not fit into one JSON document.
const instantsMax = 10_000_000;

export function solveCollect(problem: Fields): Record<string, unknown> {
  onlyKeys(problem, '', ['kind', 'instants', 'capacity', 'siteCapacity', 'pages', 'policy']);
  const instants = numberAt(problem['instants'], 'instants', { whole: true, min: 1, max: instantsMax });
  const capacity = numberAt(problem['capacity'], 'capacity', { whole: true, min: 0 });
  const policy = choiceAt(problem['policy'], 'policy', ['wic', 'optimal'], 'wic');
  const siteCapacity =
    problem['siteCapacity'] === undefined
      ? undefined
      : numbersAt(problem['siteCapacity'], 'siteCapacity', { whole: true, min: 0 }, 1);
  const pages = listAt(problem['pages'], 'pages').map((page, i) =>
    pageAt(page, `pages[${i}]`, instants, siteCapacity?.length),
  );
  const asked: CollectProblem = { instants, capacity, pages, ...(siteCapacity ? { siteCapacity } : {}) };
  if (policy === 'optimal') {
    const { schedule, utility, upperBound, price, proven } = collectOptimal(asked);
    const prices = price ? { prices: Array.from(price) } : {};
    return { schedule: lists(schedule), utility, upperBound, ...prices, proven };
  }
  const greedy = collect(asked);
  return {
    schedule: lists(greedy.schedule),
    utility: greedy.utility,
    upperBound: Math.max(greedy.utility, collectUpperBound(asked, greedy)),
  };
}

function lists(schedule: readonly Int32Array[]): number[][] {
  return schedule.map((pages) => Array.from(pages));
}

function pageAt(value: unknown, field: string, instants: number, sites: number | undefined): Collected {
  const page = fieldsAt(value, field);
  onlyKeys(page, field, ['weight', 'change', 'life', 'urgency', 'site']);
  if (page['site'] !== undefined && sites === undefined) {
    throw new Refusal(`${field}.site`, page['site'], 'siteCapacity, one number a site, is expected beside it');
  }
  return {
    weight: page['weight'] === undefined ? 1 : numberAt(page['weight'], `${field}.weight`, { min: 0 }),
    change: chancesAt(page['change'], `${field}.change`, instants),
    life: lifeAt(page['life'], `${field}.life`),
    urgency: urgencyOf(page['urgency'], `${field}.urgency`),
    ...(sites === undefined
      ? {}
      : { site: numberAt(page['site'] ?? 0, `${field}.site`, { whole: true, min: 0, max: sites - 1 }) }),
  };
}

const chance = { min: 0, max: 1 };

function chancesAt(value: unknown, field: string, instants: number): Chances {
  if (typeof value === 'number') return numberAt(value, field, chance);
  if (isFields(value)) {
    onlyKeys(value, field, ['at', 'probability']);
    const at = numbersAt(value['at'], `${field}.at`, { whole: true, min: 1, max: instants });
    const probability =
      value['probability'] === undefined ? undefined : numbersAt(value['probability'], `${field}.probability`, chance);
    if (probability && probability.length !== at.length) {
      throw new Refusal(
        `${field}.probability`,
        value['probability'],
        `${at.length} numbers, one for each of "at", are expected`,
      );
    }
    const order = at.map((_, i) => i).sort((a, b) => at[a] - at[b]);
    const twice = order.find((i, n) => n > 0 && at[i] === at[order[n - 1]]);
    if (twice !== undefined) throw new Refusal(`${field}.at[${twice}]`, at[twice], 'each instant once is expected');
    const sorted = order.map((i) => at[i]);
    return probability ? { at: sorted, probability: order.map((i) => probability[i]) } : { at: sorted };
  }
  if (!Array.isArray(value) || value.length !== instants) {
    throw new Refusal(field, value, `${instants} probabilities, one number, or {"at":[…]} is expected`);
  }
  return Float64Array.from(numbersAt(value, field, chance));
}

/** A kind by itself may be given as its name. */
function kinded(value: unknown, field: string, otherwise: string): Fields {
  if (value === undefined) return { kind: otherwise };
  return typeof value === 'string' ? { kind: value } : fieldsAt(value, field);
}

export function lifeAt(value: unknown, field: string): Life {
  const life = kinded(value, field, 'append');
  const kind = choiceAt(life['kind'], `${field}.kind`, ['append', 'window', 'changes', 'overwrite']);
  if (kind === 'window') {
    onlyKeys(life, field, ['kind', 'width']);
    return { kind, width: Math.floor(numberAt(life['width'], `${field}.width`, { min: 0 })) };
  }
  if (kind === 'changes') {
    onlyKeys(life, field, ['kind', 'count']);
    return { kind, count: numberAt(life['count'], `${field}.count`, { whole: true, min: 1 }) };
  }
  onlyKeys(life, field, ['kind']);
  return { kind };
}

export function urgencyOf(value: unknown, field: string): InstantUrgency {
  const urgency = kinded(value, field, 'uniform');
  const kind = choiceAt(urgency['kind'], `${field}.kind`, ['uniform', 'decay', 'window', 'polynomial', 'table']);
  if (kind === 'decay') {
    onlyKeys(urgency, field, ['kind', 'rate']);
    return { kind, rate: numberAt(urgency['rate'], `${field}.rate`, chance) };
  }
  if (kind === 'window') {
    onlyKeys(urgency, field, ['kind', 'width']);
    return { kind, width: Math.floor(numberAt(urgency['width'], `${field}.width`, { min: 0 })) };
  }
  if (kind === 'polynomial') {
    onlyKeys(urgency, field, ['kind', 'power']);
    return { kind, power: numberAt(urgency['power'], `${field}.power`, { min: 0 }) };
  }
  if (kind === 'table') {
    onlyKeys(urgency, field, ['kind', 'values']);
    const values = numbersAt(urgency['values'], `${field}.values`, { min: 0 }, 1);
    if (values[0] !== 1)
      throw new Refusal(`${field}.values[0]`, values[0], '1, the worth of what is captured at once, is expected');
    return { kind, values };
  }
  onlyKeys(urgency, field, ['kind']);
  return { kind };
}
