/** The living web behind one loopback port: which site is meant, the Host header says. */
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../values/clock.ts';
import type { LivingPage, LivingWeb } from './living-web.ts';
import { bodyOf, sitemapOf } from './speak.ts';

export interface WebServer {
  readonly port: number;
  /** From now on requests are answered from this web. */
  open(web: LivingWeb, clock: Clock, listeners: WebListeners): void;
  close(): Promise<void>;
}

export interface WebListeners {
  readonly happened: (page: LivingPage, atMs: number) => void;
  /** The page was shown, or found unchanged, to whoever asked. */
  readonly shown: (page: LivingPage, atMs: number) => void;
}

export async function startWebServer(): Promise<WebServer> {
  let answer: (request: IncomingMessage, response: ServerResponse) => void = (_request, response) =>
    void response.writeHead(503).end();
  const server: Server = createServer({ keepAliveTimeout: 30_000 }, (request, response) => answer(request, response));
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    open: (web, clock, listeners) => {
      answer = (request, response) => void reply(web, clock, listeners, request, response);
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

async function reply(
  web: LivingWeb,
  clock: Clock,
  listeners: WebListeners,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const host = (request.headers.host ?? '').replace(/:\d+$/, '').toLowerCase();
  const path = (request.url ?? '/').split('?')[0]!;
  const pages = web.sites.get(host);
  if (!pages) return void response.writeHead(421).end('No such site in the demonstration.');
  if (path === '/robots.txt')
    return void response.writeHead(200, { 'content-type': 'text/plain' }).end(robotsOf(pages[0]!));
  if (path === '/sitemap.xml')
    return void response.writeHead(200, { 'content-type': 'application/xml' }).end(sitemapOf(pages));
  const page = web.find(host, path);
  if (!page) return void response.writeHead(404, { 'content-type': 'text/plain' }).end('not here');
  const { site } = page;
  if (site.answerMs > 1) await new Promise((resolve) => setTimeout(resolve, site.answerMs));
  if (page.luck() < site.failChance) return fail(page, request, response);
  const nowMs = clock.nowMs();
  web.advance(page, nowMs, listeners.happened);
  listeners.shown(page, nowMs);
  const etag = `"${page.changesMs.length}"`;
  const modified = new Date(page.changesMs.at(-1) ?? 0).toUTCString();
  const headers: Record<string, string> =
    site.validators === 'etag' ? { etag } : site.validators === 'last-modified' ? { 'last-modified': modified } : {};
  const same =
    site.validators === 'etag'
      ? request.headers['if-none-match'] === etag
      : site.validators === 'last-modified' && request.headers['if-modified-since'] === modified;
  if (same) return void response.writeHead(304, headers).end();
  const { type, text } = bodyOf(page, nowMs);
  response.writeHead(200, { ...headers, 'content-type': type }).end(text);
}

/** Half of the trouble is an error, a quarter says when to come again, a quarter hangs up. */
function fail(page: LivingPage, request: IncomingMessage, response: ServerResponse): void {
  const luck = page.luck();
  if (luck < 0.5) response.writeHead(500).end('sorry');
  else if (luck < 0.75) response.writeHead(503, { 'retry-after': '600' }).end('later');
  else request.socket.destroy();
}

function robotsOf(page: LivingPage): string {
  const delay = page.site.kind === 'slow' ? 'Crawl-delay: 60\n' : '';
  return `User-agent: *\n${delay}Disallow: /private/\nSitemap: ${new URL('/sitemap.xml', page.url).href}\n`;
}
