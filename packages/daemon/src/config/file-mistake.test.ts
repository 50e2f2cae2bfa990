import { expect, test } from 'vitest';
import { readConfigText, settle } from './config.ts';

const sentenceOf = (text: string): string => {
  const read = readConfigText(text, 'revisit.yaml');
  return read.kind === 'wrong' ? read.sentence.replace(/^revisit\.yaml:\d+: /, '') : 'read';
};

const rate = 'a rate such as 600/hour, 2/second or 10000/day, above 0, is expected';
const duration = 'a duration such as 90s, 5m, 2h or 1d is expected';
const hours = 'hours such as "mon-fri 08:00-18:00 Europe/Berlin" or "22:00-06:00" are expected';
const outside = 'a minute of the week outside them';
const oneLine = 'one line without control characters is expected';

test.each([
  ['budget: -1/hour', `budget: "-1/hour" is not allowed; ${rate}`],
  ['budget: 600', `budget: 600 is not allowed; ${rate}`],
  ['spacing: -1s', `spacing: "-1s" is not allowed; ${duration}`],
  ['quiet: ["25:00-26:00"]', `quiet.0: "25:00-26:00" is not allowed; ${hours}`],
  ['quiet: ["00:00-24:00"]', `quiet: ["00:00-24:00"] is not allowed; ${outside} is expected`],
  ['contact: "you@example.org\\nEvil: 1"', `contact: "you@example.org\\nEvil: 1" is not allowed; ${oneLine}`],
  ['contact: "you\\x07"', `contact: "you\\u0007" is not allowed; ${oneLine}`],
  [
    'sites: { a.example: { quiet: ["06:00-22:00", "22:00-06:00"] } }',
    `sites.a.example.quiet: ["06:00-22:00","22:00-06:00"] is not allowed; ${outside} is expected`,
  ],
  [
    'sites: { a.example: { hours: ["mon 08:00-10:00"], quiet: ["07:00-09:00", "mon 09:00-10:00"] } }',
    `sites.a.example.quiet: ["07:00-09:00","mon 09:00-10:00"] is not allowed; ${outside}, within the hours ["mon 08:00-10:00"], is expected`,
  ],
  [
    'pages: [{ url: https://a.example/, options: { discover: { pages: 0 } } }]',
    'pages.0: options.discover.pages is 0; allowed is a whole number from 1 to 1000000',
  ],
  ['quiet: 22:00-06:00', 'quiet: "22:00-06:00" is not allowed; a list is expected'],
  ['sites: { a.example: { atMost: 0/day } }', `sites.a.example.atMost: "0/day" is not allowed; ${rate}`],
  ['sites: { a.example: { hours: [noon] } }', `sites.a.example.hours.0: "noon" is not allowed; ${hours}`],
  [
    'sites: { a.example: { connections: 0 } }',
    'sites.a.example.connections: 0 is not allowed; a whole number from 1 to 64 is expected',
  ],
  ['robots: many', 'robots: "many" is not allowed; a whole number from 1 to 10000 is expected'],
  ['port: .nan', 'port: NaN is not allowed; a whole number from 0 to 65535 is expected'],
  ['keep: { count: 0.5 }', 'keep.count: 0.5 is not allowed; a whole number from 1 on is expected'],
  ['logLevel: loud', 'logLevel: "loud" is not allowed; one of "debug", "info", "warn", "error", "silent" is expected'],
  ['allowCommands: maybe', 'allowCommands: "maybe" is not allowed; true or false is expected'],
  ['sites: [a.example]', 'sites: a list is not allowed; settings by their names are expected'],
  ['pages: [{}]', 'pages.0.url: nothing is not allowed; a text is expected'],
  ['pages: [https://a.example/]', 'pages.0: "https://a.example/" is not allowed; settings by their names are expected'],
  ['pages: [{ url: https://a.example/, weight: 0 }]', 'pages.0.weight: 0 is not allowed; a number above 0 is expected'],
  [
    'pages: [{ url: https://a.example/, select: { css: a, xpath: b } }]',
    'pages.0.select: {css, xpath} is not allowed; a CSS selector, or exactly one of css, xpath, jsonpath, jq, regexp, part is expected',
  ],
  ['pages: [{ url: https://a.example/, urgency: 3 }]', /^pages\.0\.urgency: 3 is not allowed; a text, or settings/],
  ['pages: [{ url: https://a.example/, importance: -1 }]', /^pages\.0\.importance: -1 is not allowed; a number of at/],
])('%s is refused with the field, the value and what is allowed', (text, sentence) => {
  expect(sentenceOf(text)).toEqual(typeof sentence === 'string' ? sentence : expect.stringMatching(sentence));
});

test.each([
  ['smtp: user:hush@mail', 'smtp: its value is not allowed; an address such as smtps://'],
  ['proxy: ftp://user:hush@proxy', 'proxy: its value is not allowed; an address such as http://'],
  ['store: mysql://user:hush@db', 'store: its value is not allowed; an address such as postgres://'],
  ['pages: [{ url: https://a.example/, headers: hush }]', 'pages.0.headers: its value is not allowed; settings by'],
  ['pages: [{ url: https://a.example/, headers: { X: [hush] } }]', 'pages.0.headers.X: its value is not allowed; a'],
  [
    'pages: [{ url: https://a.example/ }, { url: "https://A.example", render: true }]',
    'pages.1: https://a.example/ is pages.0 once more, with other settings',
  ],
  ['pages: [{ url: https://a.example/, headers: { X: a, x: hush } }]', 'each name is expected once'],
  ['sites: { a.example: { headers: { X: "hush\\n" } } }', 'headers.X: a value with a line break is not allowed; one'],
  ['sites: { a.example: { headers: { X: "hush\\x01" } } }', 'headers.X: a value with control characters'],
])('%s is refused without its value, which may be a secret', (text, words) => {
  expect(sentenceOf(text)).toContain(words);
  expect(sentenceOf(text)).not.toContain('hush');
});

test('a flag is named as it was given', () => {
  expect(settle({}, { budget: '-1/hour' })).toEqual({ kind: 'wrong', sentence: `--budget -1/hour: ${rate}` });
  expect(settle({}, { contact: 'a\nb' })).toEqual({ kind: 'wrong', sentence: `--contact "a\\nb": ${oneLine}` });
  for (const [flags, need] of [
    [{ lease: '5s' }, 'store'],
    [{ mandate: '5m' }, 'nats'],
    [{ natsKey: 'k' }, 'nats'],
    [{ natsCa: 'c' }, 'nats'],
  ] as const)
    expect(settle({}, flags)).toMatchObject({ sentence: expect.stringMatching(new RegExp(`--${need} is not given$`)) });
  expect(settle({ store: 'postgres://a@b/c' }, { lease: '5s' }).kind).toBe('read');
  expect(settle({}, { port: 'x' })).toMatchObject({ sentence: expect.stringMatching(/^--port x: a whole number/) });
});
