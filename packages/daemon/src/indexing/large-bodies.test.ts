import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { policies } from '@revisit/core';
import { expect, test } from 'vitest';
import { Aside } from './aside.ts';
import { nextBatch, type Queued, without } from './begun.ts';
import { detect, type DetectInput } from '../detect/detect.ts';
import { inWords, shownDifference } from '../detect/shown.ts';
import { LargeBodies } from './large-bodies.ts';
import { reveal } from '../observe/discover/reveal.ts';
import { openSqlite } from '../store/sqlite.ts';
import { Telling } from '../telling.ts';
import { detector } from '../daemon.ts';
import type { LoopParts } from '../loop-parts.ts';
import type { Observer } from '../values/observation.ts';
import { createWorld, memoryStore, poissonLaw, startLoop } from '../simulation/index.ts';

const large = (words: string, lines = 30_000): DetectInput => ({
  select: { kind: 'text' },
  options: {},
  body: Buffer.from(Array.from({ length: lines }, (_, n) => `<p>line ${n} of ${words} ${n * n}</p>`).join('\n')),
  mediaType: 'text/html',
  url: 'https://large.example/',
  atMs: 1e12,
});

/** How often this thread got to do anything else until the work was done. */
async function turnsDuring(work: () => unknown): Promise<number> {
  let turns = -1;
  let over = false;
  const turn = (): void => {
    turns++;
    if (!over) setImmediate(turn);
  };
  turn();
  await work();
  over = true;
  return turns;
}

test('a single large body is read beside the loop, the first version and the next', async () => {
  const aside = new Aside();
  expect(await turnsDuring(() => detect(large('one')))).toBeLessThan(10);
  expect(await turnsDuring(() => aside.detect(large('one')))).toBeGreaterThan(100);
  const first = await detect(large('one'));
  const text = first.detection.kind === 'first' ? first.detection.projection.text : '';
  const next = { ...large('two'), previous: { state: first.state, lookedAtMs: 1, last: () => text } };
  expect(await aside.detect(next)).toEqual(await detect(next));
  await aside.close();
});

test('a page that takes more memory or time to read than one may is said to be too large, and the next is read', async () => {
  const input = large('memory', 250_000);
  const fault = { kind: 'unreadable', fault: expect.objectContaining({ code: 'body-too-large' }), again: false };
  const small = new LargeBodies(undefined, { heapMegabytesMax: 64, readMsMax: 60_000 });
  const hasty = new LargeBodies(undefined, { heapMegabytesMax: 1000, readMsMax: 1 });
  expect((await small.detect(input)).detection).toEqual(fault);
  expect((await hasty.detect(input)).detection).toEqual(fault);
  expect((await small.detect(large('little', 5))).detection.kind).toBe('first');
  await Promise.all([small.close(), hasty.close()]);
  // One step that wants more than all that is left: a thread would have taken this process with it.
  const short = new LargeBodies(undefined, { heapMegabytesMax: 96, readMsMax: 60_000 });
  expect((await short.detect(input)).detection).toEqual(fault);
  await short.close();
});

test('while a large body is read, the looks at other pages are kept', async () => {
  const store = memoryStore();
  const pages = ['large', 'small'].map((name) => ({
    url: `https://${name}.example/`,
    site: `${name}.example`,
    law: poissonLaw(60_000),
  }));
  const startMs = Date.UTC(2026, 0, 5);
  const world = await createWorld({ seed: 1, startMs, store, pages });
  let read = (): void => {};
  const isRead = new Promise<void>((resolve) => (read = resolve));
  const isLarge = (site: string): boolean => site === 'large.example';
  const inPlace = detector(store);
  const detectLater: LoopParts['detect'] = async (entry, fetched, at) => {
    if (isLarge(entry.page.site)) await isRead;
    return inPlace(entry, fetched, at);
  };
  const observer: Observer = {
    close: () => world.web.close(),
    observe: async (probe) => {
      const seen = await world.web.observe(probe);
      if (seen.outcome.kind !== 'fetched' || !isLarge(probe.site)) return seen;
      const body = Buffer.concat([seen.outcome.body, Buffer.alloc(300_000, ' ')]);
      return { ...seen, outcome: { ...seen.outcome, body } };
    },
  };
  const settings = { looksPerSecond: 1, spacingMs: 0, robots: 4, queueMax: 64 };
  const loop = await startLoop(world, policies['uniform']!.create(1), settings, undefined, {
    observer,
    detect: detectLater,
  });
  const stop = new AbortController();
  const ended = loop.run(stop.signal);
  await world.clock.runUntil(startMs + 60_000);
  const looks = async () =>
    (await store.pages({ limit: 2 })).map(({ page, state }) => [page.site, state.looks] as const);
  const before = new Map(await looks());
  expect(before.get('large.example')).toBe(0);
  expect(before.get('small.example')).toBeGreaterThan(10);
  read();
  await isRead;
  stop.abort();
  await world.clock.runUntil(Infinity, ended);
  expect(new Map(await looks()).get('large.example')).toBe(1);
});

const queued = (page: string, isRead?: Promise<void>): Queued =>
  ({ observation: { probe: { pageIds: [page] } }, begun: [], isRead }) as unknown as Queued;

test('an answer whose body is being read is passed over, with later ones of its page, and order is kept', () => {
  const [a, b, a2, c, b2] = [queued('a', Promise.resolve()), queued('b'), queued('a'), queued('c'), queued('b')];
  const queue = [a!, b!, a2!, c!, b2!];
  const batch = nextBatch(queue, 10);
  expect(batch).toEqual([b, c]);
  expect(without(queue, batch)).toEqual([a, a2, b2]);
  expect(nextBatch(queue, 1)).toEqual([b]);
});

test('what a large body lists, and what came and went, is read beside the loop with it', async () => {
  const aside = new Aside();
  const listing = (words: string): DetectInput => {
    const links = Array.from({ length: 20_000 }, (_, n) => `<a href="/${n}">${words} ${n}</a>`).join('\n');
    return { ...large(words), body: Buffer.from(links) };
  };
  const first = await detect(listing('one'));
  const text = first.detection.kind === 'first' ? first.detection.projection.text : '';
  const previous = { state: first.state, lookedAtMs: 1, last: () => text };
  const [same, next] = [listing('one'), listing('two')];
  const wanted = { reveals: 'always', words: true } as const;
  let read: Awaited<ReturnType<typeof aside.detect>> | undefined;
  const turns = await turnsDuring(async () => (read = await aside.detect({ ...next, previous, wanted })));
  expect(turns).toBeGreaterThan(100);
  const { revealed, words, ...detected } = read!;
  expect(detected).toEqual(await detect({ ...next, previous }));
  expect(revealed).toEqual(reveal({ body: next.body, mediaType: 'text/html' }, next.url));
  const { added, removed } = inWords(shownDifference(text, text.replaceAll('one', 'two'), 'text', detected.state));
  expect(words).toEqual({ added, removed });
  // A body that is what it was is read again where other pages are wanted of it, and otherwise not at all.
  expect((await aside.detect({ ...same, previous, wanted })).revealed?.listed).toHaveLength(20_000);
  expect(aside.detect({ ...same, previous, wanted: { reveals: 'news' } })).not.toBeInstanceOf(Promise);
  await aside.close();
});

test('the loop takes in what was read beside it of a large body, and reads none of it again', async () => {
  const store = memoryStore();
  const url = 'https://large.example/';
  const settings = { options: { discover: true } };
  const pages = [{ url, site: 'large.example', law: poissonLaw(60_000), settings }];
  const startMs = Date.UTC(2026, 0, 5);
  const world = await createWorld({ seed: 1, startMs, store, pages });
  const inPlace = detector(store);
  const wanted: unknown[] = [];
  const detectAside: LoopParts['detect'] = async (entry, fetched, at) => {
    const detected = await inPlace(entry, fetched, at);
    if (entry.page.url === url) wanted.push(at.wanted?.reveals);
    const listed = [{ url: `${url}found` }];
    return { ...detected, revealed: { kind: 'links', listed }, words: { added: 'came', removed: 'went' } };
  };
  const observer: Observer = {
    close: () => world.web.close(),
    observe: async (probe) => {
      const seen = await world.web.observe(probe);
      if (seen.outcome.kind !== 'fetched' || probe.url !== url) return seen;
      const body = Buffer.concat([
        seen.outcome.body,
        Buffer.from('<a href="/unread">x</a>'),
        Buffer.alloc(300_000, ' '),
      ]);
      return { ...seen, outcome: { ...seen.outcome, body } };
    },
  };
  const told: unknown[] = [];
  const loop = await startLoop(
    world,
    policies['uniform']!.create(1),
    { looksPerSecond: 0.1, spacingMs: 0, robots: 4, queueMax: 64 },
    undefined,
    {
      observer,
      detect: detectAside,
      planned: (look, words) => {
        if (look.change?.url === url) told.push(words);
        return Promise.resolve([]);
      },
    },
  );
  void loop.run(new AbortController().signal);
  await world.clock.runUntil(startMs + 600_000);
  expect((await store.pages({ limit: 9 })).map(({ page }) => page.url)).toEqual([url, `${url}found`]);
  expect(wanted[0]).toBe('always');
  expect(told.length).toBeGreaterThan(1);
  expect(told).toEqual(told.map(() => ({ added: 'came', removed: 'went' })));
  loop.die();
});

test('large versions are compared beside the loop for whoever is told, as they would be in place', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'revisit-large-'));
  const opened = openSqlite(join(folder, 'revisit.db'));
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  const { store } = opened;
  const world = await createWorld({
    seed: 1,
    startMs: Date.UTC(2026, 0, 5),
    store,
    pages: [{ url: 'https://a.example/', site: 'a.example', law: poissonLaw(60_000) }],
  });
  const bodies = ['one', 'two'].map((words) => large(words, 12_000).body);
  const observer: Observer = {
    close: () => world.web.close(),
    observe: async (probe) => {
      const seen = await world.web.observe(probe);
      const body = bodies.length > 1 ? bodies.shift()! : bodies[0]!;
      return seen.outcome.kind === 'fetched' ? { ...seen, outcome: { ...seen.outcome, body } } : seen;
    },
  };
  const settings = { looksPerSecond: 0.1, spacingMs: 0, robots: 4, queueMax: 64 };
  const loop = await startLoop(world, policies['uniform']!.create(1), settings, undefined, { observer });
  void loop.run(new AbortController().signal);
  await world.clock.runUntil(world.clock.nowMs() + 60_000);
  loop.die();
  const [change] = await store.latestChanges({ limit: 1 });
  const thread = new LargeBodies(store.file);
  const nobody = () => Promise.resolve({ kind: 'sent' } as never);
  const inPlace = new Telling(store, world.clock, nobody, () => {});
  const aside = new Telling(
    store,
    world.clock,
    nobody,
    () => {},
    (question) => thread.words(question),
  );
  const expected = await inPlace.texts(change!);
  expect(expected.added.length).toBeGreaterThan(1_000);
  let words: unknown;
  expect(await turnsDuring(async () => (words = await aside.texts(change!)))).toBeGreaterThan(20);
  expect(words).toEqual(expected);
  await thread.close();
  await store.close();
  rmSync(folder, { recursive: true });
});
