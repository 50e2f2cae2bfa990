import { expect, test } from 'vitest';
import { siteSettings } from './site-rules.ts';

const hourMs = 3_600_000;

test('what a site is allowed: spacing, connections, a cap, headers, and its hours', () => {
  const rulesOf = siteSettings({
    'Shop.example': { spacing: '5s', connections: 2, atMost: '30/hour', headers: { cookie: 'a=b' } },
    'slow.example': { atMost: '0.5/hour' },
    'office.example': { hours: ['09:00-17:00 UTC'], quiet: ['12:00-13:00 UTC'] },
  });
  expect(rulesOf('shop.example')).toEqual({
    spacingMs: 5_000,
    connections: 2,
    cap: { count: 30, periodMs: hourMs },
    headers: { cookie: 'a=b' },
  });
  expect(rulesOf('slow.example')).toEqual({ cap: { count: 1, periodMs: 2 * hourMs } });
  expect(rulesOf('other.example')).toBeUndefined();
  const office = rulesOf('office.example')!.quietUntilMs!;
  const at = (hour: number): number => Date.UTC(2026, 0, 5, hour);
  expect([8, 10, 12, 16, 18].map((hour) => office(at(hour)))).toEqual([
    at(9),
    undefined,
    at(13),
    undefined,
    at(24 + 9),
  ]);
});
