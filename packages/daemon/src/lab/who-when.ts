/**
 * Who was probed when: the busiest pages' looks and changes over a stretch of the test so short that single looks can be told
 * apart. The stretch is the same for all policies, and of all as long the one with the most changes.
 */
import type { Split } from '@revisit/core';
import type { Plot } from '../reproduce/item.ts';
import type { Compared } from './compare.ts';

const rowsMax = 6;
/** Dots of a plot's width that do not run into each other, with room between them. */
const looksMax = 80;

interface Window {
  readonly from: number;
  readonly to: number;
}

/** `dayZero` where the trace has no dates: time is then told from there. */
export function whoWhen(split: Split, compared: readonly Compared[], dayZero?: number): Plot[] {
  const changes = split.times.map((times) => times.filter((at) => at > split.testStart && at <= split.testEnd));
  const shown = Array.from(changes.keys())
    .toSorted((a, b) => changes[b]!.length - changes[a]!.length || a - b)
    .slice(0, rowsMax);
  const looks = compared.map(({ log }) => {
    const times = new Map(shown.map((page) => [page, [] as number[]]));
    for (let i = 0; i < log.length; i++) times.get(log.page(i))?.push(log.at(i));
    return shown.map((page) => times.get(page)!);
  });
  const changed = shown.map((page) => changes[page]!);
  const window = windowOf(
    split,
    looks.flat(),
    changed.flatMap((times) => Array.from(times)).toSorted((a, b) => a - b),
  );
  const [unit, seconds] = unitOf(window.to - window.from);
  const { origin, x } = axisOf(window, unit, dayZero);
  // The busiest page is the uppermost row.
  const dots = (rows: readonly ArrayLike<number>[], above: number) =>
    rows.flatMap((times, row) =>
      Array.from(times)
        .filter((at) => within(at, window))
        .map((at) => [(at - origin) / seconds, shown.length - 1 - row + above] as const),
    );
  return compared.map(({ policy }, i) => ({
    title: `Who was probed when: ${policy}`,
    x,
    y: shown.length === 1 ? 'the busiest page' : `the ${shown.length} busiest pages`,
    series: [
      { name: 'looks', points: dots(looks[i]!, 0.2), draw: 'dots' },
      { name: 'changes', points: dots(changed, 0.45), draw: 'dots' },
    ],
    xRange: [(window.from - origin) / seconds, (window.to - origin) / seconds],
    yMax: shown.length,
    rowNames: shown.map((page) => split.names[page]!).toReversed(),
  }));
}

/** From where time is counted, and how that is said. */
function axisOf({ from }: Window, unit: string, dayZero: number | undefined): { origin: number; x: string } {
  if (dayZero === undefined)
    return {
      origin: from,
      x: `${unit} after ${new Date(1000 * from).toISOString().slice(0, 19).replace('T', ' ')} UTC`,
    };
  if (unit === 'days') return { origin: dayZero, x: 'days since the first look' };
  const day = Number(((from - dayZero) / 86_400).toFixed(2));
  return { origin: from, x: `${unit}, beginning ${day} days since the first look` };
}

const within = (at: number, { from, to }: Window): boolean => at > from && at <= to;

function windowOf(split: Split, looks: readonly (readonly number[])[], changes: readonly number[]): Window {
  let length = split.testEnd - split.testStart;
  for (;;) {
    const window = busiest(split, changes, length);
    const most = Math.max(0, ...looks.map((times) => times.filter((at) => within(at, window)).length));
    if (most <= looksMax || length < 2) return window;
    length /= 2;
  }
}

/** Of all stretches this long, the one with the most changes, a little before the first of them. */
function busiest({ testStart, testEnd }: Split, changes: readonly number[], length: number): Window {
  let [best, most, end] = [testStart, 0, 0];
  for (let first = 0; first < changes.length; first++) {
    while (end < changes.length && changes[end]! <= changes[first]! + 0.9 * length) end++;
    if (end - first > most) [best, most] = [changes[first]! - 0.1 * length, end - first];
  }
  const from = Math.max(testStart, Math.min(best, testEnd - length));
  return { from, to: from + length };
}

function unitOf(seconds: number): readonly [name: string, seconds: number] {
  if (seconds > 4 * 86_400) return ['days', 86_400];
  if (seconds > 4 * 3600) return ['hours', 3600];
  return seconds > 240 ? ['minutes', 60] : ['seconds', 1];
}
