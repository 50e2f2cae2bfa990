import { expect, test } from 'vitest';
import { exponential, random } from '../simulate/random.ts';
import { SiteActivities } from './site-activities.ts';

const hour = 3600;
const day = 86_400;
const site = 3;
const rare = 1;
const busy = 4;
const now = 200 * day + 12 * hour;
const keys = { keyOf: (group: number) => group + 70, groupOf: (key: number) => (key >= 70 ? key - 70 : undefined) };

/**
 * A site whose rare pages are swept every 20 days, when four times what is expected of them is found for two days, while busy pages go on
 * as ever. A look every two minutes or so, ending twelve hours into a sweep.
 */
function swept(): SiteActivities {
  const next = random(5);
  const activities = opened();
  for (let at = 0; at < now; at += exponential(next, 100)) {
    const speed = next() < 0.5 ? rare : busy;
    const plain = speed === rare ? 0.05 : 0.2;
    const chance = plain * (speed === rare && at % (20 * day) < 2 * day ? 4 : 1);
    activities.learn(site, speed, at, plain, next() < chance ? 1 : 0);
  }
  return activities;
}

function opened(): SiteActivities {
  const activities = new SiteActivities();
  activities.open(site);
  return activities;
}

test('a sweep through pages that hardly ever change says nothing of those that often do', () => {
  const activities = swept();
  expect(activities.factor(site, rare, now)).toBeGreaterThan(1.5);
  expect(activities.factor(site, busy, now)).toBeLessThan(1.2);
  expect(activities.factor(site, 0, now)).toBe(1);
});

test('what was saved is taken back for each speed, and what an earlier version saved of a whole site for all', () => {
  const activities = swept();
  const saved = activities.save(keys);
  expect(saved.length).toBe(2);
  const again = opened();
  again.restore(saved, keys, now);
  expect(again.save(keys)).toEqual(saved);
  for (const speed of [0, rare, busy])
    expect(again.factor(site, speed, now)).toBeCloseTo(activities.factor(site, speed, now), 9);

  const early = opened();
  const [key, , ...state] = saved.find((row) => row[1] === rare)!;
  early.restore([[key!, ...state]], keys, now);
  for (const speed of [0, rare, busy])
    expect(early.factor(site, speed, now)).toBeCloseTo(activities.factor(site, rare, now), 9);
});

test('sites that are gone, speeds that are none and states that are nonsense are left out', () => {
  const saved = swept().save(keys);
  const [key, speed, ...state] = saved[0]!;
  const after = opened();
  const bad = [
    [9, speed!, ...state],
    [key! + 1, speed!, ...state],
    [key!, 8, ...state],
    [key!, 0.5, ...state],
    [key!],
    [],
  ];
  after.restore([...bad, [key!, speed!, ...state, 1], [key!, speed!, ...state.map(() => Number.NaN)]], keys, now);
  for (let each = 0; each < 8; each++) expect(after.factor(site, each, now)).toBe(1);
});
