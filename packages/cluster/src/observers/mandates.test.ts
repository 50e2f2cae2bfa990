import { random } from '@revisit/core';
import { expect, test } from 'vitest';
import { Mandates } from './mandates.ts';

interface Account {
  readonly mandates: Mandates;
  perSecond: number;
  back: number;
  budget: number;
  behind: boolean;
}

function account(budget: number): Account {
  const kept: Account = {
    mandates: new Mandates({
      budgetPerSecond: () => kept.budget,
      behind: () => kept.behind,
      lend: (perSecond) => (kept.perSecond = perSecond),
      giveBack: (requests) => (kept.back += requests),
    }),
    perSecond: 0,
    back: 0,
    budget,
    behind: false,
  };
  return kept;
}

test('never lends more than nine tenths of the budget, whoever asks for how much; what is wanted in all is shared in proportion', () => {
  const luck = random(3);
  const kept = account(10);
  const running = new Map<string, { readonly perSecond: number; readonly endsMs: number }>();
  let nowMs = 0;
  for (let i = 0; i < 3_000; i++) {
    nowMs += 1_000 * luck();
    if (i % 10 === 0) kept.mandates.endOld(nowMs);
    const n = Math.floor(30 * luck());
    const [site, url] = [`s${n % 7}`, `u${n}`];
    if (luck() < 0.02) {
      kept.mandates.endAt(site, nowMs);
      for (const each of running.keys()) if (Number(each.slice(1)) % 7 === n % 7) running.delete(each);
    } else {
      const perSecond = kept.mandates.lend(site, url, 2 * luck(), nowMs, nowMs + 20_000);
      running.set(url, { perSecond, endsMs: nowMs + 20_000 });
    }
    let sum = 0;
    for (const { perSecond, endsMs } of running.values()) if (endsMs > nowMs) sum += perSecond;
    expect(sum).toBeLessThan(9 + 1e-9);
    expect(kept.perSecond).toBeGreaterThan(sum - 1e-9);
    expect(kept.perSecond).toBeLessThan(9 + 1e-9);
  }
  const wanted = Array.from({ length: 30 }, (_, n) => (1 + n) / 2);
  let given: number[] = [];
  for (let round = 0; round < 8; round++)
    given = wanted.map((each, n) => kept.mandates.lend(`s${n % 7}`, `u${n}`, each, nowMs, nowMs + 20_000));
  const all = wanted.reduce((sum, each) => sum + each);
  given.forEach((each, n) => expect(each / wanted[n]!).toBeCloseTo(9 / all, 3));
});

test('counts what was lent until it is told, and for ever where whoever looked was lost', () => {
  const kept = account(10);
  const { mandates } = kept;
  expect(mandates.lend('s', 'u', 2, 0, 60_000)).toBe(2);
  mandates.lend('s', 'u', 2, 10_000, 70_000);
  mandates.told('s', 'u', 10_000);
  expect(kept.back).toBeCloseTo(20);
  // Told late: what is about the time after the errand waits until that is counted.
  mandates.told('s', 'u', 30_000);
  expect(kept.back).toBeCloseTo(20);
  mandates.lend('s', 'u', 1, 40_000, 100_000);
  mandates.told('s', 'u', 0);
  expect(kept.back).toBeCloseTo(80);
  // The next report comes from one who has been there for two seconds only.
  mandates.lend('s', 'u', 1, 60_000, 120_000);
  mandates.told('s', 'u', 2_000);
  expect(kept.back).toBeCloseTo(82);
  // The mandate ends unheard of.
  mandates.endOld(125_000);
  expect(kept.perSecond).toBe(0);
  mandates.endOld(225_000);
  mandates.told('s', 'u', 1e6);
  expect(kept.back).toBeCloseTo(82 + 18 + 65);
});

test('a budget that has become smaller shows in what is lent from then on', () => {
  const kept = account(10);
  for (const url of ['a', 'b', 'c']) kept.mandates.lend('s', url, 3, 0, 60_000);
  kept.budget = 5;
  expect(kept.mandates.lend('s', 'a', 3, 1_000, 60_000)).toBe(0);
  for (const url of ['b', 'c', 'a']) kept.mandates.lend('s', url, 3, 2_000, 60_000);
  for (const url of ['b', 'c', 'a']) expect(kept.mandates.lend('s', url, 3, 3_000, 60_000)).toBeCloseTo(1.5);
});

test('what is next to nothing is not lent: it would keep others from asking', () => {
  const kept = account(1e-4);
  expect(kept.mandates.lend('s', 'a', 3, 0, 60_000)).toBe(0);
  kept.budget = 10;
  expect(kept.mandates.lend('s', 'a', 3, 1_000, 60_000)).toBe(3);
});

test('while pages that nobody has seen wait at home, those who can be reached give half of it back, and get no more than that', () => {
  const kept = account(10);
  const { mandates } = kept;
  for (const site of ['near', 'away']) mandates.lend(site, 'u', 4, 0, 60_000);
  expect(mandates.isNeeded('near')).toBe(false);
  kept.behind = true;
  expect(mandates.isNeeded('near')).toBe(true);
  mandates.slowed('near', 10_000);
  expect(mandates.isNeeded('near')).toBe(false);
  expect(kept.perSecond).toBeCloseTo(2 + 4);
  // What was lent until then counts until it is told.
  mandates.lend('near', 'u', 4, 20_000, 80_000);
  expect(kept.perSecond).toBeCloseTo(2 + 4);
  mandates.told('near', 'u', 20_000);
  expect(kept.back).toBeCloseTo(10 * 4 + 10 * 2);
  kept.behind = false;
  expect(mandates.lend('near', 'u', 4, 30_000, 90_000)).toBeCloseTo(4);
});
