/**
 * The demonstration without waiting: the same web, the same loop, politeness and budget, in virtual time. A day takes a second or
 * two, and the same seed gives the same days, so how soon learning pays can be read off, compared and tested.
 */
import { random } from '@revisit/core';
import { createPolicy } from '../config/collections.ts';
import { detector } from '../daemon.ts';
import { Desk } from '../desk.ts';
import { readPage } from '../config/page-input.ts';
import { Loop } from '../loop.ts';
import type { Answer, Ask } from '../observe/ask.ts';
import { createObserver } from '../observe/observe.ts';
import { VirtualClock } from '../simulation/virtual-clock.ts';
import { openSqlite } from '../store/sqlite.ts';
import { answerMsOf, answerOf, type WebListeners } from './answer.ts';
import { boundHours } from './bound.ts';
import { demoStartMs, pageOf } from './demo.ts';
import { LivingWeb } from './living-web.ts';
import { reportOf } from './report.ts';
import type { DemoReport } from './report-form.ts';
import { Scoreboard } from './scoreboard.ts';

export interface RehearsalOptions {
  readonly days: number;
  readonly looksPerHour: number;
  readonly seed: number;
  readonly policy: string;
  /** Called with every virtual hour that has passed. */
  readonly onHour?: (hours: number) => void;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const spacingMs = 2_000;
const limits = { robots: 64, queueMax: 4_096 };

export async function rehearse(options: RehearsalOptions): Promise<DemoReport> {
  const { looksPerHour, seed } = options;
  const clock = new VirtualClock(demoStartMs);
  const web = new LivingWeb(demoStartMs, 80, seed);
  const looksPerSecond = looksPerHour / 3600;
  const board = new Scoreboard(web.pages, demoStartMs, looksPerSecond);
  const happened = board.change.bind(board);
  const luck = random(seed);
  const observer = createObserver({
    clock,
    random: luck,
    userAgent: 'revisit',
    allowNetworks: [],
    spacingMs,
    fetchPage: connection(web, clock, { happened, shown: board.shown.bind(board) }),
  });
  const opened = openSqlite(':memory:');
  // A store in memory has no disk that could fail.
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  const { store } = opened;
  const policy = createPolicy(options.policy)!;
  const log = (): void => {};
  const settings = { looksPerSecond, spacingMs, ...limits };
  const loop = new Loop({ clock, random: luck, store, observer, policy, detect: detector(store), log }, settings);
  const desk = new Desk(store, clock, log, loop);
  await loop.load();
  await desk.add(
    web.pages.map((page) => {
      const read = readPage(pageOf(page));
      if (read.kind === 'wrong') throw new Error(read.sentence);
      return read.value;
    }),
  );
  const stop = new AbortController();
  const running = loop.run(stop.signal);
  const endMs = demoStartMs + options.days * dayMs;
  for (let atMs = demoStartMs; atMs < endMs;) {
    atMs = Math.min(endMs, atMs + hourMs);
    await clock.runUntil(atMs);
    options.onHour?.((atMs - demoStartMs) / hourMs);
  }
  for (const page of web.pages) web.advance(page, clock.nowMs(), happened);
  const bound = boundHours(web.pages, looksPerSecond);
  const report = await reportOf({
    desk,
    web,
    board,
    bound,
    clock,
    startMs: demoStartMs,
    speed: 0,
    pace: 1,
    looksPerHour,
  });
  stop.abort();
  await clock.runUntil(Infinity, running);
  await loop.close();
  await store.close();
  return report;
}

function connection(web: LivingWeb, clock: VirtualClock, listeners: WebListeners): (ask: Ask) => Promise<Answer> {
  return async (ask) => {
    const askedAtMs = clock.nowMs();
    const request = { host: ask.url.hostname, path: ask.url.pathname, headers: ask.headers };
    await clock.sleep(answerMsOf(web, request));
    const said = answerOf(web, request, clock.nowMs(), listeners);
    if (said.kind === 'hung-up')
      return { kind: 'failed', fault: { code: 'connection-lost', sentence: 'The server hung up.' }, bytesReceived: 0 };
    const answeredAtMs = clock.nowMs();
    return {
      kind: 'answered',
      url: ask.url,
      status: said.status,
      // What a server's own clock says; without it a date of this second could not be told from an older one.
      headers: { date: new Date(answeredAtMs).toUTCString(), ...said.headers },
      body: Buffer.from(said.text),
      bytesReceived: said.text.length,
      askedAtMs,
      answeredAtMs,
    };
  };
}
