import { expect, test } from 'vitest';
import { random } from '../simulate/random.ts';
import { WeekShape } from './week-shape.ts';

const hour = 3600;
const day = 86_400;
const monday = 4 * day;
const speed = 3;

/** Hourly looks at a page that changes about once a working day, in the eight hours from `opening` on. */
function watch(week: WeekShape, fromDay: number, days: number, opening: number): void {
  const next = random(fromDay + 1);
  for (let h = 24 * fromDay; h < 24 * (fromDay + days); h++) {
    const from = monday + h * hour;
    const works = Math.floor(h / 24) % 7 < 5 && (h - opening) % 24 < 8;
    const even = 5 / 168;
    const found = works && next() < 1 / 8 ? 1 : 0;
    week.learn(from, from + hour, even, found);
    week.weigh(speed, even, (even * week.between(from, from + hour)) / hour, found);
  }
}

const at = (week: WeekShape, hourOfDay: number): number => week.at(monday + (7 + 2) * day + (hourOfDay + 0.5) * hour);

test('a page of one change a day shows its hours within months, and shows that they are to be believed', () => {
  const week = new WeekShape();
  watch(week, 0, 120, 8);
  expect(at(week, 12)).toBeGreaterThan(2.5);
  expect(at(week, 0)).toBeLessThan(0.4);
  expect(week.say(speed)).toBeGreaterThan(0.9);
  expect(week.say(0)).toBe(0.5);
});

test('when the people who change a page move to the other side of the world, its hours follow', () => {
  const week = new WeekShape();
  watch(week, 0, 700, 0);
  watch(week, 700, 210, 12);
  expect(at(week, 16)).toBeGreaterThan(2);
  expect(at(week, 16)).toBeGreaterThan(2 * at(week, 4));
});

test('changes that keep no hours leave the week without a say', () => {
  const week = new WeekShape();
  const next = random(5);
  for (let h = 0; h < 24 * 1000; h++) {
    const from = monday + h * hour;
    const found = next() < 1 / 24 ? 1 : 0;
    week.learn(from, from + hour, 1 / 24, found);
    week.weigh(speed, 1 / 24, week.between(from, from + hour) / hour / 24, found);
  }
  for (let h = 0; h < 24; h++) expect(Math.abs(week.say(speed) * (at(week, h) - 1))).toBeLessThan(0.35);
});
