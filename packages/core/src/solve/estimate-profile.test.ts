import { expect, test } from 'vitest';
import { exponential, random } from '../simulate/random.ts';
import { type Profile, integral, mean, profile, reach, valueAt } from '../time/profile.ts';
import { solve } from './solve.ts';

interface Answer {
  readonly profile: { readonly breaks: number[]; readonly values: number[]; readonly period?: number };
  readonly interval: (number | null)[][];
}

const week = 168;
/** Hours of a week: five working days from 8 to 18, and the rest. */
function working(day: number, night: number): Profile {
  const breaks = [0, ...[0, 1, 2, 3, 4].flatMap((d) => [24 * d + 8, 24 * d + 18]), week];
  return profile(
    breaks,
    breaks.slice(1).map((_, i) => (i % 2 === 1 ? day : night)),
    week,
  );
}

function changesOf(truth: Profile, seed: number, span: number): number[] {
  const next = random(seed);
  const changes: number[] = [];
  for (let at = reach(truth, 0, exponential(next, 1)); at < span; at = reach(truth, at, exponential(next, 1)))
    changes.push(at);
  return changes;
}

/** Looks about `every` hours apart at a page that changes so. */
function looksAt(truth: Profile, seed: number, span: number, every: number): { at: number; changed: boolean }[] {
  const changes = changesOf(truth, seed, span);
  const next = random(seed + 1000);
  const looks: { at: number; changed: boolean }[] = [];
  let seen = 0;
  for (let at = 0; at < span; at += every * (0.5 + next())) {
    const before = seen;
    while (seen < changes.length && changes[seen] <= at) seen++;
    looks.push({ at, changed: seen > before });
  }
  return looks;
}

function estimate(problem: Record<string, unknown>): Answer {
  const outcome = solve({ kind: 'estimate', ...problem });
  if (outcome.kind !== 'solved') throw new Error(outcome.sentence);
  return outcome.solution as unknown as Answer;
}

const profileIn = ({ profile: p }: Answer): Profile => profile(p.breaks, p.values, p.period);

/** The mean difference between two profiles over a period, relative to the first's mean. */
function off(truth: Profile, found: Profile): number {
  let sum = 0;
  for (let at = 0.05; at < week; at += 0.1) sum += Math.abs(valueAt(truth, at) - valueAt(found, at)) * 0.1;
  return sum / week / mean(truth);
}

test('from events: an even page has one piece, working days have ten, and their hours are found', () => {
  let even = 0;
  for (let seed = 1; seed <= 40; seed++) {
    const events = changesOf(profile([0, week], [0.1], week), seed, 52 * week);
    const found = estimate({ from: 'events', events, span: 52 * week, breaks: { grid: week }, period: week });
    if (found.profile.values.length === 1) even++;
  }
  expect(even).toBeGreaterThanOrEqual(39);
  const truth = working(0.3, 0.03);
  const events = changesOf(truth, 3, 52 * week);
  const found = estimate({ from: 'events', events, span: 52 * week, breaks: { grid: week }, period: week });
  expect(found.profile.breaks).toEqual(
    [0, ...[0, 1, 2, 3, 4].flatMap((d) => [24 * d + 8, 24 * d + 18]), week].map((b) => expect.closeTo(b, 0)),
  );
  // The night that goes over the end of the week is one piece, written twice.
  expect(found.profile.values[0]).toBe(found.profile.values.at(-1));
  expect(off(truth, profileIn(found))).toBeLessThan(0.12);
  // As many pieces as there are hours follow chance instead.
  const hours = Array.from({ length: week + 1 }, (_, i) => i);
  const each = estimate({ from: 'events', events, span: 52 * week, breaks: hours, period: week });
  expect(off(truth, profileIn(each))).toBeGreaterThan(2 * off(truth, profileIn(found)));
});

test('few events leave one piece, more of them more', () => {
  const truth = working(0.3, 0.03);
  const pieces = [1, 8, 52].map((weeks) => {
    const events = changesOf(truth, 5, weeks * week);
    const found = estimate({ from: 'events', events, span: weeks * week, breaks: { grid: week }, period: week });
    return found.profile.values.length;
  });
  expect(pieces[0]).toBe(1);
  expect(pieces[1]).toBeGreaterThan(1);
  expect(pieces[2]).toBe(11);
});

test('without a period the rate of one stretch of time is cut where it changes', () => {
  const truth = profile([0, 300, 1000], [0.05, 0.5]);
  const events = changesOf(truth, 2, 1000);
  const found = estimate({ from: 'events', events, span: 1000, breaks: { grid: 100 } });
  expect(found.profile.breaks.length).toBe(3);
  expect(Math.abs(found.profile.breaks[1] - 300)).toBeLessThanOrEqual(20);
});

test('from looks: an even page has one piece, a day and a night are told apart by looks half a day apart', () => {
  let even = 0;
  for (let seed = 1; seed <= 20; seed++) {
    const probes = looksAt(profile([0, week], [0.1], week), seed, 26 * week, 8);
    const found = estimate({ from: 'probes', probes, breaks: { grid: 56 }, period: week });
    if (found.profile.values.length === 1) even++;
  }
  expect(even).toBeGreaterThanOrEqual(19);
  const truth = profile([0, 8, 18, 24], [0.01, 0.25, 0.01], 24);
  const probes = looksAt(truth, 4, 52 * week, 12);
  const found = estimate({ from: 'probes', probes, breaks: { grid: 24 }, period: 24 });
  expect(found.profile.breaks).toHaveLength(4);
  expect(Math.abs(found.profile.breaks[1] - 8)).toBeLessThanOrEqual(1);
  expect(Math.abs(found.profile.breaks[2] - 18)).toBeLessThanOrEqual(1);
  expect(off(truth, profileIn(found))).toBeLessThan(0.4);
  expect(off(truth, profile([0, 24], [mean(truth)], 24))).toBeGreaterThan(1);
});

test('given pieces: one is the rate from looks, and intervals hold what is true nineteen times in twenty', () => {
  const single = looksAt(profile([0, 24], [0.05], 24), 9, 30 * 24, 10);
  const rate = estimate({ from: 'probes', probes: single }) as unknown as { rate: number };
  expect(estimate({ from: 'probes', probes: single, period: 24 }).profile.values[0]).toBeCloseTo(rate.rate, 5);
  const truth = profile([0, 10, 24], [0.2, 0.04], 24);
  let held = 0;
  for (let seed = 1; seed <= 150; seed++) {
    const found = estimate({
      from: 'probes',
      probes: looksAt(truth, seed, 60 * 24, 9),
      breaks: [0, 10, 24],
      period: 24,
    });
    found.interval.forEach(([low, high], i) => {
      if (low! <= truth.values[i] && truth.values[i] <= high!) held++;
    });
  }
  expect(held).toBeGreaterThan(0.91 * 300);
  expect(held).toBeLessThan(300);
});

test('a piece in which nothing ever changed is bounded by the time that was seen of it, also where looks fall beside its borders', () => {
  const quietMornings = profile([0, 0.5, 1], [0, 4], 1);
  const probes = looksAt(quietMornings, 1, 400, 0.3);
  for (const breaks of [[0, 0.5, 1], { grid: 24 }]) {
    const { profile: found, interval } = estimate({ from: 'probes', probes, breaks, period: 1 });
    expect(found.breaks).toEqual([0, 0.5, 1]);
    const [low, high] = interval[0]!;
    expect(low).toBe(0);
    // Of 200 days of mornings half or so were seen by looks that found nothing.
    expect(high).toBeGreaterThan(1.92 / 200);
    expect(high).toBeLessThan(3 / 60);
  }
});

test('intervals of a piece that hardly ever changes hold what is true nineteen times in twenty', () => {
  for (const rare of [0.01, 0.05]) {
    let held = 0;
    for (let seed = 1; seed <= 100; seed++) {
      const probes = looksAt(profile([0, 0.5, 1], [rare, 4], 1), seed, 100, 0.3);
      const [low, high] = estimate({ from: 'probes', probes, breaks: [0, 0.5, 1], period: 1 }).interval[0]!;
      if (high !== null && low! <= rare && rare <= high!) held++;
    }
    expect(held).toBeGreaterThanOrEqual(90);
  }
});

test('Last-Modified sharpens what looks far apart can tell', () => {
  const truth = profile([0, 8, 18, 24], [0.005, 0.1, 0.005], 24);
  const changes = changesOf(truth, 6, 200 * 24);
  const probes = Array.from({ length: 200 }, (_, i) => {
    const at = 24 * i;
    const last = changes.filter((change) => change <= at).at(-1);
    return { at, changed: last !== undefined && last > at - 24, ...(last === undefined ? {} : { lastModified: last }) };
  });
  const found = estimate({ from: 'probes', probes, breaks: { grid: 24 }, period: 24 });
  expect(found.profile.values.length).toBe(3);
  expect(integral(profileIn(found), 8, 18)).toBeGreaterThan(0.8 * integral(profileIn(found), 0, 24));
  const blind = probes.map(({ at, changed }) => ({ at, changed }));
  // Looks at the same hour every day see every hour alike.
  expect(estimate({ from: 'probes', probes: blind, breaks: { grid: 24 }, period: 24 }).profile.values.length).toBe(1);
});

test('what cannot be estimated is named', () => {
  const always = [0, 1, 2, 3].map((at) => ({ at, changed: true }));
  const tries: [Record<string, unknown>, RegExp][] = [
    [{ from: 'probes', probes: always, period: 2 }, /breaks: .* a look that found no change between 0 and 2/],
    [{ from: 'probes', probes: always, breaks: { grid: 4 }, period: 2 }, /a look that found no change at all/],
    [{ from: 'events', events: [1], span: 4, breaks: { grid: 400 } }, /breaks\.grid: 400 .* at most 336/],
    [{ from: 'events', events: [1], span: 4, breaks: { steps: 4 } }, /breaks\.steps: 4/],
    [{ from: 'probes', probes: always, breaks: [1, 2] }, /breaks from 0 to 3, or a period/],
  ];
  for (const [problem, sentence] of tries)
    expect(solve({ kind: 'estimate', ...problem })).toMatchObject({
      kind: 'refused',
      sentence: expect.stringMatching(sentence),
    });
});

/** A page busiest at noon, less so on two days of the week, in steps of an hour. */
const wave = profile(
  Array.from({ length: week + 1 }, (_, h) => h),
  Array.from({ length: week }, (_, h) => 0.2 * (1 - 0.85 * Math.cos((Math.PI * (h + 0.5)) / 12)) * (h < 120 ? 1 : 0.5)),
  week,
);
const grid = (smooth: boolean): Record<string, unknown> => ({ breaks: { grid: week, smooth }, period: week });

test('from events: a smoothed week is nearer to one that goes in waves than pieces are, and its intervals hold it', () => {
  const span = 40 * week;
  let smoothOff = 0;
  let chosenOff = 0;
  let held = 0;
  for (let seed = 1; seed <= 8; seed++) {
    const events = changesOf(wave, seed, span);
    const smooth = estimate({ from: 'events', events, span, ...grid(true) });
    smoothOff += off(wave, profileIn(smooth)) / 8;
    chosenOff += off(wave, profileIn(estimate({ from: 'events', events, span, ...grid(false) }))) / 8;
    smooth.interval.forEach(([low, high], h) => {
      const truth = valueAt(wave, h + 0.5);
      if (low! <= truth && truth <= high!) held += 1 / week / 8;
    });
    // The rate as a whole is what was seen.
    expect(Math.abs(mean(profileIn(smooth)) / (events.length / span) - 1)).toBeLessThan(0.02);
  }
  expect(smoothOff).toBeLessThan(0.17);
  expect(smoothOff).toBeLessThan(0.8 * chosenOff);
  expect(held).toBeGreaterThan(0.88);
});

test('from events: an even page is smoothed to one rate, but for chance', () => {
  let flat = 0;
  for (let seed = 1; seed <= 10; seed++) {
    const events = changesOf(profile([0, week], [0.2], week), seed, 20 * week);
    const { values } = estimate({ from: 'events', events, span: 20 * week, ...grid(true) }).profile;
    if (Math.max(...values) < 1.5 * Math.min(...values)) flat++;
  }
  expect(flat).toBeGreaterThanOrEqual(7);
});

test('from looks: a smoothed week is found through gaps of hours, and refused where every look found a change', () => {
  const probes = looksAt(wave, 3, 100 * week, 3);
  const smooth = estimate({ from: 'probes', probes, ...grid(true) });
  expect(off(wave, profileIn(smooth))).toBeLessThan(0.2);
  const always = probes.slice(0, 50).map(({ at }) => ({ at, changed: true }));
  const refused = solve({ kind: 'estimate', from: 'probes', probes: always, ...grid(true) });
  expect(refused.kind).not.toBe('solved');
});
