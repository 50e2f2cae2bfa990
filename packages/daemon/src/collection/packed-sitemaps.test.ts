/** Sitemaps that come packed, wherever they are named. */
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { hourMs, type SitePage, sitemap, watchSite } from '../trial/watched-site.ts';

const root = 'https://example.org';
const packed = (paths: readonly string[], type: string): SitePage => ({
  body: gzipSync(sitemap([...paths]).body),
  type,
});

test.each(['application/x-gzip', 'application/gzip', 'application/octet-stream', 'application/xml', 'text/html'])(
  'a packed sitemap of type %s is read where a sitemap or robots.txt names it',
  async (type) => {
    const parts = `<sitemapindex><sitemap><loc>${root}/part.xml.gz</loc></sitemap></sitemapindex>`;
    const site = new Map<string, SitePage>([
      ['/robots.txt', { body: `User-agent: *\nSitemap: ${root}/named.xml.gz`, type: 'text/plain' }],
      ['/index.xml', { body: parts, type: 'application/xml' }],
      ['/part.xml.gz', packed(['/of-part', '/archive.tar.gz'], type)],
      ['/named.xml.gz', packed(['/of-named'], type)],
      ['/', { body: '<title>Front</title>here' }],
      ['/of-part', { body: 'one' }],
      ['/of-named', { body: 'two' }],
    ]);
    const discover = { within: 'site' };
    const watch = await watchSite(site, [
      { url: `${root}/index.xml`, discover },
      { url: `${root}/`, discover },
    ]);
    await watch.until(12 * hourMs);
    const pages = await watch.store.pages({ limit: 100 });
    await watch.end();
    const named = ['/', '/index.xml', '/named.xml.gz', '/of-named', '/of-part', '/part.xml.gz'];
    expect(pages.map(({ page }) => page.url.slice(root.length)).sort()).toEqual(named);
    expect(pages.filter(({ page }) => page.paused).map(({ page }) => page.url)).toEqual([]);
  },
);
