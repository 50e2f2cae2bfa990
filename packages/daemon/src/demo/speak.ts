/** What a page of the living web says in its n-th version. */
import type { LivingPage } from './living-web.ts';

const nouns = [
  'harbour',
  'council',
  'bridge',
  'library',
  'garden',
  'railway',
  'market',
  'museum',
  'river',
  'school',
  'theatre',
  'orchard',
];
const verbs = [
  'opens',
  'closes early',
  'is repaired',
  'moves',
  'grows',
  'is debated',
  'wins a prize',
  'asks for help',
  'changes hands',
  'returns',
];
const days = [
  'today',
  'this week',
  'after long talks',
  'at last',
  'without notice',
  'to the surprise of many',
  'again',
];

/** The same words for the same page and version, always. */
function sentence(page: LivingPage, n: number): string {
  let hash = n * 2_654_435_761;
  for (const letter of page.url) hash = (hash * 31 + letter.charCodeAt(0)) >>> 0;
  const pick = (list: readonly string[], shift: number): string => list[(hash >>> shift) % list.length]!;
  return `The ${pick(nouns, 3)} ${pick(verbs, 9)} ${pick(days, 15)} (no. ${n})`;
}

const iso = (ms: number): string => new Date(ms).toISOString();

function html(page: LivingPage, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${page.site.host}${page.path}</title></head><body><nav><a href="/">home</a> <a href="/sitemap.xml">sitemap</a></nav><main>${body}</main><footer>${page.site.host}, a site of the demonstration</footer></body></html>`;
}

function items(page: LivingPage): string {
  const last = page.changesMs.length;
  const entries = Array.from({ length: Math.min(20, last) }, (_, i) => last - i).map(
    (n) =>
      `<item><guid isPermaLink="false">${page.path}#${n}</guid><title>${sentence(page, n)}</title><link>${page.url}#${n}</link><pubDate>${new Date(page.changesMs[n - 1]!).toUTCString()}</pubDate></item>`,
  );
  return `<?xml version="1.0"?><rss version="2.0"><channel><title>${page.site.host}</title><link>${page.url}</link><description>demo</description>${entries.join('')}</channel></rss>`;
}

export function bodyOf(page: LivingPage, nowMs: number): { readonly type: string; readonly text: string } {
  const n = page.changesMs.length;
  switch (page.site.kind) {
    case 'feed':
      return { type: 'application/rss+xml', text: items(page) };
    case 'json':
      return {
        type: 'application/json',
        text: JSON.stringify({ item: page.path, revision: n, note: sentence(page, n) }),
      };
    case 'shop':
      return {
        type: 'text/html; charset=utf-8',
        text: html(
          page,
          `<h1>Product ${page.path.split('/').at(-1)}</h1><p id="price">${(20 + ((n * 37) % 60) + 0.99).toFixed(2)} €</p><p>${sentence(page, 0)}</p>`,
        ),
      };
    case 'noisy':
      // Everything but the story is different at every look, and none of it is news.
      return {
        type: 'text/html; charset=utf-8',
        text: html(
          page,
          `<p>It is ${iso(nowMs)}. You are visitor ${Math.floor(page.luck() * 1e6)}.</p><article><h1>${sentence(page, n)}</h1><p>${sentence(page, n + 1000)}</p></article><aside class="ad">Buy offer ${Math.floor(page.luck() * 1e6)} now</aside>`,
        ),
      };
    default: {
      const stories = Array.from({ length: 4 }, (_, i) => n - i).filter((i) => i >= 0);
      return {
        type: 'text/html; charset=utf-8',
        text: html(page, `<h1>${sentence(page, n)}</h1>${stories.map((i) => `<p>${sentence(page, i)}</p>`).join('')}`),
      };
    }
  }
}

export function sitemapOf(pages: readonly LivingPage[]): string {
  return `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${pages.map((page) => `<url><loc>${page.url}</loc></url>`).join('')}</urlset>`;
}
