import { policies } from '@revisit/core';
import { describe, expect, test } from 'vitest';
import { readPageFields } from '../config/page-input.ts';
import { PageAimsBook, plainAims } from './page-aims.ts';
import { poissonLaw, type SimulatedPage } from '../simulation/simulated-web.ts';
import { createWorld, startLoop } from '../simulation/world.ts';
import { openSqlite } from '../store/sqlite.ts';
import type { Page } from '../values/page.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** A Monday. */
const startMs = Date.UTC(2026, 0, 5);

/** What was sent to each page after the first days, in which rates are learned. */
async function looksAt(
  pages: readonly SimulatedPage[],
  perHour: number,
  days: number,
): Promise<Map<string, readonly number[]>> {
  const opened = openSqlite(':memory:');
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  const world = await createWorld({ seed: 4, startMs, store: opened.store, pages });
  const settings = { looksPerSecond: perHour / 3600, spacingMs: 1_000, robots: 4, queueMax: 64 };
  const policy = policies['revisit']!;
  if (policy.knob !== 'told' || !policy.aimed) throw new Error('aimed');
  const loop = await startLoop(world, policy.aimed({ horizonSeconds: 3600 }), settings);
  const stop = new AbortController();
  const running = loop.run(stop.signal);
  await world.clock.runUntil(startMs + days * dayMs);
  stop.abort();
  await world.clock.runUntil(Infinity, running);
  const late = world.web.sent.filter(({ atMs }) => atMs > startMs + 3 * dayMs);
  return new Map(pages.map(({ url }) => [url, late.filter((sent) => sent.url === url).map(({ atMs }) => atMs)]));
}

const page = (i: number, settings: SimulatedPage['settings'] = {}): SimulatedPage => ({
  url: `https://site${i}.example/`,
  site: `site${i}.example`,
  law: poissonLaw(8 * hourMs),
  settings,
});

/** Twelve times as much from 9 to 18 o'clock as at other hours; a day, which repeats. */
const office = { breaks: [0, 9 * 3600, 18 * 3600, 86_400], values: [0.5, 6, 0.5], period: 86_400 };

describe('importance of a page', () => {
  test('a page of importance 3 is looked at about √3 times as often', async () => {
    const pages = Array.from({ length: 16 }, (_, i) => page(i, i < 8 ? { importance: 3 } : {}));
    const looks = await looksAt(pages, 8, 9);
    const sum = (from: number): number =>
      pages.slice(from, from + 8).reduce((n, { url }) => n + looks.get(url)!.length, 0);
    expect(sum(0) / sum(8)).toBeGreaterThan(1.45);
    expect(sum(0) / sum(8)).toBeLessThan(2.05);
  });

  test('looks move to the hours that count', async () => {
    const pages = Array.from({ length: 12 }, (_, i) => page(i, i < 6 ? { importance: office } : {}));
    for (const perHour of [2, 12]) {
      const looks = await looksAt(pages, perHour, 9);
      const inOffice = (from: number): number => {
        const all = pages.slice(from, from + 6).flatMap(({ url }) => looks.get(url)!);
        const hours = all.map((at) => (at % dayMs) / hourMs);
        return hours.filter((hour) => hour >= 9 && hour <= 18.5).length / all.length;
      };
      // Requests leave evenly over the day, so others give way: at twelve times the importance √6 : 1 in these hours and
      // 1 : √2 in the rest, which are 54 % and 29 % of the looks of each.
      expect(inOffice(0)).toBeGreaterThan(0.46);
      expect(inOffice(0) / inOffice(6)).toBeGreaterThan(1.3);
    }
  });

  test('is its mean, in the weight, and its week; pages of one week share it', () => {
    const book = new PageAimsBook();
    const of = (settings: Partial<Page>): ReturnType<PageAimsBook['of']> => book.of({ weight: 2, ...settings } as Page);
    expect(book.of({ weight: 1 } as Page)).toBe(plainAims);
    expect(of({ importance: 3 })).toEqual({ weight: 6 });
    const aims = of({ importance: office });
    expect(aims.weight).toBeCloseTo(2 * (0.5 + (5.5 * 9) / 24), 9);
    expect(aims.importance!.reduce((a, b) => a + b) / 168).toBeCloseTo(1, 9);
    expect(aims.importance![24 + 10]! / aims.importance![24 + 20]!).toBeCloseTo(12, 9);
    expect(of({ importance: { ...office } }).importance).toBe(aims.importance);
    expect(of({ importance: { breaks: [0, 604_800], values: [5] } })).toEqual({ weight: 10 });
    expect(
      book.of({ weight: 2, loss: 'staleness' } as Page, { collection: 1, weight: 3, loss: 'obsolescence' }),
    ).toEqual({ weight: 6, loss: 'staleness' });
  });

  test('what cannot be an importance is refused, with what is allowed', () => {
    const refused = (importance: unknown): string => {
      const read = readPageFields({ importance });
      return read.kind === 'wrong' ? read.sentence : 'taken';
    };
    expect(refused(0)).toBe('taken');
    expect(refused(office)).toBe('taken');
    expect(refused(-1)).toContain('importance: -1 is not allowed; a number of at least 0');
    expect(refused({ breaks: [0, 1] })).toContain('breaks in seconds from Monday 00:00 UTC');
    expect(refused({ breaks: [0, 5, 3], values: [1, 2] })).toContain('importance.breaks');
    expect(refused({ breaks: [0, 604_800], values: [-1] })).toContain('importance.values');
    expect(refused({ breaks: [0, 100_000], values: [1] })).toContain('divides a week');
    expect(refused({ breaks: [0, 604_800], values: [1], period: 7 })).toContain('importance.period');
  });
});
