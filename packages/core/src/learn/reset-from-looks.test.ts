import { expect, test } from 'vitest';
import { type Random, integer, random } from '../simulate/random.ts';
import { solve } from '../solve/solve.ts';
import { type AgeLook, type SeenLife, resetFromLooks } from './reset-from-looks.ts';

/** A page that lives by these probabilities, looked at after so many steps each time. */
function lived(reset: readonly number[], next: Random, looks: number, steps: () => number, told = false): SeenLife {
  let age = 0;
  const seen: AgeLook[] = [];
  for (let look = 0; look < looks; look++) {
    const gap = steps();
    let changed = false;
    for (let step = 0; step < gap; step++) {
      if (next() < reset[Math.min(age, reset.length - 1)]!) {
        age = 0;
        changed = true;
      } else age++;
    }
    seen.push({ steps: gap, changed, ...(told && changed ? { age } : {}) });
  }
  return { age: 0, looks: seen };
}

/** Rest after a change, then a day on which most change, then few. */
const truth = [0.02, 0.02, 0.5, 0.1, 0.05];

const worst = (found: Float64Array): number => Math.max(...truth.map((p, t) => Math.abs(p - found[t]!)));

test('looks at every step give resets over steps lived, those that were not seen to end too', () => {
  const life = lived(truth, random(3), 3000, () => 1);
  const resets = new Float64Array(5);
  const steps = new Float64Array(5);
  let age = 0;
  for (const { changed } of life.looks) {
    steps[Math.min(4, age)]!++;
    if (changed) resets[Math.min(4, age)]!++;
    age = changed ? 0 : age + 1;
  }
  const found = resetFromLooks([life], 5);
  found.forEach((p, t) => expect(p).toBeCloseTo(resets[t]! / steps[t]!, 6));
});

test('one probability is the memoryless page’s, in closed form for equal gaps', () => {
  const life = { age: 0, looks: Array.from({ length: 50 }, (_, i) => ({ steps: 3, changed: i % 5 === 0 })) };
  expect(resetFromLooks([life], 1)[0]).toBeCloseTo(1 - (1 - 1 / 5) ** (1 / 3), 4);
});

test('looks one to three steps apart tell the ages at which pages change, and a told age tells more', () => {
  const next = random(8);
  const pages = (told: boolean, seed: number) => {
    const draw = random(seed);
    return Array.from({ length: 60 }, () => lived(truth, draw, 100, () => 1 + integer(next, 3), told));
  };
  const found = resetFromLooks(pages(false, 5), 5);
  expect(worst(found)).toBeLessThan(0.06);
  expect(worst(resetFromLooks(pages(true, 5), 5))).toBeLessThan(0.03);
  // Held for memoryless, the same pages would be thought to change on any day alike.
  expect(worst(new Float64Array(5).fill(resetFromLooks(pages(false, 5), 1)[0]!))).toBeGreaterThan(0.3);
});

test('where gaps are too long to tell ages apart, the mean life is right all the same', () => {
  const next = random(2);
  const pages = Array.from({ length: 50 }, () => lived(truth, next, 80, () => 8));
  const found = resetFromLooks(pages, 5);
  const life = (reset: ArrayLike<number>): number => {
    let alive = 1;
    let mean = 0;
    for (let t = 0; t < 2000; t++) {
      mean += alive;
      alive *= 1 - reset[Math.min(t, 4)]!;
    }
    return mean;
  };
  expect(life(found) / life(truth)).toBeGreaterThan(0.8);
  expect(life(found) / life(truth)).toBeLessThan(1.25);
});

test('as a problem: several pages, a clock that lies, and what is wrong with a call', () => {
  const next = random(4);
  const page = lived(truth, next, 400, () => 1 + integer(next, 2));
  const probes = (lie: boolean) => {
    let at = 0;
    return [
      { at: 0, changed: false, lastModified: 0 },
      ...page.looks.map(({ steps, changed }) => {
        at += steps;
        return { at, changed, ...(lie ? { lastModified: at + 7 } : {}) };
      }),
    ];
  };
  const estimate = (given: unknown, ages: unknown = 5) =>
    solve({ kind: 'estimate', from: 'probes', probes: given, ages });
  const alone = estimate(probes(false));
  expect(alone).toMatchObject({ kind: 'solved' });
  expect(estimate(probes(true))).toEqual(alone);
  expect(estimate([probes(false)])).toEqual(alone);
  expect(
    estimate([
      { at: 0, changed: false },
      { at: 0.5, changed: true },
    ]),
  ).toMatchObject({ sentence: expect.stringMatching(/probes\[1\]\.at: 0\.5 .* whole steps/) });
  expect(
    estimate([
      { at: 0, changed: false },
      { at: 1e6, changed: true },
    ]),
  ).toMatchObject({ sentence: expect.stringMatching(/ages: 5 .* at most 4 for probes over 1000000 steps/) });
  expect(
    estimate([
      { at: 0, changed: false },
      { at: 1e9, changed: true },
    ]),
  ).toMatchObject({ sentence: expect.stringMatching(/^probes: .* at most 4000000 steps in all .* not 1000000000/) });
  expect(estimate(probes(false), 0)).toMatchObject({ sentence: expect.stringMatching(/ages: 0 .* at least 1/) });
});
