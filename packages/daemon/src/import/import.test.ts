import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { random } from '@revisit/core';
import { readPage } from '../config/page-input.ts';
import { readOptions } from '../detect/options.ts';
import type { Found } from './found.ts';
import { gather } from './gather.ts';
import { type FetchBody, openImport } from './open.ts';
import { readSitemap } from './sitemap.ts';
import { textOf } from './source.ts';
import { zipOf } from './test/archive.ts';
import { readUrlList } from './url-list.ts';

const folder = mkdtempSync(join(tmpdir(), 'revisit-import-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const nothing: FetchBody = (url) => Promise.resolve({ kind: 'failed', sentence: `no network for ${url}` });
let files = 0;

async function read(content: Buffer | string, fetchBody = nothing) {
  const file = join(folder, `file-${files++}`);
  writeFileSync(file, content);
  const opened = await openImport(file, undefined, fetchBody);
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  const found: Found[] = [];
  for await (const batch of opened.reader) found.push(...batch);
  await opened.close();
  const pages = found.flatMap((one) => (one.kind === 'page' ? [one] : []));
  for (const { input } of pages) {
    expect(readPage(input)).toMatchObject({ kind: 'read' });
    expect(readOptions((input['options'] ?? {}) as Record<string, unknown>)).toMatchObject({ kind: 'read' });
  }
  const notes = found.flatMap((one) => (one.kind === 'note' ? [`${one.grade} ${one.where}: ${one.sentence}`] : []));
  return { format: opened.format, pages, inputs: pages.map((page) => page.input), notes };
}

const text = (content: string): AsyncIterable<string> =>
  textOf(
    (async function* () {
      yield Buffer.from(content);
    })(),
  );

describe('OPML', () => {
  test('folders and categories become tags, outlines pages', async () => {
    const { format, inputs, notes } = await read(`<?xml version="1.0"?><opml version="2.0"><body>
      <outline text="Tech"><outline text="A &amp; B" type="rss" xmlUrl="https://a.example/feed" category="/fun,x"/></outline>
      <outline title="Page" type="link" url="https://b.example/"/><outline type="rss" text="nothing"/></body></opml>`);
    expect(format).toBe('opml');
    expect(inputs).toEqual([
      { url: 'https://a.example/feed', title: 'A & B', tags: ['Tech', 'fun', 'x'] },
      { url: 'https://b.example/', title: 'Page' },
    ]);
    expect(notes).toEqual(['impossible line 3: an outline of type "rss" names no address']);
  });
});

describe('sitemaps', () => {
  test('pages with priority as weight, gzipped too', async () => {
    const { format, inputs, notes } = await read(
      gzipSync(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
      <url><loc> https://a.example/1 </loc><priority>0.8</priority><changefreq>daily</changefreq></url>
      <url><loc><![CDATA[https://a.example/2?a=1&b=2]]></loc></url></urlset>`),
    );
    expect(format).toBe('sitemap');
    expect(inputs).toEqual([{ url: 'https://a.example/1', weight: 1.6 }, { url: 'https://a.example/2?a=1&b=2' }]);
    expect(notes[0]).toMatch(/approximated .*changefreq of 1 pages/);
  });

  test('an index that names itself, an index of it and a missing part ends', async () => {
    const asked: string[] = [];
    const index = (...urls: string[]) =>
      `<sitemapindex>${urls.map((url) => `<sitemap><loc>${url}</loc></sitemap>`).join('')}</sitemapindex>`;
    const web: Record<string, string> = {
      'https://a.example/b.xml': index(
        'https://a.example/b.xml',
        'https://a.example/c.xml',
        'https://a.example/missing.xml',
      ),
      'https://a.example/c.xml': `<urlset><url><loc>https://a.example/page</loc></url></urlset>`,
    };
    const { inputs, notes } = await read(index('https://a.example/b.xml'), (url) => {
      asked.push(url);
      return Promise.resolve(
        web[url] ? { kind: 'fetched', body: Buffer.from(web[url]) } : { kind: 'failed', sentence: 'not there' },
      );
    });
    expect(inputs).toEqual([{ url: 'https://a.example/page' }]);
    expect(asked).toEqual(['https://a.example/b.xml', 'https://a.example/c.xml', 'https://a.example/missing.xml']);
    expect(notes).toEqual(['impossible https://a.example/missing.xml: not there']);
  });

  test('an endless chain of indexes is followed three deep', async () => {
    let asked = 0;
    const next = () => `<sitemapindex><sitemap><loc>https://a.example/${asked++}.xml</loc></sitemap></sitemapindex>`;
    const found: Found[] = [];
    const reader = readSitemap(text(next()), 'start', () => Promise.resolve({ kind: 'opened', pieces: text(next()) }));
    for await (const batch of reader) found.push(...batch);
    expect(asked).toBe(4);
    expect(found.at(-1)).toMatchObject({ kind: 'note', grade: 'impossible' });
  });

  test.each([
    [
      'entities of its own',
      '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><urlset><url><loc>&b;</loc></url></urlset>',
      /not well-formed XML/,
    ],
    ['another root', '<html><body/></html>', /no sitemap: its first element is <html>/],
    ['an end too early', '<urlset><url><loc>https://a.example/', /not well-formed XML/],
    ['depth', `<urlset>${'<a>'.repeat(100)}`, /nested more than 64 deep/],
    ['a text without end', `<urlset><url><loc>${'a'.repeat(3 << 20)}`, /longer than 1048576 characters/],
  ])('refuses %s', async (_name, content, sentence) => {
    await expect(read(content)).rejects.toThrow(sentence);
  });

  test('refuses what unpacks a thousandfold', async () => {
    await expect(read(gzipSync(`# a list\n${`#${'a'.repeat(8_000)}\n`.repeat(9_000)}`))).rejects.toThrow(
      /unpacks to more than 100 times|longer than/,
    );
  });
});

describe('URL lists', () => {
  test('comments and empty lines go, titles stay', async () => {
    const { format, inputs } = await read('\uFEFF# mine\n\nhttps://a.example/\r\nb.example/x  The title\n');
    expect(format).toBe('urls');
    expect(inputs).toEqual([{ url: 'https://a.example/' }, { url: 'b.example/x', title: 'The title' }]);
  });

  test('ten million addresses are refused at the limit without being held, or taken with a higher one', async () => {
    let made = 0;
    const endless = async function* (): AsyncGenerator<string> {
      while (made < 10_000_000) {
        let piece = '';
        for (let i = 0; i < 1_000; i++) piece += `https://s${made++ % 977}.example/page/${made}\n`;
        yield piece;
      }
    };
    const before = new Set(readdirSync(tmpdir()).filter((name) => name.startsWith('revisit-import-')));
    const outcome = await gather({ reader: readUrlList(endless()), pagesMax: 50_000, check: readPage });
    expect(outcome).toEqual({
      kind: 'broken',
      sentence: 'it names more than 50000 pages; --limit allows more, if that many are meant',
    });
    expect(made).toBeLessThan(60_000);
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('revisit-import-') && !before.has(name))).toEqual([]);
  });

  test('bytes that are no text name nothing', async () => {
    const outcome = await gather({ reader: readUrlList(text('\u0000\u0001\n\u0002')), pagesMax: 10, check: readPage });
    expect(outcome).toMatchObject({
      kind: 'broken',
      sentence: expect.stringMatching(/nothing in it can be watched; line 1/) as string,
    });
  });
});

describe('urlwatch and webchanges', () => {
  test('jobs and filters', async () => {
    const { format, inputs, notes } = await read(`
name: Prices
url: https://a.example/prices
filter:
  - css: { selector: '#price', exclude: .ad }
  - html2text
  - grepi: '(?i)updated'
  - re.sub: { pattern: '(\\d+) views', repl: '\\1' }
  - strip
headers: { X-Key: k }
cookies: { session: s }
additions_only: true
timeout: 10
---
navigate: https://b.example/app
filter: element-by-id:main,sort
enabled: false
---
command: date
---
url: https://c.example/form
data: a=b
---
url: https://d.example/list
filter:
  - grep: Berlin
  - shellpipe: wc
`);
    expect(format).toBe('urlwatch');
    expect(inputs).toEqual([
      {
        url: 'https://a.example/prices',
        select: 'css:#price',
        title: 'Prices',
        headers: { 'X-Key': 'k', Cookie: 'session=s' },
        options: {
          normalise: { remove: ['.ad'], ignore: ['/updated/i'], replace: [{ pattern: '(\\d+) views', with: '$1' }] },
          tell: { only: 'additions' },
        },
      },
      {
        url: 'https://b.example/app',
        select: 'css:[id="main"]',
        render: true,
        paused: true,
        options: { normalise: { order: 'sort' } },
      },
      { url: 'https://d.example/list', select: 'whole', options: { normalise: { ignore: ['^(?!.*(?:Berlin))'] } } },
    ]);
    expect(notes).toEqual([
      'approximated job 1: timeout is left out: time limits hold for all pages',
      'impossible job 3: a job that runs a command is not taken over: pages are watched, programs are not run',
      'impossible job 4: the job asks with POST; pages are asked for with GET',
      'impossible job 5: filter shellpipe has nothing that corresponds to it',
    ]);
  });

  test('aliases do not multiply', async () => {
    const bomb = [
      'a: &a [x,x,x,x,x,x,x,x,x]',
      ...'bcdefgh'.split('').map((name, i) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[i]}`).join(',')}]`),
    ].join('\n');
    await expect(read(`url: https://a.example/\n${bomb}\n`)).rejects.toThrow(/alias/i);
  });

  test('what is not YAML is named', async () => {
    await expect(read('url: "https://a.example/\n')).rejects.toThrow(/job 1 is not YAML/);
  });
});

const watchId = '1b2c3d4e-0000-4000-8000-000000000001';
const watch = {
  url: 'https://a.example/terms',
  title: 'Terms',
  tags: ['t1'],
  include_filters: ['#main', '.more'],
  subtractive_selectors: ['nav'],
  ignore_text: ['Last visit', '/\\d+ online/'],
  trigger_text: ['refund'],
  time_between_check: { hours: 3 },
  notification_urls: ['json://x'],
  paused: true,
};
const backup = (more: { name: string; content: string | Buffer; saysBytes?: number }[] = [], form?: 'zip64') =>
  zipOf(
    [
      {
        name: 'url-watches.json',
        content: JSON.stringify({
          watching: { [watchId]: watch },
          settings: { application: { tags: { t1: { title: 'law' } } } },
        }),
      },
      { name: `${watchId}/history.txt`, content: `1700000000,old.txt\n1700003600,/datastore/${watchId}/new.txt.br\n` },
      { name: `${watchId}/old.txt`, content: 'one' },
      { name: `${watchId}/new.txt.br`, content: brotliCompressSync('two') },
      ...more,
    ],
    form,
  );

describe('changedetection.io', () => {
  test('watches, filters, tags and history', async () => {
    const { format, pages, notes } = await read(backup());
    expect(format).toBe('changedetection');
    expect(pages[0]!.input).toEqual({
      url: 'https://a.example/terms',
      select: 'css:#main, .more',
      title: 'Terms',
      tags: ['law'],
      paused: true,
      options: {
        normalise: { remove: ['nav'], ignore: ['/Last visit/i', '/\\d+ online/'] },
        tell: { appears: '/refund/i' },
      },
    });
    expect(pages[0]!.versions).toEqual([
      { atMs: 1_700_000_000_000, text: 'one', format: 'text' },
      { atMs: 1_700_003_600_000, text: 'two', format: 'text' },
    ]);
    expect(notes).toHaveLength(2);
  });

  test('one file a watch, as later releases write it', async () => {
    const { inputs } = await read(
      zipOf([
        { name: 'changedetection.json', content: '{}' },
        { name: `${watchId}/watch.json`, content: JSON.stringify({ url: 'source:https://a.example/' }) },
      ]),
    );
    expect(inputs).toEqual([{ url: 'https://a.example/', select: 'whole' }]);
  });

  test('a large backup (ZIP64) reads as any other', async () => {
    const [plain, wide] = [await read(backup()), await read(backup([], 'zip64'))];
    expect(wide).toEqual(plain);
  });

  test('a wide directory whose numbers lead out of the file, or nowhere, is refused', async () => {
    const whole = backup([], 'zip64');
    const locator = whole.length - 22 - 20;
    for (const [at, value] of [
      [locator + 8, BigInt(whole.length)],
      [locator + 8, 2n ** 63n],
      [locator - 16, 2n ** 40n],
      [locator - 8, BigInt(whole.length)],
    ] as const) {
      const bent = Buffer.from(whole);
      bent.writeBigUInt64LE(value, at);
      await expect(read(bent)).rejects.toThrow(/directory of the archive is (damaged|out of its bounds)/);
    }
  });

  test('whichever bytes of an archive are bent: a sentence, or what it held', async () => {
    const luck = random(4);
    const held = (await read(backup())).inputs[0];
    for (const form of [undefined, 'zip64'] as const) {
      const whole = backup([], form);
      for (let round = 0; round < 150; round++) {
        const bent = Buffer.from(whole);
        for (let i = 0; i < 3; i++) bent[Math.floor(luck() * bent.length)] = Math.floor(luck() * 256);
        const file = join(folder, `bent-${form ?? 'plain'}-${round}.zip`);
        writeFileSync(file, bent);
        const opened = await openImport(file, 'changedetection', nothing);
        if (opened.kind === 'failed') continue;
        const outcome = await gather({ reader: opened.reader, pagesMax: 10, check: readPage });
        await opened.close();
        if (outcome.kind === 'broken') {
          expect(outcome.sentence).not.toBe('');
          continue;
        }
        const [line] = readFileSync(outcome.spool, 'utf8').split('\n');
        expect((JSON.parse(line!) as { page: unknown }).page).toEqual(held);
        outcome.remove();
      }
    }
  });

  test('a name that climbs out of its folder is not read', async () => {
    const { notes } = await read(backup([{ name: '../../etc/passwd', content: 'x' }]));
    expect(notes[0]).toMatch(/"..\/..\/etc\/passwd" points out of its folder/);
  });

  test.each([
    [
      'an entry larger than any page',
      () => backup([{ name: `${watchId}/watch.json`, content: 'x' }]).subarray(0, 200),
      /no directory at its end/,
    ],
    [
      'an entry that unpacks to more than it says',
      () => zipOf([{ name: 'url-watches.json', content: 'a'.repeat(1 << 20), saysBytes: 100 }]),
      /unpacks to more than it says/,
    ],
    [
      'an entry of 40 MB',
      () => zipOf([{ name: 'url-watches.json', content: Buffer.alloc(40 << 20) }]),
      /at most 33554432 are read/,
    ],
    [
      'a snapshot that is a bomb',
      () =>
        zipOf([
          { name: 'url-watches.json', content: JSON.stringify({ watching: { [watchId]: watch } }) },
          { name: `${watchId}/history.txt`, content: '1,a.txt.br' },
          { name: `${watchId}/a.txt.br`, content: brotliCompressSync(Buffer.alloc(9 << 20)) },
        ]),
      /unpacks to more than 8388608/,
    ],
    [
      'what is not JSON',
      () => zipOf([{ name: 'url-watches.json', content: '{' }]),
      /url-watches.json in the archive is not JSON/,
    ],
    [
      'an archive of something else',
      () => zipOf([{ name: 'readme.txt', content: 'hello' }]),
      /holds no url-watches.json/,
    ],
  ])('refuses %s', async (_name, make, sentence) => {
    await expect(read(make())).rejects.toThrow(sentence);
  });
});

describe('our own export', () => {
  test('one that is cut off, or of another form, is refused whole', async () => {
    await expect(read('{"revisit":1,"secrets":true}\n{"page":{"url":"https://a.example/"}}\n')).rejects.toThrow(
      /cut off/,
    );
    await expect(read('{"revisit":9}\n')).rejects.toThrow(/export of form 9/);
    await expect(read('{"revisit":1}\n{"page":{"url":"https://a.exa')).rejects.toThrow(/line 2 is not a JSON object/);
  });
});
