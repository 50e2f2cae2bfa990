/** What a page does in the browser beyond being shown. */
import { createSocket } from 'node:dgram';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { locate } from '../../../../house/provision.ts';
import { launch } from './browser-launch.ts';
import { observerOn, probeOf, serve, shownText as text } from './test/loopback.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close();
});

const html = (response: ServerResponse, body: string, status = 200) =>
  response.writeHead(status, { 'content-type': 'text/html' }).end(body);

function observing(options: Parameters<typeof observerOn>[0] = {}) {
  const observer = observerOn({ chromium: locate('chromium'), ...options });
  open.unshift(observer);
  return (url: string) => observer.observe({ ...probeOf(url), render: true });
}

/** Counts the datagrams that come to an address nobody may visit. */
async function listenForDatagrams() {
  const socket = createSocket('udp4');
  let count = 0;
  socket.on('message', () => count++);
  await new Promise<void>((bound) => socket.bind(0, '127.0.0.2', bound));
  open.push({ close: () => new Promise((closed) => socket.close(() => closed())) });
  return { port: socket.address().port, count: () => count };
}

const calls = (port: number) => `<div id=out>waiting</div><script>
  const inner = document.createElement('iframe');
  document.body.append(inner);
  out.textContent = 'page ' + typeof RTCPeerConnection + ', frame ' + typeof inner.contentWindow.RTCPeerConnection;
  const connection = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.2:${port}' }] });
  connection.createDataChannel('any');
  connection.createOffer().then((offer) => connection.setLocalDescription(offer));
</script>`;

describe.skipIf(locate('chromium') === undefined)('a page in the browser', () => {
  test('sends no datagrams, and finds nothing to send them with', async () => {
    const datagrams = await listenForDatagrams();
    const server = await serve((_request, response) => html(response, calls(datagrams.port)));
    open.push(server);
    const seen = await observing({ allowNetworks: ['127.0.0.1/32'] })(`${server.origin}/`);
    expect(text(seen)).toContain('page undefined, frame undefined');
    expect(datagrams.count()).toBe(0);
  });

  test('sends no datagrams even where it finds something to send them with', async () => {
    const datagrams = await listenForDatagrams();
    const { browser } = await launch(locate('chromium')!, 256);
    open.unshift(browser);
    const page = await browser.newPage();
    await page.setContent(calls(datagrams.port));
    expect(await page.textContent('#out')).toBe('page function, frame function');
    // A browser that sends any has sent four by then.
    await sleep(1_500);
    expect(datagrams.count()).toBe(0);
  });

  test('that leads elsewhere is seen there, and was not seen where that fails: no browser’s words are the page’s', async () => {
    const dead = await serve((_request, response) => response.end());
    await dead.close();
    const inside = await serve((_request, response) => html(response, 'secret'), undefined, '127.0.0.2');
    const leads: Record<string, string> = {
      '/next': 'arrived',
      [`${dead.origin}/`]: 'nothing listens there',
      'http://nobody.invalid/': 'nobody.invalid',
      [`${inside.origin}/`]: 'which is not visited',
      '/forbidden': 'asks robots not to visit',
      '/trouble': 'answers 500',
      '/nothing': 'answers 404',
      'javascript:post.submit()': 'no page to be asked for',
    };
    const look = observing({ allowNetworks: ['127.0.1.0/24', '127.0.0.1/32'] });
    const seen: Record<string, string> = {};
    let host = 0;
    for (const to of Object.keys(leads)) {
      // Each at a site of its own, as some close theirs.
      const server = await serve(
        (request, response) => {
          if (request.url === '/next') html(response, 'arrived');
          else if (request.url === '/trouble') html(response, 'Sorry', 500);
          else if (request.url === '/nothing') html(response, 'Sorry', 404);
          else
            html(
              response,
              `here<form id=post method=post action="/next"></form>
               <script>onload = () => setTimeout(() => (location.href = '${to}'), 300)</script>`,
            );
        },
        (_request, response) => response.end('User-agent: *\nDisallow: /forbidden'),
        `127.0.1.${++host}`,
      );
      open.push(server);
      seen[to] = text(await look(`${server.origin}/`)).trim();
    }
    open.push(inside);
    for (const [to, words] of Object.entries(leads)) expect(seen[to], to).toContain(words);
    expect(seen['/next']).toBe('arrived');
    const failed = Object.entries(seen).filter(([to]) => to !== '/next');
    for (const [, said] of failed) expect(said).toMatch(/"kind":"(failed|refused)".*the page leads to /);
    expect(inside.connections()).toBe(0);
  }, 120_000);

  test('opens no windows, and none of theirs is asked for', async () => {
    const opens = `<div id=out></div><a id=link target=_blank href="/link"></a><form id=form target=_blank action="/form"></form>
      <script>
        const windows = Array.from({ length: 50 }, (_, n) => open('/window' + n));
        link.click();
        form.submit();
        out.textContent = 'has ' + windows.filter(Boolean).length;
      </script>`;
    const server = await serve((request, response) => html(response, request.url === '/' ? opens : 'more'));
    open.push(server);
    expect(text(await observing()(`${server.origin}/`)).trim()).toBe('has 0');
    expect(server.asked.map(({ path }) => path)).toEqual(['/robots.txt', '/']);
  });

  test('that leads to a file ends at once and says so', async () => {
    const types: Record<string, string> = {
      '/file.zip': 'application/zip',
      '/table': 'text/csv',
      '/page': 'text/html',
    };
    const server = await serve((request, response) => {
      const type = types[request.url!];
      if (type !== undefined)
        response.writeHead(200, { 'content-type': type, 'content-disposition': 'attachment' }).end('as a file');
      else html(response, `here<script>location.href = '${request.url!.slice('/to'.length)}'</script>`);
    });
    open.push(server);
    const look = observing();
    const startMs = performance.now();
    expect(text(await look(`${server.origin}/to/file.zip`))).toContain(
      'the page leads to /file.zip: it is a file to be saved (application/zip)',
    );
    expect(text(await look(`${server.origin}/to/table`))).toContain('it is a file to be saved (text/csv)');
    expect(text(await look(`${server.origin}/to/page`))).toBe('as a file');
    expect(text(await look(`${server.origin}/page`))).toBe('as a file');
    expect(performance.now() - startMs).toBeLessThan(50_000);
  }, 120_000);

  test('that saves what it has made itself is shown, and ends soon where it leads there', async () => {
    const saves = `here<script>
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob(['made'], { type: 'application/zip' }));
      link.download = 'made.zip';
      if (location.pathname === '/leads') location.href = link.href;
      else link.click();
    </script>`;
    const server = await serve((_request, response) => html(response, saves));
    open.push(server);
    const look = observing();
    expect(text(await look(`${server.origin}/`)).trim()).toBe('here');
    expect(text(await look(`${server.origin}/leads`))).toContain('the page leads to a file to be saved');
  });
});
