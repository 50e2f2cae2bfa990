import { expect, test } from 'vitest';
import { mainText } from './main-text.ts';

const story = Array.from(
  { length: 6 },
  (_, i) => `<p>Paragraph ${i} of a story that is long enough to be one, with commas, and with people who read it.</p>`,
).join('');

test('a page without html and body around it has a main text all the same', () => {
  expect(mainText(`<title>News</title><main><article><h1>Today</h1>${story}</article></main>`)?.text).toContain(
    'Paragraph 5',
  );
});

test.each(['', '<', '<frameset><frame></frameset>', '<svg><p>x', '<table><tr><td>', '\0', '<template><body>'])(
  '%j is no accident',
  (source) => {
    expect(() => mainText(source)).not.toThrow();
  },
);
