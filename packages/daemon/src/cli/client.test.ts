import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test, vi } from 'vitest';
import { remote } from './client.ts';

test('a command that waits for a daemon without its store says so, and has its answer when there is one', async () => {
  let answer = (): void => {};
  const server = createServer((request, response) => {
    if (request.url === '/healthz') return response.writeHead(503).end('{}');
    answer = () => response.writeHead(200, { 'content-type': 'application/json' }).end('{"pages":[]}');
    return undefined;
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const said: string[] = [];
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((text) => said.push(String(text)) > 0);
  const { port } = server.address() as AddressInfo;
  const asked = remote(`http://127.0.0.1:${port}`, undefined, 1).call('GET /api/pages');
  await vi.waitFor(() => expect(said).toEqual(['The daemon cannot reach its store now; this waits until it can.\n']), {
    timeout: 60_000,
  });
  stderr.mockRestore();
  answer();
  expect(await asked).toEqual({ pages: [] });
  server.closeAllConnections();
  server.close();
});
