/** What the dashboard says of daemons that have just been started, each of them a fresh one. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Visitor, executablePath, fitForAll } from './browser.ts';
import { startChangingWeb } from './changing-web.ts';
import type { Serving } from './command.ts';
import { dashboardWords } from './dashboard.oracle.ts';
import type { Place } from './place.ts';

export function freshDashboardSuite(name: string, inPlace: () => Promise<Place>): void {
  describe.skipIf(!executablePath)(`a fresh dashboard in a browser: ${name}`, () => {
    const places: Place[] = [];
    const daemons: Serving[] = [];
    let visitor: Visitor;
    let context: BrowserContext;

    async function start(...words: readonly string[]): Promise<Serving> {
      places.push(await inPlace());
      daemons.push(await places.at(-1)!.serve([...dashboardWords, ...words]));
      return daemons.at(-1)!;
    }

    const post = (daemon: { readonly url: string }, path: string, body: unknown, headers = {}): Promise<Response> =>
      fetch(`${daemon.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });

    beforeAll(async () => {
      visitor = await Visitor.open('about:blank');
      ({ context } = visitor);
    });
    afterAll(async () => {
      await visitor?.close();
      for (const daemon of daemons) await daemon.end('SIGTERM');
      for (const place of places) await place.end();
    });

    test('from the empty dashboard, one click leads to the demo web', async () => {
      const empty = await start();
      const other = await context.newPage();
      await other.goto(`${empty.url}/#/changes`);
      await other.getByRole('button', { name: 'Watch the demo web' }).click();
      await other.waitForURL((url) => url.origin !== empty.url, { timeout: 30_000 });
      await other.getByRole('heading', { name: 'Learned and true' }).waitFor();
      await other.getByText('A change waits').waitFor();
      await fitForAll(other, '#/demo');
      await other.getByRole('link', { name: /^Pages/ }).click();
      await other.locator('.page-row a').first().waitFor({ timeout: 20_000 });
      await other.goto('about:blank');
      await other.close();
      // The demonstration ends with the daemon that started it.
      await empty.end('SIGTERM');
    });

    test('the axes of plots say small numbers as they are, and large ones whole on a narrow screen', async () => {
      const own = await start();
      const versions = [3_000, 2_500, 1_234_567].map((value, day) => ({
        atMs: Date.UTC(2026, 0, 1 + day),
        text: String(value),
        format: 'number',
      }));
      const records = [{ page: { url: 'http://127.0.0.1/number', paused: true, select: 'css:b' }, versions }];
      const { pages } = (await (await post(own, '/api/import', { records })).json()) as {
        pages: { id: string }[];
      };
      const other = await context.newPage();
      await other.setViewportSize({ width: 375, height: 800 });
      // A canvas keeps no text: what is written onto it is written down, with where it begins.
      await other.addInitScript(() => {
        const drawn: [string, number][] = [];
        const { prototype } = CanvasRenderingContext2D;
        const fillText = Object.getOwnPropertyDescriptor(prototype, 'fillText')!.value as () => void;
        Object.assign(globalThis, { drawn });
        prototype.fillText = function (...words) {
          const [text, x, y] = words;
          const from = new DOMPoint(x - this.measureText(text).actualBoundingBoxLeft, y);
          drawn.push([text, this.getTransform().transformPoint(from).x]);
          Reflect.apply(fillText, this, words);
        };
      });
      const point = (probesPerHour: number) => ({
        probesPerHour,
        meanDelayHours: 7.2 / probesPerHour,
        priceHours: 1e-6,
      });
      const now = point(18_000);
      const curve = [4_500, 9_000, 36_000, 7_200_000_000].map(point);
      await other.route('**/api/budget', (route) =>
        route.fulfill({ json: { budgetPerHour: 18_000, now, oneMore: { ...now, soonerMinutes: 0 }, curve } }),
      );
      const written = async (hash: string, awaited: string): Promise<readonly string[]> => {
        await other.goto('about:blank');
        await other.goto(`${own.url}/${hash}`);
        const drawn = () => other.evaluate(() => (globalThis as unknown as { drawn: [string, number][] }).drawn);
        await expect.poll(async () => (await drawn()).map(([text]) => text)).toContain(awaited);
        const all = await drawn();
        expect(all.filter(([, left]) => left < 0)).toEqual([]);
        return all.map(([text]) => text);
      };
      const waits = await written('#/plan', 'seconds');
      expect(waits).toContain('0.00001');
      expect(waits).not.toContain('0');
      await written(`#/pages/${pages[0]!.id}`, '1,000,000');
      await other.close();
      await own.end('SIGTERM');
    });

    test('a site fails where looks failed, not where its robots.txt kept us from them', async () => {
      const own = await start();
      const web = await startChangingWeb();
      web.set('/robots.txt', 'User-agent: *\nDisallow: /private/\n', 'text/plain');
      web.set('/news', '<p>news</p>');
      const watch = (path: string) => post(own, '/api/pages', { url: `${web.url}${path}` });
      const other = await context.newPage();
      for (const path of ['/news', '/private/', '/gone']) await watch(path);
      await other.goto(`${own.url}/#/sites/127.0.0.1`);
      await other.getByText(/^None of \d+ looks failed\.$/).waitFor({ timeout: 20_000 });
      await other.getByText(/^\d of \d+ looks could not be made/).waitFor();
      expect(await other.getByLabel('Share of failed looks by hour of the week').count()).toBe(0);
      web.fail('/broken', 500);
      await watch('/broken');
      await other.getByLabel('Share of failed looks by hour of the week').waitFor({ timeout: 20_000 });
      await fitForAll(other, 'a site that fails');
      await other.close();
      await own.end('SIGTERM');
      await web.close();
    });

    test('beyond loopback it asks for a token once', async () => {
      const away = await start('--host', '0.0.0.0');
      const url = away.url.replace('0.0.0.0', '127.0.0.1');
      expect((await fetch(`${url}/api/pages`)).status).toBe(401);
      const { key } = JSON.parse(readFileSync(join(places.at(-1)!.folder, 'daemon.json'), 'utf8')) as { key: string };
      const made = await post(
        { url },
        '/api/tokens',
        { name: 'me', scope: 'write' },
        { authorization: `Bearer ${key}` },
      );
      const { secret } = (await made.json()) as { secret: string };
      const other = await context.newPage();
      await other.goto(`${url}/#/changes`);
      await other.getByLabel('Token').waitFor();
      await fitForAll(other, 'the page that asks for a token');
      await other.getByLabel('Token').fill('rv_wrong');
      await other.getByRole('button', { name: 'Open' }).click();
      await other.getByText('The token is not known').waitFor();
      await fitForAll(other, 'the page that refuses a token');
      await other.getByLabel('Token').fill(secret);
      await other.getByRole('button', { name: 'Open' }).click();
      await other.getByText('Nothing is watched yet').waitFor();
      await other.reload();
      await other.getByText('Nothing is watched yet').waitFor();
      expect(await other.evaluate(() => document.cookie)).toBe('');
      await other.close();
    });
  });
}
