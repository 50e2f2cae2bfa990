/** What the demonstration knows that nobody else can: the truth, beside what was learned. */
import type { Desk } from '../desk.ts';
import type { Clock } from '../values/clock.ts';
import type { LivingWeb } from './living-web.ts';
import type { DelayRow, DemoRate, DemoReport } from './report-form.ts';
import type { Scoreboard } from './scoreboard.ts';

const dayMs = 86_400_000;
/** Points of the series: as many as a screen shows. */
const pointsMax = 240;
/** Fewer than these say little: their mean is off by a tenth and more, by luck alone. */
const changesMin = 100;
/**
 * A change that waits still counts with what it has waited so far, so at the beginning every mean is too small. After four
 * rounds of looks at equal distances theirs is within about a tenth; the bound speaks of a web that is watched forever.
 */
const roundsMin = 4;

export function changesNeeded(pages: LivingWeb['pages'], looksPerHour: number): number {
  const changesPerHour = pages.reduce((sum, page) => sum + page.ratePerDay, 0) / 24;
  const roundHours = pages.length / looksPerHour;
  return Math.max(changesMin, Math.ceil(roundsMin * roundHours * changesPerHour));
}

export interface ReportParts {
  readonly desk: Desk;
  readonly web: LivingWeb;
  readonly board: Scoreboard;
  readonly bound: number;
  readonly clock: Clock;
  readonly startMs: number;
  readonly speed: number;
  readonly pace: number;
  readonly looksPerHour: number;
}

export async function reportOf(parts: ReportParts): Promise<DemoReport> {
  const { desk, web, board, bound, clock, startMs, speed, pace, looksPerHour } = parts;
  const nowMs = clock.nowMs();
  const needed = changesNeeded(web.pages, looksPerHour);
  const row = (fromMs: number, toMs: number): DelayRow => {
    const { changes, oursHours, uniformHours } = board.delays(fromMs, toMs);
    const enough = changes >= changesMin && board.changesUntil(toMs) >= needed;
    return { changes, ours: oursHours, uniform: enough ? uniformHours : null, bound: enough ? bound : null };
  };
  const rates = await ratesOf(desk, web);
  return {
    now: new Date(nowMs).toISOString(),
    virtualDays: (nowMs - startMs) / dayMs,
    speed,
    pace,
    sites: web.sites.size,
    pages: web.pages.length,
    budgetPerHour: looksPerHour,
    policy: desk.loop?.policy.name ?? '',
    looks: board.looks,
    changes: { happened: board.happened, unseen: board.unseen() },
    changesNeeded: needed,
    delayHours: { lastDay: row(nowMs - dayMs, nowMs), all: row(startMs, nowMs) },
    days: Array.from({ length: Math.ceil((nowMs - startMs) / dayMs) }, (_, i) =>
      row(startMs + i * dayMs, Math.min(nowMs, startMs + (i + 1) * dayMs - 1)),
    ),
    series: seriesOf(startMs, nowMs, row),
    medianFactor: medianFactor(rates),
    rates,
  };
}

function seriesOf(
  startMs: number,
  nowMs: number,
  row: (fromMs: number, toMs: number) => DelayRow,
): DemoReport['series'] {
  const hours = Math.max(1, Math.ceil((nowMs - startMs) / 3_600_000 / pointsMax / 6) * 6);
  const stepMs = hours * 3_600_000;
  const points = Math.floor((nowMs - startMs) / stepMs);
  return Array.from({ length: points }, (_, i) => {
    const toMs = startMs + (i + 1) * stepMs;
    // A day's window smooths the office hours away.
    return { at: new Date(toMs).toISOString(), ...row(Math.max(startMs, toMs - dayMs), toMs - 1) };
  });
}

async function ratesOf(desk: Desk, web: LivingWeb): Promise<readonly DemoRate[]> {
  const rates: DemoRate[] = [];
  for await (const batch of desk.store.everyPage()) {
    for (const { page } of batch) {
      const url = new URL(page.url);
      const living = web.find(url.hostname, url.pathname);
      if (!living) continue;
      const belief = desk.outlook(page.id)?.belief;
      const interval = belief?.rateInterval.map((bound) => (Number.isFinite(bound) ? bound : null)) ?? null;
      rates.push({
        id: page.id,
        url: page.url,
        kind: living.site.kind,
        trueRatePerDay: living.ratePerDay,
        learnedRatePerDay: belief?.ratePerDay ?? null,
        learnedInterval: interval,
      });
    }
  }
  return rates;
}

function medianFactor(rates: readonly DemoRate[]): number | null {
  const logs = rates
    .flatMap(({ trueRatePerDay, learnedRatePerDay }) =>
      learnedRatePerDay !== null && learnedRatePerDay > 0
        ? [Math.abs(Math.log(learnedRatePerDay / trueRatePerDay))]
        : [],
    )
    .sort((a, b) => a - b);
  return logs.length === 0 ? null : Math.exp(logs[Math.floor(logs.length / 2)]!);
}
