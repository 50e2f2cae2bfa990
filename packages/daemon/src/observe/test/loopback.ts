/** A server on loopback that records what it is asked, and an observer that may visit it; for tests. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Observation } from '../../values/observation.ts';
import type { Probe } from '../../values/probe.ts';
import { systemClock } from '../../values/clock.ts';
import { siteOf } from '../../values/url.ts';
import type { WebObserver, ObserverOptions } from '../observe.ts';
import { createObserver } from '../observe.ts';

export interface Recorded {
  readonly atMs: number;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
}

export interface Loopback {
  readonly origin: string;
  readonly port: number;
  readonly asked: Recorded[];
  /** Connections made to it, whatever was said over them. */
  connections(): number;
  close(): Promise<void>;
}

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** robots.txt is answered 404 unless the handler says otherwise. */
export async function serve(handler: Handler, robots?: Handler, address = '127.0.0.1'): Promise<Loopback> {
  const asked: Recorded[] = [];
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const { method = '', url: path = '', headers } = request;
    asked.push({ atMs: performance.now(), method, path, headers });
    if (request.url === '/robots.txt') (robots ?? notFound)(request, response);
    else handler(request, response);
  });
  let connections = 0;
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://${address}:${port}`,
    port,
    asked,
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

const notFound: Handler = (_request, response) => {
  response.writeHead(404).end();
};

export function observerOn(options: Partial<ObserverOptions> = {}): WebObserver {
  return createObserver({
    clock: systemClock,
    random: () => 0.5,
    userAgent: 'Revisit/0.1 (+https://example.org/revisit; test@example.org)',
    allowNetworks: ['127.0.0.0/8', '::1/128'],
    spacingMs: 0,
    ...options,
  });
}

let probes = 0;

export function probeOf(url: string, more: Partial<Probe> = {}): Probe {
  probes++;
  const site = siteOf(new URL(url).hostname);
  return { id: `probe-${probes}`, url, site, pageIds: ['page'], atMs: 0, validators: {}, ...more };
}

/** What a look at a page that is shown says to a reader, without its scripts; or what became of it. */
export const shownText = ({ outcome }: Observation): string =>
  outcome.kind === 'fetched'
    ? Buffer.from(outcome.body)
        .toString()
        .replaceAll(/<script[^]*?<\/script>|<[^>]*>/g, '')
    : JSON.stringify(outcome);
