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

test('a Last-Modified that names the time of the answer is not believed, at the look or just before it', () => {
  const every = Array.from({ length: 20 }, (_, at) => at);
  for (const changed of [() => true, (at: number) => at % 2 === 1]) {
    const blind = estimate(every.map((at) => ({ at, changed: changed(at) })));
    for (const lag of [0, 0.001, 0.009])
      expect(estimate(every.map((at) => ({ at, changed: changed(at), lastModified: at - lag })))).toEqual(blind);
  }
});

test('honest times of a Poisson page are believed, seldom or often as it changes, and lead to its rate', () => {
  for (const [gap, count] of [
    [0.1, 300],
    [1, 100],
    [5, 100],
    [20, 100],
    [80, 100],
  ] as const) {
    let sum = 0;
    for (let seed = 1; seed <= 100; seed++) {
      const { rate, interval } = estimate(looks(seed, count, gap, true));
      // Every look at a page that changes so often finds a change: without Last-Modified nothing would bound its rate.
      expect(interval[1]).not.toBeNull();
      sum += rate!;
    }
    expect(sum / 100).toBeGreaterThan(0.96);
    expect(sum / 100).toBeLessThan(1.06);
  }
});

test('a change found in no time is refused', () => {
  const probes = [
    { at: 0, changed: false },
    { at: 0, changed: true },
  ];
  expect(solve({ kind: 'estimate', from: 'probes', probes })).toMatchObject({
    kind: 'refused',
    sentence: expect.stringMatching(/^probes\[1\]\.changed: true .* after that of the look before \(0\)/),
  });
});
