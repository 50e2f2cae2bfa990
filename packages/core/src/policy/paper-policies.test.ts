import { describe, expect, test } from 'vitest';
import { AgeHazards } from '../learn/age-hazard.ts';
import { type CaptureLaw, captured, waitFor } from '../loss/capture-rate.ts';
import { kinOf } from '../model/kin.ts';
import { calibrate } from '../simulate/calibrate.ts';
import { exponential, random } from '../simulate/random.ts';
import { replay } from '../simulate/replay.ts';
import { scoreProbes } from '../simulate/score.ts';
import { splitTrace } from '../simulate/split.ts';
import { traceOf } from '../simulate/trace.ts';
import { policies } from './catalog.ts';
import { wicShares } from './wic-shares.ts';

const day = 86_400;

/** Pages with rates from a change in ten days to five a day. */
function mixedTrace(pages: number, days: number) {
  const next = random(12);
  const events: [string, number][] = [];
  for (let page = 0; page < pages; page++) {
    const mean = day * 10 ** (1 - (1.7 * page) / pages);
    events.push([`site/${page}`, day]);
    for (let at = day; at < days * day; at += exponential(next, mean)) events.push([`site/${page}`, Math.floor(at)]);
  }
  events.push(['site/0', days * day]);
  return traceOf(events);
}

function scores(learn: 'probes' | 'events') {
  const split = splitTrace(mixedTrace(24, 120), 80 * day, 39 * day);
  if ('kind' in split) throw new Error('split');
  const allowed = 24 * 39;
  const kin = kinOf(split.names);
  return ['uniform', 'wic', 'brewington'].map((name) => {
    const entry = policies[name]!;
    const run = (told: number) => replay(split, entry.create(1), { allowed, told, kin, learn, spacingSeconds: 0 });
    const { replay: best } = calibrate(allowed, run, { start: 1, rises: true });
    expect(best.log.length).toBeGreaterThan(0.97 * allowed);
    return scoreProbes(split, best.log);
  });
}

describe('the policies of the two papers', () => {
  test.each(['probes', 'events'] as const)('learn from %s and beat even intervals at what they are for', (learn) => {
    const [uniform, wic, brewington] = scores(learn);
    // WIC captures: a look finds a change more often. Brewington's Z is the time changes wait.
    expect(wic!.hitRate).toBeGreaterThan(1.1 * uniform!.hitRate);
    expect(brewington!.meanDelayHours).toBeLessThan(0.95 * uniform!.meanDelayHours);
  });

  test('WIC spends the budget so that every look captures the same worth', () => {
    const rates = Float64Array.from([1, 2, 5, 0.1], (perDay) => perDay / day);
    const weights = Float64Array.of(1, 1, 0.5, 2);
    const laws: CaptureLaw[] = [
      { life: { kind: 'append' }, urgency: { kind: 'uniform' } },
      { life: { kind: 'overwrite' }, urgency: { kind: 'uniform' } },
      { life: { kind: 'append' }, urgency: { kind: 'decay', rate: 0.99 } },
      { life: { kind: 'changes', count: 2 }, urgency: { kind: 'polynomial', power: 0.1 } },
    ];
    const pages = laws.map((law, page) => ({
      page,
      site: 0,
      folder: 0,
      weight: weights[page]!,
      spacingSeconds: 0,
      ...law,
    }));
    const budget = 4 / day;
    const shares = wicShares(rates, weights, budget, pages);
    expect(shares.reduce((a, b) => a + b, 0)).toBeCloseTo(budget, 8);
    const worth = laws.map((law, i) => weights[i]! * captured(law, rates[i]! * 3600, 1 / shares[i]! / 3600));
    for (const one of worth) expect(one).toBeCloseTo(worth[0]!, 3);
  });

  test('what has gone before a look could be worth it is not looked at', () => {
    const law: CaptureLaw = { life: { kind: 'window', width: 1 }, urgency: { kind: 'uniform' } };
    expect(waitFor(law, 0.5, 0.4)).toBeCloseTo(0.8, 12);
    expect(waitFor(law, 0.5, 0.6)).toBe(Infinity);
  });
});

test('rates by age are learned: a page that never changes young', () => {
  const hazards = new AgeHazards();
  const next = random(2);
  for (let page = 0; page < 40; page++) {
    hazards.open(page);
    for (let n = 0; n < 30; n++) hazards.add(page, 0, 4 * day + exponential(next, day), true);
  }
  expect(hazards.unchanged(0, 0, 2 * day)).toBeGreaterThan(0.85);
  expect(hazards.unchanged(0, 4.5 * day, 2 * day)).toBeLessThan(0.5);
  const z = hazards.waitUntil(0, 0, 'obsolescence', 3600);
  expect(z).toBeGreaterThan(2 * day);
  expect(hazards.waitUntil(0, 4.5 * day, 'obsolescence', 3600)).toBeLessThan(0.5 * z);
});
