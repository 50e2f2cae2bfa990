import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { Outcome } from '../../values/observation.ts';
import { parseLinks } from './links.ts';
import { reveal } from './reveal.ts';
import { isWithin, matchesPattern, readScope } from '../../values/scope.ts';
import { parseSitemap } from './sitemap.ts';

const fetched = (body: string | Uint8Array, mediaType?: string): Extract<Outcome, { kind: 'fetched' }> => ({
  kind: 'fetched',
  status: 200,
  body: typeof body === 'string' ? Buffer.from(body) : body,
  mediaType,
  charset: undefined,
  validators: {},
});

const sitemap = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
<url><loc> https://example.org/a?x=1&amp;y=2 </loc><lastmod>2026-01-02T03:04:05Z</lastmod>
<image:image><image:loc>https://example.org/a.png</image:loc></image:image></url>
<url><loc><![CDATA[https://example.org/b]]></loc><lastmod>nonsense</lastmod></url>
<url><priority>1</priority></url>
<url><loc>https://example.org/b#again</loc></url></urlset>`;

test('a sitemap lists pages and dates, packed or not', () => {
  const expected = {
    kind: 'sitemap',
    listed: [
      { url: 'https://example.org/a?x=1&y=2', modifiedMs: Date.UTC(2026, 0, 2, 3, 4, 5) },
      { url: 'https://example.org/b' },
    ],
  };
  expect(reveal(fetched(sitemap, 'application/xml'), 'https://example.org/sitemap.xml')).toEqual(expected);
  expect(reveal(fetched(gzipSync(sitemap), 'application/gzip'), 'https://example.org/sitemap.xml.gz')).toEqual(
    expected,
  );
});

test('a sitemap may be a text with an address a line, and a text that says anything else lists nothing', () => {
  const lines = '\ufeffhttps://example.org/a\r\n\r\n  https://example.org/b?c=d \nhttps://example.org/a#again\n';
  const root = 'https://example.org/sitemap.txt';
  expect(reveal(fetched(lines, 'text/plain'), root)).toEqual({
    kind: 'sitemap',
    listed: [{ url: 'https://example.org/a' }, { url: 'https://example.org/b?c=d' }],
  });
  expect(reveal(fetched(gzipSync(lines), 'text/plain'), root).listed).toHaveLength(2);
  for (const other of ['', `See also\n${lines}`, 'https://example.org/a and more', '<p>https://example.org/a</p>'])
    expect(reveal(fetched(other, 'text/plain'), root)).toEqual({ kind: 'nothing', listed: [] });
});

test('of a text that is known to be a sitemap what is no address is passed over, and it is said', () => {
  const root = 'https://example.org/sitemap.txt';
  const text =
    '# made by hand\nhttps://example.org/a\nexample.org/b\n\nhttps://example.org/c d\nhttps://example.org/e\n';
  const read = (body: string | Uint8Array, type: string) => reveal(fetched(body, type), root, { isSitemap: true });
  const all = {
    kind: 'sitemap',
    listed: [{ url: 'https://example.org/a' }, { url: 'https://example.org/e' }],
    missed: { skipped: 2, why: 'line 3: it is no address' },
  };
  expect(read(text, 'text/plain')).toEqual(all);
  expect(read(gzipSync(text), 'application/gzip')).toEqual(all);
  expect(read('# one\r\nhttps://example.org/a\r\n', 'text/plain').missed).toBeUndefined();
  expect(read('nothing\nof that kind\n', 'text/plain')).toEqual({ kind: 'nothing', listed: [] });
  expect(read(`https://example.org/a\n${'x\n'.repeat(5_000)}`, 'text/plain').missed?.skipped).toBe(1_001);
  const many = Array.from({ length: 50_001 }, (_, n) => `https://example.org/${n}`).join('\n');
  expect(read(many, 'text/plain').missed).toEqual({ skipped: 1, why: 'more than 50000 entries' });
  // What nobody has called a sitemap is none for some addresses in it.
  expect(reveal(fetched(text, 'text/plain'), root)).toEqual({ kind: 'nothing', listed: [] });
});

test('an index of sitemaps lists indexes', () => {
  const index =
    '<sitemapindex><sitemap><loc>https://example.org/1.xml</loc><lastmod>2026-01-01</lastmod></sitemap></sitemapindex>';
  expect(parseSitemap(index)).toEqual({
    listed: [{ url: 'https://example.org/1.xml', modifiedMs: Date.UTC(2026, 0, 1), isDay: true, isIndex: true }],
  });
});

test('of a sitemap that defines entities the addresses that need none are listed, and none is expanded', () => {
  const entry = (path: string) => `<url><loc>https://example.org/${path}</loc><lastmod>2026-01-01</lastmod></url>`;
  const text = `<?xml version="1.0"?>
    <!DOCTYPE urlset [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>
    <urlset>${entry('&b;')}${entry('c?d=1&amp;e=2')}${entry('&#102;')}</urlset>`;
  const { listed, missed } = parseSitemap(text);
  expect(listed.map(({ url }) => url)).toEqual(['https://example.org/c?d=1&e=2', 'https://example.org/f']);
  expect(missed).toEqual({ skipped: 1, why: 'line 3: undefined entity' });
});

const entry = (path: string): string => `<url><loc>https://example.org/${path}</loc></url>`;
const declared = '<?xml version="1.0" encoding="UTF-8"?>';
const [a, b] = [entry('a'), entry('b')];

test.each([
  ['lines before its declaration', `\n \ufeff\n${declared}<urlset>${a}${b}</urlset>`],
  ['its style before its declaration', `<?xml-stylesheet href="s.xsl"?>\n${declared}<urlset>${a}${b}</urlset>`],
  ['more behind it', `<urlset>${a}${b}</urlset><!-- made in 1 s -->done`],
])('a sitemap with %s is all there', (_what, text) => {
  const listed = ['a', 'b'].map((path) => ({ url: `https://example.org/${path}` }));
  expect(parseSitemap(text)).toEqual({ listed });
  const seen = { kind: 'sitemap', listed };
  expect(reveal(fetched(text, 'application/xml'), 'https://example.org/sitemap.xml')).toEqual(seen);
});

test('an & that begins no entity is itself, in an address of a sitemap', () => {
  const text = `<urlset>${entry('?a=1&b=2&amp;c=3&')}<url><loc><![CDATA[https://example.org/?d&e&amp;f]]></loc></url></urlset>`;
  expect(parseSitemap(text)).toEqual({
    listed: ['?a=1&b=2&c=3&', '?d&e&amp;f'].map((path) => ({ url: `https://example.org/${path}` })),
  });
});

test.each([
  ['a character that no XML has', entry('x\u0001'), 1, 'disallowed character'],
  ['an entity that nobody knows', entry('&x;'), 1, 'undefined entity'],
  ['a tag that does not end', '<url><loc>https://example.org/x</wrong></url>', 1, 'unexpected close tag'],
  ['an entry that does not end', '<url><loc>https://example.org/x', 1, 'an entry that does not end'],
  ['an address with a tag in it', entry('x<y'), 1, 'disallowed character in tag name'],
  ['a tag that is none', '<u\u0001rl><loc>https://example.org/x</loc></url>', 0, 'disallowed character in tag name'],
])('of a sitemap with %s the other entries are listed, and it is said', (_what, wrong, skipped, why) => {
  const { listed, missed } = parseSitemap(`${declared}\n<urlset>\n${a}${wrong}${b}</urlset>`);
  expect(listed.map(({ url }) => url.at(-1))).toEqual(['a', 'b']);
  expect(missed).toEqual({ skipped, why: why.startsWith('an entry') ? why : `line 3: ${why}` });
});

test('a sitemap that is cut short, has more mistakes than any, or more entries than it may, says so', () => {
  expect(parseSitemap(`<urlset>${a}<url><loc>https://example.org/x`)).toMatchObject({
    listed: [{ url: 'https://example.org/a' }],
    missed: { skipped: 1, why: 'line 1: unclosed tag: loc' },
  });
  expect(parseSitemap(`<urlset>${a}`)).toMatchObject({ missed: { skipped: 0, why: 'line 1: unclosed tag: urlset' } });
  const wrong = parseSitemap(`<urlset>${a}${entry('\u0001').repeat(5_000)}${b}</urlset>`);
  expect(wrong.listed).toHaveLength(1);
  expect(wrong.missed?.skipped).toBe(1_001);
  const many = parseSitemap(`<urlset>${a.repeat(50_001)}</urlset>`);
  expect(many.listed).toHaveLength(50_000);
  expect(many.missed).toEqual({ skipped: 1, why: 'more than 50000 entries' });
});

test('a broken sitemap gives what stands before the mistake, and a bomb gives nothing', () => {
  expect(
    parseSitemap('<urlset><url><loc>https://example.org/a</loc></url><url><loc>https://x</wrong>').listed,
  ).toHaveLength(1);
  const entities =
    '<!DOCTYPE urlset [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><urlset><url><loc>&b;</loc></url></urlset>';
  expect(parseSitemap(entities).listed).toEqual([]);
  const bomb = gzipSync(Buffer.alloc(60 * 2 ** 20));
  expect(reveal(fetched(bomb), 'https://example.org/')).toEqual({ kind: 'nothing', listed: [] });
});

test.each([
  [
    '<rss version="2.0"><channel><title>t</title><item><title>One</title><link>https://example.org/1</link><pubDate>Fri, 02 Jan 2026 03:04:05 GMT</pubDate></item></channel></rss>',
  ],
  [
    '<feed xmlns="http://www.w3.org/2005/Atom"><title>t</title><entry><title>One</title><link rel="alternate" href="/1"/><updated>2026-01-02T03:04:05Z</updated></entry></feed>',
  ],
  [
    '{"version": "https://jsonfeed.org/version/1.1", "title": "t", "items": [{"id": "1", "title": "One", "url": "https://example.org/1", "date_modified": "2026-01-02T03:04:05Z"}]}',
  ],
])('a feed lists what its entries link to: %.12s', (text) => {
  expect(reveal(fetched(text), 'https://example.org/feed')).toEqual({
    kind: 'feed',
    listed: [{ url: 'https://example.org/1', title: 'One', modifiedMs: Date.UTC(2026, 0, 2, 3, 4, 5) }],
  });
});

test('a page that begins with many comments is read at once', { timeout: 5_000 }, () => {
  const body = `${'<!---->'.repeat(500)}<a href=/a>`;
  expect(reveal(fetched(body), 'https://example.org/').listed).toHaveLength(1);
  const feed = `<!-- a --><!-- b --><rss><channel><item><link>https://example.org/1</link></item></channel></rss>`;
  expect(reveal(fetched(feed), 'https://example.org/').kind).toBe('feed');
});

test('links of a page are those a reader can follow', () => {
  const html = `<base href="/docs/"><title><a href="no1"></title><script>'<a href="no2">'</script><!-- <a href="no3"> -->
    <a href="one">1</a><a href='/two?b#c'>2</a><A HREF=three rel="nofollow">3</A><area href="//other.org/four"><a href="mailto:x@y">5</a>
    <a href="javascript:x()">6</a><a>7</a><a href="one#again">8</a><link rel="alternate" type="application/rss+xml" href="/feed">`;
  expect(reveal(fetched(html, 'text/html'), 'https://example.org/x/y')).toEqual({
    kind: 'links',
    listed: [
      { url: 'https://example.org/docs/one' },
      { url: 'https://example.org/two?b' },
      { url: 'https://other.org/four' },
    ],
    named: [{ url: 'https://example.org/feed', isIndex: true, isFeed: true }],
  });
  expect(parseLinks(html).feeds).toEqual(['/feed']);
  expect(parseLinks('<link rel="sitemap" type="application/xml" href="/map.xml">').sitemaps).toEqual(['/map.xml']);
  expect(parseLinks('<link rel=alternate type="application/activity+json" href="/me">').feeds).toEqual([]);
  expect(parseLinks('<meta name=ROBOTS content="noindex, NoFollow"><a href=x>').listed).toEqual([]);
});

test('scope: within, include, exclude', () => {
  const read = readScope({
    within: 'site',
    include: ['/docs/*'],
    exclude: ['*.pdf', 'https://example.org/docs/old/*'],
  });
  const scope = read.kind === 'scope' ? read.scope : expect.unreachable();
  const inside = (url: string) => isWithin(scope, 'https://www.example.org/start', url);
  expect(inside('https://example.org/docs/a')).toBe(true);
  expect(inside('https://docs.example.org/docs/a')).toBe(true);
  expect(inside('https://example.com/docs/a')).toBe(false);
  expect(inside('https://example.org/blog/a')).toBe(false);
  expect(inside('https://example.org/docs/a.pdf')).toBe(false);
  expect(inside('https://example.org/docs/old/a')).toBe(false);
  const folder = readScope(true);
  const usual = folder.kind === 'scope' ? folder.scope : expect.unreachable();
  expect(isWithin(usual, 'https://example.org/a/b.html', 'https://example.org/a/c/d')).toBe(true);
  expect(isWithin(usual, 'https://example.org/a/b.html', 'https://example.org/x')).toBe(false);
  expect(isWithin(usual, 'https://example.org/a/b.html', 'https://www.example.org/a/c')).toBe(false);
});

test.each([
  [{ within: 'world' }, 'discover.within is "world"'],
  [{ depth: -1 }, 'discover.depth is -1'],
  [{ pages: 1.5 }, 'discover.pages is 1.5'],
  [{ pages: 0 }, 'discover.pages is 0; allowed is a whole number from 1 to 1000000'],
  [{ include: 'x' }, 'discover.include is "x"'],
  [{ deep: 1 }, 'discover.deep is 1'],
  ['yes', 'discover is "yes"'],
])('discover %j is refused with a sentence', (value, words) => {
  const read = readScope(value);
  expect(read.kind === 'wrong' && read.fault.sentence).toContain(words);
});

test('patterns cannot be made to backtrack', () => {
  expect(matchesPattern('/a*b*c', '/axxbxxc')).toBe(true);
  expect(matchesPattern('/a*b', '/ab/')).toBe(false);
  expect(matchesPattern(`/${'a*'.repeat(50)}b`, `/${'a'.repeat(4000)}`)).toBe(false);
});
