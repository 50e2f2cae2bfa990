/** A small web on loopback whose pages say what the test wants them to say. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ChangingWeb {
  readonly url: string;
  set(path: string, body: string, type?: string): void;
  /** From now on the path answers so. */
  fail(path: string, status: number): void;
  /** How often a path was asked for. */
  asked(path: string): number;
  close(): Promise<void>;
}

export async function startChangingWeb(): Promise<ChangingWeb> {
  const pages = new Map<string, { body: string; type: string; status?: number }>();
  const asked = new Map<string, number>();
  const server = createServer((request, response) => {
    asked.set(request.url ?? '/', (asked.get(request.url ?? '/') ?? 0) + 1);
    const page = pages.get(request.url ?? '/');
    response
      .writeHead(page?.status ?? (page ? 200 : 404), { 'content-type': page?.type ?? 'text/plain' })
      .end(page?.body ?? 'not here');
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    set: (path, body, type = 'text/html; charset=utf-8') => void pages.set(path, { body, type }),
    fail: (path, status) => void pages.set(path, { body: '', type: 'text/plain', status }),
    asked: (path) => asked.get(path) ?? 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
