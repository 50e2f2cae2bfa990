import { expect, test } from 'vitest';
import type { Detection } from '../../values/change.ts';
import { watched } from '../watched.oracle.ts';
import type { Case, Expected } from './case.ts';
import { documents } from './documents.ts';
import { lists } from './lists.ts';
import { news } from './news.ts';
import { shop } from './shop.ts';
import { states } from './states.ts';

const corpus: readonly Case[] = [...news, ...shop, ...lists, ...states, ...documents];

function said(detection: Detection): Expected {
  switch (detection.kind) {
    case 'first':
      return { say: 'first' };
    case 'changed':
      return detection.quiet === undefined
        ? { say: 'change', words: detection.summary, count: detection.count }
        : { say: 'quiet', why: detection.quiet };
    case 'unchanged':
      return detection.late ? { say: 'late', words: detection.late.summary } : { say: 'nothing' };
    case 'unreadable':
      return { say: 'trouble', code: detection.fault.code, again: detection.again };
  }
}

test('the corpus is large enough to mean something', () => {
  const pairs = corpus.reduce((sum, { looks }) => sum + looks.length - 1, 0);
  expect(corpus.length).toBeGreaterThanOrEqual(50);
  expect(pairs).toBeGreaterThanOrEqual(50);
  expect(new Set(corpus.map(({ name }) => name)).size).toBe(corpus.length);
});

test.each(corpus.map((story) => [story.name, story] as const))('%s', async (_name, story) => {
  const look = watched(story.select, story.options);
  for (const [index, { body, expect: expected, ...at }] of story.looks.entries()) {
    const { detection } = await look(body, { ...(story.mediaType ? { mediaType: story.mediaType } : {}), ...at });
    const heard = said(detection);
    const place = `look ${index + 1}`;
    if (expected.say === 'change' || expected.say === 'late') {
      expect(heard, place).toMatchObject({
        say: expected.say,
        words: expect.stringContaining(expected.words) as string,
      });
      if (expected.say === 'change' && expected.count !== undefined)
        expect(heard, place).toMatchObject({ count: expected.count });
    } else if (expected.say === 'quiet') {
      expect(heard, place).toMatchObject({ say: 'quiet', why: expect.stringContaining(expected.why) as string });
    } else expect(heard, place).toEqual(expected);
  }
});
