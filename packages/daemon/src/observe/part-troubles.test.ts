import { expect, test } from 'vitest';
import { VirtualClock } from '../simulation/virtual-clock.ts';
import { PartTroubles } from './part-memory.ts';

const hourMs = 3_600_000;

test('a part that has failed at every look for a day is missing for good, and not one that came in between', async () => {
  const clock = new VirtualClock(0);
  const troubles = new PartTroubles(clock);
  const fails = async (atHour: number): Promise<boolean> => {
    await clock.runUntil(atHour * hourMs);
    return troubles.isLasting('/app.js');
  };
  expect([await fails(0), await fails(12), await fails(23), await fails(24)]).toEqual([false, false, false, true]);
  troubles.forget('/app.js');
  // Two failures, however far apart, may be chance.
  expect([await fails(25), await fails(60), await fails(61)]).toEqual([false, false, true]);
});
