/** Sites that keep different hours, watched together, are watched about as well as each by itself. */
import { expect, test } from 'vitest';
import { kinOf } from '../model/kin.ts';
import { exponential, random } from '../simulate/random.ts';
import { replay } from '../simulate/replay.ts';
import { scoreProbes } from '../simulate/score.ts';
import { probesAllowed, splitTrace } from '../simulate/split.ts';
import { traceOf } from '../simulate/trace.ts';
import { CollectionPolicy } from './collection-policy.ts';
import { RevisitPolicy } from './revisit.ts';

const hour = 3600;
const day = 86_400;
const monday = 4 * day;
const trainDays = 90;
const testDays = 60;

type Event = readonly [string, number];

/** Four pages that change once a working day on average, in the eight hours from `opening` on. */
function site(name: string, opening: number, seed: number): Event[] {
  const next = random(seed);
  const events: Event[] = [];
  for (let page = 0; page < 4; page++) {
    events.push([`${name}/p${page}`, monday]);
    for (let d = 0; d < trainDays + testDays; d++) {
      if (d % 7 >= 5) continue;
      for (let t = exponential(next, 8 * hour); t < 8 * hour; t += exponential(next, 8 * hour))
        events.push([`${name}/p${page}`, Math.floor(monday + d * day + opening * hour + t)]);
    }
  }
  return events;
}

const office = site('office.example', 9, 1);
const night = site('night.example', 21, 2);
const numberOf = (names: readonly string[], name: string): number => names.indexOf(name);

function watched(events: readonly Event[], learn: 'probes' | 'events') {
  const split = splitTrace(traceOf([...events].sort((a, b) => a[1] - b[1])), trainDays * day, testDays * day);
  const policy = new RevisitPolicy();
  const kin = kinOf(split.names);
  const allowed = probesAllowed(split, { kind: 'per-change', looks: 10 });
  const { log } = replay(split, policy, { allowed, told: 1, kin, learn, spacingSeconds: 0 });
  return { delay: scoreProbes(split, log).meanDelayHours, policy, kin, names: split.names };
}

test.each(['probes', 'events'] as const)('two sites of other hours together, learned from %s', (learn) => {
  const alone = (watched(office, learn).delay + watched(night, learn).delay) / 2;
  const { delay, policy, kin, names } = watched([...office, ...night], learn);
  // With one week for both it is 1.8 times.
  expect(delay / alone).toBeLessThan(1.12);
  const [noon, midnight] = [24 + 13, 24 + 23];
  const ofOffice = policy.weekShape(numberOf(names, 'office.example/p0'));
  const ofNight = policy.weekShape(numberOf(names, 'night.example/p0'));
  expect(ofOffice[noon]!).toBeGreaterThan(4 * ofOffice[midnight]!);
  expect(ofNight[midnight]!).toBeGreaterThan(4 * ofNight[noon]!);
  const weeks = policy.siteWeeks();
  expect([...weeks.keys()].map((own) => kin.siteNames[own]).toSorted()).toEqual(['night.example', 'office.example']);
  for (const week of weeks.values()) expect(week.reduce((a, b) => a + b, 0) / 168).toBeCloseTo(1, 9);
  // Of a page nobody knows, and of all, the collection's.
  expect(policy.weekShape(999)).toBe(policy.weekShape());
});

test('the week of a page comes from the policy of its collection', () => {
  const [first, second] = [new RevisitPolicy(), new RevisitPolicy()];
  const all = new CollectionPolicy([
    { name: 'first', policy: first },
    { name: 'second', policy: second },
  ]);
  all.watch({ page: 0, site: 0, folder: 0, weight: 1, spacingSeconds: 0, collection: 1 }, 0);
  const next = random(1);
  for (let look = 1; look <= 120; look++) {
    const times = Float64Array.of((look - 1) * day + (9 + next()) * hour);
    all.looked(0, look * day, next() < 0.5 ? { kind: 'changed', times } : { kind: 'unchanged' });
  }
  expect(all.weekShape(0)![9]!).toBeGreaterThan(2);
  expect(all.weekShape()![9]!).toBe(1);
});

test('a restarted policy knows the weeks of its sites', () => {
  const next = random(3);
  const process = () => {
    const policy = new RevisitPolicy();
    for (const page of [0, 1])
      policy.watch({ page, site: page, folder: page, groups: [2 + page], weight: 1, spacingSeconds: 0 }, monday);
    return policy;
  };
  const before = process();
  for (let look = 1; look <= 200; look++)
    for (const [page, opening] of [
      [0, 9],
      [1, 21],
    ] as const) {
      const times = Float64Array.of(monday + (look - 1) * day + (opening + 3 * next()) * hour);
      before.looked(page, monday + look * day, next() < 0.5 ? { kind: 'changed', times } : { kind: 'unchanged' });
    }
  const now = monday + 200 * day;
  const keys = { keyOf: (group: number) => 70 + group, groupOf: (key: number) => key - 70 };
  const after = process();
  for (const page of [0, 1]) after.restore(page, before.save(page), now);
  after.restoreAll(before.saveAll(keys), now, keys);
  expect(after.siteWeeks().size).toBe(2);
  for (const page of [0, 1])
    after.weekShape(page).forEach((value, h) => expect(value).toBeCloseTo(before.weekShape(page)[h]!, 2));
  expect(after.weekShape(0)[10]!).toBeGreaterThan(3 * after.weekShape(1)[10]!);
});
