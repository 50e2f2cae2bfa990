/** The robots and the indexing queue: what happens, against what the model of a finite queue forecasts. */
import { queueShares } from '@revisit/core';
import { Type } from '@sinclair/typebox';
import type { Desk } from '../desk.ts';
import type { ObserverReport } from '../values/observer-report.ts';
import type { RobotReport } from '../values/robot-report.ts';
import { timeOrNull, timeText } from './bodies.ts';
import { type Api, operation } from './operation.ts';
import { notRunning } from './pages.ts';
import { type Work, everyPart } from './parts.ts';
import { Missing, Nullable, Time } from './schemas.ts';
import { summed } from './system.ts';

const share = (part: number, whole: number): number | null => (whole > 0 ? part / whole : null);

const Shares = Type.Object({ starvation: Nullable(Type.Number()), loss: Nullable(Type.Number()) });

/** One to twice the pool, in steps that a plot can tell apart. */
function poolSizes(robots: number): readonly number[] {
  const step = Math.max(1, Math.ceil(robots / 40));
  return Array.from({ length: Math.floor((2 * robots) / step) }, (_, i) => (i + 1) * step);
}
/** Coordinators that start begin anew to count. */
const CountedSince = Type.String({
  format: 'date-time',
  description:
    'Its counts begin here: each coordinator counts from when it first heard of it since its own start, and this is the first of them.',
});

const Observer = Type.Object({
  name: Type.String(),
  state: Type.Union([Type.Literal('there'), Type.Literal('away'), Type.Literal('disbelieved')]),
  lastHeardAt: Nullable(Type.String({ format: 'date-time', description: 'Null of one that has said that it leaves.' })),
  sites: Type.Array(Type.String(), { description: 'Sites that it has.' }),
  places: Type.Integer({ description: 'URLs that it carries copies of.' }),
  countedSince: CountedSince,
  looks: Type.Integer({ description: 'Looks that its reports stand for, since countedSince.' }),
  reports: Type.Integer({ description: 'Answers that it has given, since countedSince.' }),
  latencyMs: Nullable(Type.Number({ description: 'One way between it and the nearest coordinator.' })),
  linkBytes: Type.Integer({ description: 'Bytes that went over the link for it, both ways, since countedSince.' }),
  savedBytes: Type.Integer({ description: 'Bytes that robots would have sent home for the same looks, less those.' }),
});

const Robot = Type.Object({
  name: Type.String({ description: 'As its key allows; several may share one.' }),
  process: Type.String({ description: 'Machine and process, as it says itself.' }),
  countedSince: CountedSince,
  looks: Type.Integer({ description: 'Looks that it answered to the coordinators that run now, since countedSince.' }),
  looksLastMinute: Type.Integer(),
  handedBack: Type.Integer({ description: 'Probes that it gave back without a look, since countedSince.' }),
  there: Type.Boolean({ description: 'Whether it was heard in the last two leases.' }),
  lastHeardAt: Time,
});

export function robotRoutes(app: Api, desk: Desk): void {
  const schema = operation({
    tag: 'system',
    summary: 'Pool, indexing queue, starvation and overflow, seen and forecast',
    answers: {
      200: Type.Object({
        requestsMax: Type.Integer({ description: 'Requests that may be under way at once at most.' }),
        requestsNow: Type.Integer({
          description: 'Requests that may be under way at once now, by the rule for the measured rates and the queue.',
        }),
        robots: Type.Integer({ description: 'In requests, not processes: the same as requestsMax.' }),
        robotsNow: Type.Integer({ description: 'In requests, not processes: the same as requestsNow.' }),
        inFlight: Type.Integer(),
        waiting: Type.Integer({ description: 'Pages in line for their site to be free.' }),
        queued: Type.Integer(),
        queueMax: Type.Integer(),
        sent: Type.Integer(),
        kept: Type.Integer(),
        overflowed: Type.Integer(),
        fetchPerSecond: Nullable(Type.Number({ description: 'Answers that one request at a time could bring.' })),
        arrivalPerSecond: Nullable(Type.Number()),
        servicePerSecond: Nullable(Type.Number()),
        load: Nullable(Type.Number()),
        seen: Shares,
        forecast: Shares,
        curve: Type.Array(Type.Object({ robots: Type.Integer(), starvation: Type.Number(), loss: Type.Number() }), {
          description: 'What the model forecasts for other numbers of requests at once (robots), that never rest.',
        }),
        wanted: Type.Number({
          description:
            'In processes of "revisit robot" with breadth 64: how many could be kept busy, as the metric revisit_robots_wanted says; round up.',
        }),
        there: Type.Integer({
          description:
            'In processes of "revisit robot", as wanted: how many of the crew are there; 1 where the daemon is its own.',
        }),
        crew: Nullable(
          Type.Array(Robot, {
            description:
              'Robots of a cluster that were heard in the last ten minutes, those that are there first; null where the daemon is its own.',
          }),
        ),
        observers: Type.Array(Observer, {
          description:
            'Observers of a cluster, near their sources, that have sites or were heard in the last ten minutes.',
        }),
        missing: Missing,
      }),
    },
  });
  app.get('/api/robots', { schema }, async (_request, reply) => {
    if (!desk.loop) return notRunning(reply);
    const { parts, missing } = await everyPart(desk, 'work', {});
    const crew = crewOf(parts);
    const there = crew ? crew.filter((robot) => robot.there).length : 1;
    return { ...poolBody(parts), there, crew, observers: observersOf(parts), missing };
  });
}

/** Several pools with a queue each, as one: what happens adds up, and what one robot or one queue does is the mean. */
function poolBody(parts: readonly Work[]) {
  const { sent, kept, overflowed, inFlight, queued, waiting } = summed(parts);
  const sum = (value: (part: Work) => number): number => parts.reduce((all, part) => all + value(part), 0);
  const robots = sum((part) => part.robots);
  const queueMax = sum((part) => part.queueMax);
  // By how much each has measured.
  const looks = ({ counts }: Work): number => (counts.pool.fetchMsMean > 0 ? counts.kept + counts.overflowed : 0);
  const fetchMs = sum((part) => looks(part) * part.counts.pool.fetchMsMean) / (sum(looks) || 1);
  const fetchPerSecond = fetchMs > 0 ? 1000 / fetchMs : null;
  const indexPerSecond = sum(({ counts: { pool } }) => (pool.indexMsMean > 0 ? 1000 / pool.indexMsMean : 0));
  const servicePerSecond = indexPerSecond > 0 ? indexPerSecond : null;
  // The model's robots never rest; ours wait for budget and sites too, so the load is what really came.
  const arrivalPerSecond = sum(({ counts, elapsedSeconds }) => (counts.kept + counts.overflowed) / elapsedSeconds);
  const load = servicePerSecond === null ? null : arrivalPerSecond / servicePerSecond;
  const queueEach = Math.round(queueMax / parts.length);
  const requestsNow = sum(({ counts }) => counts.pool.robots);
  return {
    requestsMax: robots,
    requestsNow,
    robots,
    robotsNow: requestsNow,
    wanted: sum((part) => part.wanted),
    inFlight,
    waiting,
    queued,
    queueMax,
    sent,
    kept,
    overflowed,
    fetchPerSecond,
    arrivalPerSecond,
    servicePerSecond,
    load,
    seen: {
      starvation: sum(({ counts }) => counts.pool.starvedShare) / parts.length,
      loss: share(overflowed, kept + overflowed),
    },
    forecast: load === null ? { starvation: null, loss: null } : { ...queueShares(load, queueEach) },
    curve:
      fetchPerSecond === null || servicePerSecond === null
        ? []
        : poolSizes(robots).map((size) => {
            const { starvation, loss } = queueShares((size * fetchPerSecond) / servicePerSecond, queueEach);
            return { robots: size, starvation, loss };
          }),
  };
}

/** Each coordinator hears a robot for its own sites. */
export function crewOf(parts: readonly Pick<Work, 'crew'>[]) {
  if (parts.every(({ crew }) => crew === undefined)) return null;
  const all = new Map<string, RobotReport>();
  for (const robot of parts.flatMap(({ crew }) => crew ?? [])) {
    const key = `${robot.name} ${robot.process}`;
    const known = all.get(key);
    all.set(key, {
      ...robot,
      sinceMs: Math.min(robot.sinceMs, known?.sinceMs ?? Infinity),
      looks: robot.looks + (known?.looks ?? 0),
      looksLastMinute: robot.looksLastMinute + (known?.looksLastMinute ?? 0),
      handedBack: robot.handedBack + (known?.handedBack ?? 0),
      there: robot.there || (known?.there ?? false),
      lastHeardMs: Math.max(robot.lastHeardMs, known?.lastHeardMs ?? 0),
    });
  }
  return [...all]
    .sort(([a, one], [b, other]) => Number(other.there) - Number(one.there) || inOrder(a, b))
    .map(([, { lastHeardMs, sinceMs, ...robot }]) => ({
      ...robot,
      countedSince: timeText(sinceMs),
      lastHeardAt: timeText(lastHeardMs),
    }));
}

/** The second before the tenth. */
const inOrder = new Intl.Collator('en', { numeric: true }).compare;

/** Each coordinator deals with an observer for its own sites. */
export function observersOf(parts: readonly Pick<Work, 'observers'>[]) {
  const all = new Map<string, ObserverReport>();
  for (const report of parts.flatMap(({ observers }) => observers)) {
    const known = all.get(report.name);
    all.set(report.name, known ? together(known, report) : report);
  }
  return [...all.values()]
    .sort((one, other) => inOrder(one.name, other.name))
    .map(({ lastHeardMs, sinceMs, ...report }) => ({
      ...report,
      countedSince: timeText(sinceMs),
      lastHeardAt: timeOrNull(lastHeardMs ?? undefined),
      sites: [...report.sites].sort(inOrder),
    }));
}

/** Whoever disbelieves it has seen why; whoever has heard of it knows that it is there. */
const stateOrder = ['disbelieved', 'there', 'away'] as const;

function together(one: ObserverReport, other: ObserverReport): ObserverReport {
  const heard = [one.lastHeardMs, other.lastHeardMs].filter((heardMs) => heardMs !== null);
  const latencies = [one.latencyMs, other.latencyMs].filter((latency) => latency !== null);
  return {
    name: one.name,
    state: stateOrder.find((state) => one.state === state || other.state === state)!,
    lastHeardMs: heard.length > 0 ? Math.max(...heard) : null,
    sites: [...one.sites, ...other.sites],
    places: Math.max(one.places, other.places),
    looks: one.looks + other.looks,
    reports: one.reports + other.reports,
    sinceMs: Math.min(one.sinceMs, other.sinceMs),
    latencyMs: latencies.length > 0 ? Math.min(...latencies) : null,
    linkBytes: one.linkBytes + other.linkBytes,
    savedBytes: one.savedBytes + other.savedBytes,
  };
}
