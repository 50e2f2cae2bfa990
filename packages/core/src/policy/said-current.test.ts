/** What the policy says of copies in a world that its model has no form for. */
import { expect, test } from 'vitest';
import { exponential, random } from '../simulate/random.ts';
import { RevisitPolicy } from './revisit.ts';

const day = 86_400;
const pages = 40;
const keys = { keyOf: (group: number) => group, groupOf: (key: number) => key };

function watching(now: number): RevisitPolicy {
  const policy = new RevisitPolicy();
  for (let page = 0; page < pages; page++)
    policy.watch({ page, site: 0, folder: 0, weight: 1, spacingSeconds: 0 }, now);
  policy.setBudget(pages / day, now);
  return policy;
}

/**
 * Copies last for about a day after every look, hardly ever much less or more: a Weibull law of shape 4, which begins anew with each
 * look. Whoever takes changes for a matter of rates says too little of young copies and too much of old ones.
 */
function live(policy: RevisitPolicy, looks: number, seed: number): { readonly now: number; readonly errors: number[] } {
  const next = random(seed);
  const last = new Float64Array(pages);
  const bins = new Float64Array(20);
  let now = 0;
  for (let page = 0; page < pages; page++) policy.looked(page, 0, { kind: 'first' });
  for (let look = 0; look < looks; look++) {
    now += (0.9 * day) / pages;
    const page = Math.floor(next() * pages);
    const current = next() < Math.exp(-(((now - last[page]!) / day) ** 4));
    if (look > looks / 4) {
      const said = policy.belief(page, now).current;
      const bin = 2 * Math.min(9, Math.floor(10 * said));
      bins[bin]!++;
      bins[bin + 1]! += said - (current ? 1 : 0);
    }
    policy.looked(page, now, { kind: current ? 'unchanged' : 'changed' });
    last[page] = now;
  }
  const errors = Array.from({ length: 10 }, (_, i) => [bins[2 * i]!, bins[2 * i + 1]!] as const);
  return { now, errors: errors.filter(([count]) => count >= 1000).map(([count, sum]) => Math.abs(sum / count)) };
}

test('what is said of copies comes true where the model is wrong', () => {
  const { errors } = live(watching(0), 60_000, 1);
  expect(errors.length).toBeGreaterThan(3);
  expect(Math.max(...errors)).toBeLessThan(0.05);
});

test('a restart does not unlearn it', () => {
  const policy = watching(0);
  const { now } = live(policy, 20_000, 2);
  const saved = policy.saveAll(keys);
  const said = (without?: string): number[] => {
    const after = watching(now);
    for (let page = 0; page < pages; page++) after.restore(page, policy.save(page), now);
    const all = JSON.parse(Buffer.from(saved).toString('latin1')) as Record<string, unknown>;
    if (without) delete all[without];
    after.restoreAll(Buffer.from(JSON.stringify(all), 'latin1'), now, keys);
    return Array.from({ length: pages }, (_, page) => after.belief(page, now + day / 2).current);
  };
  const before = Array.from({ length: pages }, (_, page) => policy.belief(page, now + day / 2).current);
  const largest = (other: number[]): number => Math.max(...other.map((value, page) => Math.abs(value - before[page]!)));
  expect(largest(said())).toBeLessThan(0.01);
  // What an earlier version saved is taken, and says what the model says.
  expect(largest(said('reliability'))).toBeGreaterThan(0.1);
});

/** Poisson pages, one that never changes and one that is never twice the same, a look a second: what is said of the first, and what is true. */
function beside(seed: number): { readonly said: number; readonly held: number; readonly count: number } {
  const waits = [33, 50, 100, 200, 333, 500];
  const [never, always] = [waits.length, waits.length + 1];
  const policy = new RevisitPolicy();
  const next = random(seed);
  const from = 1_700_000_000;
  for (let page = 0; page <= always; page++)
    policy.watch({ page, site: 0, folder: 0, weight: 1, spacingSeconds: 0 }, from);
  policy.setBudget(1, from);
  const due = waits.map((wait) => from + exponential(next, wait));
  const seen = new Set<number>();
  const stale = new Set<number>();
  const sums = { said: 0, held: 0, count: 0 };
  for (let now = from; now < from + 2000; now++) {
    waits.forEach((wait, page) => {
      for (; due[page]! <= now; due[page]! += exponential(next, wait)) stale.add(page);
      if (now < from + 300 || now % 5 > 0) return;
      sums.said += policy.belief(page, now).current;
      sums.held += stale.has(page) ? 0 : 1;
      sums.count++;
    });
    const choice = policy.next(now);
    if (!choice || choice.at > now) continue;
    const { page } = choice;
    policy.started(page, now);
    const changed = page === always || (page !== never && stale.has(page));
    policy.looked(page, now, { kind: !seen.has(page) ? 'first' : changed ? 'changed' : 'unchanged' });
    seen.add(page);
    stale.delete(page);
  }
  return sums;
}

test('a page that changes at every look does not make the copies of others seem staler than they are', () => {
  const runs = Array.from({ length: 12 }, (_, seed) => beside(seed + 1));
  const sum = (of: 'said' | 'held' | 'count'): number => runs.reduce((all, run) => all + run[of], 0);
  expect(Math.abs(sum('said') - sum('held')) / sum('count')).toBeLessThan(0.02);
});
