import { expect, test } from 'vitest';
import { random } from '../simulate/random.ts';
import { Siblings } from './siblings.ts';

const members = 30;

/** A thousand episodes, each told by one member found changed, of which the others share as `share` says. */
function live(share: (episode: number) => number, own: number, seed: number): Siblings {
  const next = random(seed);
  const siblings = new Siblings();
  for (let page = 0; page < members; page++) siblings.open(0);
  for (let episode = 0; episode < 1000; episode++) {
    const at = 100 * episode;
    siblings.found(0, at, at + 10);
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
    siblings.found(0, 1e6, 1e6 + 10);
    expect(heard(siblings, 1e6)).toBeGreaterThan(0.6 * share);
    expect(heard(siblings, 1e6)).toBeLessThan(1.5 * share);
  }
});

test('pages that only change by themselves are not taken for siblings', () => {
  const siblings = live(() => 0, 0.15, 2);
  siblings.found(0, 1e6, 1e6 + 10);
  expect(heard(siblings, 1e6)).toBeLessThan(0.01);
});

test('one episode in ten is broad: the first siblings tell which', () => {
  const siblings = live((episode) => (episode % 10 === 0 ? 0.8 : 0), 0.02, 3);
  siblings.found(0, 1e6, 1e6 + 10);
  const first = heard(siblings, 1e6);
  expect(first).toBeLessThan(0.2);
  for (let i = 0; i < 3; i++) siblings.learn(0, 1, first, 1);
  expect(heard(siblings, 1e6)).toBeGreaterThan(0.5);
  siblings.found(0, 2e6, 2e6 + 10);
  for (let i = 0; i < 3; i++) siblings.learn(0, 1, first, 0);
  expect(heard(siblings, 2e6)).toBeLessThan(first);
});

test('what chances have shown comes back from what was saved', () => {
  const siblings = live(() => 0.2, 0.1, 4);
  const again = new Siblings();
  for (let page = 0; page < members; page++) again.open(0);
  again.restore(siblings.save());
  again.found(0, 1e6, 1e6 + 10);
  expect(heard(again, 1e6)).toBeGreaterThan(0.1);
  again.restore([[1, 2, 3]]);
  expect(heard(again, 1e6)).toBeGreaterThan(0.1);
});
