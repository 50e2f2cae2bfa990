import { expect, test } from 'vitest';
import { exponential, random } from '../simulate/random.ts';
import { solve } from './solve.ts';

interface Look {
  at: number;
  changed: boolean;
  lastModified?: number;
}

function estimate(probes: unknown): { rate: number | null; interval: (number | null)[] } {
  const outcome = solve({ kind: 'estimate', from: 'probes', probes });
  if (outcome.kind !== 'solved') throw new Error(outcome.sentence);
  return outcome.solution as { rate: number | null; interval: (number | null)[] };
}

/** Looks every `gap` at a Poisson page of rate 1, with Last-Modified where asked for. */
function looks(seed: number, count: number, gap: number, modified: boolean): Look[] {
  const next = random(seed);
  let change = exponential(next, 1);
  let last: number | undefined;
  return Array.from({ length: count }, (_, i) => {
    const at = i * gap;
    let changed = false;
    for (; change <= at; change += exponential(next, 1)) {
      changed = true;
      last = change;
    }
    return { at, changed, ...(modified && last !== undefined ? { lastModified: last } : {}) };
  });
}

test('one changed look in n of equal length gives the closed form -ln(1 - share) / gap', () => {
  const probes = [0, 2, 4, 6, 8].map((at) => ({ at, changed: at === 4 }));
  expect(estimate(probes).rate).toBeCloseTo(-Math.log(1 - 1 / 4) / 2, 3);
});

test('intervals hold the true rate nineteen times in twenty, and Last-Modified narrows them', () => {
  let held = 0;
  let narrower = 0;
  for (let seed = 1; seed <= 200; seed++) {
    const [low, high] = estimate(looks(seed, 60, 1.5, false)).interval as [number, number];
    if (low <= 1 && 1 <= high) held++;
    const [lowKnown, highKnown] = estimate(looks(seed, 60, 1.5, true)).interval as [number, number];
    if (highKnown - lowKnown < high - low) narrower++;
  }
  expect(held).toBeGreaterThan(180);
  expect(narrower).toBeGreaterThan(180);
});

test('a clock that lies is not believed, and what is wrong is named', () => {
  const honest = looks(3, 40, 1, false);
  const lying = honest.map((look) => ({ ...look, lastModified: look.at + 5 }));
  expect(estimate(lying)).toEqual(estimate(honest));
  expect(estimate([0, 1, 2].map((at) => ({ at, changed: true }))).interval[1]).toBeNull();
  const outcome = solve({
    kind: 'estimate',
    from: 'probes',
    probes: [
      { at: 2, changed: true },
      { at: 1, changed: false },
    ],
  });
  expect(outcome).toMatchObject({ kind: 'refused', sentence: expect.stringContaining('probes[1].at: 1') });
});
