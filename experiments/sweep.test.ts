import { expect, test } from 'vitest';
import { defaultWorld, sweepTable } from './sweep.ts';

test('on the mean of three seeds a planned sweep ends sooner than in given, random and greedy order', async () => {
  const rows = await sweepTable(defaultWorld, [1, 2, 3]);
  const hours = new Map(rows.map((row) => [row.order, row.hours]));
  const planned = hours.get('planned')!;
  expect(planned).toBeLessThan(0.8 * hours.get('as given')!);
  expect(planned).toBeLessThan(0.95 * hours.get('random')!);
  expect(planned).toBeLessThan(0.95 * hours.get('greedy (fastest now)')!);
});
