/** Pages that move for good, move on, and come back. */
import { expect, test } from 'vitest';
import { hourMs, type SitePage, watchSite } from '../trial/watched-site.ts';

const old = 'https://example.org/old';

async function moving() {
  const site = new Map<string, SitePage>([
    ['/old', { body: '', to: '/new' }],
    ['/new', { body: '<title>It</title>one' }],
  ]);
  const watch = await watchSite(site, [{ url: old }]);
  await watch.until(5 * hourMs);
  return {
    site,
    watch,
    state: async () => (await watch.store.pages({ limit: 1 }))[0]!.state,
    told: async () => (await watch.store.changes({ after: 0, limit: 9 })).map(({ kind, summary }) => [kind, summary]),
  };
}

test('a page whose new place leads back to its own address is there, and has moved nowhere', async () => {
  const { site, watch, state, told } = await moving();
  expect((await state()).movedTo).toBe('https://example.org/new');
  site.set('/new', { body: '', to: '/old' });
  site.set('/old', { body: '<title>It</title>one' });
  await watch.until(20 * hourMs);
  expect((await state()).movedTo).toBeUndefined();
  expect(watch.asked.at(-1)).toBe(old);
  expect((await told()).map(([kind]) => kind)).toEqual(['moved']);
  await watch.end();
});

test.each(['one', 'two'])(
  'a page that moves on is told of again, also where it says something else there: %s',
  async (text) => {
    const { site, watch, state, told } = await moving();
    site.set('/new', { body: '', to: '/newer' });
    site.set('/newer', { body: `<title>It</title>${text}` });
    await watch.until(20 * hourMs);
    expect((await state()).movedTo).toBe('https://example.org/newer');
    expect(await told()).toEqual([
      ['moved', 'The page has moved for good to https://example.org/new'],
      ...(text === 'one' ? [] : [['changed', 'one → two']]),
      ['moved', 'The page has moved for good to https://example.org/newer'],
    ]);
    await watch.end();
  },
);

test('a page that changes at every look is told of as moved, with what changed', async () => {
  const { site, watch, told, state } = await moving();
  let edit = 0;
  const page: SitePage = Object.defineProperty({ body: '' }, 'body', {
    get: () => `<title>It</title>edit ${++edit}`,
  });
  site.set('/new', page);
  await watch.until(10 * hourMs);
  site.set('/new', { body: '', to: '/newer' });
  site.set('/newer', page);
  await watch.until(15 * hourMs);
  expect((await state()).movedTo).toBe('https://example.org/newer');
  const changes = await watch.store.changes({ after: 0, limit: 500 });
  const moves = changes.filter(({ kind }) => kind === 'moved');
  expect(moves).toHaveLength(2);
  expect(moves[1]!.summary).toMatch(/^The page has moved for good to https:\/\/example.org\/newer; /);
  expect(moves[1]!.toVersion).toBeGreaterThan(1);
  // No version is missing from what was told.
  const versions = changes.flatMap(({ fromVersion, toVersion }) => (toVersion ? [[fromVersion, toVersion]] : []));
  expect(versions).toEqual(versions.map((_, n) => [n + 1, n + 2]));
  expect((await told()).length).toBeGreaterThan(3);
  await watch.end();
});

test('pages that have moved to one address, and one that is watched there, share its requests', async () => {
  const site = new Map<string, SitePage>([
    ['/old', { body: '', to: '/new' }],
    ['/older', { body: '', to: '/new' }],
    ['/new', { body: '<title>It</title>one', etag: '"1"' }],
  ]);
  const urls = [old, 'https://example.org/older', 'https://example.org/new'];
  const watch = await watchSite(
    site,
    urls.map((url) => ({ url })),
  );
  await watch.until(10 * hourMs);
  const states = async () => (await watch.store.pages({ limit: 9 })).map(({ state }) => state);
  const from = watch.asked.length;
  const before = await states();
  expect(before.map(({ movedTo }) => movedTo)).toEqual([urls[2], urls[2], undefined]);
  await watch.until(20 * hourMs);
  const looks = (await states()).map((state, n) => state.looks - before[n]!.looks);
  const requests = watch.asked.slice(from);
  expect(requests.length).toBeGreaterThan(5);
  expect(looks).toEqual(requests.map(() => requests.length).slice(0, 3));
  expect(new Set(requests)).toEqual(new Set([urls[2]]));
  expect(watch.answers.slice(-3).map(({ status }) => status)).toEqual([304, 304, 304]);
  // What is there changes, and goes: each hears of it as if it had asked alone.
  site.set('/new', { body: '<title>It</title>two', etag: '"2"' });
  await watch.until(25 * hourMs);
  expect((await states()).map(({ version }) => version)).toEqual([2, 2, 2]);
  site.delete('/new');
  await watch.until(26 * hourMs);
  const [first, , third] = await states();
  expect([first!.fault?.code, third!.status]).toEqual(['moved-lost', 'gone']);
  await watch.end();
});
