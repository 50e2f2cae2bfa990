/** Pages that change at a moment of their own: how soon their changes are found, and whether what is said of their copies comes true. */
import { expect, test } from 'vitest';
import { kinOf } from '../model/kin.ts';
import { random } from '../simulate/random.ts';
import { replay } from '../simulate/replay.ts';
import { scoreProbes } from '../simulate/score.ts';
import { type Split, probesAllowed, splitTrace } from '../simulate/split.ts';
import { readTraceCsv } from '../simulate/trace.ts';
import { policies } from './catalog.ts';
import { RevisitPolicy } from './revisit.ts';

const day = 86_400;
const begin = 1_700_000_000;

/** Clocks of this period and jitter that leave some of their cycles out, beside pages that change at any time. */
function world(period: number, jitter: number, off: number, seed: number): Split {
  const next = random(seed);
  const days = period > day ? 700 : 240;
  const rows: [string, number][] = [];
  for (let i = 0; i < 20; i++) {
    const phase = next() * period;
    for (let k = 0; k * period < days * day; k++)
      if (next() >= off) rows.push([`clock${i}.org/a`, begin + k * period + phase + jitter * (next() - 0.5)]);
  }
  for (let i = 0; i < 30; i++) {
    const wait = day / (0.3 * 10 ** next());
    for (let t = begin; t < begin + days * day;) rows.push([`any${i}.org/a`, (t += -Math.log(1 - next()) * wait)]);
  }
  const whole = new Map(rows.map(([name, t]) => [`${name},${Math.round(t)}`, Math.round(t)]));
  const lines = [...whole].sort((a, b) => a[1] - b[1]).map(([line]) => line);
  const outcome = readTraceCsv(`source,unix_seconds\n${lines.join('\n')}\n`);
  if (outcome.kind === 'refused') throw new Error(outcome.sentence);
  return splitTrace(outcome.trace, 0.6 * days * day, 0.4 * days * day);
}

interface Watched {
  /** Mean delay over that of looks at even distances. */
  readonly ratio: number;
  /** The largest error of a tenth of probability with 1,000 looks or more. */
  readonly error: number;
}

function watch(split: Split, looks: number, parts = {}): Watched {
  const allowed = probesAllowed(split, { kind: 'per-change', looks });
  const options = { allowed, told: 1, kin: kinOf(split.names), learn: 'probes', spacingSeconds: 0 } as const;
  const policy = new RevisitPolicy({ parts });
  const bins = Array.from({ length: 10 }, () => ({ count: 0, off: 0 }));
  const audit = (page: number, at: number, changed: boolean): void => {
    const said = policy.belief(page, at).current;
    const bin = bins[Math.min(9, Math.floor(10 * said))]!;
    bin.count++;
    bin.off += said - (changed ? 0 : 1);
  };
  const mine = scoreProbes(split, replay(split, policy, { ...options, audit }).log);
  const even = scoreProbes(split, replay(split, policies['uniform']!.create(1), options).log);
  const errors = bins.filter(({ count }) => count >= 1000).map(({ count, off }) => Math.abs(off / count));
  return { ratio: mine.meanDelayHours / even.meanDelayHours, error: Math.max(...errors) };
}

test.each([
  ['every day, to the second', day, 0, 0],
  ['every day, give or take a quarter of an hour', day, 1800, 0],
  ['five days of seven', day, 600, 2 / 7],
  ['every week', 7 * day, 600, 0],
])('pages that change %s beside others: found sooner, and words about copies come true', (_, period, jitter, off) => {
  const split = world(period, jitter, off, 7);
  for (const looks of [3, 10]) {
    const { ratio, error } = watch(split, looks);
    expect(ratio / watch(split, looks, { rhythm: false }).ratio).toBeLessThan(0.9);
    expect(error).toBeLessThan(0.06);
  }
});

test('pages with a clock are looked at right after it', () => {
  const split = world(day, 60, 0, 3);
  const allowed = probesAllowed(split, { kind: 'per-change', looks: 10 });
  const options = { allowed, told: 1, kin: kinOf(split.names), learn: 'probes', spacingSeconds: 0 } as const;
  const { log } = replay(split, new RevisitPolicy(), options);
  const clocks = split.names.flatMap((name, page) => (name.startsWith('clock') ? [page] : []));
  const looked = split.names.map((): number[] => []);
  for (let i = 0; i < log.length; i++) looked[log.page(i)]!.push(log.at(i));
  const delays = clocks.flatMap((page) =>
    [...split.times[page]!]
      .filter((t) => t > split.testStart && t < split.testEnd - day)
      .map((t) => looked[page]!.find((at) => at >= t)! - t),
  );
  delays.sort((a, b) => a - b);
  expect(delays[Math.floor(delays.length / 2)]).toBeLessThan(120);
  expect(delays[Math.floor(0.95 * delays.length)]).toBeLessThan(900);
});
