import { expect, test } from 'vitest';
import { random } from '../simulate/random.ts';
import { FairOrder } from './fair-order.ts';

test('every page gets its turn within the stated time, however costly', () => {
  const next = random(3);
  const times = Array.from({ length: 30 }, (_, i) => (i === 7 ? 500 : 0.5 + next()));
  const longestWait = (share: number, patienceSeconds: number): number[] => {
    const order = new FairOrder({ share, patienceSeconds });
    const lookedAt = new Float64Array(30);
    const longest: number[] = Array<number>(30).fill(0);
    times.forEach((_, page) => order.waits(page, 0));
    let now = 0;
    while (now < 24_000) {
      times.forEach((time, page) => {
        order.put(page, { probability: 1 - Math.exp(-(now - lookedAt[page]!) / 50), time, benefit: 1 });
      });
      const page = order.next(now);
      longest[page] = Math.max(longest[page]!, now - lookedAt[page]!);
      order.fetched(page, times[page]!, now);
      now += times[page]!;
      lookedAt[page] = now;
      order.waits(page, now);
    }
    return longest.map((wait, page) => Math.max(wait, now - lookedAt[page]!));
  };
  const round = times.reduce((a, b) => a + b, 0);
  expect(Math.max(...longestWait(0.2, 0))).toBeLessThanOrEqual(round / 0.2 + 500);
  expect(Math.max(...longestWait(0.2, 2000))).toBeLessThanOrEqual(2000 + round / 0.2 + 500);
  // Without the share the dear page starves.
  expect(longestWait(0, 1e9)[7]).toBeGreaterThan(23_000);
});

test('the order follows what is believed, once it has drifted', () => {
  const order = new FairOrder({ share: 0, patienceSeconds: Infinity, driftMax: 1.05 });
  const task = (probability: number, time = 1) => ({ probability, time, benefit: 1 });
  [0.9, 0.5, 0.1].forEach((probability, page) => order.put(page, task(probability)));
  expect(order.next(0)).toBe(0);
  order.put(1, task(0.51));
  expect(order.next(0)).toBe(0);
  order.put(0, task(0.9, 4));
  expect(order.next(0)).toBe(1);
  order.put(2, task(0.1, 0.05));
  expect(order.next(0)).toBe(2);
});
