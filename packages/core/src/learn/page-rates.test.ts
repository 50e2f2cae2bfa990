/** How often pages are said to change, by looks at even gaps of few or many changes, beside pages that change at every look. */
import { expect, test } from 'vitest';
import { exponential, random } from '../simulate/random.ts';
import { PageModels } from './page-models.ts';

const day = 86_400;
const pages = 40;
const looks = 120;

/** Poisson pages at a look a day, and one that is found changed twenty times as often, if asked for: in their folder or in a site of its own. */
function live(perDay: number, fast: 'none' | 'same folder' | 'other site', seed: number) {
  const models = new PageModels();
  const next = random(seed);
  for (let page = 0; page < pages; page++) models.open(page, [0], 0);
  models.open(pages, [fast === 'same folder' ? 0 : 1], 0, 1);
  const due = Float64Array.from({ length: pages }, () => exponential(next, 1 / perDay));
  let happened = 0;
  for (let look = 1; look <= looks; look++) {
    for (let page = 0; page < pages; page++) {
      const changed = due[page]! <= look;
      for (; due[page]! <= look; happened++) due[page]! += exponential(next, 1 / perDay);
      models.learn(page, look * day, changed);
    }
    for (let more = 1; fast !== 'none' && more <= 20; more++) models.learn(pages, (look + more / 21) * day, true);
  }
  const said = Array.from({ length: pages }, (_, page) => models.foundRate(page));
  return { said, realised: happened / pages / looks };
}

test.each(
  [0.1, 1, 4, 10].flatMap((perDay) =>
    (['none', 'same folder', 'other site'] as const).map((fast) => ({ perDay, fast })),
  ),
)('at gaps of $perDay changes the interval holds the rate (a fast page: $fast)', ({ perDay, fast }) => {
  let held = 0;
  let sum = 0;
  let truth = 0;
  const seeds = 5;
  for (let seed = 1; seed <= seeds; seed++) {
    const { said, realised } = live(perDay, fast, seed);
    truth += realised;
    for (const { rate, interval } of said) {
      if (interval[0] * day <= perDay && perDay <= interval[1] * day) held++;
      expect(rate).toBeGreaterThanOrEqual(interval[0]);
      expect(rate).toBeLessThanOrEqual(interval[1]);
      sum += (rate * day) / pages;
    }
  }
  expect(held / seeds / pages).toBeGreaterThan(0.9);
  // Beyond three changes a gap few looks find a page as it was, and how much beyond nobody can tell.
  if (perDay > 3) return;
  expect(held / seeds / pages).toBeLessThan(0.99);
  expect(Math.abs(sum / truth - 1)).toBeLessThan(0.05);
});

test('a page that rests between changes is not taken to change more often than it is found changed', () => {
  const models = new PageModels();
  models.open(0, [0], 0);
  const next = random(4);
  let due = 3600;
  for (let look = 1; look <= 3000; look++) {
    const at = look * 600;
    const changed = due <= at;
    if (changed) due += 3600 + 120 * (next() - 0.5);
    models.learn(0, at, changed);
  }
  expect(models.foundRate(0).rate * 3600).toBeGreaterThan(0.97);
  expect(models.foundRate(0).rate * 3600).toBeLessThan(1.04);
});

test('what earlier versions kept of a page is taken, with counts or times in full, with its kind or without', () => {
  // Found changed at every third of sixty looks a day apart.
  const withTimes =
    '4153c6800000000041539c50000000000000000041bc91a5000d623c391a1b173f0d9ddf4037fc1e415ccd1c41b1127e8e86921b9229922c963d407b8e2302';
  const withCounts =
    '000134fd90004728c0000000000041bcb6e6000d623c391a1b173f0d9de0403847da415d0cfa41b1372700001483f8b1018e86921b9229922c963d4075425002';
  const bytes = Uint8Array.from(Buffer.from(withTimes, 'hex'));
  const told = new PageModels();
  told.open(0, [0], 0, 0, 'feed');
  for (let look = 1; look <= 60; look++) told.learn(0, look * day, look % 3 === 0);
  const now = told.save(0);
  for (const former of [bytes, bytes.subarray(0, 62), Uint8Array.from(Buffer.from(withCounts, 'hex'))]) {
    const models = new PageModels();
    models.open(0, [0], 60 * day, 0, 'feed');
    expect(models.restore(0, former, 60 * day)).toBe(true);
    const { rate, interval } = models.foundRate(0);
    expect(rate * day).toBeCloseTo(told.foundRate(0).rate * day, 1);
    // What its looks had found was not known of it at first.
    expect(interval[0] * day).toBeLessThan(former.length === 64 ? 0.26 : 0.2);
    expect(interval[1] * day).toBeGreaterThan(former.length === 64 ? 0.4 : 0.55);
    // All else is as it would be saved now: its times, its memories to 3 %, and the waits of its rhythm.
    expect(models.lastLook(0)).toBe(60 * day);
    const saved = models.save(0);
    expect(saved.subarray(0, 10)).toEqual(now.subarray(0, 10));
    const [mine, its] = [saved, now].map((all) => new DataView(all.buffer));
    for (let at = 14; at < 28; at += 2) expect(Math.abs(mine!.getUint16(at) - its!.getUint16(at))).toBeLessThan(90);
    expect(saved.subarray(35, 45)).toEqual(now.subarray(35, 45));
    // How far its rhythm had proven true, by what all pages shared then, and its kind.
    const evidence = new DataView(former.buffer, former.byteOffset).getFloat32(
      former.length - (former.length > 62 ? 5 : 4),
    );
    expect(mine!.getInt16(45) / 1000).toBeCloseTo(evidence, 2);
    expect(saved.at(-1)).toBe(former.length > 62 ? 2 : now.at(-1));
  }
  for (const length of [0, 3, 60, 65]) expect(told.restore(0, new Uint8Array(length), 60 * day)).toBe(false);
});
