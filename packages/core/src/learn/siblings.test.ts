import { expect, test } from 'vitest';
import { random } from '../simulate/random.ts';
import { Siblings } from './siblings.ts';

const members = 30;
/** What is expected of every page, in changes a second. */
const rate = 0.001;

/** A thousand episodes, each told by one member found changed, of which the others share as `share` says. */
function live(share: (episode: number) => number, own: number, seed: number): Siblings {
  const next = random(seed);
  const siblings = new Siblings();
  for (let page = 0; page < members; page++) siblings.open(0);
  for (let episode = 0; episode < 1000; episode++) {
    const at = 100 * episode;
    siblings.found(0, at, at + 10, rate);
    const chance = share(episode);
    for (let page = 1; page < members; page++) {
      siblings.begin();
      siblings.consider(0, at);
      const said = 1 - (1 - own) * (1 - siblings.chance);
      const changed = next() < 1 - (1 - own) * (1 - chance);
      siblings.learn(0, 1, siblings.said, changed ? siblings.chance / said : 0);
    }
  }
  return siblings;
}

function heard(siblings: Siblings, at: number): number {
  siblings.begin();
  siblings.consider(0, at);
  return siblings.chance;
}

test('what siblings share is learned, whatever pages do by themselves', () => {
  for (const [share, own] of [
    [0.3, 0.02],
    [0.3, 0.2],
    [0.05, 0.1],
  ] as const) {
    const siblings = live(() => share, own, 1);
    siblings.found(0, 1e6, 1e6 + 10, rate);
    expect(heard(siblings, 1e6)).toBeGreaterThan(0.6 * share);
    expect(heard(siblings, 1e6)).toBeLessThan(1.5 * share);
  }
});

test('pages that only change by themselves are not taken for siblings', () => {
  const siblings = live(() => 0, 0.15, 2);
  siblings.found(0, 1e6, 1e6 + 10, rate);
  expect(heard(siblings, 1e6)).toBeLessThan(0.01);
});

test('one episode in ten is broad: the first siblings tell which', () => {
  const siblings = live((episode) => (episode % 10 === 0 ? 0.8 : 0), 0.02, 3);
  siblings.found(0, 1e6, 1e6 + 10, rate);
  const first = heard(siblings, 1e6);
  expect(first).toBeLessThan(0.2);
  for (let i = 0; i < 3; i++) siblings.learn(0, 1, first, 1);
  expect(heard(siblings, 1e6)).toBeGreaterThan(0.5);
  siblings.found(0, 2e6, 2e6 + 10, rate);
  for (let i = 0; i < 3; i++) siblings.learn(0, 1, first, 0);
  expect(heard(siblings, 2e6)).toBeLessThan(first);
});

test('what chances have shown comes back from what was saved', () => {
  const siblings = live(() => 0.2, 0.1, 4);
  const again = new Siblings();
  for (let page = 0; page < members; page++) again.open(0);
  again.restore(siblings.save());
  again.found(0, 1e6, 1e6 + 10, rate);
  expect(heard(again, 1e6)).toBeGreaterThan(0.1);
  again.restore([[1, 2, 3]]);
  expect(heard(again, 1e6)).toBeGreaterThan(0.1);
});

/** Of a hundred seconds since the page's last look: those that a look at another member, ten seconds ago, rules out. */
function ruledOut(siblings: Siblings, at: number): number {
  siblings.quiet(0, at - 100, at - 10, rate);
  siblings.begin();
  siblings.considerQuiet(0, at - 100, at, rate);
  return siblings.quietSeconds;
}

/** Looks at pages after quiet ones, with one change expected of ten looks and `found` a look. */
function afterQuiet(siblings: Siblings, found: number): void {
  for (let look = 0; look < 2000; look++) {
    const at = 1e6 + 1000 * look;
    const open = 1 - ruledOut(siblings, at) / 100;
    siblings.learnQuiet(0, (0.1 * siblings.quietSaid) / 100, look % 10 === 0 ? (10 * found) / (0.1 * open) : 0);
  }
}

test('members seen unchanged rule out as much as they share, when that comes true', () => {
  const sharing = live(() => 0.95, 0.02, 5);
  const first = ruledOut(sharing, 1e6);
  expect(first).toBeGreaterThan(30);
  afterQuiet(sharing, 0.014);
  expect(ruledOut(sharing, 1e7)).toBeGreaterThan(75);
  const unlike = live(() => 0.95, 0.02, 5);
  afterQuiet(unlike, 0.1);
  expect(ruledOut(unlike, 1e7)).toBeLessThan(0.3 * first);
});

test('members that share little rule out nothing', () => {
  for (const share of [0, 0.05, 0.4])
    expect(
      ruledOut(
        live(() => share, 0.1, 6),
        1e6,
      ),
    ).toBe(0);
});

test('members rule out little of a page that changes far more often than they do', () => {
  const siblings = live(() => 0.95, 0.02, 7);
  const alike = ruledOut(siblings, 1e6);
  siblings.begin();
  siblings.considerQuiet(0, 1e6 - 100, 1e6, 15 * rate);
  expect(siblings.quietSeconds).toBeCloseTo(alike / 10, 9);
});

test('a page is spoken for only since its own last look, and as far as others were looked at', () => {
  const siblings = live(() => 0.95, 0.02, 8);
  const seconds = (last: number, now: number): number => {
    siblings.begin();
    siblings.considerQuiet(0, last, now, rate);
    return siblings.quietSeconds;
  };
  siblings.quiet(0, 1e6, 1e6 + 100, rate);
  const whole = seconds(1e6 - 50, 1e6 + 200);
  expect(seconds(1e6 + 100, 1e6 + 200)).toBe(0);
  expect(seconds(1e6 + 50, 1e6 + 200)).toBeCloseTo(whole / 2, 9);
  // A look that overlaps goes on with it, one after a pause begins anew.
  siblings.quiet(0, 1e6 + 60, 1e6 + 200, rate);
  expect(seconds(1e6 - 50, 1e6 + 200)).toBeCloseTo(2 * whole, 9);
  siblings.quiet(0, 1e6 + 300, 1e6 + 400, rate);
  expect(seconds(1e6 - 50, 1e6 + 400)).toBeCloseTo(whole, 9);
});

test('a change found after others were seen unchanged happened since, as far as they share', () => {
  const siblings = live(() => 0.95, 0.02, 9);
  siblings.quiet(0, 1e6, 1e6 + 90, rate);
  siblings.found(0, 1e6, 1e6 + 100, rate);
  expect(siblings.unseen(0, 1e6 + 90)).toBeGreaterThan(0.15);
});

test('quiet times come back with the episodes, and episodes of earlier versions without them', () => {
  const keys = { keyOf: (group: number) => group, groupOf: (key: number) => key };
  const siblings = live(() => 0.95, 0.02, 10);
  siblings.quiet(0, 1e6, 1e6 + 90, rate);
  const taken = (episodes: number[][]): number => {
    const again = new Siblings();
    for (let page = 0; page < members; page++) again.open(0);
    again.restore(siblings.save());
    again.restoreEpisodes(episodes, keys, 1e6 + 100);
    again.begin();
    again.considerQuiet(0, 1e6, 1e6 + 100, rate);
    expect(again.share(0)).toBeCloseTo(siblings.share(0), 9);
    return again.quietSeconds;
  };
  const saved = siblings.saveEpisodes(keys);
  expect(taken(saved)).toBeGreaterThan(30);
  expect(taken(saved.map((episode) => episode.slice(0, 7)))).toBe(0);
});
