/**
 * What several processes on one store know of their parts of it, each alone: beliefs, plans, manners, work under way. Whoever is
 * asked answers for all: it puts the question to the others and adds their answers to its own.
 */
import type { SweepAsked, SweepProgress } from '../dispatch/asked-sweeps.ts';
import type { Desk } from '../desk.ts';
import type { Coming } from '../dispatch/coming-looks.ts';
import { type BudgetView, type StandingPlan, budgetView, standingPlan } from '../plan/standing-plan.ts';
import type { Experiment } from '../lab/experiment.ts';
import type { Run } from '../lab/lab.ts';
import type { ShelvedTrace } from '../lab/trace-shelf.ts';
import type { Loop } from '../loop.ts';
import type { LoopCounts, Manners } from '../loop-parts.ts';
import type { Elsewhere, Question } from '../values/elsewhere.ts';
import type { Fault } from '../values/fault.ts';
import type { ObserverReport } from '../values/observer-report.ts';
import type { RobotReport } from '../values/robot-report.ts';
import type { NewPageSettings } from '../values/page.ts';
import type { Others } from '../websub.ts';
import type { Outlook } from './bodies.ts';
import { type PageFilter, type PlannedOrder, firstOf } from './page-list.ts';
import type { Preview } from '../previews.ts';
import { robotsWanted } from './robots-wanted.ts';

export interface Work {
  readonly counts: LoopCounts;
  readonly robots: number;
  readonly queueMax: number;
  readonly elapsedSeconds: number;
  readonly healthy: boolean;
  readonly linked: boolean;
  readonly observers: readonly ObserverReport[];
  /** Undefined where it is its own robot. */
  readonly crew: readonly RobotReport[] | undefined;
  readonly wanted: number;
}

/** A site and one of its pages, by which its robots.txt is found; whoever looks after one page looks after the site. */
export interface AskedSite {
  readonly site: string;
  readonly pageId: string;
  readonly pageUrl: string;
}

/** What is tried, whatever it is tried on. */
export type Trial = Omit<Experiment, 'source'>;

/** What this process alone can say; plain values, as they go to the others. */
const own = {
  plan: (loop: Loop, desk: Desk, { limit }: { readonly limit: number }): StandingPlan =>
    standingPlan(loop, desk.clock.nowMs(), limit),

  budget: (loop: Loop, desk: Desk, _given: object): BudgetView => budgetView(loop, desk.clock.nowMs()),

  work: (loop: Loop, desk: Desk, _given: object): Work => ({
    counts: loop.counts(),
    robots: loop.settings.robots,
    queueMax: loop.settings.queueMax,
    elapsedSeconds: Math.max(1, desk.clock.nowMs() - loop.startedAtMs) / 1000,
    healthy: loop.healthy,
    linked: desk.linked(),
    observers: desk.observers(),
    crew: desk.robots(),
    wanted: robotsWanted(desk),
  }),

  /** How many pages it looks after. */
  size: (loop: Loop, _desk: Desk, _given: object): number => loop.collection.size,

  sweep: (loop: Loop, desk: Desk, asked: SweepAsked): SweepProgress => desk.sweeps.progress(loop, asked),

  outlooks: (_loop: Loop, desk: Desk, { ids }: { readonly ids: readonly string[] }): (readonly [string, Outlook])[] =>
    ids.flatMap((id) => {
      const outlook = desk.outlook(id);
      return outlook ? [[id, outlook] as const] : [];
    }),

  /** The first of its pages in an order that only their process knows, each with the number it is ordered by. */
  first: (
    loop: Loop,
    desk: Desk,
    { filter, order, limit }: { readonly filter: PageFilter; readonly order: PlannedOrder; readonly limit: number },
  ): readonly (readonly [string, number])[] => firstOf(loop.collection, desk, filter, order, limit),

  preview: (
    loop: Loop,
    desk: Desk,
    { page }: { readonly page: NewPageSettings },
  ): Promise<Preview | Fault> | undefined =>
    loop.looksAfter(page.site) ? desk.previews.of(loop, page, desk.clock.nowMs()) : undefined,

  picture: (_loop: Loop, desk: Desk, { name }: { readonly name: string }): Promise<string | undefined> =>
    desk.previews.drawn(name),

  runs: (_loop: Loop, desk: Desk, _given: object): readonly Run[] => desk.lab.runs,

  traces: (_loop: Loop, desk: Desk, _given: object): readonly ShelvedTrace[] => desk.traces?.list() ?? [],

  /** Where the trace is. */
  tryOut: (_loop: Loop, desk: Desk, { trace, ...what }: Trial & { readonly trace: string }): Run | undefined => {
    const file = desk.traces?.find(trace);
    return file === undefined ? undefined : desk.lab.start({ ...what, source: { kind: 'trace', file } }, trace);
  },

  stopLab: (_loop: Loop, desk: Desk, _given: object): Promise<void> => desk.lab.close(),

  forgetTrace: (_loop: Loop, desk: Desk, { name }: { readonly name: string }): true | undefined =>
    desk.traces?.remove(name) || undefined,

  week: (_loop: Loop, desk: Desk, { id }: { readonly id: string }): readonly number[] | undefined => desk.weekOf(id),

  coming: (
    _loop: Loop,
    desk: Desk,
    { id, limit }: { readonly id: string; readonly limit: number },
  ): Coming | undefined => desk.coming(id, limit),

  manners: (
    loop: Loop,
    _desk: Desk,
    { sites }: { readonly sites: readonly AskedSite[] },
  ): (readonly [string, Manners])[] =>
    sites.flatMap(({ site, pageId, pageUrl }) =>
      loop.collection.byId(pageId) ? [[site, loop.manners(site, pageUrl)] as const] : [],
    ),

  hubAsks: (
    _loop: Loop,
    desk: Desk,
    { token, query }: { readonly token: string; readonly query: Readonly<Record<string, unknown>> },
  ): Promise<string | undefined> | undefined => desk.websub?.verifyOwn(token, query),

  hubTells: (_loop: Loop, desk: Desk, { token }: { readonly token: string }): Promise<true | undefined> | undefined =>
    desk.websub?.hearOwn(token),
} as const;

/** What can be answered where nobody looks. */
const withoutLoop: readonly string[] = ['runs', 'traces', 'tryOut', 'stopLab', 'forgetTrace'];

type Own = typeof own;
type Kind = keyof Own;
type Given<K extends Kind> = Parameters<Own[K]>[2];
/** What one process says to a question. */
export type Said<K extends Kind> = Exclude<Awaited<ReturnType<Own[K]>>, undefined>;

const isKind = (word: string): word is Kind => Object.hasOwn(own, word);

/** Answers what another process asks; undefined where there is nothing to say. */
export async function answer(desk: Desk, { kind, given }: Question): Promise<unknown> {
  if (!isKind(kind) || (!desk.loop && !withoutLoop.includes(kind))) return undefined;
  const say = own[kind] as (loop: Loop, desk: Desk, given: unknown) => unknown;
  return say(desk.loop!, desk, given);
}

export interface Parts<K extends Kind> {
  /** This process's own first. */
  readonly parts: readonly Said<K>[];
  /** Processes that did not answer: what they look after is not in the parts. */
  readonly missing: number;
}

/** Asks this process and all others. */
export async function everyPart<K extends Kind>(desk: Desk, kind: K, given: Given<K>): Promise<Parts<K>> {
  const [here, { answers, missing }] = await Promise.all([
    answer(desk, { kind, given }),
    desk.elsewhere?.ask({ kind, given }) ?? { answers: [], missing: 0 },
  ]);
  return { parts: [here, ...answers].filter((said) => said !== undefined) as Said<K>[], missing };
}

/** What the one process says that alone has something to say. */
export async function holderSays<K extends 'coming' | 'picture' | 'preview' | 'tryOut' | 'week'>(
  desk: Desk,
  kind: K,
  given: Given<K>,
  patienceMs?: number,
): Promise<{ readonly said: Said<K> | undefined; readonly missing: number }> {
  const here = (await answer(desk, { kind, given })) as Said<K> | undefined;
  if (here !== undefined || !desk.elsewhere) return { said: here, missing: 0 };
  const { answers, missing } = await desk.elsewhere.ask({ kind, given }, patienceMs);
  return { said: answers[0] as Said<K> | undefined, missing };
}

/** What is believed of pages, by whoever looks after each. */
export async function outlooksOf(desk: Desk, ids: readonly string[]): Promise<ReadonlyMap<string, Outlook>> {
  const found = new Map(desk.loop ? own.outlooks(desk.loop, desk, { ids }) : []);
  const others = ids.filter((id) => !desk.loop?.collection.byId(id));
  if (!desk.elsewhere || others.length === 0) return found;
  const { answers } = await desk.elsewhere.ask({ kind: 'outlooks', given: { ids: others } });
  return new Map([...found, ...(answers as Said<'outlooks'>[]).flat()]);
}

/** How sites are treated, by whoever looks after each. */
export async function mannersOf(desk: Desk, sites: readonly AskedSite[]): Promise<ReadonlyMap<string, Manners>> {
  const found = new Map(desk.loop ? own.manners(desk.loop, desk, { sites }) : []);
  const others = sites.filter(({ site }) => !found.has(site));
  if (!desk.elsewhere || others.length === 0) return found;
  const { answers } = await desk.elsewhere.ask({ kind: 'manners', given: { sites: others } });
  return new Map([...found, ...(answers as Said<'manners'>[]).flat()]);
}

/** Hubs call whichever process they reach: the others answer for subscriptions of theirs. */
export function hubsElsewhere(elsewhere: Elsewhere): Others {
  return {
    verify: async (token, query) => {
      const { answers } = await elsewhere.ask({ kind: 'hubAsks', given: { token, query } });
      return answers[0] as Said<'hubAsks'> | undefined;
    },
    hear: async (token) => (await elsewhere.ask({ kind: 'hubTells', given: { token } })).answers.length > 0,
  };
}
