import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { needsTexts, parseExpression } from './expression.ts';
import { matches, type Told } from './match.ts';

const change: Told = {
  pageId: 'p1',
  url: 'https://shop.example.com/kettles/copper',
  site: 'example.com',
  title: 'Copper kettle',
  tags: ['prices', 'Kitchen'],
  kind: 'changed',
  atMs: 0,
  count: 3,
  summary: '€ 20 → € 18',
};
const texts = { added: 'now in stock at € 18', removed: '€ 20' };

function holds(text: string, told = change): boolean {
  const parsed = parseExpression(text);
  if (parsed.kind === 'wrong') throw new Error(parsed.sentence);
  return matches(parsed.expression, told, texts);
}

test.each([
  '',
  'site = example.com',
  'site = EXAMPLE.com and tag = prices',
  'tag in (laws, kitchen)',
  'not tag = laws',
  'tag != laws',
  'url ~ */kettles/*',
  'url ~ "/kettles/"',
  'page = p1',
  'added ~ "in stock"',
  'added ~ /in\\s+STOCK/i',
  'removed ~ 20 and not removed ~ 18',
  '"in stock"',
  'kettle',
  'size > 20 and size <= 24',
  'count >= 3 and count < 4',
  'kind = changed or kind = gone',
  'kind = gone or (site = example.com and (tag = laws or count = 3))',
  'NOT kind = trouble AND title ~ copper',
  'summary !~ "30"',
])('%s holds', (text) => expect(holds(text)).toBe(true));

test.each([
  'site = shop.example.com',
  'tag = kit',
  'tag in (laws)',
  'url ~ */cups/*',
  'added ~ 20',
  'size > 24',
  'not kettle',
  'kind = gone or kind = trouble and site = example.com',
  'added ~ /^stock/',
])('%s does not hold', (text) => expect(holds(text)).toBe(false));

test('a page that moved is heard of by who waits for changes where it says something else there', () => {
  const moved: Told = { ...change, kind: 'moved' };
  const both: Told = { ...moved, fromVersion: 1, toVersion: 2 };
  expect(['kind = moved', 'kind = changed', 'kind != changed'].map((text) => holds(text, moved))).toEqual([
    true,
    false,
    true,
  ]);
  expect(['kind = moved', 'kind = changed', 'kind != changed'].map((text) => holds(text, both))).toEqual([
    true,
    true,
    false,
  ]);
});

describe('errors say where', () => {
  test.each([
    ['site =', 7, 'a value is expected at the end'],
    ['site = a b', 10, '"and" or "or" is expected before "b"'],
    ['sight = a', 1, '"sight" is no field'],
    ['kind = changd', 8, '"changd" is no kind of change'],
    ['kind in (gone, back)', 16, '"back" is no kind of change'],
    ['(site = a', 10, '")" is expected for the "(" at 1'],
    ['size > many', 8, 'size needs a number'],
    ['size ~ 3', 6, 'size is a number'],
    ['tag < 3', 5, 'tag is a text'],
    ['tag in a', 8, '"in" needs a list'],
    ['tag in (a', 10, '"," or ")" is expected'],
    ['a and', 6, 'a condition'],
    ['added ~ /(/', 9, 'not valid'],
    ['x = "open', 5, 'does not end'],
    ['and', 1, ''],
  ])('%s', (text, at, words) => {
    const parsed = parseExpression(text);
    if (text === 'and') return expect(parsed.kind).toBe('parsed');
    return expect(parsed).toMatchObject({
      kind: 'wrong',
      at: at - 1,
      sentence: expect.stringContaining(words) as string,
    });
  });
});

test('any text is an expression or a sentence about it, never an exception', () => {
  const word = fc.constantFrom(
    'site',
    'tag',
    'and',
    'or',
    'not',
    '(',
    ')',
    '=',
    '~',
    '/a/',
    '"x"',
    'in',
    ',',
    '3',
    '<',
    'size',
    '!',
    '/',
    '\\',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary', maxLength: 40 }),
        fc.array(word, { maxLength: 12 }).map((list) => list.join(' ')),
      ),
      (text) => {
        const parsed = parseExpression(text);
        if (parsed.kind === 'wrong') expect(parsed.at).toBeLessThanOrEqual(text.length);
        else expect(typeof matches(parsed.expression, change, texts)).toBe('boolean');
      },
    ),
    { seed: 5, numRuns: 400 },
  );
});

test('an expression that backtracks for ever is stopped and does not match', () => {
  const parsed = parseExpression('added ~ /(a+)+$/');
  if (parsed.kind === 'wrong') throw new Error(parsed.sentence);
  expect(matches(parsed.expression, change, { added: `${'a'.repeat(60)}b`, removed: '' })).toBe(false);
});

test('texts are asked for only where words or sizes matter', () => {
  const needs = (text: string) => {
    const parsed = parseExpression(text);
    return parsed.kind === 'parsed' && needsTexts(parsed.expression);
  };
  expect(['site = a', 'tag = b or count > 2', '', 'added ~ x', 'not (size > 3)'].map(needs)).toEqual([
    false,
    false,
    false,
    true,
    true,
  ]);
});
