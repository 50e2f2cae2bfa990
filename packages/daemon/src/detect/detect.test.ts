import { expect, test } from 'vitest';
import type { Select } from '../values/page.ts';
import { detect, type DetectInput } from './detect.ts';
import { watched } from './watched.oracle.ts';

const page = (inner: string) => `<!doctype html><html><head><title>Shop</title></head><body>${inner}</body></html>`;

test.each<[Select, string, string, string]>([
  [{ kind: 'css', expression: '.price' }, 'text/html', page('<p class=price>12 €</p><p>x</p>'), '12 €'],
  [{ kind: 'xpath', expression: '//p[@class="price"]' }, 'text/html', page('<p class=price>12 €</p><p>x</p>'), '12 €'],
  [{ kind: 'xpath', expression: 'count(//p)' }, 'text/html', page('<p>1<p>2'), '2'],
  [{ kind: 'xpath', expression: '//a/@href' }, 'text/html', page('<a href="/x">x</a>'), '/x'],
  [{ kind: 'text' }, 'text/html', page('<h1>A</h1><script>no</script><p>b <b>c</b></p>'), 'A\nb c'],
  [{ kind: 'links' }, 'text/html', page('<a href="/x?utm_source=a">x</a>'), 'x <https://example.com/x>'],
  [{ kind: 'regexp', expression: 'v(\\d+)' }, 'text/plain', 'v12 and v13', '12\n13'],
  [{ kind: 'jsonpath', expression: '$.a[*].b' }, 'application/json', '{"a":[{"b":1},{"b":2}]}', '1\n2'],
  [{ kind: 'jsonpath', expression: '$.a' }, 'application/json', '{"a":[{"id":1,"b":1}]}', '{"b":1,"id":1}'],
  [{ kind: 'jq', expression: '.a | map(.b) | add' }, 'application/json', '{"a":[{"b":1},{"b":2}]}', '3'],
  [
    { kind: 'whole' },
    'application/json',
    '{"b":1,"a":{"d":2,"c":3}}',
    '{\n  "a": {\n    "c": 3,\n    "d": 2\n  },\n  "b": 1\n}',
  ],
])('%j selects', async (select, mediaType, body, text) => {
  const { detection } = await watched(select)(body, { mediaType });
  expect(detection).toMatchObject({ kind: 'first', projection: { text } });
});

test('the same body again is unchanged and writes nothing', async () => {
  const look = watched({ kind: 'text' });
  const first = await look(page('<p>one'));
  const second = await look(page('<p>one'));
  expect(second.detection).toEqual({ kind: 'unchanged' });
  expect(second.state).toBe(first.state);
});

test('a change is told with what changed', async () => {
  const look = watched({ kind: 'text' });
  await look(page('<p>The fee is ten euros.'));
  const { detection } = await look(page('<p>The fee is twelve euros.'));
  expect(detection).toMatchObject({ kind: 'changed', count: 1, summary: 'ten → twelve' });
});

test('where the version before was told, it is read once and told from', async () => {
  const input = (inner: string): DetectInput => ({
    select: { kind: 'text' },
    options: {},
    body: new TextEncoder().encode(page(inner)),
    mediaType: 'text/html',
    url: 'https://example.com/',
    atMs: 0,
  });
  const { state } = await detect(input('<p>The fee is ten euros.'));
  let read = 0;
  const last = () => {
    read++;
    return 'The fee is ten euros.';
  };
  const { detection } = await detect({
    ...input('<p>The fee is twelve euros.'),
    previous: { state, lookedAtMs: 0, last },
  });
  expect(detection).toMatchObject({ kind: 'changed', summary: 'ten → twelve' });
  expect(detection).not.toHaveProperty('quiet');
  expect(read).toBe(1);
});

test('a filter that never ends is stopped and said', async () => {
  const { detection } = await watched({ kind: 'jq', expression: '[range(1e12)] | length' })('{}', {
    mediaType: 'application/json',
  });
  expect(detection).toMatchObject({ kind: 'unreadable', fault: { code: 'selector-slow' } });
});

test('an expression that backtracks for ever is stopped and said', async () => {
  const look = watched({ kind: 'regexp', expression: '(a+)+$' });
  expect((await look(`${'a'.repeat(60)}b`, { mediaType: 'text/plain' })).detection).toMatchObject({
    kind: 'unreadable',
    fault: { code: 'selector-slow' },
  });
});

test('a page that begins with many comments is read at once', { timeout: 5_000 }, async () => {
  const { detection } = await watched({ kind: 'text' })(`${'<!---->'.repeat(500)}<p>text`);
  expect(detection).toMatchObject({ kind: 'first', projection: { text: 'text' } });
});
