/** A page that is shown is whole, or was not seen. */
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { locate } from '../../../../house/provision.ts';
import type { WebObserver } from './observe.ts';
import { observerOn, probeOf, serve } from './test/loopback.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close();
});

const text = (seen: Awaited<ReturnType<WebObserver['observe']>>) =>
  seen.outcome.kind === 'fetched'
    ? Buffer.from(seen.outcome.body)
        .toString()
        .replaceAll(/<[^>]*>/g, '')
    : JSON.stringify(seen.outcome);

const html = (response: ServerResponse, body: string) => response.setHeader('content-type', 'text/html').end(body);
const script = (response: ServerResponse, body: string) =>
  response.setHeader('content-type', 'text/javascript').end(body);

function observing(options: Parameters<typeof observerOn>[0] = {}) {
  const observer = observerOn({ chromium: locate('chromium'), ...options });
  open.unshift(observer);
  return (url: string) => observer.observe({ ...probeOf(url), render: true });
}

describe.skipIf(locate('chromium') === undefined)('a page that needs a browser', () => {
  test('has all its parts, however long they wait for their turn: that is no time of its own', async () => {
    const names = Array.from({ length: 30 }, (_, n) => `s${n}`);
    const server = await serve((request, response) => {
      const name = /^\/(s\d+)\.js$/.exec(request.url ?? '')?.[1];
      if (name === undefined) html(response, `<body>${names.map((n) => `<script src="/${n}.js"></script>`).join('')}`);
      else script(response, `document.body.append('${name} ')`);
    });
    open.push(server);
    const [spacingMs, totalMs] = [400, 10_000];
    const look = observing({ spacingMs, patienceMs: 2_000, renderLimits: { totalMs } });
    expect(text(await look(`${server.origin}/`)).trim()).toBe(names.join(' '));
    expect(names.length * spacingMs).toBeGreaterThan(totalMs);
    const times = server.asked.map(({ atMs }) => atMs);
    for (let i = 1; i < times.length; i++) expect(times[i]! - times[i - 1]!).toBeGreaterThanOrEqual(spacingMs - 2);
  }, 120_000);

  test('whose part fails for now was not seen, and whose part is not there for good is as it is', async () => {
    const answers: Record<string, (response: ServerResponse) => void> = {
      500: (response) => response.writeHead(500).end(),
      503: (response) => response.writeHead(503, { 'retry-after': '600' }).end(),
      lost: (response) => response.destroy(),
      hangs: () => {},
      404: (response) => response.writeHead(404).end(),
      403: (response) => response.writeHead(403).end(),
    };
    const look = observing({ limits: { firstByteMs: 3_000 } });
    const seen: Record<string, unknown> = {};
    let host = 0;
    for (const [name, reply] of Object.entries(answers)) {
      for (const [kind, loads] of [
        ['script', '<script src="/app.js"></script>'],
        ['data', `<script>fetch('/app.js').then((r) => r.ok && (document.body.textContent = 'shown'))</script>`],
        ['style', '<link rel=stylesheet href="/app.js">'],
      ] as const) {
        // Each at a site of its own, as some close theirs.
        const server = await serve(
          (request, response) =>
            request.url === '/app.js' ? reply(response) : html(response, `<body>loading${loads}`),
          undefined,
          `127.0.3.${++host}`,
        );
        open.push(server);
        const { outcome } = await look(`${server.origin}/`);
        const why = 'fault' in outcome ? outcome.fault.sentence.replaceAll(/127[\d.]+:\d+/g, 'HOST') : '';
        seen[`${kind} ${name}`] = outcome.kind === 'fetched' ? 'as it is' : `${outcome.kind}: ${why}`;
      }
    }
    const without = 'HOST: the page is not whole without /app.js: HOST';
    for (const kind of ['script', 'data']) {
      expect(seen).toMatchObject({
        [`${kind} 500`]: `failed: ${without} answers 500`,
        [`${kind} 503`]: `refused: ${without} answers 503 and is left alone for a while`,
        [`${kind} lost`]: `failed: ${without}: the server closed the connection`,
        [`${kind} hangs`]: `failed: ${without}: the answer did not begin within 3000 ms`,
        [`${kind} 404`]: 'as it is',
        [`${kind} 403`]: 'as it is',
      });
    }
    for (const name of Object.keys(answers)) expect(seen[`style ${name}`]).toBe('as it is');
  }, 240_000);

  test('and asks again and again whether there is news is whole without', async () => {
    const server = await serve((request, response) => {
      if (request.url?.startsWith('/news') === true) setTimeout(() => response.end('none'), 200);
      else
        html(
          response,
          `<body>here<script>const ask = () => fetch('/news?' + Math.random()).finally(ask); ask()</script>`,
        );
    });
    open.push(server);
    const look = observing({ spacingMs: 10, renderLimits: { totalMs: 30_000 } });
    expect(text(await look(`${server.origin}/`))).toContain('here');
  }, 120_000);

  test('and puts a list together by many questions to one address is there when all are answered', async () => {
    const server = await serve((request, response) => {
      const item = /^\/item\?(\d+)$/.exec(request.url ?? '')?.[1];
      if (item !== undefined) setTimeout(() => response.end(`item ${item};`), (Number(item) * 7919) % 300);
      else
        html(
          response,
          `<body><script>for (let i = 0; i < 25; i++)
            fetch('/item?' + i).then((r) => r.text()).then((text) => document.body.append(text))</script>`,
        );
    });
    open.push(server);
    const look = observing({ spacingMs: 10, renderLimits: { totalMs: 30_000 } });
    const seen = text(await look(`${server.origin}/`));
    for (let item = 0; item < 25; item++) expect(seen).toContain(`item ${item};`);
  }, 120_000);

  test('is given back its own cookies, and what its scripts say to its server, and nobody else is', async () => {
    const other = await serve((request, response) =>
      response
        .writeHead(200, { 'access-control-allow-origin': '*', 'set-cookie': 'theirs=1' })
        .end(request.headers.cookie ?? 'none'),
    );
    const server = await serve(
      (request, response) => {
        const { cookie = 'none', authorization = 'nobody', accept = '' } = request.headers;
        if (request.url === '/data') response.end(`${cookie} ${authorization} ${accept}`);
        else if (request.url === '/wall' && !cookie.includes('passed=1'))
          html(response, `<body>a wall<script>document.cookie = 'passed=1'; location.reload()</script>`);
        else if (request.url === '/wall') html(response, '<body>behind the wall');
        else {
          response.setHeader('set-cookie', ['sid=7; HttpOnly', 'b=2']);
          html(
            response,
            `<body><script>const say = (r) => r.text().then((text) => document.body.append('[' + text + ']'));
            document.cookie = 'c=3';
            fetch('/data', { headers: { authorization: 'Bearer public', accept: 'application/json' } }).then(say)
              .then(() => fetch('${other.origin}/')).then(say).then(() => fetch('${other.origin}/again', { credentials: 'include' })).catch(() => {})</script>`,
          );
        }
      },
      undefined,
      '127.0.0.2',
    );
    open.push(server, other);
    const look = observing({ spacingMs: 10, renderLimits: { totalMs: 30_000 } });
    const seen = text(await look(`${server.origin}/`));
    expect(seen).toMatch(/\[(?=.*sid=7)(?=.*b=2)(?=.*c=3).* Bearer public application\/json\]\[none\]/);
    expect(other.asked.filter(({ headers }) => headers.cookie !== undefined)).toEqual([]);
    expect(text(await look(`${server.origin}/wall`))).toBe('behind the wall');
    // Of another showing.
    expect(server.asked.filter(({ path }) => path === '/wall').map(({ headers }) => headers.cookie)).toEqual([
      undefined,
      'passed=1',
    ]);
  }, 120_000);

  test('is shown while others never end, which come back later each time', async () => {
    const healthy = await serve((_request, response) => html(response, '<p>well</p>'), undefined, '127.0.4.1');
    const spinning = await Promise.all(
      [2, 3, 4].map((n) =>
        serve((_request, response) => html(response, '<script>for (;;) {}</script>'), undefined, `127.0.4.${n}`),
      ),
    );
    open.push(healthy, ...spinning);
    const totalMs = 8_000;
    const look = observing({ renderLimits: { totalMs, pagesMax: 2 } });
    expect(text(await look(`${healthy.origin}/`))).toContain('well');
    const beganMs = Date.now();
    const over: number[] = [];
    const ends = spinning.map(async ({ origin }) => {
      const seen = await look(`${origin}/`);
      over.push(Date.now());
      return seen;
    });
    let looks = 0;
    while (over.length === 0) {
      expect(text(await look(`${healthy.origin}/`))).toContain('well');
      looks++;
    }
    // It came in while all others stood in line for the other place.
    expect(looks).toBeGreaterThan(1);
    const late = await Promise.all(ends);
    expect(Math.max(...over) - beganMs).toBeGreaterThan(3 * totalMs - 1_000);
    const againMs: number[] = [];
    for (const { outcome, endedAtMs } of [...late, await look(`${spinning[0]!.origin}/`)]) {
      expect(outcome).toMatchObject({ kind: 'refused', fault: { code: 'render-failed' } });
      if (outcome.kind !== 'refused') return;
      expect(outcome.fault.sentence).toContain('it took longer than 8 s');
      againMs.push(outcome.untilMs! - endedAtMs);
    }
    expect(againMs.map((ms) => Math.round(ms / 60_000))).toEqual([5, 5, 5, 10]);
  }, 240_000);
});
