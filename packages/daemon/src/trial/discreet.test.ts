/**
 * What a daemon tells to whom, as a person runs it: sites learn who asks and how to reach them; nobody learns a password, not
 * from what it prints at its most talkative, and not from its API.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { hostileServers, Servers } from '../observe/test/hostile.ts';
import { type Loopback, serve as site } from '../observe/test/loopback.ts';
import { eventually, freshFolder, serve, type Serving } from './command.ts';

const servers = new Servers();
const sites: Loopback[] = [];
const folders: string[] = [];
const daemons: Serving[] = [];
afterEach(async () => {
  for (const daemon of daemons.splice(0)) await daemon.end('SIGKILL');
  await servers.close();
  for (const each of sites.splice(0)) await each.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

async function daemonWith(config: object, words: readonly string[] = []): Promise<Serving> {
  const folder = freshFolder();
  folders.push(folder);
  const file = join(folder, 'revisit.yaml');
  writeFileSync(file, JSON.stringify({ data: join(folder, 'data'), allowNetwork: ['127.0.0.0/8'], ...config }));
  const daemon = await serve([file, '--budget', '50/second', '--spacing', '20ms', ...words]);
  daemons.push(daemon);
  return daemon;
}

test.each([
  [[], 'operator did not leave a contact'],
  [['--contact', 'https://example.org/robot; ops@example.org'], 'https://example.org/robot; ops@example.org'],
  [['--contact', 'Jürgen 日本'], 'J%C3%BCrgen %E6%97%A5%E6%9C%AC'],
])('with %j every request names the program and its operator', async (words, contact) => {
  let edition = 0;
  const page = await site((_request, response) => response.end(`edition ${edition}`));
  const receiver = await site((_request, response) => response.end(), undefined, '127.0.0.2');
  sites.push(page, receiver);
  const daemon = await daemonWith({ pages: [{ url: `${page.origin}/` }] }, words);
  await posted(`${daemon.url}/api/subscriptions`, { deliver: { kind: 'webhook', url: `${receiver.origin}/hook` } });
  await eventually(() => page.asked.some(({ path }) => path === '/'));
  edition++;
  await eventually(() => receiver.asked.length > 0);
  expect(page.asked[0]!.path).toBe('/robots.txt');
  expect(daemon.err().split('No contact is set').length - 1).toBe(words.length === 0 ? 1 : 0);
  for (const { headers } of [...page.asked, ...receiver.asked]) {
    expect(headers['user-agent']).toMatch(/^revisit\/\d+\.\d+\.\d+ \(page change monitor; /);
    expect(headers['user-agent']!.endsWith(`; ${contact})`)).toBe(true);
  }
});

async function posted<Body>(url: string, payload: unknown, headers: Record<string, string> = {}): Promise<Body> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(payload),
  });
  return (await answer.json()) as Body;
}

/** Everything that the API shows by a GET without asking for more than one thing, and all of one page and one site. */
async function shownBy(url: string, headers: Record<string, string>): Promise<string> {
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: Record<string, object> };
  const { pages } = (await (await fetch(`${url}/api/pages?limit=200`)).json()) as { pages: { id: string }[] };
  // A backup is the store itself, and the stream does not end.
  const asked = Object.keys(paths).filter(
    (path) => 'get' in paths[path]! && !['/api/backup', '/api/changes/stream'].includes(path),
  );
  expect(asked.length).toBeGreaterThan(25);
  const filled = asked.flatMap((path) =>
    path.startsWith('/api/pages/{id}')
      ? pages.map(({ id }) => path.replace('{id}', id).replace('{number}', '1'))
      : [path.replace('{site}', '127.0.0.1')],
  );
  const texts = await Promise.all(filled.map(async (path) => (await fetch(`${url}${path}`, { headers })).text()));
  return texts.join('\n');
}

test.each([false, true])('what is secret is neither printed nor shown (through a proxy: %s)', async (proxied) => {
  const secret = (name: string): string => `${name}-7f3Kq9`;
  const secrets = ['authorization', 'cookie', 'sitekey', 'proxy', 'hook', 'signing', 'hookheader', 'ntfy', 'smtp'].map(
    secret,
  );
  let edition = 0;
  const healthy = await site((_request, response) => response.end(`edition ${edition}`), undefined, '127.0.0.2');
  const receivers = [500, 410, 302].map((status) =>
    site((_request, response) => response.writeHead(status, { location: '/' }).end(), undefined, '127.0.0.3'),
  );
  sites.push(healthy, ...(await Promise.all(receivers)));
  const resets = await servers.raw((socket) => socket.resetAndDestroy(), '127.0.0.3');
  const proxy = createServer((request, response) => {
    if (request.url!.includes('wants-more')) response.writeHead(407).end();
    else if (request.url!.includes('breaks')) response.socket!.destroy();
    else response.end(`by proxy ${edition}`);
  });
  const host = await servers.listen(proxy);
  const headers = { Authorization: `Bearer ${secret('authorization')}`, Cookie: `sid=${secret('cookie')}` };
  // Those that hang would, with the limits of everybody, for longer than a test.
  const quick = hostileServers.filter(({ code }) => !code.endsWith('timeout') && code !== 'headers-too-large');
  const failing = proxied
    ? [`${healthy.origin}/wants-more`, `${healthy.origin}/breaks`]
    : await Promise.all(quick.map(async ({ begin }, i) => `http://${await servers.raw(begin(), `127.0.2.${i + 1}`)}/`));
  const daemon = await daemonWith(
    {
      pages: [`${healthy.origin}/`, ...failing].map((url) => ({ url, headers })),
      sites: { '127.0.0.2': { headers: { 'X-Key': secret('sitekey') } } },
      smtp: `smtp://mailer:${secret('smtp')}@127.0.0.1:1`,
      ...(proxied ? { proxy: `http://me:${secret('proxy')}@${host}` } : {}),
    },
    ['--log-level', 'debug'],
  );
  const token = await posted<{ secret: string }>(`${daemon.url}/api/tokens`, { name: 'reader', scope: 'read' });
  secrets.push(token.secret);
  const hooks = [...sites.slice(1).map(({ origin }) => origin), `http://${resets}`, 'http://127.0.0.9:1'];
  for (const origin of hooks) {
    const url = `${origin}/${secret('hook')}`;
    const deliver = { kind: 'webhook', url, secret: secret('signing'), headers: { 'X-Hook': secret('hookheader') } };
    await posted(`${daemon.url}/api/subscriptions`, { deliver });
  }
  for (const deliver of [
    { kind: 'email', to: 'me@example.org' },
    { kind: 'ntfy', url: `http://${resets}/topic`, token: secret('ntfy') },
  ])
    await posted(`${daemon.url}/api/subscriptions`, { deliver });
  const shown = async () =>
    (
      (await (await fetch(`${daemon.url}/api/pages?limit=200`)).json()) as {
        pages: { version: number; fault: unknown }[];
      }
    ).pages;
  await eventually(async () => (await shown()).every(({ version, fault }) => version > 0 || fault !== null));
  expect((await shown()).filter(({ fault }) => fault !== null)).toHaveLength(failing.length);
  edition++;
  const deliveries = async () =>
    ((await (await fetch(`${daemon.url}/api/deliveries?limit=100`)).json()) as { deliveries: { fault: unknown }[] })
      .deliveries;
  await eventually(async () => (await deliveries()).filter(({ fault }) => fault !== null).length === hooks.length + 2);
  const bearer = { authorization: `Bearer ${token.secret}` };
  await fetch(`${daemon.url}/api/pages`, { headers: { authorization: `Bearer ${secret('authorization')}` } });
  const apiText = await shownBy(daemon.url, bearer);
  expect(await daemon.end('SIGTERM')).toBe(0);
  const printed = daemon.out() + daemon.err();
  expect(printed).toMatch(/edition|changed/);
  const packed = Buffer.from(`me:${secret('proxy')}`).toString('base64');
  for (const each of [...secrets, packed]) {
    expect(printed).not.toContain(each);
    expect(apiText).not.toContain(each);
  }
});
