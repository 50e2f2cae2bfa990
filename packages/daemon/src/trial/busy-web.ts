/** A web of many sites on one loopback server, for trials under load: every address 127.0.x.1 is a site with pages of its own. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface BusyWeb {
  readonly urls: readonly string[];
  /** When each site was asked for a page. */
  readonly asked: ReadonlyMap<string, readonly number[]>;
  requests(): number;
  /** The pages with these numbers say something new. */
  edit(numbers: readonly number[]): void;
  /** What the page at a URL says now. */
  edition(url: string): string;
  close(): Promise<void>;
}

export async function busyWeb(pages: number, sites: number): Promise<BusyWeb> {
  const editions = Array.from({ length: pages }, () => 1);
  const asked = new Map<string, number[]>();
  let requests = 0;
  const text = (page: number): string => `Page ${page} in edition ${editions[page]} of many.`;
  const pageOf = (path: string): number => Number(path.slice(path.lastIndexOf('/') + 1));
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    if (path === '/robots.txt') return response.writeHead(404).end();
    const site = request.socket.localAddress!;
    requests++;
    if (!asked.has(site)) asked.set(site, []);
    asked.get(site)!.push(Date.now());
    return response.writeHead(200, { 'content-type': 'text/html' }).end(`<p>${text(pageOf(path))}</p>`);
  });
  await new Promise<void>((done) => server.listen(0, '0.0.0.0', done));
  const { port } = server.address() as AddressInfo;
  return {
    urls: editions.map((_, page) => `http://127.0.${1 + (page % sites)}.1:${port}/page/${page}`),
    asked,
    requests: () => requests,
    edit: (numbers) => numbers.forEach((page) => editions[page]!++),
    edition: (url) => text(pageOf(url)),
    close: () => new Promise((done) => void (server.closeAllConnections(), server.close(() => done()))),
  };
}
