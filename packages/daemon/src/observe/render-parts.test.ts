/** What a page asks for while it is shown: once where several of its scripts want the same, from where it stands, and nothing of others' that is not said to be for all. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { locate } from '../../../../house/provision.ts';
import { observerOn, probeOf, serve, shownText as text } from './test/loopback.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close();
});

type Answers = Record<string, (response: ServerResponse, request: IncomingMessage) => void>;
const html = (body: string) => (response: ServerResponse) => response.setHeader('content-type', 'text/html').end(body);
const append = `.then((r) => r.text()).then((t) => document.body.append(' ' + t))`;

/** A server with these answers, by path; what was asked of it. */
async function web(answers: Answers) {
  const asked: string[] = [];
  const server = await serve((request, response) => {
    const { pathname } = new URL(request.url!, 'http://x');
    asked.push(request.url!);
    const answer = answers[pathname];
    if (answer) answer(response, request);
    else response.writeHead(404).end();
  });
  open.push(server);
  return { origin: server.origin, asked, count: (path: string) => asked.filter((each) => each === path).length };
}

function observing(spacingMs = 10) {
  const observer = observerOn({ chromium: locate('chromium'), spacingMs, renderLimits: { totalMs: 30_000 } });
  open.unshift(observer);
  return (url: string) => observer.observe({ ...probeOf(url), render: true });
}

describe.skipIf(locate('chromium') === undefined)('a page that needs a browser', () => {
  test('whose scripts want the same at once, or one after the other, has it for each, and asks once for those at once', async () => {
    const { origin, count } = await web({
      '/': html(
        `<body><script>fetch('/same')${append}</script><script>fetch('/same')${append}</script>
         <script>fetch('/late')${append}.then(() => fetch('/late'))${append}</script>`,
      ),
      '/same': (response) => setTimeout(() => response.end('same'), 300),
      '/late': (response) => setTimeout(() => response.end('late'), 300),
    });
    // Much longer than a page without requests is waited for.
    const seen = text(await observing(1_500)(`${origin}/`));
    expect(seen.match(/same|late/g)!.toSorted()).toEqual(['late', 'late', 'same', 'same']);
    expect([count('/same'), count('/late')]).toEqual([1, 2]);
  }, 120_000);

  test.each(['?page=${i}', '?after=${1700000000 + i}', '?month=2025-${i}', ''])(
    'that turns the leaves of a long list one by one has all of them: %s',
    async (query) => {
      let count = 0;
      const { origin } = await web({
        '/': html(
          `<body><script>(async () => { for (let i = 1; i <= 15; i++) await fetch(\`/leaf${query}\`)${append} })()</script>`,
        ),
        '/leaf': (response) => void setTimeout(() => response.end(`leaf ${++count};`), count % 5 === 4 ? 1_200 : 10),
      });
      const seen = text(await observing()(`${origin}/`));
      for (let leaf = 1; leaf <= 15; leaf++) expect(seen).toContain(`leaf ${leaf};`);
    },
    120_000,
  );

  test('that asks for itself, or for others, without end was not seen, and soon', async () => {
    const { origin, asked } = await web({
      '/': html(`<body><script>document.cookie = 'n=' + Math.random(); location.reload()</script>`),
      '/on': html(`<body><script>location.search = '?' + Math.random()</script>`),
    });
    const look = observing();
    for (const path of ['/', '/on']) expect(text(await look(origin + path))).toMatch(/render-incomplete.*on and on/);
    expect(asked.filter((path) => path === '/').length).toBeLessThan(8);
    expect(asked.filter((path) => path.startsWith('/on')).length).toBeLessThan(14);
  }, 120_000);

  test('that goes on asking whether there is news is read without, however it asks', async () => {
    const asks = {
      same: `setInterval(() => fetch('/news'), 400)`,
      counted: `let n = 0; setInterval(() => fetch('/news?n=' + n++), 400)`,
      dated: `setInterval(() => fetch('/news?t=' + Date.now()), 400)`,
      chained: `let n = 0; const ask = () => fetch('/news?n=' + n++).finally(ask); ask()`,
      held: `const ask = () => fetch('/held').finally(ask); ask()`,
      ticking: `let n = 0; const ask = () => fetch('/news?n=' + n++).then(() => (document.title = n)).finally(ask); ask()`,
    };
    const { origin } = await web({
      '/news': (response) => void response.end('none'),
      '/held': (response) => void setTimeout(() => response.end('none'), 12_000),
      ...Object.fromEntries(
        Object.entries(asks).map(([name, script]) => [`/${name}`, html(`<body>here<script>${script}</script>`)]),
      ),
    });
    const look = observing(300);
    const seen = await Promise.all(
      Object.keys(asks).map(async (name) => [name, text(await look(`${origin}/${name}`))]),
    );
    expect(seen).toEqual(Object.keys(asks).map((name) => [name, expect.stringContaining('here')]));
  }, 240_000);

  test('reads nothing of another origin that is not said to be for all or for it: not by a redirect, and not by a frame', async () => {
    const secret = (response: ServerResponse): void => void response.end('hush');
    const other = await web({
      '/secret': secret,
      '/all': (response) => void response.setHeader('access-control-allow-origin', '*').end('for all'),
      '/frame': html('<body>for people</body>'),
    });
    const away = (path: string) => (response: ServerResponse) =>
      response.writeHead(302, { location: other.origin + path }).end();
    const { origin, asked } = await web({
      '/': html(
        `<body><script>for (const url of ['${other.origin}/secret', '/away', '${other.origin}/all', '/own'])
           fetch(url)${append}.catch(() => document.body.append(' refused'))</script>
         <iframe src="/framed" onload="try { document.body.append(' in it ' + this.contentDocument.body.textContent) } catch { document.body.append(' shut') }"></iframe>`,
      ),
      '/own': (response) => void response.end('our own'),
      '/away': away('/secret'),
      '/framed': away('/frame'),
    });
    const seen = text(await observing()(`${origin}/`));
    expect(seen).toContain('for all');
    expect(seen).toContain('our own');
    expect(seen.match(/refused/g)).toHaveLength(2);
    expect(seen).not.toContain('hush');
    // Who looks at the page sees what its frame says, and its scripts do not.
    expect(seen).toContain('for people');
    expect(seen).not.toContain('in it for people');
    expect(asked).toContain('/framed');
  }, 120_000);

  test('reads nothing of another origin as a module or ahead of time, and what that allows where it is asked for leave', async () => {
    const other = await web({
      '/a.json': (response) => void response.setHeader('content-type', 'application/json').end('"hush"'),
      '/ahead': (response) => void response.end('hush'),
      '/asked': (response, { headers: { origin } }) =>
        void (origin === undefined ? response : response.setHeader('access-control-allow-origin', origin)).end(
          'by leave',
        ),
      '/used': (response) => void response.end('hush'),
    });
    const say = `(t) => document.body.append(' ' + t)`;
    const { origin } = await web({
      '/': html(
        `<body><link rel="preload" as="fetch" crossorigin href="${other.origin}/ahead"><script>
           import('${other.origin}/a.json', { with: { type: 'json' } }).then((m) => (${say})(m.default), () => (${say})('refused'));
           setTimeout(() => fetch('${other.origin}/ahead')${append}.catch(() => (${say})('refused')), 300);
           fetch('${other.origin}/asked')${append};
           fetch('${other.origin}/used', { mode: 'no-cors' }).then((r) => (${say})(r.type));</script>`,
      ),
    });
    const seen = text(await observing()(`${origin}/`));
    expect(seen).not.toContain('hush');
    expect(seen.match(/refused/g)).toHaveLength(2);
    expect(seen).toContain('by leave');
    expect(seen).toContain('opaque');
  }, 120_000);

  test('sends its headers and cookies for no frame of another origin, whatever that is made of', async () => {
    const asking = (page: string) => `fetch('${page}/own').then((r) => r.text()).then((t) => fetch('/told?' + t))`;
    const told: string[] = [];
    const other = await serve((request, response) => {
      told.push(request.url!);
      const page = new URL(request.url!, 'http://x').searchParams.get('page') ?? '';
      const script = `<script>${asking(page)}</script>`.replaceAll('"', '&quot;');
      html(
        `<body><iframe srcdoc="${script}"></iframe><iframe src="data:text/html,${script}"></iframe><script>${asking(page)}</script>`,
      )(response);
    });
    open.push(other);
    const { origin } = await web({
      '/': (response, { headers: { host } }) =>
        html(`<body>here<iframe src="${other.origin}/?page=http://${host}"></iframe>`)(response),
      '/own': (response, { headers }) => void response.end(`${String(headers['x-token'])} ${headers.cookie}`),
    });
    const observer = observerOn({ chromium: locate('chromium'), spacingMs: 10, renderLimits: { totalMs: 30_000 } });
    open.unshift(observer);
    const headers = { 'x-token': 'hush', cookie: 'a=hush' };
    expect(text(await observer.observe({ ...probeOf(`${origin}/`), render: true, headers }))).toContain('here');
    expect(told.length).toBeGreaterThan(0);
    expect(told.join(' ')).not.toContain('hush');
  }, 120_000);

  test('has the cookies that were set where it was sent on', async () => {
    const { origin } = await web({
      '/': (response) => response.writeHead(302, { location: '/in', 'set-cookie': 'way=one; Path=/' }).end(),
      '/in': html(`<body><script>fetch('/let')${append}.then(() => fetch('/own'))${append}</script>`),
      '/let': (response) => response.writeHead(302, { location: '/letter', 'set-cookie': 'let=two; Path=/' }).end(),
      '/letter': (response) => void response.end('letter'),
      '/own': (response, { headers: { cookie } }) => void response.end(`own ${cookie}`),
    });
    expect(text(await observing()(`${origin}/`))).toContain('own way=one; let=two');
  }, 120_000);

  test('that leads to where it is sent on stands there, and finds what it names from there', async () => {
    const { origin, count } = await web({
      '/': html(`<body><script>location.href = '/app'</script>`),
      '/app': (response) => response.writeHead(302, { location: '/app/v2/index.html' }).end(),
      '/app/v2/index.html': html(`<body>app at<script>document.body.append(' ' + location.pathname);
        fetch('data.json')${append}</script>`),
      '/app/v2/data.json': (response) => response.end('data of two'),
    });
    const seen = text(await observing()(`${origin}/`));
    expect(seen).toContain('app at /app/v2/index.html data of two');
    expect(count('/app/v2/index.html')).toBe(1);
  }, 120_000);

  test('has modules that were sent on, with what they name from where they stand', async () => {
    const js = (body: string) => (response: ServerResponse) =>
      void response.setHeader('content-type', 'text/javascript').end(body);
    const on = (location: string) => (response: ServerResponse) => response.writeHead(302, { location }).end();
    const { origin, count } = await web({
      '/': html(`<body><script src="/classic"></script><script type="module" src="/entry"></script>`),
      '/classic': on('/lib/classic.js'),
      '/lib/classic.js': js(`// import widget from './widget.js'\ndocument.write('classic ');`),
      '/entry': on('/lib/v1/dist/index.js'),
      '/lib/v1/dist/index.js': js(`import say,{more}from"./dep";\ndocument.body.append(say() + more);`),
      '/lib/v1/dist/dep': on('/lib/v1/dist/deep/dep.js'),
      '/lib/v1/dist/deep/dep.js': js(
        `import { word } from '../word.js';\nexport default () => word;\nexport const more = ' and more';`,
      ),
      '/lib/v1/dist/word.js': js(`export const word = 'a word';`),
    });
    expect(text(await observing()(`${origin}/`))).toContain('classic a word and more');
    expect([count('/entry'), count('/lib/v1/dist/index.js'), count('/lib/v1/dist/deep/dep.js')]).toEqual([1, 1, 1]);
  }, 120_000);

  test('asks for its data no more often than their server wants', async () => {
    const { origin, count } = await web({
      '/': html(`<body><script>fetch('/kept')${append};fetch('/fresh')${append}</script>`),
      '/kept': (response) => void response.setHeader('cache-control', 'max-age=600').end('kept'),
      '/fresh': (response) => void response.end('fresh'),
    });
    const look = observing();
    for (let n = 0; n < 2; n++) expect(text(await look(`${origin}/`))).toMatch(/kept[\s\S]*fresh|fresh[\s\S]*kept/);
    expect([count('/kept'), count('/fresh')]).toEqual([1, 2]);
  }, 120_000);
});
