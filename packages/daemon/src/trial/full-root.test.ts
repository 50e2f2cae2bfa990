/** What a person at a terminal sees of a page that lists more than may be watched because of it. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Page } from '../api/client.ts';
import { revisitHere } from './command-here.ts';
import { eventually, freshFolder, loopbackWeb, serve } from './command.ts';

test('pages and the API say that a root is full', async () => {
  const folder = freshFolder();
  const data = join(folder, 'data');
  const config = join(folder, 'revisit.yaml');
  const web = await loopbackWeb();
  const paths = ['/1', '/2', '/3'];
  for (const path of paths) web.pages.set(path, path);
  web.pages.set('/', paths.map((path) => `<a href="${path}">${path}</a>`).join(''));
  const options = { discover: { within: 'site', pages: 2 } };
  writeFileSync(config, JSON.stringify({ data, spacing: '0', pages: [{ url: `${web.url}/`, options }] }));
  const daemon = await serve([config, '--allow-network', '127.0.0.0/8']);
  try {
    const list = async () => JSON.parse((await revisitHere(['pages', '--json', '--data', data])).out) as Page[];
    const roots = await eventually(async () => {
      const found = (await list()).filter(({ discovery }) => discovery);
      return found.some(({ discovery }) => discovery?.leftOut) && found;
    });
    expect(roots).toMatchObject([{ url: `${web.url}/`, discovery: { pages: 2, limit: 2, leftOut: true } }]);
    const { out } = await revisitHere(['pages', '--data', data]);
    expect(out).toContain(`${web.url}/  (full with 2 pages: others that it lists are left out)`);
  } finally {
    await daemon.end('SIGKILL');
    await web.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
