/** The living web behind one loopback port: which site is meant, the Host header says. */
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../values/clock.ts';
import { type WebListeners, answerMsOf, answerOf } from './answer.ts';
import type { LivingWeb } from './living-web.ts';

export interface WebServer {
  readonly port: number;
  /** From now on requests are answered from this web. */
  open(web: LivingWeb, clock: Clock, listeners: WebListeners): void;
  close(): Promise<void>;
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
  const asked = {
    host: (request.headers.host ?? '').replace(/:\d+$/, '').toLowerCase(),
    path: (request.url ?? '/').split('?')[0]!,
    headers: request.headers,
  };
  const waitMs = answerMsOf(web, asked);
  if (waitMs > 1) await new Promise((resolve) => setTimeout(resolve, waitMs));
  const said = answerOf(web, asked, clock.nowMs(), listeners);
  if (said.kind === 'hung-up') request.socket.destroy();
  else response.writeHead(said.status, said.headers).end(said.text);
}
