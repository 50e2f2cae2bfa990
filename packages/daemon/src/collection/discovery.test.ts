/** A site that grows, seen through its sitemap, feed and links, by the whole loop in virtual time. */
import { expect, test } from 'vitest';
import { Discovery } from './discovery.ts';
import { Collection } from './collection.ts';
import { retires } from './origin.ts';
import type { WatchedPage } from '../values/look.ts';
import { usualSettings } from '../values/page.ts';
import { dayMs, hourMs, type SitePage, sitemap, startMs, watchSite } from '../trial/watched-site.ts';

test('a sitemap: what is there is watched, what is new is told, what is gone for a week rests', async () => {
  const site = new Map<string, SitePage>([
    ['/sitemap.xml', sitemap(['/a', '/b', '/c.pdf', '/old/x'])],
    ['/a', { body: '<title>A</title>one' }],
    ['/b', { body: '<title>B</title>two' }],
    ['/new', { body: '<title>New</title>three' }],
  ]);
  const watch = await watchSite(site, [
    { url: 'https://example.org/sitemap.xml', discover: { within: 'site', exclude: ['*.pdf', '/old/*'] } },
  ]);
  await watch.until(6 * hourMs);
  expect(await watch.urls()).toEqual([
    'https://example.org/a',
    'https://example.org/b',
    'https://example.org/sitemap.xml',
  ]);
  expect(await watch.store.changes({ after: 0, limit: 100 })).toEqual([]);
  site.set('/sitemap.xml', sitemap(['/a', '/b', '/new']));
  await watch.until(24 * hourMs);
  expect(await watch.urls()).toContain('https://example.org/new');
  const told = await watch.store.changes({ after: 0, limit: 100 });
  expect(told.filter(({ kind }) => kind === 'discovered')).toMatchObject([
    { url: 'https://example.org/new', summary: 'A new page: New', tags: ['all'] },
  ]);
  site.delete('/b');
  await watch.until(10 * dayMs);
  const b = (await watch.store.pages({ limit: 100 })).find(({ page }) => page.url.endsWith('/b'))!;
  expect([b.state.status, b.page.paused]).toEqual(['gone', true]);
  const asked = watch.asked.length;
  await watch.until(12 * dayMs);
  expect(watch.asked.slice(asked)).not.toContain('https://example.org/b');
  site.set('/b', { body: '<title>B</title>two again' });
  site.set('/sitemap.xml', sitemap(['/a', '/b']));
  await watch.until(14 * dayMs);
  const back = (await watch.store.pages({ limit: 100 })).find(({ page }) => page.url.endsWith('/b'))!;
  expect([back.state.status, back.page.paused]).toEqual(['present', false]);
  await watch.end();
});

test('a look at an index is worth as many changes as it reveals pages', async () => {
  const site = new Map<string, SitePage>([
    ['/sitemap.xml', sitemap(['/a'])],
    ...['/a', '/b', '/c', '/d'].map((path) => [path, { body: `<p>${path}</p>` }] as const),
  ]);
  const watch = await watchSite(site, [{ url: 'https://example.org/sitemap.xml', discover: { within: 'site' } }]);
  await watch.until(6 * hourMs);
  site.set('/sitemap.xml', sitemap(['/a', '/b', '/c', '/d']));
  await watch.until(24 * hourMs);
  const [index] = watch.loop.collection.withUrl('https://example.org/sitemap.xml');
  const changes = watch.findings.filter(({ page, finding }) => page === index!.index && finding.kind === 'changed');
  expect(changes.map(({ finding }) => finding.count)).toEqual([3]);
  await watch.end();
});

test('links: to the depth and the number of pages that is asked for, within the folder', async () => {
  const site = new Map<string, SitePage>([
    ['/docs/', { body: '<a href="1">1</a><a href="/elsewhere">x</a><a href="https://other.example/docs/">y</a>' }],
    ['/docs/1', { body: '<a href="2">2</a>' }],
    ['/docs/2', { body: '<a href="3">3</a><a href="4">4</a>' }],
    ['/docs/3', { body: 'end' }],
    ['/docs/4', { body: 'end' }],
  ]);
  const deep = await watchSite(site, [{ url: 'https://example.org/docs/', discover: { depth: 2 } }]);
  await deep.until(12 * hourMs);
  expect(await deep.urls()).toEqual(['', '1', '2'].map((name) => `https://example.org/docs/${name}`));
  await deep.end();
  const few = await watchSite(site, [{ url: 'https://example.org/docs/', discover: { depth: 9, pages: 3 } }]);
  await few.until(12 * hourMs);
  expect(await few.urls()).toHaveLength(1 + 3);
  await few.end();
});

test('a root that is full says so once in the log, shows it, and takes in what it lists when there is room', async () => {
  const paths = ['/a', '/b', '/c', '/d', '/e'];
  const site = new Map<string, SitePage>([
    ['/sitemap.xml', sitemap(paths.slice(0, 3))],
    ...paths.map((path) => [path, { body: path }] as const),
  ]);
  const watch = await watchSite(site, [
    { url: 'https://example.org/sitemap.xml', discover: { within: 'site', pages: 3 } },
  ]);
  const root = () => watch.loop.collection.withUrl('https://example.org/sitemap.xml')[0]!;
  const warnings = () => watch.said.filter(({ level }) => level === 'warn');
  await watch.until(6 * hourMs);
  // As many as may be, and none is missed.
  expect(watch.loop.foundBy(root())).toEqual({ pages: 3, pagesMax: 3, leftOut: false });
  expect(warnings()).toEqual([]);
  for (const [day, path] of ['/d', '/e', '/d'].entries()) {
    site.set('/sitemap.xml', sitemap([path]));
    await watch.until((day + 1) * dayMs);
  }
  expect(watch.loop.foundBy(root())).toEqual({ pages: 3, pagesMax: 3, leftOut: true });
  expect(warnings()).toMatchObject([{ fields: { url: 'https://example.org/sitemap.xml', pages: 3 } }]);
  const [c] = watch.loop.collection.withUrl('https://example.org/c');
  expect(watch.loop.foundBy(c!)).toBeUndefined();
  // Whoever follows knows it, and need not say it again.
  const next = new Discovery(watch.loop.collection);
  for (const entry of watch.loop.collection) next.watched(entry);
  expect(next.foundBy(root().page)).toMatchObject({ leftOut: true });
  const at = { url: root().page.url, nowMs: watch.clock.nowMs(), first: false };
  expect(next.read(root(), xml(sitemap(['/e']).body), at).full).toBeUndefined();
  await watch.store.removePages([c!.page.id]);
  watch.loop.unwatch(c!.page.id);
  expect(watch.loop.foundBy(root())).toEqual({ pages: 2, pagesMax: 3, leftOut: false });
  await watch.until(4 * dayMs);
  expect(await watch.urls()).toContain('https://example.org/d');
  expect(watch.loop.foundBy(root())).toEqual({ pages: 3, pagesMax: 3, leftOut: false });
  await watch.end();
});

test('a root says which of its sitemaps cannot be read, or in part only, and that it is said once', async () => {
  const robots = 'User-agent: *\nSitemap: https://example.org/named.xml\nSitemap: https://example.org/other';
  const site = new Map<string, SitePage>([
    ['/', { body: 'front' }],
    ['/robots.txt', { body: robots, type: 'text/plain' }],
    ['/named.xml', { ...sitemap(['/a', '/\u0001', '/b']), etag: '"1"' }],
    ['/other', { body: '{}', type: 'application/json' }],
    ['/a', { body: 'a' }],
    ['/b', { body: 'b' }],
  ]);
  const watch = await watchSite(site, [{ url: 'https://example.org/', discover: { within: 'site' } }]);
  const root = () => watch.loop.collection.withUrl('https://example.org/')[0]!;
  const warnings = () => watch.said.filter(({ level }) => level === 'warn').map(({ fields }) => fields);
  await watch.until(12 * hourMs);
  expect(await watch.urls()).toEqual(['', 'a', 'b', 'named.xml', 'other'].map((name) => `https://example.org/${name}`));
  expect(warnings()).toEqual([
    { url: 'https://example.org/named.xml', read: 2, skipped: 1, why: 'line 1: disallowed character' },
    { url: 'https://example.org/other', read: 0, skipped: 0, why: 'it is no sitemap' },
  ]);
  expect(watch.loop.foundBy(root())).toMatchObject({ misread: 'https://example.org/named.xml' });
  // Whoever follows knows it, and need not say it again.
  const next = new Discovery(watch.loop.collection);
  for (const entry of watch.loop.collection) next.watched(entry);
  expect(next.foundBy(root().page)).toMatchObject({ misread: 'https://example.org/named.xml' });
  site.set('/other', sitemap([]));
  site.set('/named.xml', { ...sitemap(['/a', '/', '/b']), etag: '"2"' });
  await watch.until(3 * dayMs);
  expect(watch.loop.foundBy(root())).toEqual({ pages: 4, pagesMax: 1000, leftOut: false });
  expect(warnings()).toHaveLength(2);
  await watch.end();
});

test('a text is read past lines that are no addresses where robots.txt, a sitemap or its user says that it is a sitemap', async () => {
  const lines = (...paths: readonly string[]): SitePage => ({
    body: ['# pages', 'not an address', ...paths.map((path) => `https://example.org${path}`)].join('\n'),
    type: 'text/plain',
  });
  const index = '<sitemapindex><sitemap><loc>https://example.org/part.txt</loc></sitemap></sitemapindex>';
  const site = new Map<string, SitePage>([
    ['/', { body: '<a href="/notes.txt">notes</a>' }],
    ['/robots.txt', { body: 'User-agent: *\nSitemap: https://example.org/named.txt', type: 'text/plain' }],
    ['/index.xml', { body: index, type: 'application/xml' }],
    ['/named.txt', lines('/of-robots')],
    ['/part.txt', lines('/of-index')],
    ['/own.txt', lines('/of-user')],
    ['/notes.txt', lines('/of-notes')],
    ...['/of-robots', '/of-index', '/of-user', '/of-notes'].map((path) => [path, { body: path }] as const),
  ]);
  const discover = { within: 'site', depth: 3 };
  const roots = ['/', '/index.xml', '/own.txt'].map((path) => ({ url: `https://example.org${path}`, discover }));
  const watch = await watchSite(site, roots);
  await watch.until(12 * hourMs);
  const found = (await watch.urls()).filter((url) => url.includes('/of-')).map((url) => url.split('/of-')[1]);
  expect(found.sort()).toEqual(['index', 'robots', 'user']);
  const misread = roots.map(({ url }) => watch.loop.foundBy(watch.loop.collection.withUrl(url)[0]!)?.misread);
  expect(misread).toEqual(['named.txt', 'part.txt', 'own.txt'].map((name) => `https://example.org/${name}`));
  await watch.end();
});

test('an index of sitemaps is followed to its parts', async () => {
  const site = new Map<string, SitePage>([
    [
      '/sitemap.xml',
      {
        type: 'text/xml',
        body: '<sitemapindex><sitemap><loc>https://example.org/part.xml</loc></sitemap></sitemapindex>',
      },
    ],
    ['/part.xml', sitemap(['/a'])],
    ['/a', { body: 'page' }],
  ]);
  const watch = await watchSite(site, [{ url: 'https://example.org/sitemap.xml', discover: true }]);
  await watch.until(12 * hourMs);
  expect(await watch.urls()).toEqual(['a', 'part.xml', 'sitemap.xml'].map((name) => `https://example.org/${name}`));
  await watch.end();
});

test('a date in a sitemap is a hint, and its worth follows from how often it was right', async () => {
  const site = new Map<string, SitePage>([
    ['/sitemap.xml', sitemap(['/a'])],
    ['/a', { body: 'one' }],
  ]);
  const watch = await watchSite(site, [{ url: 'https://example.org/sitemap.xml' }, { url: 'https://example.org/a' }]);
  await watch.until(2 * hourMs);
  for (let round = 1; round <= 12; round++) {
    const date = new Date(watch.clock.nowMs() + 60_000).toISOString();
    site.set('/sitemap.xml', sitemap(['/a'], { '/a': date }));
    await watch.until((2 + 6 * round) * hourMs);
  }
  // It cries again and again and the page never changes.
  const chances = watch.hinted.map(({ chance }) => chance);
  expect(chances.length).toBeGreaterThanOrEqual(3);
  expect(chances[0]).toBe(0.5);
  expect(chances.at(-1)).toBeLessThan(0.4);
  await watch.end();
});

const known = (id: string, url: string, more: Partial<WatchedPage['page']> = {}): WatchedPage => ({
  page: { id, url, site: 'example.org', ...usualSettings, addedAtMs: 0, ...more },
  state: {
    status: 'present',
    version: 1,
    toldVersion: 1,
    validators: {},
    failures: 0,
    looks: 1,
    changes: 0,
    lastSeenMs: 1000,
  },
});

const xml = (body: string) =>
  ({
    kind: 'fetched',
    status: 200,
    body: Buffer.from(body),
    mediaType: 'text/xml',
    charset: undefined,
    validators: {},
  }) as const;

test('a date that has not come yet is no hint, nor is one that is older than our copy', () => {
  const collection = new Collection();
  const index = collection.add(known('index', 'https://example.org/sitemap.xml'));
  collection.add(known('a', 'https://example.org/a'));
  const seen = known('b', 'https://example.org/b');
  collection.add({ ...seen, state: { ...seen.state, lastSeenMs: Date.UTC(2026, 1, 1, 1) } });
  const { body } = sitemap(['/a', '/b'], { '/a': '2026-02-01', '/b': '2026-02-01' });
  const hints = (nowMs: number) =>
    new Discovery(collection).read(index, xml(body), { url: index.page.url, nowMs, first: false }).hints;
  expect(hints(Date.UTC(2026, 0, 31))).toEqual([]);
  expect(hints(Date.UTC(2026, 1, 2))).toHaveLength(1);
});

test('what is sent for a page is sent for those found by it on its own origin, and for no other', () => {
  const collection = new Collection();
  const headers = { authorization: 'Bearer secret' };
  const options = { discover: { within: 'anywhere' } };
  const index = collection.add(known('index', 'https://example.org/sitemap.xml', { headers, options }));
  const body = `<urlset>${[
    'https://example.org/a',
    'http://example.org/b',
    'https://www.example.org/c',
    'https://other.example/d',
  ]
    .map((url) => `<url><loc>${url}</loc></url>`)
    .join('')}</urlset>`;
  const { pages } = new Discovery(collection).read(index, xml(body), { url: index.page.url, nowMs: 0, first: true });
  expect(pages.map(({ url, headers: sent }) => [url, sent !== undefined])).toEqual([
    ['https://example.org/a', true],
    ['http://example.org/b', false],
    ['https://www.example.org/c', false],
    ['https://other.example/d', false],
  ]);
});

test('a found page retires when it has been gone for a week, and one that somebody added never does', () => {
  const { page, state } = known('a', 'https://example.org/a', { options: { discovered: { from: 'index', depth: 0 } } });
  const gone = { ...state, status: 'gone' as const, lastSeenMs: startMs };
  expect(retires(page, gone, startMs + 6.9 * dayMs)).toBeUndefined();
  expect(retires(page, gone, startMs + 7.1 * dayMs)).toBe(true);
  expect(retires(page, { ...gone, status: 'present' }, startMs + 7.1 * dayMs)).toBeUndefined();
  expect(retires({ ...page, options: {} }, gone, startMs + 70 * dayMs)).toBeUndefined();
});

test('trust comes over a restart', () => {
  const collection = new Collection();
  const index = collection.add(known('index', 'https://example.org/sitemap.xml'));
  const a = collection.add(known('a', 'https://example.org/a'));
  const discovery = new Discovery(collection);
  const read = (discovery: Discovery, date: string) =>
    discovery.read(index, xml(sitemap(['/a'], { '/a': date }).body), {
      url: index.page.url,
      nowMs: Date.UTC(2030, 0),
      first: false,
    }).hints;
  for (let day = 1; day <= 9; day++) {
    expect(read(discovery, `2026-01-0${day}`)).toHaveLength(1);
    expect(read(discovery, `2026-01-0${day}`)).toHaveLength(0);
    discovery.hints.looked(a, true);
  }
  const again = new Discovery(collection);
  again.hints.restore(discovery.hints.save());
  expect(read(again, '2026-02-01')[0]!.chance).toBeCloseTo(11 / 13, 5);
});

test('a page that has moved for good is asked for where it went, now and then where it was, and again where it was once it is back', async () => {
  const site = new Map<string, SitePage>([
    ['/old', { body: '', to: '/new' }],
    ['/new', { body: '<title>New</title>one' }],
  ]);
  const watch = await watchSite(site, [{ url: 'https://example.org/old' }]);
  const page = async () => (await watch.store.pages({ limit: 1 }))[0]!;
  await watch.until(5 * hourMs);
  expect((await page()).state.movedTo).toBe('https://example.org/new');
  expect((await watch.store.changes({ after: 0, limit: 9 })).map(({ kind }) => kind)).toEqual(['moved']);
  const count = (path: string) => watch.asked.filter((url) => url === `https://example.org${path}`).length;
  expect(count('/old')).toBe(1);
  expect(count('/new')).toBeGreaterThan(10);
  site.set('/new', { body: '<title>New</title>two' });
  await watch.until(20 * hourMs);
  expect((await page()).state.version).toBe(2);
  expect(count('/old')).toBeLessThanOrEqual(3);
  site.set('/old', { body: '<title>Old</title>back' });
  await watch.until(60 * hourMs);
  expect((await page()).state.movedTo).toBeUndefined();
  expect((await watch.store.versionText((await page()).page.id, 3))!).toContain('back');
  await watch.end();
});

test('a page that is not there when it is first looked for is no change; its coming is one', async () => {
  const site = new Map<string, SitePage>();
  const watch = await watchSite(site, [{ url: 'https://example.org/soon' }]);
  await watch.until(5 * hourMs);
  expect((await watch.store.pages({ limit: 1 }))[0]!.state).toMatchObject({ status: 'gone', version: 0 });
  expect(await watch.store.changes({ after: 0, limit: 9 })).toEqual([]);
  site.set('/soon', { body: '<title>Soon</title>here' });
  await watch.until(10 * hourMs);
  expect(await watch.store.changes({ after: 0, limit: 9 })).toMatchObject([
    { kind: 'returned', summary: 'The page is there now.', toVersion: 1 },
  ]);
  await watch.end();
});

test('pages that an index reveals while nothing can be written are found all the same', async () => {
  const site = new Map<string, SitePage>([
    ['/sitemap.xml', sitemap(['/a'])],
    ['/a', { body: 'a' }],
    ['/b', { body: 'b' }],
  ]);
  const trial = await watchSite(site, [{ url: 'https://example.org/sitemap.xml', discover: { within: 'site' } }]);
  await trial.until(dayMs);
  expect(await trial.urls()).toEqual(['https://example.org/a', 'https://example.org/sitemap.xml']);
  site.set('/sitemap.xml', sitemap(['/a', '/b']));
  const full = () => Promise.resolve({ kind: 'failed', fault: { code: 'disk-full', sentence: 'full' } } as const);
  Object.assign(trial.store, { addPages: full, remember: full });
  await trial.until(2 * dayMs);
  expect(trial.loop.healthy).toBe(false);
  // The store's own again.
  for (const name of ['addPages', 'remember']) Reflect.deleteProperty(trial.store, name);
  await trial.until(3 * dayMs);
  expect(trial.loop.healthy).toBe(true);
  expect(await trial.urls()).toContain('https://example.org/b');
  await trial.end();
});

test('links are read whenever the body is another, whatever of it is selected, and never twice from the same', async () => {
  const site = new Map<string, SitePage>([['/', { body: '<p id=p>text</p><a href=/a>a</a>', etag: '"1"' }]]);
  for (const path of ['/a', '/b', '/c']) site.set(path, { body: path });
  const select = { kind: 'css', expression: '#p' } as const;
  const watch = await watchSite(site, [{ url: 'https://example.org/', discover: true, select }]);
  await watch.until(6 * hourMs);
  expect(await watch.urls()).toEqual(['https://example.org/', 'https://example.org/a']);
  // An image leads there: the text is what it was, and so is what is selected.
  site.set('/', { body: '<p id=p>text</p><a href=/a>a</a><a href=/b><img src=b.png></a>', etag: '"2"' });
  await watch.until(12 * hourMs);
  expect(await watch.urls()).toContain('https://example.org/b');
  expect((await watch.store.changes({ after: 0, limit: 9 })).map(({ kind, url }) => [kind, url])).toEqual([
    ['discovered', 'https://example.org/b'],
  ]);
  const before = watch.answers.length;
  await watch.until(24 * hourMs);
  const later = watch.answers.slice(before).filter(({ path }) => path === '/');
  expect(later.length).toBeGreaterThan(3);
  expect(later.every(({ status }) => status === 304)).toBe(true);
  await watch.end();
});

test('what discover says is changed: the next look reads the links anew, and what they list is no news', async () => {
  const site = new Map<string, SitePage>([
    ['/', { body: '<a href=/a>a</a><a href=/b>b</a><a href=/c>c</a>', etag: '"1"' }],
  ]);
  for (const path of ['/a', '/b', '/c', '/d']) site.set(path, { body: `<a href=/d>d</a>${path}`, etag: '"1"' });
  const watch = await watchSite(site, [{ url: 'https://example.org/' }]);
  await watch.until(40 * hourMs);
  const [root] = await watch.store.pages({ limit: 1 });
  const set = async (discover: unknown) => {
    const kept = await watch.store.updatePages([{ id: root!.page.id, settings: { options: { discover } } }]);
    if (kept.kind === 'kept') watch.loop.watch(kept.value[0]!);
  };
  const paths = async () => (await watch.urls()).map((url) => new URL(url).pathname);
  let hours = 40;
  const after = async (discover: unknown) => {
    await set(discover);
    await watch.until((hours += 20) * hourMs);
    return paths();
  };
  expect(await after({ include: ['/a'] })).toEqual(['/', '/a']);
  expect(await after({ include: ['/a', '/b'] })).toEqual(['/', '/a', '/b']);
  expect(await after({ pages: 2 })).toEqual(['/', '/a', '/b']);
  expect(await after({ pages: 3 })).toEqual(['/', '/a', '/b', '/c']);
  expect(await after({ depth: 2 })).toEqual(['/', '/a', '/b', '/c', '/d']);
  expect(await watch.store.changes({ after: 0, limit: 9 })).toEqual([]);
  const full = watch.answers.filter(({ path, status }) => path === '/' && status === 200).length;
  expect(full).toBe(1 + 5);
  await watch.end();
});

test('what was read is known over a restart', async () => {
  const site = new Map<string, SitePage>([['/', { body: '<a href=/a>a</a>', etag: '"1"' }]]);
  site.set('/a', { body: 'a' });
  const watch = await watchSite(site, [{ url: 'https://example.org/', discover: true }]);
  await watch.until(6 * hourMs);
  const collection = new Collection();
  for await (const batch of watch.store.everyPage()) for (const page of batch) collection.add(page);
  const [root] = collection.withUrl('https://example.org/');
  const discovery = new Discovery(collection);
  expect(discovery.isUnread(root!)).toBe(false);
  expect(discovery.wants(root!, Buffer.from('<a href=/a>a</a>'))).toBe(false);
  expect(discovery.wants(root!, Buffer.from('<a href=/b>a</a>'))).toBe(true);
  await watch.end();
});

test('the limit is on pages watched at once: what retired makes room, and of that so much is remembered', async () => {
  const site = new Map<string, SitePage>();
  /** A site that lists the last two of ever more pages, of which no others are there. */
  const turn = (round: number) => {
    const paths = [2 * round, 2 * round + 1].map((n) => `/p${n}`);
    site.clear();
    site.set('/', { body: paths.map((path) => `<a href=${path}>${path}</a>`).join('') });
    for (const path of paths) site.set(path, { body: path });
  };
  turn(0);
  const watch = await watchSite(site, [{ url: 'https://example.org/', discover: { pages: 2 } }]);
  let most = 0;
  for (let round = 0; round < 14; round++) {
    await watch.until((round + 1) * 9 * dayMs);
    const found = (await watch.store.pages({ limit: 100 })).filter(({ page }) => page.url !== 'https://example.org/');
    const watched = found.filter(({ page }) => !page.paused).map(({ page }) => new URL(page.url).pathname);
    expect(watched.sort()).toEqual([`/p${2 * round}`, `/p${2 * round + 1}`].sort());
    most = Math.max(most, found.length);
    turn(round + 1);
  }
  expect(most).toBeGreaterThan(18);
  expect(most).toBeLessThanOrEqual(2 + 20);
  await watch.end();
}, 60_000);

test('what robots.txt forbids, pictures and the like take no place', async () => {
  const links = ['/no/1', '/no/2', '/a.png', '/film.mp4', '/picture', '/font', '/a', '/b', '/paper.pdf'];
  const site = new Map<string, SitePage>([
    ['/robots.txt', { body: 'User-agent: *\nDisallow: /no/', type: 'text/plain' }],
    ['/', { body: links.map((path) => `<a href=${path}>x</a>`).join('') }],
    ['/picture', { body: 'PNG', type: 'image/png' }],
    ['/font', { body: 'OTF', type: 'font/otf' }],
    ['/paper.pdf', { body: 'PDF', type: 'application/pdf' }],
    ...['/a', '/b', '/a.png', '/no/1', '/no/2'].map((path) => [path, { body: path }] as const),
  ]);
  const watch = await watchSite(site, [{ url: 'https://example.org/', discover: { pages: 3 } }]);
  await watch.until(3 * dayMs);
  const found = (await watch.store.pages({ limit: 100 })).filter(({ page }) => !page.paused);
  expect(found.map(({ page }) => new URL(page.url).pathname).sort()).toEqual(['/', '/a', '/b', '/paper.pdf']);
  expect(watch.asked.filter((url) => /no\/|a\.png|mp4/.test(url))).toEqual([]);
  expect(watch.asked.filter((url) => url.endsWith('/picture'))).toHaveLength(1);
  expect(await watch.store.changes({ after: 0, limit: 9 })).toEqual([]);
  await watch.end();
});

test('a found page that robots.txt forbids rests: at once where it was never seen, after a week where it was', () => {
  const { page, state } = known('a', 'https://example.org/a', { options: { discovered: { from: 'index', depth: 0 } } });
  const forbidden = { ...state, lastSeenMs: startMs, fault: { code: 'robots-disallowed', sentence: '' } };
  expect(retires(page, forbidden, startMs + 6.9 * dayMs)).toBeUndefined();
  expect(retires(page, forbidden, startMs + 7.1 * dayMs)).toBe('forbidden');
  expect(retires(page, { ...forbidden, version: 0, status: 'new' }, startMs)).toBe('forbidden');
});

test('the sitemaps that robots.txt names and the feeds that pages name are read with a root', async () => {
  const feed = (...paths: string[]) => ({
    type: 'application/rss+xml',
    body: `<rss version="2.0"><channel><title>t</title>${paths.map((path) => `<item><title>${path}</title><link>https://example.org${path}</link></item>`).join('')}</channel></rss>`,
  });
  const parts =
    '<sitemapindex><sitemap><loc>https://example.org/part.xml</loc></sitemap><sitemap><loc>https://other.example/x.xml</loc></sitemap></sitemapindex>';
  const site = new Map<string, SitePage>([
    ['/robots.txt', { type: 'text/plain', body: 'User-agent: *\nDisallow: /no\nSitemap: https://example.org/map.xml' }],
    ['/', { body: '<link rel=alternate type=application/rss+xml href=/feed><a href=/a>a</a>', etag: '"1"' }],
    ['/map.xml', { type: 'text/xml', body: parts }],
    ['/part.xml', sitemap(['/', '/a', '/b', '/no', '/c.png'], { '/b': '2020-01-01' })],
    ['/feed', feed('/c')],
    ...['/a', '/b', '/c', '/d', '/e'].map((path) => [path, { body: `<title>${path}</title>${path}` }] as const),
  ]);
  const watch = await watchSite(site, [{ url: 'https://example.org/', discover: { within: 'site' } }]);
  const paths = async () => (await watch.urls()).map((url) => new URL(url).pathname);
  await watch.until(30 * hourMs);
  expect(await paths()).toEqual(['/', '/a', '/b', '/c', '/feed', '/map.xml', '/part.xml']);
  expect(await watch.store.changes({ after: 0, limit: 9 })).toEqual([]);
  site.set('/part.xml', sitemap(['/', '/a', '/b', '/d'], { '/b': '2020-01-02' }));
  site.set('/feed', feed('/e', '/c'));
  await watch.until(60 * hourMs);
  const told = await watch.store.changes({ after: 0, limit: 9 });
  expect(told.map(({ kind, url }) => `${kind} ${new URL(url).pathname}`).sort()).toEqual([
    'discovered /d',
    'discovered /e',
  ]);
  // The index is worth what it reveals: nothing where it only says something else of what is known.
  const [part] = watch.loop.collection.withUrl('https://example.org/part.xml');
  site.set('/part.xml', sitemap(['/', '/a', '/b', '/d'], { '/b': '2020-01-03' }));
  await watch.until(90 * hourMs);
  const worth = watch.findings.filter(({ page }) => page === part!.index).map(({ finding }) => finding);
  expect(worth.filter(({ kind }) => kind === 'changed')).toMatchObject([{ count: 1 }]);
  await watch.end();
});

test('a sitemap that robots.txt names later is read although the root is what it was, and none for a root that is one', async () => {
  const robots = { type: 'text/plain', body: 'User-agent: *' };
  const site = new Map<string, SitePage>([
    ['/robots.txt', robots],
    ['/', { body: 'nothing', etag: '"1"' }],
    ['/own.xml', { ...sitemap(['/a']), etag: '"1"' }],
    ['/map.xml', sitemap(['/a', '/b'])],
    ['/a', { body: 'a' }],
    ['/b', { body: 'b' }],
  ]);
  const watch = await watchSite(site, [{ url: 'https://example.org/', discover: { depth: 0 } }]);
  const own = await watchSite(site, [{ url: 'https://example.org/own.xml', discover: true }]);
  await watch.until(6 * hourMs);
  robots.body = 'User-agent: *\nSitemap: /map.xml';
  for (const trial of [watch, own]) await trial.until(4 * dayMs);
  const paths = async (trial: typeof watch) => (await trial.urls()).map((url) => new URL(url).pathname);
  expect(await paths(watch)).toEqual(['/', '/a', '/b', '/map.xml']);
  expect(await watch.store.changes({ after: 0, limit: 9 })).toEqual([]);
  expect(await paths(own)).toEqual(['/a', '/own.xml']);
  for (const trial of [watch, own]) await trial.end();
});

test('feeds that every article names do not take all places', () => {
  const collection = new Collection();
  const root = collection.add(known('root', 'https://example.org/', { options: { discover: { pages: 200 } } }));
  const discovery = new Discovery(collection);
  const feeds = Array.from({ length: 50 }, (_, n) => `<link rel=alternate type=application/atom+xml href=/f${n}>`);
  const page = { ...xml(feeds.join('')), mediaType: 'text/html' };
  const { pages } = discovery.read(root, page, { url: root.page.url, nowMs: 0, first: true });
  expect(pages).toHaveLength(20);
  const sitemaps = Array.from({ length: 50 }, (_, n) => `https://example.org/s${n}.xml`);
  const found = discovery.read(root, xml('<p>'), { url: root.page.url, nowMs: 0, first: true, sitemaps });
  expect(found.pages).toHaveLength(20);
});
