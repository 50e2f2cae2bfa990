/** Pages that move for good, move on, and come back. */
import { expect, test } from 'vitest';
import { hourMs, type SitePage, watchSite } from './trial/watched-site.ts';

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
