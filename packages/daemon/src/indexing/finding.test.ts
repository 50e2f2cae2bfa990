import { expect, test } from 'vitest';
import { contentOf } from './finding.ts';
import type { Look } from '../values/look.ts';
import type { Outcome } from '../values/observation.ts';

const look = (kind: Look['kind'], format: 'text' | 'items' = 'text'): Look =>
  ({ kind, projection: { text: '', format } }) as unknown as Look;
const fetched = (mediaType: string | undefined): Outcome => ({
  kind: 'fetched',
  status: 200,
  body: new Uint8Array(0),
  mediaType,
  charset: undefined,
  validators: {},
});

test('what is new says what kind of thing the page is', () => {
  expect(contentOf(look('first'), fetched('text/html'))).toEqual({ content: 'html' });
  expect(contentOf(look('changed'), fetched('application/pdf'))).toEqual({ content: 'document' });
  expect(contentOf(look('first'), fetched('application/x-unheard-of'))).toEqual({ content: 'unknown' });
});

test('XML that has entries is a feed', () => {
  expect(contentOf(look('first', 'items'), fetched('text/xml'))).toEqual({ content: 'feed' });
  expect(contentOf(look('first'), fetched('text/xml'))).toEqual({ content: 'xml' });
  expect(contentOf(look('first', 'items'), fetched('application/json'))).toEqual({ content: 'json' });
});

test('a look that brought nothing new, or no type, says nothing of it', () => {
  expect(contentOf(look('unchanged'), fetched('text/xml'))).toEqual({});
  expect(contentOf(look('unreadable'), fetched('text/html'))).toEqual({});
  expect(contentOf(look('first'), fetched(undefined))).toEqual({});
  expect(contentOf(look('changed'), { kind: 'gone', status: 410 })).toEqual({});
});
