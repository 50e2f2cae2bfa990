import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { constant } from '../time/profile.ts';
import { type Asks, bestDistance, fadingOf, lossAt, saved } from './fading.ts';
import { staleness } from './staleness.ts';
import { type Life, type Urgency, utilityLoss } from './utility.ts';

const hour = 3600;
const urgency: fc.Arbitrary<Urgency> = fc.oneof(
  fc.record({ kind: fc.constant('decay' as const), rate: fc.double({ min: 0.01, max: 0.99, noNaN: true }) }),
  fc.record({ kind: fc.constant('polynomial' as const), power: fc.constantFrom(0.5, 1, 2, 3.5) }),
);
const life: fc.Arbitrary<Life> = fc.oneof(
  fc.constant({ kind: 'overwrite' as const }),
  fc.record({ kind: fc.constant('changes' as const), count: fc.integer({ min: 1, max: 6 }) }),
);
const asks: fc.Arbitrary<Asks> = fc.oneof(
  urgency.map((given) => ({ urgency: given })),
  life.map((given) => ({ life: given })),
  fc.double({ min: 0.1, max: 0.9, noNaN: true }).map((rate) => ({
    urgency: { kind: 'decay' as const, rate },
    life: { kind: 'overwrite' as const },
  })),
);
const rates = fc.double({ min: 0.01, max: 5, noNaN: true });

describe('changes whose worth fades', () => {
  test('the loss at a distance is the utility loss of such gaps, counted in seconds of waiting', () => {
    fc.assert(
      fc.property(asks, rates, fc.double({ min: 0.01, max: 20, noNaN: true }), (asked, perHour, gapHours) => {
        const page = fadingOf(perHour / hour, 2, asked)!;
        const loss = utilityLoss(
          constant(perHour),
          constant(2),
          asked.urgency ?? { kind: 'uniform' },
          asked.life ?? { kind: 'append' },
          0,
          100,
        );
        // Of a change that waits long all is lost: b over weight × rate is what that counts.
        const lasts = page.b / (2 * (perHour / hour));
        const lost = (loss.gap(0, gapHours) / gapHours / hour) * lasts;
        expect(page.b * lossAt(page.fading, page.a * gapHours * hour)).toBeCloseTo(lost, 7);
      }),
      { seed: 3, numRuns: 300 },
    );
  });

  test('staleness is the share of time out of date, and for short waits all laws with a slope count the wait', () => {
    const stale = fadingOf(0.3, 5, { loss: 'staleness' })!;
    const loss = staleness(constant(0.3), constant(5), 0, 100);
    expect(stale.b * lossAt(stale.fading, stale.a * 7)).toBeCloseTo(loss.gap(0, 7) / 7, 9);
    for (const asked of [
      { urgency: { kind: 'decay', rate: 0.5 } },
      { urgency: { kind: 'polynomial', power: 2 } },
      { life: { kind: 'overwrite' } },
    ] as const) {
      const { fading, a, b } = fadingOf(1 / hour, 3, asked)!;
      // Even gaps of 20 seconds: 3 weighted changes an hour wait 10 seconds each.
      expect((b * lossAt(fading, 20 * a)) / ((3 / hour) * 10)).toBeCloseTo(1, 1);
    }
  });

  test('the best distance is the best: no other costs less, and where no look pays none does', () => {
    fc.assert(
      fc.property(asks, fc.double({ min: -14, max: 1, noNaN: true }), (asked, power) => {
        const { fading } = fadingOf(1 / hour, 1, asked)!;
        const x = 10 ** power;
        const cost = (tau: number): number => lossAt(fading, tau) + (tau === Infinity ? 0 : x / tau);
        const best = bestDistance(fading, x);
        expect(best).toBeGreaterThan(0);
        if (best < Infinity) expect(saved(fading, best) / x).toBeCloseTo(1, 9);
        for (const other of [0.5, 0.9, 1.1, 2, 10].map((factor) => factor * Math.min(best, 1e6)))
          expect(cost(other)).toBeGreaterThanOrEqual(cost(best) * (1 - 1e-7) - 1e-12);
      }),
      { seed: 5, numRuns: 300 },
    );
  });

  test('who asks for nothing of the kind, or for windows, is left to obsolescence', () => {
    expect(fadingOf(1, 1, {})).toBeUndefined();
    expect(fadingOf(0, 1, { loss: 'staleness' })).toBeUndefined();
    expect(fadingOf(1, 1, { urgency: { kind: 'uniform' }, life: { kind: 'append' } })).toBeUndefined();
    expect(
      fadingOf(1, 1, { urgency: { kind: 'window', width: 3 }, life: { kind: 'window', width: 2 } }),
    ).toBeUndefined();
    expect(fadingOf(1, 1, { urgency: { kind: 'decay', rate: 1 } })).toBeUndefined();
    expect(fadingOf(1, 1, { urgency: { kind: 'decay', rate: 0 } })!.a).toBeGreaterThan(0);
  });
});
