/** Pages that change together: a look at one that found nothing speaks for the others. */
import { expect, test, vi } from 'vitest';
import { PageModels } from '../learn/page-models.ts';
import { kinOf } from '../model/kin.ts';
import { exponential, random } from '../simulate/random.ts';
import { replay } from '../simulate/replay.ts';
import { scoreProbes } from '../simulate/score.ts';
import { type Split, probesAllowed, splitTrace } from '../simulate/split.ts';
import { traceOf } from '../simulate/trace.ts';
import { uniform } from './allocations.ts';
import type { Policy } from './policy.ts';
import { RatePolicy } from './rate-policy.ts';
import { RevisitPolicy } from './revisit.ts';

const day = 86_400;
const monday = 4 * day;
const sites = 6;
const pages = 20;
const days = { train: 120, test: 80 };

/** On every site something happens every ten days, and each of its pages takes part with this chance. */
function web(part: number, seed: number): Split {
  const next = random(seed);
  const end = monday + (days.train + days.test) * day;
  const events: [string, number][] = [['end/end', end]];
  for (let site = 0; site < sites; site++) {
    const names = Array.from({ length: pages }, (_, page) => `site${site}/f/p${page}x`);
    for (const name of names) events.push([name, monday]);
    for (let at = monday; at < end; at += exponential(next, 10 * day))
      for (const name of names) if (next() < part) events.push([name, Math.floor(at)]);
  }
  return splitTrace(traceOf(events), days.train * day, days.test * day);
}

function live(
  split: Split,
  policy: Policy,
  looks: number,
  audit?: (page: number, at: number, changed: boolean) => void,
) {
  const allowed = probesAllowed(split, { kind: 'per-change', looks });
  const kin = kinOf(split.names);
  const run = replay(split, policy, {
    allowed,
    told: 0.99,
    kin,
    learn: 'probes',
    spacingSeconds: 0,
    ...(audit ? { audit } : {}),
  });
  expect(run.log.length).toBeGreaterThan(0.97 * allowed);
  return scoreProbes(split, run.log).meanDelayHours;
}

test.each([
  [1, 10],
  [1, 30],
  [0.9, 10],
])('with a chance of %d to take part and %d looks a change they are asked in turn', (part, looks) => {
  for (const seed of looks > 10 ? [1] : [1, 2]) {
    const split = web(part, seed);
    const evenly = live(split, new RatePolicy('uniform', uniform), looks);
    // Asked all at once they come to about as much as evenly where they always change together; one for all would be a twentieth.
    expect(live(split, new RevisitPolicy(), looks) / evenly).toBeLessThan(0.4);
  }
});

test('what is said of copies comes true', () => {
  for (const part of [1, 0.8]) {
    const policy = new RevisitPolicy();
    const bins = Array.from({ length: 10 }, () => ({ looks: 0, error: 0 }));
    live(web(part, 3), policy, 10, (page, at, changed) => {
      const { current } = policy.belief(page, at);
      const bin = bins[Math.min(9, Math.floor(10 * current))]!;
      bin.looks++;
      bin.error += current - (changed ? 0 : 1);
    });
    const errors = bins.filter(({ looks }) => looks >= 300).map(({ looks, error }) => Math.abs(error / looks));
    expect(errors.length).toBeGreaterThan(1);
    expect(Math.max(...errors)).toBeLessThan(0.05);
  }
});

test('pages are worked out a few times a look, however many siblings speak for each', () => {
  const policy = new RevisitPolicy();
  const next = random(4);
  const many = 500;
  for (let page = 0; page < many; page++) policy.watch({ page, site: 0, folder: 0, weight: 1, spacingSeconds: 0 }, 0);
  policy.setBudget(many / day, 0);
  for (let page = 0; page < many; page++) policy.looked(page, 0, { kind: 'first' });
  const outlook = vi.spyOn(PageModels.prototype, 'outlook');
  const last = new Float64Array(many);
  let happened = 0;
  let happens = exponential(next, 2 * day);
  let looks = 0;
  for (let now = 1; now < 20 * day; now += 30) {
    for (; happens <= now; happens += exponential(next, 2 * day)) happened = happens;
    if (now === 1 + 10 * day) {
      looks = 0;
      outlook.mockClear();
    }
    for (let choice = policy.next(now); choice && choice.at <= now; choice = policy.next(now)) {
      policy.started(choice.page, now);
      policy.looked(choice.page, now, { kind: last[choice.page]! < happened ? 'changed' : 'unchanged' });
      last[choice.page] = now;
      looks++;
    }
  }
  const worked = outlook.mock.calls.length / looks;
  outlook.mockRestore();
  expect(looks).toBeGreaterThan(5 * many);
  expect(worked).toBeLessThan(25);
});
