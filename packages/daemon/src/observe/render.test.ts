import type { IncomingMessage } from 'node:http';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { locate } from '../../../../house/provision.ts';
import type { WebObserver } from './observe.ts';
import { observerOn, probeOf, serve } from './test/loopback.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close();
});

const page = `<!doctype html><title>Shell</title><link rel=stylesheet href="/style.css"><img src="/image.png"><div id=out>waiting</div>
<script src="/app.js"></script><script>new Image().src = 'http://10.0.0.1/beacon'; fetch('http://169.254.169.254/latest').catch(() => {});
fetch('/data.json', { method: 'POST' }).catch(() => {}); fetch('/private/secret.json').catch(() => {});
new WebSocket('ws://' + location.host + '/socket');</script>`;

const text = (seen: Awaited<ReturnType<WebObserver['observe']>>) =>
  seen.outcome.kind === 'fetched' ? Buffer.from(seen.outcome.body).toString() : JSON.stringify(seen.outcome);

test.skipIf(locate('chromium') === undefined)(
  'a page is shown with what its scripts fetch, all of it polite',
  async () => {
    let value = 1;
    const server = await serve(
      (request, response) => {
        if (request.url === '/app.js') {
          response.setHeader('content-type', 'text/javascript').setHeader('cache-control', 'max-age=3600');
          response.end(
            `fetch('/data.json').then((r) => r.json()).then(({ value }) => { document.getElementById('out').textContent = 'value ' + value; });`,
          );
        } else if (request.url === '/data.json')
          response.setHeader('content-type', 'application/json').end(JSON.stringify({ value: value++ }));
        else if (request.url === '/style.css')
          response.setHeader('content-type', 'text/css').end('body { color: red }');
        else response.setHeader('content-type', 'text/html').setHeader('etag', '"shell"').end(page);
      },
      (_request, response) => response.end('User-agent: *\nDisallow: /private'),
    );
    open.push(server);
    const observer = observerOn({ spacingMs: 60, chromium: locate('chromium'), renderLimits: { totalMs: 20_000 } });
    open.unshift(observer);
    const validators = { etag: '"shell"' };
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
    const listeners = () => signals.map((signal) => process.listenerCount(signal));
    const listening = listeners();
    const first = await observer.observe({ ...probeOf(`${server.origin}/`, { validators }), render: true });
    expect(text(first)).toContain('value 1');
    expect(text(first)).not.toContain('waiting');
    expect(first.outcome).toMatchObject({ kind: 'fetched', validators: {} });
    expect(first.requests).toBe(5);
    // Ctrl-C is the daemon's affair: a browser that listens for it would end the process in the middle of things.
    expect(listeners()).toEqual(listening);
    expect(text(await observer.observe({ ...probeOf(`${server.origin}/`), render: true }))).toContain('value 2');
    const paths = server.asked.map(({ path }) => path);
    expect(paths.slice(0, 5).sort()).toEqual(['/', '/app.js', '/data.json', '/robots.txt', '/style.css']);
    // The script is still fresh, and neither what only shows, nor what posts, nor what robots.txt forbids was asked for.
    expect(paths.filter((path) => path === '/app.js')).toHaveLength(1);
    expect(paths.some((path) => /image|private|socket/.test(path))).toBe(false);
    for (let index = 1; index < server.asked.length; index++) {
      expect(server.asked[index]!.atMs - server.asked[index - 1]!.atMs).toBeGreaterThanOrEqual(59);
    }
  },
);

test.skipIf(locate('chromium') === undefined)(
  'what is sent with a page goes to the parts of its own origin, whose answers are no other page’s, and to no other origin',
  async () => {
    const script = (request: IncomingMessage) =>
      `document.body.append('${request.headers.authorization ?? 'nobody'}; ')`;
    const js = { 'content-type': 'text/javascript', 'cache-control': 'max-age=3600' };
    const other = await serve((request, response) => response.writeHead(200, js).end(script(request)));
    const server = await serve(
      (request, response) => {
        if (request.url === '/own.js') response.writeHead(200, js).end(script(request));
        else
          response
            .setHeader('content-type', 'text/html')
            .end(`<body><script src="/own.js"></script><script src="${other.origin}/other.js"></script>`);
      },
      undefined,
      '127.0.0.2',
    );
    open.push(server, other);
    const observer = observerOn({ chromium: locate('chromium'), renderLimits: { totalMs: 60_000 } });
    open.unshift(observer);
    for (const who of ['anna', 'bert']) {
      const seen = await observer.observe({
        ...probeOf(`${server.origin}/${who}`, { headers: { Authorization: who } }),
        render: true,
      });
      expect(text(seen).replaceAll(/<[^>]*>/g, '')).toBe(`${who}; nobody; `);
    }
    expect(other.asked.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
  },
);

test.skipIf(locate('chromium') === undefined)(
  'a page that never ends is read as it is or fails within its time',
  async () => {
    const server = await serve((_request, response) =>
      response
        .setHeader('content-type', 'text/html')
        .end('<p>here</p><script>setInterval(() => fetch("/x"), 5); for (;;) {}</script>'),
    );
    open.push(server);
    const observer = observerOn({ chromium: locate('chromium'), renderLimits: { totalMs: 3_000 } });
    open.unshift(observer);
    const seen = await observer.observe({ ...probeOf(`${server.origin}/`), render: true });
    expect(seen.outcome).toMatchObject({ kind: 'refused', fault: { code: 'render-failed' } });
    expect(text(seen)).toContain('it took longer than 3 s');
  },
);

test.skipIf(locate('chromium') === undefined)('whoever a page is asked as, every part says who asks', async () => {
  const server = await serve((request, response) => {
    if (request.url === '/app.js')
      response.setHeader('content-type', 'text/javascript').end('document.body.append(navigator.userAgent)');
    else response.setHeader('content-type', 'text/html').end('<p>Shell</p><script src="/app.js"></script>');
  });
  open.push(server);
  const observer = observerOn({ chromium: locate('chromium'), renderLimits: { totalMs: 20_000 } });
  open.unshift(observer);
  const headers = { 'User-Agent': 'Mozilla/5.0' };
  const seen = await observer.observe({ ...probeOf(`${server.origin}/`), headers, render: true });
  const agent = 'Mozilla/5.0 Revisit/0.1 (+https://example.org/revisit; test@example.org)';
  const agents = server.asked.map((request) => [request.path, request.headers['user-agent']]);
  expect(agents.slice(1)).toEqual([
    ['/', agent],
    ['/app.js', agent],
  ]);
  expect(text(seen)).toContain(agent);
});

test.skipIf(locate('chromium') === undefined)(
  'a page that asks for more than it may is not shown by half',
  async () => {
    const asks = `<p>here</p><script>
    let taken = 0;
    const all = Array.from({ length: 40 }, (_, n) => fetch('/part' + n).then(() => taken++, () => {}));
    Promise.all(all).then(() => (document.body.innerHTML += '<p>took ' + taken + '</p>'));
  </script>`;
    const server = await serve((request, response) =>
      response.setHeader('content-type', 'text/html').end(request.url === '/' ? asks : 'part'),
    );
    open.push(server);
    const limits = { totalMs: 60_000, requestsMax: 4 };
    const observer = observerOn({ chromium: locate('chromium'), renderLimits: limits });
    open.unshift(observer);
    const seen = await observer.observe({ ...probeOf(`${server.origin}/`), render: true });
    expect(text(seen)).toContain('the page loads more than 4 parts');
    expect(server.asked.filter(({ path }) => path.startsWith('/part')).length).toBeLessThanOrEqual(4);
  },
);

test.skipIf(locate('chromium') === undefined)(
  'the folder of a browser whose process was killed goes away',
  async () => {
    const left = mkdtempSync(join(tmpdir(), 'playwright_chromiumdev_profile-'));
    const other = mkdtempSync(join(tmpdir(), 'playwright_chromiumdev_profile-'));
    // More than any system gives out.
    writeFileSync(join(left, 'revisit-99999999'), '');
    const server = await serve((_request, response) =>
      response.setHeader('content-type', 'text/html').end('<p>here</p>'),
    );
    open.push(server);
    const observer = observerOn({ chromium: locate('chromium') });
    open.unshift(observer);
    await observer.observe({ ...probeOf(`${server.origin}/`), render: true });
    expect(existsSync(left)).toBe(false);
    // Somebody else's.
    expect(existsSync(other)).toBe(true);
    rmdirSync(other);
    expect(browsers()).toHaveLength(1);
  },
);

const commandOf = (id: number): string => readFileSync(`/proc/${id}/cmdline`, 'utf8');
const childrenOf = (id: number): number[] =>
  readdirSync(`/proc/${id}/task`)
    .flatMap((task) => readFileSync(`/proc/${id}/task/${task}/children`, 'utf8').split(' '))
    .flatMap((child) => (child.trim() ? [Number(child)] : []));

/** Folders of browsers that this process runs. */
const browsers = () =>
  readdirSync(tmpdir()).filter(
    (name) =>
      name.startsWith('playwright_chromiumdev_profile-') && existsSync(join(tmpdir(), name, `revisit-${process.pid}`)),
  );

test.skipIf(locate('chromium') === undefined)(
  'pages at once share one browser, and one that is ended for its memory leaves the other alone',
  async () => {
    // It waits for a part until it is ended, or a slow machine would have it shown before it is too large.
    const greedy = `<p>here</p><script>const all = [];
      fetch('/ready').then(() => (fetch('/more'), setInterval(() => all.push(new Uint8Array(3e7).fill(1)), 5)))</script>`;
    const modest = `<p id=out>waiting</p><script>fetch('/data').then(() => (out.textContent = 'modest'))</script>`;
    // Each part is answered once the other page has come so far.
    let greedyIsReady = () => {};
    const ready = new Promise<void>((resolve) => (greedyIsReady = resolve));
    let modestWaits = () => {};
    const waits = new Promise<void>((resolve) => (modestWaits = resolve));
    let greedyIsOver = () => {};
    const over = new Promise<void>((resolve) => (greedyIsOver = resolve));
    let atOnce: readonly string[] = [];
    const one = await serve((request, response) => {
      if (request.url === '/') response.setHeader('content-type', 'text/html').end(greedy);
      else if (request.url === '/ready') {
        greedyIsReady();
        void waits.then(() => {
          atOnce = browsers();
          response.end();
        });
      }
    });
    const other = await serve(
      (request, response) => {
        if (request.url !== '/data') response.setHeader('content-type', 'text/html').end(modest);
        else {
          void ready.then(modestWaits);
          void over.then(() => response.end());
        }
      },
      undefined,
      '127.0.0.2',
    );
    open.push(one, other);
    // Two of them for pages that nobody has seen yet.
    const limits = { totalMs: 60_000, memoryMegabytes: 400, pagesMax: 3 };
    const observer = observerOn({
      chromium: locate('chromium'),
      renderLimits: limits,
      limits: { firstByteMs: 60_000, totalMs: 60_000 },
    });
    open.unshift(observer);
    const first = observer.observe({ ...probeOf(`${one.origin}/`), render: true });
    const second = observer.observe({ ...probeOf(`${other.origin}/`), render: true });
    expect((await first).outcome).toMatchObject({ kind: 'failed', fault: { code: 'render-failed' } });
    greedyIsOver();
    expect(text(await second)).toContain('modest');
    expect(atOnce).toHaveLength(1);
    // And it is the same that they had when both began.
    expect(browsers()).toEqual(atOnce);
  },
);

test.skipIf(locate('chromium') === undefined || process.platform !== 'linux')(
  'a browser that hangs is ended, and the next page has another',
  async () => {
    const server = await serve((_request, response) =>
      response.setHeader('content-type', 'text/html').end('<p>modest</p>'),
    );
    open.push(server);
    const limits = { totalMs: 30_000, browserMs: 6_000 };
    const observer = observerOn({ chromium: locate('chromium'), renderLimits: limits });
    open.unshift(observer);
    const look = () => observer.observe({ ...probeOf(`${server.origin}/`), render: true });
    expect(text(await look())).toContain('modest');
    const [browser] = childrenOf(process.pid).filter((id) => commandOf(id).includes('--user-data-dir'));
    process.kill(browser!, 'SIGSTOP');
    expect((await look()).outcome).toMatchObject({ kind: 'failed', fault: { code: 'render-failed' } });
    await expect.poll(() => existsSync(`/proc/${browser}/exe`)).toBe(false);
    expect(text(await look())).toContain('modest');
  },
);

test.skipIf(locate('chromium') === undefined)(
  'nothing that a page loads gets to an address that is not visited: frames, scripts, sockets, redirects, workers',
  async () => {
    const inside = await serve((_request, response) => response.end('secret'), undefined, '127.0.0.2');
    const there = `127.0.0.2:${inside.port}`;
    const hostile = `<!doctype html><div id=out>waiting</div><iframe src="http://${there}/frame"></iframe>
      <link rel=preconnect href="http://${there}"><link rel=dns-prefetch href="//${there}">
      <script src="http://${there}/script.js"></script>
      <script>
        const tries = [
          fetch('http://${there}/fetch'), fetch('/away'), fetch('http://${there}/post', { method: 'POST', mode: 'no-cors' }),
          new Promise((yes, no) => { const s = new WebSocket('ws://${there}/socket'); s.onopen = yes; s.onerror = no; }),
          new Promise((yes, no) => { const s = new EventSource('http://${there}/events'); s.onopen = yes; s.onerror = no; }),
        ];
        navigator.sendBeacon('http://${there}/beacon');
        open('http://${there}/window');
        Promise.allSettled(tries).then((all) => (out.textContent = all.map(({ status }) => status).join()));
      </script>`;
    const server = await serve((request, response) => {
      if (request.url === '/away') response.writeHead(302, { location: `http://${there}/redirected` }).end();
      else response.setHeader('content-type', 'text/html').end(hostile);
    });
    open.push(server, inside);
    const limits = { totalMs: 30_000 };
    const observer = observerOn({
      chromium: locate('chromium'),
      renderLimits: limits,
      allowNetworks: ['127.0.0.1/32'],
    });
    open.unshift(observer);
    const seen = await observer.observe({ ...probeOf(`${server.origin}/`), render: true });
    expect(text(seen)).toContain('rejected,rejected,rejected,rejected,rejected');
    expect(inside.connections()).toBe(0);
  },
);

test('what is no page needs no browser, and without one a sentence says so', async () => {
  const server = await serve((request, response) => {
    if (request.url === '/gone') response.writeHead(404).end();
    else response.setHeader('content-type', 'application/json').end('{}');
  });
  open.push(server);
  const nowhere = observerOn({ chromium: '/nowhere/chromium' });
  open.unshift(nowhere);
  // The one that was named is meant, whatever else there is.
  const seen = await nowhere.observe({ ...probeOf(`${server.origin}/`), render: true });
  expect(seen.outcome).toMatchObject({ fault: { code: 'render-missing' } });
  expect(text(seen)).toContain('there is none at /nowhere/chromium');
  if (locate('chromium') === undefined) return;
  const observer = observerOn({ chromium: locate('chromium') });
  open.unshift(observer);
  expect((await observer.observe({ ...probeOf(`${server.origin}/gone`), render: true })).outcome.kind).toBe('gone');
  expect(text(await observer.observe({ ...probeOf(`${server.origin}/data`), render: true }))).toBe('{}');
});
