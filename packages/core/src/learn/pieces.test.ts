import fc from 'fast-check';
import { expect, test } from 'vitest';
import { breakPrice, choosePieces } from './pieces.ts';

const likelihood = (n: number, t: number): number => (n > 0 ? n * (Math.log(n / t) - 1) : 0);

/** What a cut is worth, by the definition. */
function worth(
  pieceOf: ArrayLike<number>,
  counts: number[],
  exposure: number[],
  price: number,
  circle: boolean,
): number {
  const n: number[] = [];
  const t: number[] = [];
  let breaks = 0;
  counts.forEach((count, i) => {
    const piece = pieceOf[i];
    n[piece] = (n[piece] ?? 0) + count;
    t[piece] = (t[piece] ?? 0) + exposure[i];
    const before = i > 0 ? pieceOf[i - 1] : circle ? pieceOf[counts.length - 1] : undefined;
    if (before !== undefined && before !== piece) breaks++;
  });
  return n.reduce((sum, count, piece) => sum + likelihood(count, t[piece]), 0) - breaks * price;
}

/** Every way of cutting, as the number of each cell's piece. */
function* cuts(cells: number, circle: boolean): Generator<number[]> {
  for (let set = 0; set < 1 << (cells - 1); set++) {
    for (const wrapped of circle ? [false, true] : [false]) {
      let piece = 0;
      const pieceOf = Array.from({ length: cells }, (_, i) => (i > 0 && (set >> (i - 1)) & 1 ? ++piece : piece));
      // Where the ends of a circle hang together the first piece is the last one.
      yield wrapped ? pieceOf.map((p) => (p === 0 ? piece : p)) : pieceOf;
    }
  }
}

test('no cut of a line or a circle is worth more, as trying all shows', () => {
  const cell = fc.record({ count: fc.nat(9), time: fc.integer({ min: 0, max: 4 }) });
  fc.assert(
    fc.property(
      fc.array(cell, { minLength: 1, maxLength: 7 }),
      fc.double({ min: 0, max: 3, noNaN: true }),
      fc.boolean(),
      (drawn, price, circle) => {
        // Nobody sees a change without spending time.
        const exposure = drawn.map(({ time, count }) => (count > 0 ? Math.max(1, time) : time));
        const counts = drawn.map(({ count }) => count);
        const best = Math.max(
          ...[...cuts(counts.length, circle)].map((cut) => worth(cut, counts, exposure, price, circle)),
        );
        expect(worth(choosePieces(counts, exposure, price, circle), counts, exposure, price, circle)).toBeCloseTo(
          best,
          9,
        );
      },
    ),
    { seed: 11, numRuns: 400 },
  );
});

test('a night that goes over the end of the circle is one piece, on a line it is two', () => {
  const counts = Array.from({ length: 24 }, (_, hour) => (hour >= 8 && hour < 20 ? 60 : 5));
  const exposure = counts.map(() => 1);
  const price = breakPrice(24, 780);
  expect(new Set(choosePieces(counts, exposure, price, true)).size).toBe(2);
  const line = choosePieces(counts, exposure, price, false);
  expect([line[0], line[7], line[8], line[19], line[20], line[23]]).toEqual([0, 0, 1, 1, 2, 2]);
});
