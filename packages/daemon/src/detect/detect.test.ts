import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { Select } from '../values/page.ts';
import { detect, type DetectInput } from './detect.ts';
import { jq } from './jq.ts';
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

test(
  'a filter that takes all memory is stopped and said, and the next one is answered',
  { timeout: 120_000 },
  async () => {
    for (const filter of ['"a" * 100000000', '[range(1e8)] | length'])
      expect(await jq('null', filter, 60_000)).toEqual({ wrong: 'it took more memory than a filter may' });
    expect(await jq('{"a":1}', '.a')).toEqual({ output: '1' });
  },
);

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

const sitemap = (...entries: readonly string[]) =>
  `<?xml version="1.0"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${entries.join('')}</urlset>`;
const listed = (path: string, modified?: string) =>
  `<url><loc>https://example.com${path}</loc>${modified ? `<lastmod>${modified}</lastmod>` : ''}<image:image xmlns:image="i"><image:loc>https://example.com/i.png</image:loc></image:image></url>`;

test('a sitemap is told by what it lists: new, changed and removed addresses', async () => {
  const look = watched({ kind: 'text' });
  const xml = { mediaType: 'application/xml' };
  const first = await look(sitemap(listed('/a', '2026-01-01T00:00:00Z'), listed('/b')), xml);
  expect(first.detection).toMatchObject({
    projection: {
      format: 'items',
      text: '{"modified":"2026-01-01T00:00:00Z","url":"https://example.com/a"}\n{"url":"https://example.com/b"}',
    },
  });
  const more = await look(sitemap(listed('/c'), listed('/a', '2026-01-01T00:00:00Z')), xml);
  expect(more.detection).toMatchObject({ count: 2, summary: '1 new, 1 removed: https://example.com/c' });
  const later = await look(sitemap(listed('/c'), listed('/a', '2026-01-16T08:00:55Z')), xml);
  expect(later.detection).toMatchObject({ count: 1, summary: '1 changed: https://example.com/a' });
  const packed = await look(gzipSync(sitemap(listed('/a'), listed('/c'))), { mediaType: 'application/gzip' });
  expect(packed.detection).toMatchObject({ count: 1, summary: '1 changed: https://example.com/a' });
  // Cut off on its way: nobody knows what is missing, and nothing is told.
  const broken = await look(sitemap(listed('/a')).slice(0, -20), xml);
  expect(broken.detection).toMatchObject({ kind: 'first' });
});

test('a sitemap with lines before its declaration, or an & that begins no entity, compares by what it lists', async () => {
  const look = watched({ kind: 'text' });
  const xml = { mediaType: 'application/xml' };
  await look(`\n\n${sitemap(listed('/a'))}`, xml);
  const more = await look(`<?xml-stylesheet href="s.xsl"?>${sitemap(listed('/a'), listed('/?b=1&c=2'))}`, xml);
  expect(more.detection).toMatchObject({ count: 1, summary: '1 new: https://example.com/?b=1&c=2' });
});

test('of a sitemap that defines entities what needs none is told, and none is expanded', async () => {
  const look = watched({ kind: 'text' });
  const xml = { mediaType: 'application/xml' };
  const defining = (...entries: readonly string[]) =>
    sitemap(...entries).replace('<urlset', '<!DOCTYPE urlset [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>\n<urlset');
  const first = await look(defining(listed('/&b;'), listed('/c')), xml);
  expect(first.detection).toMatchObject({ projection: { format: 'items', text: '{"url":"https://example.com/c"}' } });
  const more = await look(defining(listed('/&b;'), listed('/c'), listed('/d?e&amp;f')), xml);
  expect(more.detection).toMatchObject({ count: 1, summary: '1 new: https://example.com/d?e&f' });
});

test('a packed body that is larger than any sitemap is not kept as what it looks packed', async () => {
  const look = watched({ kind: 'text' });
  const bomb = gzipSync(Buffer.alloc(60 * 2 ** 20, ' '));
  expect((await look(bomb, { mediaType: 'application/gzip' })).detection).toMatchObject({
    kind: 'unreadable',
    fault: { code: 'body-too-large' },
  });
});

test('a sitemap that was compared as markup before begins anew', async () => {
  const options = { items: false };
  const before = watched({ kind: 'text' }, options);
  const { state, detection } = await before(sitemap(listed('/a')), { mediaType: 'text/xml' });
  expect(detection).toMatchObject({ projection: { format: 'html' } });
  const body = new TextEncoder().encode(sitemap(listed('/a'), listed('/b')));
  const input: DetectInput = {
    select: { kind: 'text' },
    options: {},
    body,
    mediaType: 'text/xml',
    url: 'https://example.com/',
    atMs: 1,
  };
  // As an earlier version of the daemon left it: the same settings, and markup.
  const { state: own } = await detect(input);
  const settings = JSON.parse(own) as { settings: string };
  const old = JSON.stringify({ ...JSON.parse(state), settings: settings.settings });
  const again = await detect({ ...input, previous: { state: old, lookedAtMs: 0, last: () => '<urlset>' } });
  expect(again.detection).toMatchObject({ kind: 'first', projection: { format: 'items' } });
});
