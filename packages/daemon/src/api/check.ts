/** A check: every page, or what is due, is looked at, whoever looks after it, and whoever does by the end. */
import { randomUUID } from 'node:crypto';
import { Type } from '@sinclair/typebox';
import { lostMax } from '../dispatch/asked-sweeps.ts';
import type { Desk } from '../desk.ts';
import { gatheredLater, type Later } from '../dispatch/left-for-later.ts';
import { changeBody, laterBody } from './bodies.ts';
import { type Api, operation } from './operation.ts';
import { notRunning } from './pages.ts';
import { everyPart } from './parts.ts';
import { ChangeBody, LaterPages, Missing } from './schemas.ts';

/** More changes than this in one answer are read from the log, where they all are. */
const checkedChangesMax = 1_000;
/** How often it is asked how far a sweep is. */
const sweepPollMs = 100;
/** Pages that go from one process to another are in no hand for a moment; as long as a lease is by default. */
const wholeMsMax = 10_000;
/** Of the pages that nobody has, so many are looked up at a time: most often they were removed. */
const lookedUpMax = 100;

interface Swept {
  readonly looks: number;
  readonly requests: number;
  readonly missing: number;
  readonly later: readonly Later[];
}

/** Until every page is looked after by somebody, or one that is silent is waited for no longer. */
async function whole(desk: Desk, signal: AbortSignal): Promise<void> {
  if (!desk.elsewhere) return;
  const untilMs = desk.clock.nowMs() + wholeMsMax;
  while (!signal.aborted && desk.clock.nowMs() < untilMs) {
    const [{ parts }, { pages }] = await Promise.all([everyPart(desk, 'size', {}), desk.store.counts()]);
    if (parts.reduce((sum, size) => sum + size, 0) >= pages) return;
    await desk.clock.sleep(sweepPollMs, signal);
  }
}

/** Those of the pages that are still there. */
async function existing(desk: Desk, ids: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(ids.map((id) => desk.store.page(id)));
  return ids.filter((_, n) => found[n]);
}

/** Sweeps what everybody looks after, until all of it is kept. */
async function sweep(desk: Desk, all: boolean, signal: AbortSignal): Promise<Swept> {
  await whole(desk, signal);
  const name = randomUUID();
  const sinceMs = desk.clock.nowMs();
  const lost = new Set<string>();
  let missing = 0;
  for (let begins = true; ; begins = false) {
    const adopt = [...lost].slice(0, lostMax);
    const { parts, ...others } = await everyPart(desk, 'sweep', { name, all, sinceMs, begins, adopt });
    // What one was about that fell silent meanwhile, nobody knows.
    missing = Math.max(missing, others.missing);
    for (const id of parts.flatMap(({ adopted }) => adopted)) lost.delete(id);
    const nobodys = adopt.filter((id) => lost.has(id)).slice(0, lookedUpMax);
    const there = await existing(desk, nobodys);
    for (const id of nobodys) if (!there.includes(id)) lost.delete(id);
    for (const id of parts.flatMap((part) => part.lost)) lost.add(id);
    if (signal.aborted || (lost.size === 0 && parts.every(({ left }) => left === 0)))
      return {
        looks: sumOf(parts, 'looks'),
        requests: sumOf(parts, 'requests'),
        missing,
        later: gatheredLater(parts.flatMap((part) => part.later)),
      };
    await desk.clock.sleep(sweepPollMs, signal);
  }
}

const sumOf = <Key extends string>(parts: readonly Readonly<Record<Key, number>>[], key: Key): number =>
  parts.reduce((sum, part) => sum + part[key], 0);

export function checkRoute(app: Api, desk: Desk): void {
  const check = operation({
    tag: 'system',
    summary:
      'Look at what is due, or at every page, and wait until all of it is kept, but for pages whose sites are shut for long',
    body: Type.Optional(
      Type.Union([Type.Null(), Type.Object({ all: Type.Optional(Type.Boolean()) }, { additionalProperties: false })]),
    ),
    answers: {
      200: Type.Object({
        looks: Type.Integer(),
        requests: Type.Integer({ description: 'All that were made meanwhile, for robots.txt and redirects too.' }),
        changes: Type.Array(ChangeBody),
        missing: Missing,
        later: LaterPages,
      }),
    },
  });
  app.post('/api/check', { schema: check }, async (request, reply) => {
    if (!desk.loop) return notRunning(reply);
    const before = await desk.store.counts();
    const left = new AbortController();
    reply.raw.on('close', () => left.abort());
    const swept = await sweep(desk, request.body?.all === true, left.signal);
    const changes = await desk.store.changes({ after: before.changes, limit: checkedChangesMax });
    return { ...swept, later: swept.later.map(laterBody), changes: changes.map(changeBody) };
  });
}
