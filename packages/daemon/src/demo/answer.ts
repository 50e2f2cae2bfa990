/** What the living web says to one request, whichever way it came: over a socket, or in virtual time. */
import type { LivingPage, LivingWeb } from './living-web.ts';
import { bodyOf, sitemapOf } from './speak.ts';

export interface WebListeners {
  readonly happened: (page: LivingPage, atMs: number) => void;
  /** The page was shown, or found unchanged, to whoever asked. */
  readonly shown: (page: LivingPage, atMs: number) => void;
}

export interface WebRequest {
  readonly host: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export type WebAnswer =
  | { readonly kind: 'hung-up' }
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly text: string;
    };

const answered = (status: number, text = '', headers: Readonly<Record<string, string>> = {}): WebAnswer => ({
  kind: 'answered',
  status,
  headers,
  text,
});

/** How long the site takes before it answers, in milliseconds of its own time. */
export function answerMsOf(web: LivingWeb, { host, path }: WebRequest): number {
  return web.find(host, path)?.site.answerMs ?? 1;
}

export function answerOf(web: LivingWeb, request: WebRequest, nowMs: number, listeners: WebListeners): WebAnswer {
  const { host, path, headers: asked } = request;
  const pages = web.sites.get(host);
  if (!pages) return answered(421, 'No such site in the demonstration.');
  if (path === '/robots.txt') return answered(200, robotsOf(pages[0]!), { 'content-type': 'text/plain' });
  if (path === '/sitemap.xml') return answered(200, sitemapOf(pages), { 'content-type': 'application/xml' });
  const page = web.find(host, path);
  if (!page) return answered(404, 'not here', { 'content-type': 'text/plain' });
  const { site } = page;
  if (page.luck() < site.failChance) return failure(page);
  web.advance(page, nowMs, listeners.happened);
  listeners.shown(page, nowMs);
  const etag = `"${page.changesMs.length}"`;
  const modified = new Date(page.changesMs.at(-1) ?? 0).toUTCString();
  const headers: Record<string, string> =
    site.validators === 'etag' ? { etag } : site.validators === 'last-modified' ? { 'last-modified': modified } : {};
  const same =
    site.validators === 'etag'
      ? asked['if-none-match'] === etag
      : site.validators === 'last-modified' && asked['if-modified-since'] === modified;
  if (same) return answered(304, '', headers);
  const { type, text } = bodyOf(page, nowMs);
  return answered(200, text, { ...headers, 'content-type': type });
}

/** Half of the trouble is an error, a quarter says when to come again, a quarter hangs up. */
function failure(page: LivingPage): WebAnswer {
  const luck = page.luck();
  if (luck < 0.5) return answered(500, 'sorry');
  return luck < 0.75 ? answered(503, 'later', { 'retry-after': '600' }) : { kind: 'hung-up' };
}

function robotsOf(page: LivingPage): string {
  const delay = page.site.kind === 'slow' ? 'Crawl-delay: 60\n' : '';
  return `User-agent: *\n${delay}Disallow: /private/\nSitemap: ${new URL('/sitemap.xml', page.url).href}\n`;
}
