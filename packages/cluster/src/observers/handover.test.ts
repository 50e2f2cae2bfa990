/** An observer with its journal and the coordinators that follow each other, from errand to report and back, in virtual time. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Observation, Page, PageState, Probe } from 'revisit/ports';
import { judge } from '../../../daemon/src/eye.ts';
import { VirtualClock } from '../../../daemon/src/simulation/virtual-clock.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Fleet } from './fleet.ts';
import { Journal } from './journal.ts';
import { Lookout } from './lookout.ts';

const url = 'https://a.example/';
const page = { id: 'x', url, site: 'a.example', select: { kind: 'text' }, options: {}, paused: false };
const state = { looks: 100, changes: 2 } as unknown as PageState;
const mandateMs = 60_000;

let clock: VirtualClock;
let fleet: Fleet;
let lookout: Lookout;
let journal: Journal;
let folder: string;
let text: string;
let probes: number;
/** How far the observer's clock is off. */
let skewMs: number;

function coordinator(): Fleet {
  const request = async (_: string, words: string): Promise<unknown> => {
    const { forget } = JSON.parse(words) as { forget?: string[] };
    if (forget) await lookout.forget(forget);
    return { json: () => ({ agoMs: 1e6 }) };
  };
  return new Fleet({
    clock,
    connection: { request } as unknown as NatsConnection,
    mandateMs,
    spacingMs: 1_000,
    budgetPerSecond: () => 1,
    behind: () => false,
    lend: () => {},
    giveBack: () => {},
    pageOf: () => ({ page: page as unknown as Page, state }),
    everyPage: () => [],
    pageCount: () => 1,
    probeSoon: () => {},
    remember: () => Promise.resolve(),
    outlive: () => {},
    log: () => {},
  });
}

function look(probe: Probe): Observation {
  const atMs = clock.nowMs() + skewMs;
  const body = new TextEncoder().encode(`<p>The page says ${text} today.</p>`);
  const about = { mediaType: 'text/html', charset: 'utf-8', validators: {} };
  return {
    probe,
    startedAtMs: atMs,
    endedAtMs: atMs,
    outcome: { kind: 'fetched', status: 200, body, ...about },
    bytesReceived: body.length,
    requests: 1,
  };
}

/** The observer's next process, on a machine whose clock may have been put wrong meanwhile. */
async function observer(): Promise<void> {
  const own = { nowMs: () => clock.nowMs() + skewMs, sleep: (ms: number) => clock.sleep(ms) };
  const moment = () => ({ boot: 'b', upMs: clock.nowMs() - 1e11, nowMs: own.nowMs() });
  journal = await Journal.open(join(folder, 'findings'), moment);
  const seer = { observe: (probe: Probe) => Promise.resolve(look(probe)), close: () => Promise.resolve() };
  lookout = new Lookout(seer, judge, own, journal);
}

const speaks = (): void => {
  const word = { atMs: clock.nowMs() + skewMs, ...lookout.counts(), stirred: lookout.stirred(10) };
  fleet.heard('near', word);
};
const nextProbe = (): Probe => ({
  id: `p${++probes}`,
  url,
  site: 'a.example',
  pageIds: ['x'],
  atMs: clock.nowMs(),
  plannedMs: 1_000,
  validators: {},
});
/** One probe, wherever it goes; answers what came of it. */
async function probed(
  underWayMs = 0,
): Promise<{ readonly by: string; readonly said: Observation | undefined; readonly id: string }> {
  const probe = nextProbe();
  const route = await fleet.route(probe);
  if (!route) {
    const seen = look(probe);
    fleet.fromHome(seen);
    return { by: 'home', said: seen, id: probe.id };
  }
  const answer = await lookout.answer(route.errand);
  await pass(underWayMs);
  const said = answer && fleet.read('near', answer, probe);
  fleet.ended(probe.site);
  return { by: 'near', said, id: probe.id };
}
const pass = (ms: number): Promise<void> => clock.runUntil(clock.nowMs() + ms);

beforeEach(async () => {
  clock = new VirtualClock(1e12);
  folder = mkdtempSync(join(tmpdir(), 'revisit-handover-'));
  [text, probes, skewMs] = ['one', 0, 0];
  fleet = coordinator();
  await observer();
});
afterEach(async () => {
  await journal.close();
  rmSync(folder, { recursive: true, force: true });
});

test('what one coordinator has kept and the next is told again is the same finding, as old as it is, also after the clock of its observer was put back', async () => {
  speaks();
  fleet.restore('a.example', 'near', 'g1');
  await probed();
  text = 'two';
  await pass(2_000);
  const first = await probed();
  expect(first.said).toMatchObject({ outcome: { kind: 'fetched' } });
  expect(first.said?.overtaken).toBeUndefined();
  expect(first.said?.finding).toMatch(/^near\//);
  fleet.kept([first.id]);
  // Both are killed before the observer hears that it has arrived; its mandate runs out, and home sees other editions.
  await journal.close();
  await pass(mandateMs);
  skewMs = -600_000;
  await observer();
  fleet = coordinator();
  fleet.restorePast('a.example', new Map([['near', clock.nowMs() - 1_000]]));
  text = 'nine';
  expect((await probed()).by).toBe('home');
  speaks();
  const again = await probed();
  expect(again.said).toMatchObject({ finding: first.said!.finding, overtaken: { more: false } });
  expect(again.said!.toldAfterMs).toBeGreaterThanOrEqual(mandateMs);
  expect(again.said!.toldAfterMs).toBeLessThan(mandateMs + 5_000);
  // Not before it is kept.
  expect(journal.findings()).toHaveLength(1);
  fleet.kept([again.id]);
  await probed();
  expect(journal.findings()).toEqual([]);
});

/** Tried at the page, it sees an edition that nobody else does. */
async function claims(): Promise<void> {
  speaks();
  expect((await probed()).by).toBe('home');
  text = 'two';
  speaks();
  const claim = await probed();
  expect(claim).toMatchObject({ by: 'near', said: { outcome: { kind: 'refused' } } });
  expect(journal.findings()).toHaveLength(1);
}

test('what it saw when it was only tried is asked for when home has seen yet another page, as what nobody vouches for', async () => {
  await claims();
  text = 'three';
  await pass(5_000);
  expect((await probed()).by).toBe('home');
  const past = await probed();
  expect(past).toMatchObject({ by: 'near', said: { overtaken: { more: false, triedFrom: 'near', doubted: true } } });
  expect(past.said!.toldAfterMs).toBe(5_000);
  fleet.kept([past.id]);
  // It hears that this has arrived, and then home has its turn.
  await probed();
  expect(journal.findings()).toEqual([]);
  speaks();
  expect(lookout.stirred(10)).toEqual([]);
});

test('and how long it may have been under way is said with it', async () => {
  await claims();
  text = 'three';
  await pass(5_000);
  expect((await probed()).by).toBe('home');
  const past = await probed(3_000);
  expect(past.said).toMatchObject({ toldAfterMs: 5_000, overtaken: { doubted: true, earlierMs: 3_000 } });
});

test.each(['fetched', 'not-modified'] as const)(
  'what it saw before home did, and was told of after that, is nothing against it: %s',
  async (kind) => {
    speaks();
    expect((await probed()).by).toBe('home');
    speaks();
    const trial = nextProbe();
    const route = await fleet.route(trial);
    text = 'two';
    const answer = await lookout.answer(route!.errand);
    // The report is under way for long, and somebody has home look meanwhile.
    await pass(1_000);
    text = 'three';
    fleet.fromHome(look(nextProbe()));
    await pass(1_000);
    expect(fleet.read('near', answer!, trial)).toMatchObject({ outcome: { kind: 'refused' } });
    fleet.ended(trial.site);
    await pass(1_000);
    const again = look(nextProbe());
    fleet.fromHome(kind === 'fetched' ? again : { ...again, outcome: { kind } });
    await pass(1_000);
    expect(journal.findings()).toHaveLength(1);
    expect((await probed()).said).toMatchObject({ overtaken: { triedFrom: 'near', doubted: true } });
  },
);

test('whoever takes over the site before home has looked hears of it, and so does who comes after that', async () => {
  await claims();
  for (let life = 0; life < 2; life++) {
    fleet = coordinator();
    text = `edition of life ${life}`;
    await pass(12_000);
    speaks();
    expect((await probed()).by).toBe('home');
    const past = await probed();
    expect(past).toMatchObject({ by: 'near', said: { overtaken: { triedFrom: 'near', doubted: true } } });
    // The first is lost with what it has read.
    if (life === 1) fleet.kept([past.id]);
  }
  await probed();
  expect(journal.findings()).toEqual([]);
});

test('what home sees then too, or does not see, it may forget', async () => {
  for (const seen of ['two', 'one']) {
    text = 'one';
    fleet = coordinator();
    await claims();
    text = seen;
    await pass(1_000);
    expect((await probed()).by).toBe('home');
    await pass(1_000);
    expect(journal.findings()).toEqual([]);
  }
});

test('one that home contradicts is asked for nothing, however the page changes', async () => {
  await claims();
  text = 'one';
  await pass(1_000);
  await probed();
  await pass(20_000);
  text = 'lie';
  speaks();
  expect((await probed()).by).toBe('near');
  text = 'three';
  await pass(1_000);
  expect((await probed()).by).toBe('home');
  expect((await probed()).said?.overtaken).toBeUndefined();
});
