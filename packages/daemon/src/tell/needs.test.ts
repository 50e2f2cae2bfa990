import { expect, test } from 'vitest';
import type { Digest, Subscription } from '../values/subscription.ts';
import { parseExpression } from './expression.ts';
import { concerns, needsOf } from './needs.ts';

const page = { id: 'p1', url: 'https://a.example/x', site: 'a.example', tags: ['laws'] };

function parsed(text: string) {
  const result = parseExpression(text);
  if (result.kind === 'wrong') throw new Error(result.sentence);
  return result.expression;
}

test('what depends on the page is decided, what depends on the change is left open', () => {
  const said = (text: string) => concerns(parsed(text), page);
  expect(['', 'site = a.example', 'tag = laws and url ~ */x', 'not tag = prices'].map(said)).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(['tag = prices', 'site = b.example and size > 3', 'not site = a.example'].map(said)).toEqual([
    false,
    false,
    false,
  ]);
  expect(['size > 3', 'tag = laws and added ~ fee', 'tag = prices or kind = gone', 'not added ~ x'].map(said)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test('the most urgent of those it concerns decides, and words make changes perishable', () => {
  const entry = (match: string, digest?: Digest) => ({
    expression: parsed(match),
    subscription: {
      id: 's',
      createdAtMs: 0,
      match,
      deliver: { kind: 'slack', url: 'https://x/' },
      zone: 'UTC',
      paused: false,
      ...(digest ? { digest } : {}),
    } satisfies Subscription,
  });
  const daily: Digest = { kind: 'daily', at: ['08:00'] };
  expect(needsOf(page, [])).toEqual({});
  expect(needsOf(page, [entry('tag = prices')])).toEqual({});
  expect(needsOf(page, [entry('', daily)])).toEqual({});
  const hourly = needsOf(page, [entry('', daily), entry('', { kind: 'hourly' })]).urgency as { rate: number };
  const atOnce = needsOf(page, [entry('', { kind: 'hourly' }), entry('tag = laws')]).urgency as { rate: number };
  expect(atOnce.rate ** 6).toBeCloseTo(0.5);
  expect(hourly.rate).toBeGreaterThan(atOnce.rate);
  expect(needsOf(page, [entry('added ~ fee', daily)])).toEqual({ life: { kind: 'overwrite' } });
});
