import { expect, test } from 'vitest';
import { readConfigText } from './config.ts';
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

const rules = (key: string, rule: string) => readConfigText(`sites:\n  "${key}": ${rule}\n`, 'revisit.yaml');

test.each([
  ['www.example.org', 'example.org'],
  ['*.example.org', 'example.org'],
  ['http://example.org', 'example.org'],
  ['https://www.example.org/news', 'example.org'],
  ['example.org:8080', 'example.org'],
  ['example.org.', 'example.org'],
  ['a.b.example.co.uk', 'example.co.uk'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['[::1]', '::1'],
  ['127.0.0.1:80', '127.0.0.1'],
])('rules for %s would hold for nothing; %s is meant', (key, meant) => {
  expect(rules(key, '{ spacing: 30s }')).toEqual({
    kind: 'wrong',
    sentence: `revisit.yaml:2: sites.${key}: rules are for a whole site; its registrable domain is expected, here ${meant}`,
  });
  expect(rules(meant, '{ spacing: 30s }').kind).toBe('read');
});

test('what names no site at all is refused, and what names one is not', () => {
  for (const key of ['*', '', 'a b'])
    expect(rules(key, '{ spacing: 30s }')).toMatchObject({
      kind: 'wrong',
      sentence: expect.stringContaining('such as example.org') as string,
    });
  for (const key of ['Example.org', 'user.github.io', 'localhost', '10.0.0.7', '2001:db8::1', 'intranet'])
    expect(rules(key, '{ spacing: 30s }').kind, key).toBe('read');
});

test.each([
  ['{ "a b": c }', '"a b" is not allowed; a name is made of'],
  ['{ Host: evil }', '"Host" is not allowed; the connection sets it itself'],
  ['{ X-A: "one\\ntwo" }', 'headers.X-A: a value with a line break is not allowed; one line is expected'],
])('headers of a site that no request can carry are refused: %s', (headers, words) => {
  const read = rules('example.org', `{ headers: ${headers} }`);
  expect(read).toMatchObject({ kind: 'wrong', sentence: expect.stringContaining(words) as string });
  expect(read).toMatchObject({
    sentence: expect.stringMatching(/^revisit\.yaml:2: sites\.example\.org\.headers/) as string,
  });
});
