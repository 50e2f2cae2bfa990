/** What a person at a terminal sees of a page that lists more than may be watched because of it, or than can be read. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Page } from '../api/client.ts';
import { revisitHere } from './command-here.ts';
import { eventually, freshFolder, loopbackWeb, serve } from './command.ts';

type Discovery = NonNullable<Page['discovery']>;

/** The roots as the API has them, and what `revisit pages` prints, once one of them says it. */
async function rootsOf(
  web: Awaited<ReturnType<typeof loopbackWeb>>,
  path: string,
  discover: object,
  says: (discovery: Discovery) => boolean,
) {
  const folder = freshFolder();
  const data = join(folder, 'data');
  const config = join(folder, 'revisit.yaml');
  const options = { discover: { within: 'site', ...discover } };
  writeFileSync(config, JSON.stringify({ data, spacing: '0', pages: [{ url: web.url + path, options }] }));
  const daemon = await serve([config, '--allow-network', '127.0.0.0/8']);
  try {
    const list = async () => JSON.parse((await revisitHere(['pages', '--json', '--data', data])).out) as Page[];
    const roots = await eventually(async () => {
      const found = (await list()).filter(({ discovery }) => discovery);
      return found.some(({ discovery }) => says(discovery!)) && found;
    });
    return { roots, out: (await revisitHere(['pages', '--data', data])).out };
  } finally {
    await daemon.end('SIGKILL');
    await web.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

test('pages and the API say that a root is full', async () => {
  const web = await loopbackWeb();
  const paths = ['/1', '/2', '/3'];
  for (const path of paths) web.pages.set(path, path);
  web.pages.set('/', paths.map((path) => `<a href="${path}">${path}</a>`).join(''));
  const { roots, out } = await rootsOf(web, '/', { pages: 2 }, ({ leftOut }) => leftOut);
  expect(roots).toMatchObject([{ url: `${web.url}/`, discovery: { pages: 2, limit: 2, leftOut: true } }]);
  expect(out).toContain(`${web.url}/  (full with 2 pages: others that it lists are left out)`);
});

test('pages and the API say that not all of a sitemap can be read', async () => {
  const web = await loopbackWeb();
  const url = `${web.url}/sitemap.xml`;
  const entries = ['/1', '/\u0001'].map((path) => `<url><loc>${web.url}${path}</loc></url>`);
  web.pages.set('/1', 'one');
  web.pages.set('/sitemap.xml', `\n<?xml version="1.0"?><urlset>${entries.join('')}</urlset>`);
  const { roots, out } = await rootsOf(web, '/sitemap.xml', {}, ({ misread }) => misread !== undefined);
  expect(roots).toMatchObject([{ url, discovery: { pages: 1, leftOut: false, misread: url } }]);
  expect(out).toContain(`${url}  (not all of ${url} can be read)`);
});
