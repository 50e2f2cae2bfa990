/** A policy that is saved in the middle of an episode and restored in another process goes on as if nothing had happened. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exponential, random } from '../simulate/random.ts';
import { RevisitPolicy } from './revisit.ts';

const day = 86_400;
const hour = 3600;
const folders = 12;
const members = 10;
const pages = folders * members;
const site = folders;

/** Change times of each page: folders change together, in waves that go through the whole site, and pages by themselves. */
function world(seed: number, days: number): number[][] {
  const next = random(seed);
  const changes = Array.from({ length: pages }, (): number[] => []);
  for (let f = 0; f < folders; f++) {
    let at = 0;
    for (;;) {
      const busy = Math.floor(at / (10 * day)) % 2 === 0 ? 8 : 30;
      at += exponential(next, busy * day);
      if (at > days * day) break;
      for (let m = 0; m < members; m++) if (next() < 0.8) changes[f * members + m]!.push(at);
    }
  }
  for (const own of changes) {
    for (let at = exponential(next, 60 * day); at < days * day; at += exponential(next, 60 * day)) own.push(at);
    own.sort((a, b) => a - b);
  }
  return changes;
}

/** The numbers that a process gives to pages and groups are its own; `turn` makes others of them, and back. */
interface Process {
  readonly policy: RevisitPolicy;
  readonly turn: (page: number) => number;
  readonly keys: { keyOf(group: number): number; groupOf(key: number): number | undefined };
}

function process(turned: boolean, now: number): Process {
  const policy = new RevisitPolicy();
  const turn = (page: number): number => (turned ? pages - 1 - page : page);
  const turnGroup = (group: number): number => (turned ? site - group : group);
  for (let i = 0; i < pages; i++) {
    const groups = [turnGroup(Math.floor(turn(i) / members)), turnGroup(site)];
    policy.watch({ page: i, site: 0, folder: groups[0]!, groups, weight: 1, spacingSeconds: 0 }, now);
  }
  policy.setBudget(pages / (3 * day), now);
  return { policy, turn, keys: { keyOf: (group) => 7 + turnGroup(group), groupOf: (key) => turnGroup(key - 7) } };
}

interface Look {
  readonly page: number;
  readonly at: number;
  readonly changed: boolean;
}

/** Looks from `from` on until `ends` says so; `seen` has the last look of each page and is moved on. */
function live(
  { policy, turn }: Process,
  changes: number[][],
  from: number,
  seen: number[],
  ends: (look: Look) => boolean,
) {
  const looks: Look[] = [];
  for (let now = from; ;) {
    const choice = policy.next(now);
    if (!choice || choice.at > now) {
      now = Math.min(now + hour, Math.max(now + 1, choice?.at ?? Infinity));
      continue;
    }
    const page = turn(choice.page);
    const changed = changes[page]!.some((at) => at > seen[page]! && at <= now);
    seen[page] = now;
    policy.started(choice.page, now);
    policy.looked(choice.page, now, { kind: changed ? 'changed' : 'unchanged' });
    const look = { page, at: now, changed };
    looks.push(look);
    if (ends(look)) return looks;
  }
}

/** Stops right after a folder's change has been found on the first of its pages, after two months. */
function middleOfEpisode(seed: number) {
  const changes = world(seed, 120);
  const before = process(false, 0);
  const seen = Array.from({ length: pages }, () => 0);
  const looks = live(before, changes, 0, seen, ({ page, at, changed }) => {
    if (!changed || at < 60 * day) return false;
    const folder = Math.floor(page / members);
    const unseen = changes.filter(
      (own, i) => Math.floor(i / members) === folder && own.some((t) => t > seen[i]! && t <= at),
    );
    return unseen.length >= 5;
  });
  const { page, at } = looks.at(-1)!;
  return { changes, before, seen, now: at, folder: Math.floor(page / members) };
}

function restored(before: Process, now: number, without: readonly string[] = []): Process {
  const after = process(true, now);
  for (let i = 0; i < pages; i++) after.policy.restore(i, before.policy.save(after.turn(i)), now);
  const saved = JSON.parse(Buffer.from(before.policy.saveAll(before.keys)).toString('latin1'));
  for (const part of without) delete saved.models[part];
  after.policy.restoreAll(Buffer.from(JSON.stringify(saved), 'latin1'), now, after.keys);
  return after;
}

const currentOf = ({ policy, turn }: Process, now: number): number[] =>
  Array.from({ length: pages }, (_, page) => policy.belief(turn(page), now).current);

const largestGap = (a: readonly number[], b: readonly number[]): number =>
  Math.max(...a.map((value, i) => Math.abs(value - b[i]!)));

const foundIn = (folder: number, looks: readonly Look[]): ReadonlySet<number> =>
  new Set(looks.filter((look) => look.changed && Math.floor(look.page / members) === folder).map(({ page }) => page));

test('restored in the middle of an episode a policy believes and does the same as one that went on', () => {
  const looks = { went: 0, restored: 0, both: 0 };
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e6 }), (seed) => {
      const { changes, before, seen, now, folder } = middleOfEpisode(seed);
      const after = restored(before, now);
      before.policy.next(now);
      after.policy.next(now);
      expect(largestGap(currentOf(before, now), currentOf(after, now))).toBeLessThan(0.02);
      const ends = (look: Look): boolean => look.at > now + 6 * hour;
      const on = live(before, changes, now, [...seen], ends);
      const anew = live(after, changes, now, [...seen], ends);
      const found = foundIn(folder, anew);
      const missed = [...foundIn(folder, on)].filter((page) => !found.has(page));
      expect(missed.length).toBeLessThanOrEqual(1);
      looks.went += on.length;
      looks.restored += anew.length;
      looks.both += on.filter((look) => anew.some(({ page }) => page === look.page)).length;
    }),
    { seed: 6, numRuns: 10 },
  );
  // Due times are worked out anew: whoever is just due may come a little earlier or later, and what it finds brings others.
  expect(looks.both).toBeGreaterThan(0.82 * looks.went);
  expect(Math.abs(looks.restored / looks.went - 1)).toBeLessThan(0.15);
});

test('what an earlier version saved is taken, and says nothing of the episode', () => {
  const { before, now } = middleOfEpisode(9);
  const whole = currentOf(before, now);
  expect(largestGap(whole, currentOf(restored(before, now), now))).toBeLessThan(0.015);
  expect(largestGap(whole, currentOf(restored(before, now, ['episodes']), now))).toBeGreaterThan(0.2);
  expect(largestGap(whole, currentOf(restored(before, now, ['episodes', 'activities']), now))).toBeGreaterThan(0.2);
});

test('episodes of groups and sites that are gone, or that are nonsense, are left out', () => {
  const { before, now } = middleOfEpisode(2);
  const after = process(false, now);
  const nobody = { keyOf: (group: number) => group, groupOf: () => undefined };
  after.policy.restoreAll(before.policy.saveAll(before.keys), now, nobody);
  expect(currentOf(after, now).every((current) => current > 0.99)).toBe(true);
  const bad = {
    version: 1,
    price: [],
    models: {
      guess: 1e-6,
      memories: [],
      week: [],
      siblings: [],
      episodes: [
        [7, 1],
        [8, null, 1, 1, 1, 1, 1],
      ],
      activities: [[9]],
    },
  };
  after.policy.restoreAll(Buffer.from(JSON.stringify(bad), 'latin1'), now, after.keys);
  expect(currentOf(after, now).every((current) => current > 0.99)).toBe(true);
});
