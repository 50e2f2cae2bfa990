import { expect, test } from 'vitest';
import { hourOfWeek } from '../learn/drawn-week.ts';
import { WeekShape } from '../learn/week-shape.ts';
import { steadyShape } from '../plan/steady-shape.ts';
import { constant, profile } from '../time/profile.ts';
import { weekAtOffset, weekSeconds } from '../time/week.ts';
import { BestHour } from './best-hour.ts';

const hour = 3600;
const day = 86_400;
/** Monday, 6 November 2023, 00:00 UTC. */
const monday = 1_699_228_800;

/** A week learned from half-hourly looks: nine changes in ten come between 9 and 17 o'clock. */
function officeWeek(): WeekShape {
  const week = new WeekShape();
  for (let at = monday; at < monday + 40 * weekSeconds; at += hour / 2) {
    const busy = Math.floor((at % day) / hour) >= 9 && Math.floor((at % day) / hour) < 17;
    week.learn(at, at + hour / 2, 0.1, busy ? 0.27 : 0.015);
  }
  return week;
}

test('a week begins on Monday', () => {
  expect([hourOfWeek(monday), hourOfWeek(monday + 25 * hour), hourOfWeek(monday - 1)]).toEqual([0, 25, 167]);
});

/** Loss and price of looks over ten weeks, for a page that changes once in ten days on average. */
function costOf(week: WeekShape, price: number, next: (last: number) => number): number {
  let cost = 0;
  for (let last = monday; last < monday + 10 * weekSeconds;) {
    const look = next(last);
    for (let t = last + 450; t < look; t += 900) cost += (900 * week.between(last, t)) / (10 * day);
    cost += price;
    last = look;
  }
  return cost;
}

test('a steady page costs what the steady schedule costs, and less than even looks', () => {
  const week = officeWeek();
  const hours = new BestHour(week);
  const breaks = Array.from({ length: 169 }, (_, h) => h * hour);
  const steady = steadyShape(weekAtOffset(profile(breaks, week.values, weekSeconds), 0), constant(1));
  const rate = 1 / (10 * day);
  for (const gap of [0.5 * day, 0.9 * day, 1.3 * day, 2 * day]) {
    const cost = (rate * gap ** 2) / 2;
    const page = { weekSay: 1, mean: rate, even: rate, extra: 0, cost };
    const ours = costOf(week, cost, (last) => hours.after({ ...page, last }, last + hour, last + gap));
    const best = costOf(week, cost, (last) => steady.next(last, cost / rate));
    expect(ours).toBeLessThan(1.03 * best);
    expect(ours).toBeLessThan(costOf(week, cost, (last) => last + gap));
    const pressed = hours.after({ ...page, last: monday, extra: 5 * rate * gap }, monday + 4 * hour, monday + 3 * hour);
    expect(pressed).toBe(monday + 4 * hour);
  }
});

test('where only importance differs, looks come before the hours that count', () => {
  const hours = new BestHour(new WeekShape(), (t) => (t % day >= 9 * hour && t % day < 17 * hour ? 8 : 0.1));
  expect(hours.matters(0, day)).toBe(true);
  expect(new BestHour(new WeekShape()).matters(0, day)).toBe(false);
  const rate = 1 / (10 * day);
  const last = monday + 9 * hour;
  const page = { last, weekSay: 0, mean: rate, even: rate, extra: 0, cost: (rate * hours.usual * day ** 2) / 2 };
  const best = hours.after(page, last, last + day);
  expect((best % day) / hour).toBeGreaterThan(6);
  expect((best % day) / hour).toBeLessThan(13);
});
