import { expect, test } from 'vitest';
import { foundRate } from './found-rate.ts';
import { estimateRate } from './rate.ts';

/** ln of n over k, for every k. */
function lnChoices(n: number): number[] {
  const all = [0];
  for (let k = 1; k <= n; k++) all.push(all[k - 1]! + Math.log((n - k + 1) / k));
  return all;
}

test('of n looks at even gaps the interval holds the true rate 19 times in 20, for gaps of 0.01 to 10 changes', () => {
  let sum = 0;
  let cells = 0;
  for (const looks of [5, 10, 20, 40, 100, 400, 2000]) {
    const choices = lnChoices(looks);
    for (const mass of [0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1, 1.5, 2, 3, 4, 5, 7, 10]) {
      const lnChanged = Math.log(-Math.expm1(-mass));
      let covered = 0;
      for (let k = 0; k <= looks; k++) {
        const { interval } = foundRate({ changes: k, changedTime: k, knownTime: looks - k }, 1);
        if (interval[0] <= mass && mass <= interval[1])
          covered += Math.exp(choices[k]! + k * lnChanged - (looks - k) * mass);
      }
      expect(covered, `${looks} looks of ${mass}`).toBeGreaterThan(0.91);
      sum += covered;
      cells++;
    }
  }
  expect(sum / cells).toBeGreaterThan(0.945);
  expect(sum / cells).toBeLessThan(0.975);
});

test('the rate is the most likely one as soon as a few changes are known, whatever others do', () => {
  for (const [changed, quiet] of [
    [10, 400],
    [40, 360],
    [40, 40],
    [200, 20],
  ] as const) {
    const alone = estimateRate({ changedGaps: Array(changed).fill(1), freeTime: quiet, exact: 0 });
    for (const prior of [alone.rate / 300, alone.rate, 300 * alone.rate]) {
      const { rate, interval } = foundRate({ changes: changed, changedTime: changed, knownTime: quiet }, prior);
      expect(Math.abs(Math.log(rate / alone.rate)), `${changed} of ${changed + quiet}`).toBeLessThan(1.5 / changed);
      // The other's holds the truth 95 times in a hundred at least, this one on average.
      for (const [i, end] of interval.entries()) expect(Math.abs(end / alone.interval[i]! - 1)).toBeLessThan(0.12);
    }
  }
});

test('a page of which nothing is known has the rate of its like, and what it shows moves it', () => {
  const none = { changes: 0, changedTime: 0, knownTime: 0 };
  expect(foundRate(none, 0.3)).toEqual({ rate: expect.closeTo(0.3, 6), interval: [0, Infinity] });
  const quiet = [1, 10, 100, 1000].map((knownTime) => foundRate({ ...none, knownTime }, 0.3));
  for (const [i, { rate, interval }] of quiet.entries()) {
    expect(rate).toBeLessThan(quiet[i - 1]?.rate ?? 0.3);
    expect(interval[1]).toBeCloseTo(3 / 10 ** i, 9);
  }
  expect(quiet[3]!.rate * 1000).toBeLessThan(1.5);
  // Changed at every look: nothing bounds it from above, and what is said lies in what is left, even against all experience.
  for (const prior of [1e-9, 1e-3, 1, 1e3])
    for (const changes of [1, 5, 50, 5000]) {
      const { rate, interval } = foundRate({ changes, changedTime: changes, knownTime: 0 }, prior);
      expect(interval[1]).toBe(Infinity);
      expect(rate).toBeGreaterThanOrEqual(interval[0]);
      expect(Number.isFinite(rate)).toBe(true);
      if (changes >= 50) expect(rate).toBeGreaterThan(2);
    }
});

test('changes that were counted are so many, however long the gaps', () => {
  const { rate, interval } = foundRate({ changes: 900, changedTime: 0, knownTime: 30 }, 30);
  expect(rate).toBeCloseTo(30, 6);
  expect(interval[0]).toBeCloseTo(28.1, 1);
  expect(interval[1]).toBeCloseTo(32, 1);
});
