import { policies } from '@revisit/core';
import { describe, expect, test } from 'vitest';
import { memoryStore } from '../simulation/index.ts';
import { poissonLaw } from '../simulation/simulated-web.ts';
import { createWorld, startLoop } from '../simulation/world.ts';
import type { Observation, Observer, Outcome, Overtaking } from '../values/observation.ts';
import type { Probe } from '../values/probe.ts';

const startMs = Date.UTC(2026, 0, 5);
const minuteMs = 60_000;
const settings = { looksPerSecond: 1 / 60, spacingMs: 0, robots: 4, queueMax: 100 };
const lines = Array.from({ length: 20 }, (_, i) => `<p>Line ${'abcdefghijklmnopqrst'[i]} stays.</p>`).join('');
type Past = {
  readonly seen: string;
  readonly atMinute: number;
  readonly finding?: string;
  readonly of?: Omit<Overtaking, 'more'>;
};

/** A page that reads as home sees it, minute by minute, and of which somebody tells at the end what it saw in between. */
async function told(home: (minute: number) => string, past: readonly Past[], minutes = 10) {
  const store = memoryStore();
  const pages = [{ url: 'https://a.example/', site: 'a.example', law: poissonLaw(1e9) }];
  const world = await createWorld({ seed: 1, startMs, store, pages });
  const waiting = [...past];
  const outcomeOf = (word: string): Outcome => {
    if (word === 'gone') return { kind: 'gone', status: 404 };
    const body = new TextEncoder().encode(`<body>${lines}<p>The word is ${word} today.</p></body>`);
    return { kind: 'fetched', status: 200, body, mediaType: 'text/html', charset: 'utf-8', validators: {} };
  };
  const observer: Observer = {
    observe: (probe: Probe): Promise<Observation> => {
      const nowMs = world.clock.nowMs();
      const took = { probe, startedAtMs: nowMs, endedAtMs: nowMs, bytesReceived: 1, requests: 1 };
      const minute = (nowMs - startMs) / minuteMs;
      const late = minute >= minutes ? waiting.shift() : undefined;
      if (!late) return Promise.resolve({ ...took, outcome: outcomeOf(home(minute)) });
      const toldAfterMs = nowMs - startMs - late.atMinute * minuteMs;
      const overtaken = { more: waiting.length > 0, ...late.of };
      const named = late.finding === undefined ? {} : { finding: late.finding };
      return Promise.resolve({ ...took, outcome: outcomeOf(late.seen), toldAfterMs, overtaken, ...named });
    },
    close: () => Promise.resolve(),
  };
  const loop = await startLoop(world, policies['uniform']!.create(1), settings, undefined, { observer });
  void loop.run(new AbortController().signal);
  await world.clock.runUntil(startMs + (minutes + 20) * minuteMs);
  loop.die();
  expect(waiting).toEqual([]);
  const [page] = [...loop.collection];
  const { id } = page!.page;
  const wordOf = async (number: number): Promise<string> =>
    /The word is (\w+)/.exec((await store.versionText(id, number)) ?? '')?.[1] ?? '';
  const log = await store.changes({ after: 0, limit: 100 });
  const changes = await Promise.all(
    log.map(async ({ kind, atMs, fromVersion, toVersion }) => {
      const at = `at ${((atMs - startMs) / minuteMs).toFixed(0)}`;
      if (toVersion === undefined) return `${kind} ${at}`;
      return `${kind} ${await wordOf(fromVersion!)} to ${await wordOf(toVersion)} ${at}`;
    }),
  );
  const kept = (await store.page(id))!.state;
  const versions = (await store.versions(id)).map(({ number }) => number);
  expect(versions).toEqual(versions.map((_, i) => i + 1));
  expect(kept.version).toBe(versions.length);
  expect(kept.toldVersion).toBe(versions.length);
  expect(page!.state.version).toBe(kept.version);
  expect(new Set(log.map((change) => change.id)).size).toBe(log.length);
  const summaries = log.map(({ summary }) => summary);
  return { changes, summaries, now: await wordOf(kept.version), versions: await Promise.all(versions.map(wordOf)) };
}

test('a change and its undoing that were told after home had looked are both told, each with its own time', async () => {
  const past = [
    { seen: 'two', atMinute: 3.5 },
    { seen: 'one', atMinute: 5.5 },
  ];
  const { changes, now } = await told(() => 'one', past);
  expect(changes).toEqual(['changed one to two at 4', 'changed two to one at 6']);
  expect(now).toBe('one');
});

test('one whose undoing home alone has seen is told, and the undoing with the time of that look', async () => {
  const { changes, now } = await told(() => 'one', [{ seen: 'two', atMinute: 3.5 }]);
  expect(changes).toEqual(['changed one to two at 4', 'changed two to one at 9']);
  expect(now).toBe('one');
});

test('where home has told of a newer one, what came before it is told with its time, and the page does not go back', async () => {
  const home = (minute: number): string => (minute < 7 ? 'one' : 'four');
  const past = [
    { seen: 'two', atMinute: 3.5 },
    { seen: 'three', atMinute: 4.5 },
    { seen: 'four', atMinute: 5.5 },
  ];
  const { changes, now, versions } = await told(home, past);
  expect(changes).toEqual(['changed one to four at 7', 'changed one to two at 4', 'changed two to three at 5']);
  expect(now).toBe('four');
  expect(versions).toEqual(['one', 'four', 'two', 'four', 'three', 'four']);
});

test('what is told twice is told once, and what home told by itself is not told again', async () => {
  const past = [
    { seen: 'two', atMinute: 3.5 },
    { seen: 'two', atMinute: 3.4 },
    { seen: 'one', atMinute: 3.3 },
  ];
  const home = (minute: number): string => (minute < 7 ? 'one' : 'three');
  expect((await told(home, past)).changes).toEqual(['changed one to three at 7', 'changed one to two at 4']);
});

test('a page that was gone in between, and is there again, is told of as both', async () => {
  const { changes } = await told(() => 'one', [{ seen: 'gone', atMinute: 3.5 }]);
  expect(changes).toEqual(['gone at 4', 'returned at 9']);
});

test('what is told again because nobody knew that it had been is told once, whatever its age is said to be by then', async () => {
  const newer = (minute: number): string => (minute < 5 ? 'one' : 'nine');
  const finding = { seen: 'two', finding: 'near/f1' };
  const other = { seen: 'three', atMinute: 4, finding: 'near/f2' };
  const past = [{ ...finding, atMinute: 3 }, other, { ...finding, atMinute: 4.5 }, { ...finding, atMinute: 9.9 }];
  const { changes, now } = await told(newer, past);
  expect(changes).toEqual(['changed one to nine at 5', 'changed one to two at 3', 'changed two to three at 4']);
  expect(now).toBe('nine');
});

describe('what an observer saw while it was only tried', () => {
  const newer = (minute: number): string => (minute < 5 ? 'one' : 'nine');
  const of = { triedFrom: 'near', doubted: true } as const;

  test('is told when home has seen the page change after it, and says who saw it', async () => {
    const { changes, summaries, now } = await told(newer, [{ seen: 'two', atMinute: 3.5, of }]);
    expect(changes).toEqual(['changed one to nine at 5', 'changed one to two at 4']);
    expect(summaries[1]).toContain('(seen by the observer near alone)');
    expect(now).toBe('nine');
  });

  test('also where its message was so long under way that it seems to be younger than what home saw then', async () => {
    const home = (minute: number): string => (minute < 7 ? 'one' : 'three');
    const late = (earlierMs: number) => told(home, [{ seen: 'two', atMinute: 7.5, of: { ...of, earlierMs } }]);
    const { changes, now, versions } = await late(minuteMs);
    expect(changes).toEqual(['changed one to three at 7', 'changed one to two at 7']);
    expect([now, versions]).toEqual(['three', ['one', 'three', 'two', 'three']]);
    expect((await late(1_000)).changes).toEqual(['changed one to three at 7']);
  });

  test('is told to nobody where home has seen no change after it', async () => {
    expect((await told(newer, [{ seen: 'two', atMinute: 7.5, of }])).changes).toEqual(['changed one to nine at 5']);
    expect((await told(() => 'one', [{ seen: 'two', atMinute: 3.5, of }])).changes).toEqual([]);
  });

  test('nor where the page has been like that at any time: home has told of it, or the age that it is said to have is wrong', async () => {
    const often = (minute: number): string => (minute < 2 ? 'one' : minute < 4 ? 'two' : minute < 6 ? 'three' : 'nine');
    const { changes } = await told(often, [{ seen: 'two', atMinute: 5.5, of }]);
    expect(changes).toEqual(['changed one to two at 2', 'changed two to three at 4', 'changed three to nine at 6']);
  });

  test('by an observer that has the site by then it is told also when nobody has seen the page since', async () => {
    const { changes, now } = await told(() => 'one', [{ seen: 'two', atMinute: 9.9, of: { triedFrom: 'near' } }]);
    expect(changes[0]).toBe('changed one to two at 10');
    expect(now).toBe('one');
  });
});
