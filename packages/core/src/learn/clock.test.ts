import { expect, test } from 'vitest';
import { random } from '../simulate/random.ts';
import { Clocks, savedClockBytes } from './clock.ts';

const day = 86_400;
const hour = 3600;

interface World {
  readonly clocks: Clocks;
  changedAt: number;
}

function clockOf(): World {
  const clocks = new Clocks();
  clocks.reserve(2);
  clocks.open(0);
  clocks.open(1);
  return { clocks, changedAt: Number.NaN };
}

/**
 * A page that changes at these times is looked at every `gap` seconds, and the clock is held against even odds at `rate`; answers what
 * it came to be believed.
 */
function watched(changes: readonly number[], gap: number, rate: number, world = clockOf()): World {
  const { clocks } = world;
  const begin = Math.floor(changes[0]! / gap) * gap;
  const state = { known: 0, next: 0 };
  for (let last = begin; last < changes.at(-1)!; last += gap) {
    const at = last + gap;
    let found = false;
    while (changes[state.next]! <= at) {
      state.next++;
      found = true;
    }
    if (clocks.say(0) > 0) {
      const chance = (mass: number): number => (found ? 1 - Math.exp(-mass) : Math.exp(-mass));
      clocks.weigh(0, gap, chance(clocks.mass(0, last, at, world.changedAt)), chance(rate * gap));
    }
    clocks.lookedOver(0, gap, at);
    if (!found) continue;
    const when = clocks.found(0, last, at, world.changedAt, rate, state.known++);
    world.changedAt = when ?? at - gap / 2;
  }
  return world;
}

/** Every day at 6:03, within `jitter` seconds, but for the days that `off` takes out. */
function daily(days: number, jitter: number, off = 0, seed = 1): number[] {
  const next = random(seed);
  const times = Array.from({ length: days }, (_, d) => d * day + 6 * hour + 180 + jitter * (next() - 0.5));
  return times.filter(() => next() >= off);
}

/** What the clock says of a day: before 5:30, from there to 9:30, as looks may be three hours apart, and after it. */
function dayAfter({ clocks, changedAt }: World, from: number): number[] {
  const at = (hours: number): number => from + hours * hour;
  return [
    [0, 5.5],
    [5.5, 9.5],
    [9.5, 24],
  ].map(([low, high]) => clocks.mass(0, at(low!), at(high!), changedAt));
}

test('a page that changes at a minute of its own every day is believed to, within three weeks of looks every three hours', () => {
  const world = watched(daily(21, 0), 3 * hour, 1 / day);
  expect(world.clocks.say(0)).toBeGreaterThan(0.9);
  const [before, then, after] = dayAfter(world, 21 * day);
  expect(then).toBeGreaterThan(1);
  expect(then! / (before! + then! + after!)).toBeGreaterThan(0.7);
});

test('the closer the looks, the closer the moment', () => {
  const widths = [3 * hour, hour, 600].map((gap) => {
    const { clocks, changedAt } = watched(daily(60, 0), gap, 1 / day);
    const within = (seconds: number): number => {
      const usual = 60 * day + 6 * hour + 180;
      return (
        clocks.mass(0, usual - seconds, usual + seconds, changedAt) / clocks.mass(0, 60 * day, 61 * day, changedAt)
      );
    };
    let width = 60;
    while (within(width) < 0.9) width *= 1.1;
    return width;
  });
  expect(widths[1]).toBeLessThan(0.6 * widths[0]!);
  expect(widths[2]).toBeLessThan(0.3 * widths[1]!);
});

test('working days, and moments that vary by half an hour, are a clock too', () => {
  for (const changes of [daily(60, 1800), daily(90, 600, 2 / 7)]) {
    const world = watched(changes, 2 * hour, changes.length / (changes.at(-1)! - changes[0]!));
    expect(world.clocks.say(0)).toBeGreaterThan(0.9);
    const [before, then, after] = dayAfter(world, 90 * day);
    expect(then).toBeGreaterThan(4 * (before! + after!));
  }
});

test('other cycles are found: an hour, a week', () => {
  for (const period of [hour, 7 * day]) {
    const changes = Array.from({ length: 60 }, (_, i) => (i + 0.3) * period);
    const { clocks, changedAt } = watched(changes, period / 9, 1 / period);
    expect(clocks.say(0), `${period}`).toBeGreaterThan(0.9);
    const at = 61 * period;
    const inTenth = clocks.mass(0, at + 0.25 * period, at + 0.35 * period, changedAt);
    expect(inTenth / clocks.mass(0, at, at + period, changedAt)).toBeGreaterThan(0.6);
  }
});

test('of pages that change at any time hardly one in a hundred is believed to keep a clock', () => {
  const next = random(3);
  let said = 0;
  const pages = 300;
  for (let page = 0; page < pages; page++) {
    const changes: number[] = [];
    for (let t = 0; t < 120 * day;) changes.push((t += -Math.log(1 - next()) * day));
    said += watched(changes, 2 * hour, 1 / day).clocks.say(0);
  }
  expect(said / pages).toBeLessThan(0.02);
});

test('whoever looks once a day, right behind the moment, learns nothing of it and trusts it less', () => {
  const world = watched(daily(40, 0), 600, 1 / day);
  const say = world.clocks.say(0);
  const before = (cycle: number): number => world.clocks.moved(0, (cycle - 1) * day + 7 * hour, cycle * day + 6 * hour);
  expect(before(41)).toBeLessThan(0.05);
  const usual = dayAfter(world, 40 * day)[1]!;
  for (let d = 40; d < 100; d++) {
    const at = d * day + 6 * hour + 1800;
    world.clocks.weigh(0, day, 0.95, 0.6);
    world.clocks.lookedOver(0, day, at);
    world.changedAt = world.clocks.found(0, at - day, at, world.changedAt, 1 / day, 40 + d)!;
    // The moment stays where it was, however often a change was found behind it.
    expect(Math.abs(world.changedAt - (d * day + 6 * hour + 180))).toBeLessThan(hour);
  }
  expect(dayAfter(world, 100 * day)[1]).toBeCloseTo(usual, 0);
  expect(world.clocks.say(0)).toBeLessThan(say);
  expect(before(100)).toBeGreaterThan(0.3);
  // A look shortly before it that finds nothing proves it again.
  world.clocks.lookedOver(0, 23 * hour, 100 * day + 6 * hour + 120);
  expect(before(101)).toBeLessThan(0.05);
});

test('a clock that is put forward or back is told from before within a dozen days', () => {
  for (const shift of [-5 * hour, 5 * hour]) {
    const world = watched(daily(60, 60), 2 * hour, 1 / day);
    watched(
      daily(20, 60).map((t) => t + 60 * day + shift),
      2 * hour,
      1 / day,
      world,
    );
    const { clocks, changedAt } = world;
    const usual = 80 * day + 6 * hour + 180;
    const around = (t: number): number => clocks.say(0) * clocks.mass(0, t - 2 * hour, t + 2 * hour, changedAt);
    expect(around(usual + shift), `${shift}`).toBeGreaterThan(0.8);
    expect(around(usual), `${shift}`).toBeLessThan(0.2);
  }
});

test('an exact time is worth a close look, and several in a gap are taken one by one', () => {
  const { clocks } = clockOf();
  for (let d = 0; d < 30; d++) {
    const at = d * day + 6 * hour;
    if (d > 4) clocks.weigh(0, hour, 0.9, 0.4);
    clocks.lookedOver(0, day, at + hour);
    clocks.found(0, at, at, at - day, 1 / day, d);
  }
  const at = 30 * day + 6 * hour;
  const around = clocks.mass(0, at - 1800, at + 1800, at - day);
  expect(around / clocks.mass(0, 30 * day, 31 * day, at - day)).toBeGreaterThan(0.85);
});

test('what is expected adds up over looks, and turns where it is said to', () => {
  const world = watched(daily(30, 900), 2 * hour, 1 / day);
  const { clocks, changedAt } = world;
  const from = 30 * day;
  const whole = clocks.mass(0, from, from + 3 * day, changedAt);
  let sum = 0;
  let turns = 0;
  for (let t = from; t < from + 3 * day; turns++) {
    const next = Math.min(from + 3 * day, clocks.edgeAfter(0, t));
    expect(next).toBeGreaterThan(t);
    sum += clocks.mass(0, t, next, changedAt);
    t = next;
  }
  expect(turns).toBeLessThan(50);
  expect(sum).toBeCloseTo(whole, 6);
  // And it is the integral of the hazard.
  let integral = 0;
  for (let t = from; t < from + day; t += 10) integral += 10 * clocks.hazard(0, t + 5, changedAt);
  expect(integral).toBeCloseTo(clocks.mass(0, from, from + day, changedAt), 2);
});

test('a restart forgets hardly anything, in thirteen bytes', () => {
  const { clocks, changedAt } = watched(daily(30, 300), 2 * hour, 1 / day);
  const view = new DataView(new ArrayBuffer(savedClockBytes + 3));
  clocks.save(0, view, 3);
  clocks.restore(1, view, 3);
  expect(clocks.say(1)).toBeCloseTo(clocks.say(0), 1);
  for (let h = 0; h < 24; h++) {
    const [from, to] = [30 * day + h * hour, 30 * day + (h + 1) * hour];
    expect(clocks.mass(1, from, to, changedAt)).toBeCloseTo(clocks.mass(0, from, to, changedAt), 1);
  }
  const nothing = new DataView(new ArrayBuffer(savedClockBytes));
  clocks.restore(1, nothing, 0);
  expect(clocks.say(1)).toBe(0);
});
