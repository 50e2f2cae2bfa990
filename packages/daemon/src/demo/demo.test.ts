import { describe, expect, test } from 'vitest';
import { random } from '@revisit/core';
import { settle } from '../config/config.ts';
import { boundHours } from './bound.ts';
import { startDemo } from './demo.ts';
import { type ShapeName, burstTimes, poissonTimes, shapes } from './laws.ts';
import { LivingWeb } from './living-web.ts';
import { line } from '../cli/commands/demo.ts';
import { changesNeeded } from './report.ts';
import { rehearse } from './rehearsal.ts';
import { pacedClock } from './paced-clock.ts';
import { Scoreboard } from './scoreboard.ts';

const startMs = Date.UTC(2026, 0, 5);
const dayMs = 86_400_000;

describe('the laws are what they say', () => {
  test.each(Object.keys(shapes) as ShapeName[])(
    '%s: as many changes as the rate says, over four hundred days',
    (shape) => {
      const times = poissonTimes(shape, 5, startMs / 1000, random(7));
      let count = 0;
      while (times.next().value! < startMs / 1000 + 400 * 86_400) count++;
      // Five standard deviations of a Poisson number.
      expect(Math.abs(count - 2_000)).toBeLessThan(5 * Math.sqrt(2_000));
    },
  );

  test('offices are busy on Tuesday at noon and quiet on Sunday', () => {
    const times = poissonTimes('office', 20, startMs / 1000, random(3));
    const days = Array.from({ length: 7 }, () => 0);
    for (let i = 0; i < 5_000; i++) {
      const at = (times.next().value! - startMs / 1000) / 86_400;
      days[Math.floor(at) % 7]!++;
    }
    expect(days[1]!).toBeGreaterThan(8 * days[6]!);
  });

  test('bursts: most changes follow another within two hours', () => {
    const times = burstTimes({ burstsPerDay: 0.2, followers: 4, apartSeconds: 1_800 }, 0, random(5));
    let [last, close, at] = [0, 0, 0];
    for (let i = 0; i < 2_000; i++, last = at) if ((at = times.next().value!) - last < 7_200) close++;
    expect(close / 2_000).toBeGreaterThan(0.7);
    expect(2_000 / (at / 86_400)).toBeCloseTo(1, 0);
  });

  test('pages of one handbook change together, and the same seed makes the same world', () => {
    const [one, two] = [new LivingWeb(startMs, 80, 1), new LivingWeb(startMs, 80, 1)];
    for (const web of [one, two]) for (const page of web.pages) web.advance(page, startMs + 30 * dayMs, () => {});
    expect(one.pages.map((page) => page.changesMs)).toEqual(two.pages.map((page) => page.changesMs));
    const handbook = one.sites.get('handbook.localhost')!;
    const releases = new Set(handbook.flatMap((page) => page.changesMs));
    const changes = handbook.reduce((sum, page) => sum + page.changesMs.length, 0);
    expect(changes / releases.size).toBeGreaterThan(8);
    expect(one.pages.length).toBeGreaterThan(300);
    expect(one.sites.size).toBeGreaterThan(24);
  });
});

describe('the scoreboard', () => {
  test('counts each change from when it happens to when it is shown', () => {
    const web = new LivingWeb(startMs, 80, 1);
    const pages = web.pages.slice(0, 2);
    const board = new Scoreboard(pages, startMs, 2 / 7_200);
    board.shown(pages[0]!, startMs);
    const at = startMs + 1_800_000;
    pages[0]!.changesMs.push(at);
    board.change(pages[0]!, at);
    expect(board.unseen()).toBe(1);
    // Seen by nobody yet, it has waited for one hour. Uniform comes by every two hours, at 2:00.
    expect(board.delays(startMs, at + 3_600_000)).toEqual({ changes: 1, oursHours: 1, uniformHours: 1 });
    board.shown(pages[0]!, at + 7_200_000);
    expect(board.delays(startMs, at + 7_200_000)).toEqual({ changes: 1, oursHours: 2, uniformHours: 1.5 });
    expect(board.unseen()).toBe(0);
  });

  test('looks at equal distances wait half a round, and the bound lies well below', () => {
    const web = new LivingWeb(startMs, 80, 1);
    const looksPerSecond = 150 / 3600;
    const board = new Scoreboard(web.pages, startMs, looksPerSecond);
    for (const page of web.pages) board.shown(page, startMs);
    for (const page of web.pages) web.advance(page, startMs + 28 * dayMs, (one, atMs) => board.change(one, atMs));
    const { uniformHours } = board.delays(startMs, startMs + 28 * dayMs);
    const round = web.pages.length / looksPerSecond / 3600;
    expect(uniformHours! / (round / 2)).toBeCloseTo(1, 1);
    expect(boundHours(web.pages, looksPerSecond)).toBeLessThan(0.65 * uniformHours!);
  });
});

test('the measuring is fair: a daemon that looks at equal distances scores as looks at equal distances do', async () => {
  const report = await rehearse({ days: 0.75, looksPerHour: 150, seed: 2, policy: 'uniform' });
  expect(report.looks).toBeLessThanOrEqual(18 * 150);
  const { ours, uniform, changes } = report.delayHours.all;
  expect(changes).toBeGreaterThan(300);
  // Ours pays for robots.txt, failures and second looks too; uniform does not.
  expect(ours! / uniform!).toBeGreaterThan(0.95);
  expect(ours! / uniform!).toBeLessThan(1.25);
});

test('nothing is compared before enough changes have happened, and then the bound is the least', async () => {
  const web = new LivingWeb(startMs, 80, 1);
  const perDay = web.pages.reduce((sum, page) => sum + page.ratePerDay, 0);
  // Four rounds of looks at equal distances, and what changes meanwhile.
  expect(changesNeeded(web.pages, 150)).toBe(Math.ceil((4 * web.pages.length * perDay) / 150 / 24));
  expect(changesNeeded(web.pages, 1e6)).toBe(100);
  const report = await rehearse({ days: 0.6, looksPerHour: 150, seed: 1, policy: 'uniform' });
  const [early, late] = [report.series[0]!, report.delayHours.all];
  expect(early.changes).toBeLessThan(report.changesNeeded);
  expect([early.uniform, early.bound]).toEqual([null, null]);
  expect(early.ours).toBeGreaterThan(0);
  expect(late.changes).toBeGreaterThanOrEqual(report.changesNeeded);
  expect(late.uniform).toBeGreaterThan(1.5 * late.bound!);
  expect(line({ ...report, delayHours: { ...report.delayHours, lastDay: late } })).toContain(', uniform 1.');
  const beginning = { ...report, changes: { happened: 8, unseen: 8 }, delayHours: { all: early, lastDay: early } };
  expect(line(beginning)).toContain(`h so far, compared once ${report.changesNeeded} changes have happened`);
  expect(line(beginning)).not.toContain('bound');
});

describe('a paced clock', () => {
  /** A wall clock whose sleepers wake when it is moved past their time. */
  function wall() {
    let nowMs = 0;
    let sleepers: { readonly atMs: number; readonly wake: () => void }[] = [];
    const clock = {
      nowMs: () => nowMs,
      sleep: (ms: number) => new Promise<void>((wake) => void sleepers.push({ atMs: nowMs + Math.max(1, ms), wake })),
    };
    const pass = async (ms: number): Promise<void> => {
      nowMs += ms;
      const due = sleepers.filter(({ atMs }) => atMs <= nowMs);
      sleepers = sleepers.filter(({ atMs }) => atMs > nowMs);
      for (const { wake } of due) wake();
      for (let i = 0; i < 10; i++) await Promise.resolve();
    };
    return { clock, pass };
  }

  test('runs as many times faster, starts where it is told, and wakes its sleepers then', async () => {
    const { clock: real, pass } = wall();
    const clock = pacedClock(1_000, 60, real);
    let woken = 0;
    void clock.sleep(6_000).then(() => woken++);
    for (let i = 0; i < 99; i++) await pass(1);
    expect([clock.nowMs(), woken]).toEqual([1_000 + 99 * 60, 0]);
    for (let i = 0; i < 3; i++) await pass(1);
    expect([clock.nowMs(), woken, clock.pace()]).toEqual([1_000 + 102 * 60, 1, 1]);
    clock.stop();
  });

  test('waits for a process that is held up, and says how far', async () => {
    const { clock: real, pass } = wall();
    const clock = pacedClock(0, 1_800, real);
    let woken = 0;
    void clock.sleep(50 * 1_800).then(() => woken++);
    for (let i = 0; i < 20; i++) await pass(1);
    await pass(500);
    // Of half a second only what a beat may have is counted.
    expect(clock.nowMs()).toBe((20 + 8) * 1_800);
    expect(woken).toBe(0);
    for (let i = 0; i < 30; i++) await pass(1);
    expect(woken).toBe(1);
    expect(clock.pace()).toBeCloseTo(58 / 550, 5);
    clock.stop();
  });
});

test('the whole demonstration starts, looks at its pages, reports and puts everything away', async () => {
  const config = settle({}, { port: '0', logLevel: 'silent' });
  if (config.kind === 'wrong') throw new Error(config.sentence);
  const stop = new AbortController();
  const demo = await startDemo({ speed: 1_800, looksPerHour: 600, seed: 1, config: config.value }, stop.signal);
  if ('kind' in demo) throw new Error(demo.sentence);
  while ((await demo.report()).looks < 100) await new Promise((resolve) => setTimeout(resolve, 20));
  const answer = (await (await fetch(`${demo.url}/api/demo`)).json()) as Awaited<ReturnType<typeof demo.report>>;
  stop.abort();
  await demo.ended;
  expect(answer).toMatchObject({ pages: demo.pages, sites: demo.sites, speed: 1_800 });
  expect(answer.looks).toBeGreaterThanOrEqual(100);
  expect(answer.rates).toHaveLength(demo.pages);
  expect(answer.changesNeeded).toBeGreaterThanOrEqual(100);
});
