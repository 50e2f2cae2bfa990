import { expect, test } from 'vitest';
import { delayColumn } from './delay-column.ts';

test('delays are hours, or seconds where all are short, and have no more digits than they can be read with', () => {
  const hours = delayColumn([347.4, 0.026_69, 0.000_068_23]);
  expect([hours.unit, ...[347.4, 0.026_69, 0.000_068_23].map(hours.shown)]).toEqual([
    'h',
    '347.4',
    '0.02669',
    '0.000068',
  ]);
  const seconds = delayColumn([0.000_068_23, 0.002]);
  expect([seconds.unit, seconds.shown(0.000_068_23), seconds.shown(0.002)]).toEqual(['s', '0.2456', '7.200']);
});
