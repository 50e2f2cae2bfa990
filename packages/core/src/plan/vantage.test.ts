import { expect, test } from 'vitest';
import { random } from '../simulate/random.ts';
import {
  batchForObserver,
  breakEven,
  chooseVantage,
  directRound,
  type Link,
  moveObserver,
  remoteTimes,
  type VantageDocument,
  type VantagePoint,
} from './vantage.ts';

const link = (latency: number, secondsPerByte: number): Link => ({ latency, secondsPerByte });
const document: VantageDocument = { bytes: 100_000, changedShare: 0.1, compression: 0.3 };
const observer = { bytes: 50_000, bytesPerDocument: 0 };
const home = link(0.2, 1e-5);
const near: VantagePoint = { fromHome: link(0.2, 1e-5), toDocuments: link(0.01, 1e-7), startup: 2 };

test('(41) and (42) by hand', () => {
  expect(directRound(home, [document])).toBeCloseTo(2 * 0.2 + 1, 12);
  const remote = remoteTimes(near, observer, [document]);
  expect(remote.start).toBeCloseTo(0.2 + 0.5 + 2, 12);
  expect(remote.round).toBeCloseTo(0.02 + 0.01 + 0.1 * (0.2 + 0.3), 12);
});

test('without latency and startup the break-even is where (43) turns', () => {
  const next = random(1);
  const rate = () => 10 ** (-9 + 6 * next());
  for (let trial = 0; trial < 500; trial++) {
    const [ab, ac, cb, changedShare, compression, weight] = [rate(), rate(), rate(), next(), next(), 100 * next()];
    const bytes = 10_000;
    const point = { fromHome: link(0, ac), toDocuments: link(0, cb), startup: 0 };
    const documents = [{ bytes, changedShare, compression }];
    const remote = remoteTimes(point, { bytes: weight * bytes, bytesPerDocument: 0 }, documents);
    const turn = breakEven(directRound(link(0, ab), documents), remote);
    const holds = (k: number) => 1 > (ac / ab) * (weight / k + changedShare * compression) + cb / ab;
    if (turn === undefined) expect(holds(1e12)).toBe(false);
    else {
      expect(holds(turn * (1 + 1e-6))).toBe(true);
      if (turn > 1) expect(holds((turn - 1) * (1 - 1e-6))).toBe(false);
    }
  }
});

test('the remote side wins from the break-even on and not before', () => {
  const turn = breakEven(directRound(home, [document]), remoteTimes(near, observer, [document]))!;
  const choose = (rounds: number) => chooseVantage(home, [near], observer, [document], rounds).point;
  expect(choose(turn - 1)).toBeUndefined();
  expect(choose(turn)).toBe(0);
  expect(choose(turn + 1000)).toBe(0);
  expect(choose(0)).toBeUndefined();
});

test('an observer that is no nearer never pays', () => {
  const far = { ...near, toDocuments: home };
  expect(breakEven(directRound(home, [document]), remoteTimes(far, observer, [document]))).toBeUndefined();
});

test('a start that costs nothing pays from the first observation', () => {
  expect(breakEven(2, { start: 0, round: 1 })).toBe(1);
  expect(breakEven(2, { start: 1, round: 1 })).toBe(2);
});

test('of several points the quickest is taken for as many rounds as there are', () => {
  const quickToReach = { ...near, startup: 0, toDocuments: link(0.1, 1e-6) };
  const points = [quickToReach, near];
  const at = (rounds: number) => chooseVantage(home, points, observer, [document], rounds);
  expect(at(3).point).toBe(0);
  expect(at(1000).point).toBe(1);
  expect(at(1000).time).toBe(Math.min(at(1000).direct, ...at(1000).remote));
});

test('an observer moves when the rounds left pay for the trip, and a lighter one sooner', () => {
  const worse = { ...near, toDocuments: link(0.05, 1e-6) };
  const trip = link(0.1, 1e-5);
  const heavy = { bytes: 50_000, bytesPerDocument: 20_000 };
  const plan = moveObserver(worse, near, trip, heavy, [document], 10);
  expect(plan.breakEven).toBeGreaterThan(10);
  expect(plan.move).toBe(false);
  expect(moveObserver(worse, near, trip, heavy, [document], plan.breakEven!).move).toBe(true);
  expect(moveObserver(worse, near, trip, heavy, [document], plan.breakEven! - 1).move).toBe(false);
  const light = moveObserver(worse, near, trip, { bytes: 50_000, bytesPerDocument: 32 }, [document], 10);
  expect(light.breakEven!).toBeLessThan(plan.breakEven!);
  expect(moveObserver(near, worse, trip, heavy, [document], 1e9).move).toBe(false);
});

test('a batch takes exactly the documents that pay, all subsets tried', () => {
  const carrier = { bytes: 50_000, bytesPerDocument: 4_000 };
  const documents = [100, 3_000, 50_000, 400_000, 20_000, 1_000].map((bytes, d) => ({
    bytes,
    changedShare: d % 2 === 0 ? 1 : 0.05,
    compression: d === 2 ? 1.5 : 0.4,
  }));
  for (const rounds of [0, 1, 2, 5, 20]) {
    let best = 0;
    for (let set = 0; set < 64; set++) {
      const inside = documents.filter((_, d) => (set >> d) & 1);
      const { start, round } = remoteTimes(near, carrier, inside);
      best = Math.max(best, rounds * directRound(home, inside) - start - rounds * round);
    }
    const batch = batchForObserver(home, near, carrier, documents, rounds);
    expect(batch?.saves ?? 0).toBeCloseTo(best, 9);
  }
});
