/**
 * The demonstration: a living web on loopback and a daemon that watches it, both in the same fast time. The daemon is the real
 * one, with its real HTTP client; it is told of nothing but the addresses.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/config.ts';
import { type Daemon, startDaemon } from '../daemon.ts';
import type { Desk } from '../desk.ts';
import type { Clock } from '../values/clock.ts';
import { boundHours } from './bound.ts';
import { LivingWeb } from './living-web.ts';
import { pacedClock } from './paced-clock.ts';
import { reportOf } from './report.ts';
import type { DemoReport } from './report-form.ts';
import { Scoreboard } from './scoreboard.ts';
import { startWebServer } from './web-server.ts';

export interface DemoOptions {
  readonly speed: number;
  readonly looksPerHour: number;
  readonly seed: number;
  readonly config: Config;
}

export interface Demo {
  readonly url: string;
  readonly sites: number;
  readonly pages: number;
  readonly daemon: Daemon;
  report(): Promise<DemoReport>;
  /** Everything is put away. */
  readonly ended: Promise<void>;
}

/** A Monday morning, so that offices open soon after the start. */
export const demoStartMs = Date.UTC(2026, 0, 5, 6);

export async function startDemo(
  options: DemoOptions,
  signal: AbortSignal,
): Promise<Demo | { readonly kind: 'wrong'; readonly sentence: string }> {
  const { speed, looksPerHour, seed } = options;
  const server = await startWebServer();
  const clock = pacedClock(demoStartMs, speed);
  const web = new LivingWeb(demoStartMs, server.port, seed);
  const looksPerSecond = looksPerHour / 3600;
  const board = new Scoreboard(web.pages, demoStartMs, looksPerSecond);
  const happened = board.change.bind(board);
  server.open(web, clock, { happened, shown: board.shown.bind(board) });
  const folder = mkdtempSync(join(tmpdir(), 'revisit-demo-'));
  const config: Config = {
    ...options.config,
    data: folder,
    looksPerSecond,
    spacingMs: 2_000,
    allowNetwork: ['127.0.0.0/8'],
    pages: web.pages.map(pageOf),
  };
  let bound: number | undefined;
  const view = (desk: Desk): Promise<DemoReport> => {
    for (const page of web.pages) web.advance(page, clock.nowMs(), happened);
    bound ??= boundHours(web.pages, looksPerSecond);
    return reportOf({ desk, web, board, bound, clock, startMs: demoStartMs, speed, pace: clock.pace(), looksPerHour });
  };
  let desk: Desk | undefined;
  const started = await startDaemon(config, signal, {
    clock,
    observer: observerOf(clock),
    routes: (app, given) => demoRoutes(app, (desk = given), view),
  });
  const putAway = async (): Promise<void> => {
    clock.stop();
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  };
  if (started.kind === 'wrong') {
    await putAway();
    return started;
  }
  const { daemon } = started;
  return {
    url: daemon.url,
    sites: web.sites.size,
    pages: web.pages.length,
    daemon,
    report: () => view(desk!),
    ended: daemon.ended.then(putAway),
  };
}

export function pageOf(page: LivingWeb['pages'][number]): Config['pages'][number] {
  const select = page.site.kind === 'shop' ? '#price' : page.site.kind === 'noisy' ? 'article' : undefined;
  return { url: page.url, tags: [page.site.kind], ...(select === undefined ? {} : { select }) };
}

/** The sites' names lead to this machine; that they share it is no reason to keep them from answering side by side. */
function observerOf(clock: Clock) {
  return {
    clock,
    resolve: () => Promise.resolve([{ address: '127.0.0.1', family: 4 as const }]),
    siteRules: (site: string) => (site === '127.0.0.1' ? { spacingMs: 0, connections: 1_000 } : undefined),
  };
}

function demoRoutes(app: FastifyInstance, desk: Desk, view: (desk: Desk) => Promise<DemoReport>): void {
  app.get('/api/demo', () => view(desk));
}
