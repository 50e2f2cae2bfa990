/**
 * What anybody may expect of a running daemon, whatever it keeps its state in and whoever fetches for it. One suite for the
 * single process and for the cluster.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { locate } from '../../../../house/provision.ts';
import { killAgainAndAgain } from './killed-daemon.ts';
import { revisitHere } from './command-here.ts';
import { eventually, loopbackWeb, revisit, type LoopbackWeb } from './command.ts';
import { everyPageHas } from './newest.ts';
import type { Place } from './place.ts';

/** Lives of the daemon that end with SIGKILL; `telling.kill.test.ts` and the soak have more of them for the single process. */
const kills = 2;

const open = ['--allow-network', '127.0.0.0/8'];

async function json<Body>(url: string): Promise<Body> {
  return (await (await fetch(url)).json()) as Body;
}

async function posted<Body>(url: string, payload: unknown): Promise<Body> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(payload) });
  const text = await answer.text();
  expect([answer.ok, text]).toEqual([true, text]);
  return JSON.parse(text) as Body;
}

export function daemonSuite(name: string, place: () => Promise<Place>): void {
  describe(name, () => {
    let web: LoopbackWeb;
    let here: Place;
    beforeAll(async () => {
      web = await loopbackWeb();
    });
    afterAll(() => web.close());

    test('a page is added, its change is seen and streamed; a second daemon is turned away; Ctrl-C ends it', async () => {
      here = await place();
      web.pages.set('/live', '<p>one</p>');
      const daemon = await here.serve(['--budget', '10/second', '--spacing', '10ms', ...open]);
      const stream = await fetch(`${daemon.url}/api/changes/stream?after=0`);
      const command = (...words: string[]) => revisitHere([...words, '--data', here.folder]);
      const { id } = (JSON.parse((await command('add', `${web.url}/live`, '--json')).out) as { id: string }[])[0]!;
      await eventually(async () => (await json<{ version: number }>(`${daemon.url}/api/pages/${id}`)).version === 1);
      web.pages.set('/live', '<p>two</p>');
      const reader = stream.body!.getReader();
      let text = '';
      while (!text.includes('event: change')) text += new TextDecoder().decode((await reader.read()).value);
      expect(text).toMatch(/id: 1\nevent: change\ndata: .*"toVersion":2/);
      expect((await command('diff', id.slice(0, 8))).out).toMatch(/one[\s\S]*two/);
      expect((await command('show', `${web.url}/live`, '--version', '1')).out).toContain('one');
      expect((await command('search', 'two', '--json')).out).toContain(id);
      expect((await command('changes', '--json')).out).toContain(`${web.url}/live`);
      expect(JSON.parse((await command('check', '--all', '--json')).out)).toMatchObject({ changes: [] });
      const second = await revisit(['serve', '--port', '0', '--data', here.folder]);
      expect(second).toMatchObject({ code: 2, out: '' });
      expect(second.err).toContain(`Another revisit works on ${here.folder}`);
      await reader.cancel();
      expect(await daemon.end('SIGINT')).toBe(0);
      await here.end();
    });

    test('Ctrl-C while a server keeps us waiting: the daemon ends all the same, and the page is due again', async () => {
      here = await place();
      const silent = createServer((request, response) => {
        if (request.url === '/robots.txt') response.writeHead(404).end();
      });
      await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
      await here.add([`http://127.0.0.1:${(silent.address() as AddressInfo).port}/silent`]);
      const daemon = await here.serve(['--budget', '50/second', '--spacing', '0', ...open]);
      await eventually(
        async () => (await json<{ loop: { inFlight: number } }>(`${daemon.url}/api/status`)).loop.inFlight === 1,
      );
      expect(await daemon.end('SIGINT')).toBe(0);
      expect(await here.statuses()).toEqual(['new']);
      silent.closeAllConnections();
      silent.close();
      await here.end();
    });

    test('killed at any moment: no change lost or doubled, spacing kept over the restart', async () => {
      here = await place();
      const paths = Array.from({ length: 6 }, (_, i) => `/kill/${i}`);
      for (const path of paths) web.pages.set(path, '<p>edition 0</p>');
      await here.add(paths.map((path) => web.url + path));
      const from = web.asked.length;
      const spacingMs = 100;
      const words = ['--budget', '100/second', '--spacing', `${spacingMs}ms`, '--log-level', 'silent', ...open];
      for (let round = 1; round <= 4; round++) {
        const daemon = await here.serve(words);
        for (const path of paths) web.pages.set(path, `<p>edition ${round}</p>`);
        await new Promise((resolve) => setTimeout(resolve, 137 * round));
        await daemon.end('SIGKILL');
      }
      const last = await here.serve(words);
      const versions = await everyPageHas('edition 4', last.url);
      const { changes } = await json<{ changes: { id: string; pageId: string; toVersion: number }[] }>(
        `${last.url}/api/changes?limit=1000`,
      );
      expect(new Set(changes.map((change) => change.id)).size).toBe(changes.length);
      for (const { id, version } of versions) {
        const told = changes.filter((change) => change.pageId === id).map((change) => change.toVersion);
        expect(told).toEqual(Array.from({ length: version - 1 }, (_, i) => i + 2));
      }
      await last.end('SIGTERM');
      const times = web.asked.slice(from).filter(({ path }) => path.startsWith('/kill/'));
      // Arrival times at the server jitter by a few milliseconds against the times of sending.
      for (let i = 1; i < times.length; i++)
        expect(times[i]!.atMs - times[i - 1]!.atMs).toBeGreaterThanOrEqual(spacingMs - 30);
      await here.end();
    });

    test.skipIf(locate('chromium') === undefined)(
      'a page that scripts write is shown by a browser, and its changes are those of what it shows',
      async () => {
        here = await place();
        const script = `fetch('/data').then((r) => r.text()).then((t) => { document.body.textContent = t; });`;
        web.pages.set('/shell', `<body><script>${script}</script></body>`);
        web.pages.set('/data', 'prices of monday');
        const daemon = await here.serve(['--budget', '20/second', '--spacing', '10ms', ...open]);
        const { id } = await posted<{ id: string }>(`${daemon.url}/api/pages`, {
          url: `${web.url}/shell`,
          render: true,
          spacing: '1s',
        });
        const shows = (version: number, words: string) =>
          eventually(async () =>
            (await (await fetch(`${daemon.url}/api/pages/${id}/versions/${version}`)).text()).includes(words),
          );
        await shows(1, 'prices of monday');
        web.pages.set('/data', 'prices of tuesday');
        await shows(2, 'prices of tuesday');
        expect(await daemon.end('SIGTERM')).toBe(0);
        await here.end();
      },
    );

    test('what a page lists is watched from then on, and what it lists later is told', async () => {
      here = await place();
      const list = (...names: string[]): void =>
        void web.pages.set('/found/', names.map((name) => `<a href="/found/${name}">${name}</a>`).join(' '));
      for (const name of ['a', 'b', 'new']) web.pages.set(`/found/${name}`, `<title>${name}</title><p>${name}</p>`);
      list('a', 'b');
      const daemon = await here.serve(['--budget', '20/second', '--spacing', '10ms', ...open]);
      const discover = { within: 'folder', depth: 1 };
      await posted(`${daemon.url}/api/pages`, { url: `${web.url}/found/`, options: { discover } });
      const seen = (...names: string[]) =>
        eventually(async () => {
          const { pages } = await json<{ pages: { url: string; version: number }[] }>(`${daemon.url}/api/pages`);
          const urls = pages
            .filter(({ version }) => version > 0)
            .map(({ url }) => url.slice(`${web.url}/found/`.length));
          return JSON.stringify(urls.sort()) === JSON.stringify(['', ...names]);
        });
      await seen('a', 'b');
      list('a', 'b', 'new');
      await seen('a', 'b', 'new');
      await eventually(async () => {
        const { changes } = await json<{ changes: { kind: string; url: string }[] }>(`${daemon.url}/api/changes`);
        return changes.some(({ url }) => url === `${web.url}/found/new`);
      });
      expect(await daemon.end('SIGTERM')).toBe(0);
      await here.end();
    });

    test('killed while a receiver fails and hangs: no change lost, none told under two ids, in order per page', async () => {
      const report = await killAgainAndAgain(kills, 7, await place());
      expect(report.wrong).toEqual([]);
      expect(report.changes).toBeGreaterThan(0);
      expect(report.messages).toBeGreaterThanOrEqual(report.changes);
    });

    test('pages are edited, paused, looked at by request and removed; a stream resumes where it was left', async () => {
      here = await place();
      web.pages.set('/one', '<p>first</p>');
      web.pages.set('/two', '<p>first</p>');
      const ids = await here.add([`${web.url}/one`, `${web.url}/two`]);
      const daemon = await here.serve(['--budget', '50/second', '--spacing', '10ms', ...open]);
      const pageOf = (id: string) =>
        json<{ version: number; paused: boolean; tags: string[] }>(`${daemon.url}/api/pages/${id}`);
      const ask = (method: string, path: string, body?: unknown) =>
        fetch(`${daemon.url}/api/pages/${path}`, {
          method,
          ...(body ? { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) } : {}),
        });
      await eventually(async () => (await Promise.all(ids.map(pageOf))).every(({ version }) => version === 1));
      expect((await ask('PATCH', ids[0]!, { paused: true, tags: ['kept'] })).status).toBe(200);
      expect(await pageOf(ids[0]!)).toMatchObject({ paused: true, tags: ['kept'] });
      // What was on its way when it was paused comes home first.
      const asks = () => web.asked.filter(({ path }) => path === '/one').length;
      let before = -1;
      await eventually(async () => {
        const idle = asks() === before;
        before = asks();
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        return idle;
      });
      web.pages.set('/one', '<p>second</p>');
      web.pages.set('/two', '<p>second</p>');
      await eventually(async () => (await pageOf(ids[1]!)).version === 2);
      // A paused page is looked at when somebody asks for it, and at no other time.
      expect((await pageOf(ids[0]!)).version).toBe(1);
      expect((await ask('POST', `${ids[0]}/probe`)).status).toBeLessThan(300);
      await eventually(async () => (await pageOf(ids[0]!)).version === 2);
      expect((await ask('DELETE', ids[1]!)).status).toBeLessThan(300);
      expect((await ask('GET', ids[1]!)).status).toBe(404);
      // The log outlives the page.
      const stream = await fetch(`${daemon.url}/api/changes/stream`, { headers: { 'last-event-id': '1' } });
      const reader = stream.body!.getReader();
      let text = '';
      while (!text.includes('event: change')) text += new TextDecoder().decode((await reader.read()).value);
      expect(text).toMatch(/id: 2\nevent: change/);
      expect(text).not.toMatch(/id: 1\nevent: change/);
      await reader.cancel();
      expect(await daemon.end('SIGTERM')).toBe(0);
      await here.end();
    });
  });
}
