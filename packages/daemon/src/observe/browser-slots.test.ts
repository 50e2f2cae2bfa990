import { afterEach, expect, test, vi } from 'vitest';
import { VirtualClock } from '../simulation/virtual-clock.ts';
import { systemClock } from '../values/clock.ts';
import { BrowserSlots } from './browser-slots.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('one place is kept for pages that were shown before', async () => {
  const slots = new BrowserSlots(2, new VirtualClock(0));
  slots.showed('well');
  const first = await slots.enter('new 1', 60_000);
  const entered: string[] = [];
  const second = slots.enter('new 2', 60_000).then((place) => (entered.push('new 2'), place));
  expect(await slots.enter('new 3', 1)).toBeUndefined();
  const well = await slots.enter('well', 60_000);
  expect([well !== undefined, entered]).toEqual([true, []]);
  first!.leave();
  const place = await second;
  place!.leave();
  well!.leave();
  expect(slots.isIdle).toBe(true);
});

test('a page that ran out of time has lost its place, and comes later each time until it is shown', () => {
  const slots = new BrowserSlots(2, new VirtualClock(0));
  const minutes = () => slots.ranLate('page') / 60_000;
  expect([minutes(), minutes(), minutes()]).toEqual([5, 10, 20]);
  for (let i = 0; i < 10; i++) minutes();
  expect(minutes()).toBe(360);
  slots.showed('page');
  expect(minutes()).toBe(5);
});

test('who is alone in line with the only place has it, whatever is known of it', async () => {
  const slots = new BrowserSlots(1, new VirtualClock(0));
  const place = await slots.enter('new', 1);
  expect(place).toBeDefined();
  place!.leave();
});

/** Pages that are shown after so many seconds, or not at all; each comes again at once, or when it may. Answers when each was shown. */
async function shownIn(
  seconds: number,
  pages: Readonly<Record<string, { takes: number; hangs?: true; after?: number }>>,
) {
  vi.useFakeTimers();
  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const slots = new BrowserSlots(2, systemClock);
  const startMs = Date.now();
  const shown = Object.fromEntries(Object.keys(pages).map((page) => [page, [] as number[]]));
  for (const [page, { takes, hangs, after = 0 }] of Object.entries(pages))
    void (async () => {
      await sleep(after * 1000);
      for (;;) {
        const place = await slots.enter(page, 120_000);
        if (!place) {
          await sleep(120_000);
          continue;
        }
        await sleep(takes * 1000);
        const againMs = hangs ? slots.ranLate(page) : Date.now() + 5_000;
        if (hangs) slots.failed(page);
        else {
          slots.showed(page);
          shown[page]!.push((Date.now() - startMs) / 1000);
        }
        place.leave();
        await sleep(againMs - Date.now());
      }
    })();
  await vi.advanceTimersByTimeAsync(seconds * 1000);
  return shown;
}

test('pages that never had a place are shown within minutes beside pages that hang and pages that are shown all the time', async () => {
  const fresh = Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`fresh ${i}`, { takes: 3, after: 10 }]));
  const shown = await shownIn(300, {
    'well 1': { takes: 3 },
    'well 2': { takes: 3 },
    // Its parts wait for the turn of their site, which is not its own time.
    reloads: { takes: 240, hangs: true },
    loops: { takes: 60, hangs: true },
    ...fresh,
  });
  for (const page of Object.keys(fresh)) expect(shown[page]!.length, page).toBeGreaterThan(0);
  for (const page of ['well 1', 'well 2']) expect(shown[page]!.length, page).toBeGreaterThan(15);
});

test('however many new pages hang, those that are shown have most of the place that is kept for them', async () => {
  const hanging = Object.fromEntries(
    Array.from({ length: 100 }, (_, i) => [`hangs ${i}`, { takes: 60, hangs: true, after: 60 } as const]),
  );
  const shown = await shownIn(3_600, { well: { takes: 5 }, ...hanging });
  // Alone it is shown every ten seconds.
  expect(shown['well']!.length).toBeGreaterThan(0.65 * 360);
});

test('a page that had a place in vain comes after those that did not', async () => {
  const slots = new BrowserSlots(1, new VirtualClock(0));
  slots.failed('vain');
  const first = await slots.enter('new 1', 1);
  const entered: string[] = [];
  const come = async (page: string) => {
    const place = await slots.enter(page, 60_000);
    entered.push(page);
    place!.leave();
  };
  const all = Promise.all(['vain', 'new 2', 'new 3'].map(come));
  first!.leave();
  await all;
  expect(entered).toEqual(['new 2', 'new 3', 'vain']);
});
