/** Random epochs to try planners on, and the gain by its definition to try them against. */
import { type Collected, type InstantUrgency, urgencyAfter } from '../loss/capture.ts';
import type { Life } from '../loss/utility.ts';
import type { CollectProblem } from './collect.ts';

export interface Kinds {
  readonly lives: readonly Life['kind'][];
  readonly urgencies: readonly Exclude<InstantUrgency['kind'], 'custom'>[];
}

export const allKinds: Kinds = {
  lives: ['append', 'window', 'changes', 'overwrite'],
  urgencies: ['uniform', 'decay', 'window', 'polynomial'],
};

export const kindsAndTables: Kinds = { ...allKinds, urgencies: [...allKinds.urgencies, 'table'] };

export function randomEpoch(
  next: () => number,
  instants: number,
  pages: number,
  capacity: number,
  kinds: Kinds = allKinds,
): CollectProblem {
  const whole = (below: number) => Math.floor(next() * below);
  const pick = <T>(list: readonly T[]): T => list[whole(list.length)];
  const life = (kind: Life['kind']): Life => {
    if (kind === 'window') return { kind, width: whole(instants) };
    return kind === 'changes' ? { kind, count: 1 + whole(3) } : { kind };
  };
  const urgency = (kind: Kinds['urgencies'][number]): InstantUrgency => {
    if (kind === 'decay') return { kind, rate: next() };
    if (kind === 'window') return { kind, width: whole(instants) };
    if (kind === 'polynomial') return { kind, power: 2 * next() };
    return kind === 'table' ? { kind, values: [1, ...Array.from({ length: instants }, next)] } : { kind };
  };
  const chances = () => Array.from({ length: instants }, () => pick([0, 1, next(), 0.3 * next()]));
  const page = (): Collected => ({
    weight: pick([1, 0.5, 2, next()]),
    change: pick([chances(), chances(), next()]),
    life: life(pick(kinds.lives)),
    urgency: urgency(pick(kinds.urgencies)),
  });
  return { instants, capacity, pages: Array.from({ length: pages }, page) };
}

/** An epoch so small that every schedule can be tried. */
export function smallEpoch(next: () => number): CollectProblem {
  const whole = (below: number) => Math.floor(next() * below);
  return randomEpoch(next, 2 + whole(4), 1 + whole(3), 1 + whole(2), kindsAndTables);
}

/** g(s, f) word for word: every change, every later change. */
export function gainByDefinition(page: Collected, s: number, f: number): number {
  const chance = (j: number): number => {
    if (typeof page.change === 'number') return page.change;
    return (page.change as readonly number[])[j - 1];
  };
  let sum = 0;
  for (let k = s + 1; k <= f; k++) {
    let later = [1];
    for (let q = k + 1; q <= f; q++) {
      const longer: number[] = Array<number>(later.length + 1).fill(0);
      later.forEach((mass, n) => {
        longer[n] += mass * (1 - chance(q));
        longer[n + 1] += mass * chance(q);
      });
      later = longer;
    }
    sum += chance(k) * urgencyAfter(page.urgency, f - k) * lifeByDefinition(page.life, f - k, later);
  }
  return page.weight * sum;
}

function lifeByDefinition(life: Life, delay: number, later: readonly number[]): number {
  if (life.kind === 'append') return 1;
  if (life.kind === 'window') return delay <= life.width ? 1 : 0;
  const count = life.kind === 'overwrite' ? 1 : life.count;
  return later.slice(0, count).reduce((sum, mass) => sum + mass, 0);
}

/** The utility of a schedule by the definition. */
export function utilityByDefinition(problem: CollectProblem, schedule: readonly ArrayLike<number>[]): number {
  const last = new Int32Array(problem.pages.length);
  let sum = 0;
  schedule.forEach((list, index) => {
    for (let n = 0; n < list.length; n++) {
      sum += gainByDefinition(problem.pages[list[n]], last[list[n]], index + 1);
      last[list[n]] = index + 1;
    }
  });
  return sum;
}

/** The best of all schedules, by trying them: for a few pages and instants. */
export function bestByTrying(problem: CollectProblem): number {
  const { instants, capacity, pages, siteCapacity } = problem;
  const gain = pages.map((page) =>
    Array.from({ length: instants }, (_, s) =>
      Array.from({ length: instants + 1 }, (_, f) => (f > s ? gainByDefinition(page, s, f) : 0)),
    ),
  );
  const known = new Map<string, number>();
  const from = (now: number, last: readonly number[]): number => {
    if (now > instants) return 0;
    const name = `${now}:${last.join()}`;
    const remembered = known.get(name);
    if (remembered !== undefined) return remembered;
    let best = 0;
    const choose = (page: number, left: number, sites: readonly number[], got: number, looked: readonly number[]) => {
      if (page === pages.length) {
        best = Math.max(best, got + from(now + 1, looked));
        return;
      }
      choose(page + 1, left, sites, got, looked);
      const site = pages[page].site ?? 0;
      if (left === 0 || sites[site] === 0) return;
      choose(
        page + 1,
        left - 1,
        sites.map((room, n) => (n === site ? room - 1 : room)),
        got + gain[page][last[page]][now],
        looked.map((at, n) => (n === page ? now : at)),
      );
    };
    choose(0, capacity, siteCapacity ? Array.from(siteCapacity) : [Infinity], 0, last);
    known.set(name, best);
    return best;
  };
  return from(
    1,
    pages.map(() => 0),
  );
}
