/** The dashboard in a real browser, before a daemon that watches a small web on loopback: one process, or a cluster. */
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Visitor, complains, executablePath, looks } from './browser.ts';
import { type ChangingWeb, startChangingWeb } from './changing-web.ts';
import type { Serving } from './command.ts';
import type { Place } from './place.ts';

/** Everything a page's author could try, in one text. */
const evil = `"><img src=x onerror="window.pwned=1"><script>window.pwned=1</script><style>*{display:none}</style>‮gnp.exe\u0007 ${'W'.repeat(3_000)}`;
/** The worst that is still a name of a header: signs of quotes, entities and templates. */
const evilName = "X-'onerror&#60!$pwned|*`";
const escaped = evil.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Budget and spacing of a daemon before which somebody sits. */
export const dashboardWords = '--budget 5/second --spacing 0 --allow-network 127.0.0.0/8 --log-level error'.split(' ');

export function dashboardSuite(name: string, inPlace: () => Promise<Place>): void {
  describe.skipIf(!executablePath)(`the dashboard in a browser: ${name}`, () => {
    let web: ChangingWeb;
    let place: Place;
    let daemon: Serving;
    let visitor: Visitor;
    let context: BrowserContext;
    let page: Page;
    let trouble: string[];

    const go = (hash: string): Promise<void> => visitor.go(hash);
    const turn = (hash: string): Promise<void> => visitor.turn(hash);
    const settled = (): Promise<void> => visitor.settled();
    const said = (): Promise<string> => visitor.said();

    async function api(path: string, body?: unknown, method = 'POST'): Promise<Response> {
      return fetch(
        `${daemon.url}${path}`,
        body === undefined
          ? {}
          : { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
      );
    }

    /** Every page is looked at again; the plan's own looks may go on beside. */
    async function lookAtAll(): Promise<void> {
      const looks = async (): Promise<ReadonlyMap<string, number>> => {
        const { pages } = (await (await api('/api/pages?limit=100')).json()) as {
          pages: { id: string; looks: number }[];
        };
        return new Map(pages.map(({ id, looks: count }) => [id, count]));
      };
      const before = await looks();
      await api('/api/pages/bulk', { do: 'probe', match: {} });
      await expect
        .poll(async () => [...(await looks())].filter(([id, count]) => count <= (before.get(id) ?? 0)).length)
        .toBe(0);
    }

    beforeAll(async () => {
      web = await startChangingWeb();
      web.set('/robots.txt', 'User-agent: *\nDisallow: /private/\n', 'text/plain');
      web.set(
        '/news',
        '<title>Town news</title><h1>Town news</h1><article id="lead"><p>The bridge opens at noon.</p></article><aside>Adverts</aside>',
      );
      place = await inPlace();
      daemon = await place.serve(dashboardWords);
      visitor = await Visitor.open(daemon.url);
      ({ context, page, trouble } = visitor);
    });

    afterAll(async () => {
      await visitor?.close();
      await daemon?.end('SIGTERM');
      await place?.end();
      await web?.close();
    });

    beforeEach(() => void (trouble.length = 0));

    test('at first it says what to do; a page is previewed, its part chosen, and watched', async () => {
      await go('#/changes');
      await page.getByText('Nothing is watched yet').waitFor();
      expect(await page.getByRole('button', { name: 'Watch the demo web' }).isEnabled()).toBe(true);
      await page.getByPlaceholder('https://example.org/news').fill(`${web.url}/news`);
      await page.getByRole('button', { name: 'Look at it' }).click();
      await page.getByRole('heading', { name: 'Choose a part' }).waitFor();
      expect(await page.getByLabel('What would be kept').innerText()).toContain('Adverts');
      await page.getByText('Parts as a list').click();
      await page.locator('.outline button').filter({ hasText: 'bridge' }).first().click();
      await expect.poll(() => page.getByLabel('What would be kept').innerText()).toBe('The bridge opens at noon.');
      expect(await page.getByLabel(/The part that counts/).inputValue()).toBe('#lead');
      await page.getByLabel('Tags, with commas').fill('town');
      await page.getByRole('button', { name: 'Watch', exact: true }).click();
      await page.getByRole('heading', { name: 'Town news' }).waitFor({ timeout: 20_000 });
      expect(trouble).toEqual([]);
    });

    test('a part is chosen by pointing at it, and a hostile page there runs nothing and loads nothing', async () => {
      const answered: string[] = [];
      const note = (response: { url(): string }): void => void answered.push(response.url());
      const away = `${web.url}/asked-for`;
      web.set(
        '/trap',
        `<title>Trap</title><link rel=preconnect href="${away}"><link rel=stylesheet href="${away}"><meta http-equiv=refresh content="0;url=${away}">
      <style>@import "${away}";body{margin:0;background:u\\72l(${away})}h1{height:50px}p{height:60px;margin:0}</style>
      <script>top.pwned=1</script><h1 onclick="top.pwned=1">Trap</h1>
      <p id="price" style="background:url(${away})" onmouseover="top.pwned=1">12 €</p>
      <a href="javascript:top.pwned=1" style="display:block;height:40px">link</a><img src="${away}" onerror="top.pwned=1">
      <svg onload="top.pwned=1"></svg><iframe src="${away}"></iframe><form action="${away}"><button>go</button></form>`,
      );
      context.on('response', note);
      await go(`#/add?url=${encodeURIComponent(`${web.url}/trap`)}`);
      const frame = page.frameLocator('.picture iframe');
      await frame.locator('#price').waitFor();
      const pane = page.locator('.picture-pane');
      const inside = (await frame.locator('#price').boundingBox())!;
      const outside = (await pane.boundingBox())!;
      const position = { x: inside.x - outside.x + 20, y: inside.y - outside.y + 20 };
      await pane.hover({ position });
      await page.locator('.picture-box').waitFor();
      await pane.click({ position });
      await expect.poll(() => page.getByLabel('What would be kept').innerText()).toBe('12 €');
      expect(await page.getByLabel(/The part that counts/).inputValue()).toBe('#price');
      await pane.click({ position: { x: position.x, y: position.y + 60 } });
      await expect.poll(() => page.getByLabel('What would be kept').innerText()).toBe('link');
      await page.getByRole('button', { name: 'body' }).click();
      await expect.poll(() => page.getByLabel('What would be kept').innerText()).toContain('12 €');
      context.off('response', note);
      expect(await page.evaluate(() => (globalThis as { pwned?: unknown }).pwned)).toBeUndefined();
      expect(answered.filter((url) => !url.startsWith(daemon.url))).toEqual([]);
      expect(web.asked('/asked-for')).toBe(0);
      // The word url spelled otherwise gets through the drawing, and is stopped by the policy before it leaves the browser.
      const stopped = (said: string): boolean => said.includes('Content Security Policy') || said === `asked ${away}`;
      expect(trouble.filter((said) => !stopped(said))).toEqual([]);
    });

    test('a change appears while one looks on, is read word by word, and is marked as seen', async () => {
      await lookAtAll();
      await go('#/changes');
      await page.getByText('No change was seen yet').waitFor();
      web.set('/news', '<title>Town news</title><article id="lead"><p>The bridge opens at midnight.</p></article>');
      await lookAtAll();
      await page.locator('.change').waitFor();
      await page.locator('.change ins').first().waitFor();
      expect(await page.locator('.change ins').first().innerText()).toContain('midnight');
      expect(await page.locator('.change del').first().innerText()).toContain('noon');
      await page.getByRole('button', { name: 'Mark as seen' }).click();
      await page.getByRole('button', { name: 'Mark as not seen' }).waitFor();
      await page.getByLabel('unseen only').check();
      await page.getByText('No change fits the filter').waitFor();
      expect(trouble).toEqual([]);
    });

    test('whatever a page says, it stays text', async () => {
      web.set('/evil', `<title>${escaped}</title><p>${escaped}</p>`);
      web.set('/evil?q=%3Cscript%3E', `<title>${escaped}</title><p>one ${escaped}</p>`);
      web.set('/price', '<b id="price">12.50 €</b>');
      web.set(
        '/feed',
        '<rss version="2.0"><channel><title>Feed</title><item><guid>1</guid><title>One</title></item></channel></rss>',
        'application/rss+xml',
      );
      await api('/api/pages', [
        {
          url: `${web.url}/evil`,
          tags: [evil.slice(0, 200)],
          headers: { [evilName]: evil.replace(/[^\x20-\x7e]/g, '') },
        },
        { url: `${web.url}/evil?q=<script>`, title: evil.slice(0, 2_000) },
        { url: `${web.url}/price`, select: '#price', tags: ['shop'] },
        { url: `${web.url}/feed` },
        { url: `${web.url}/gone` },
      ]);
      await lookAtAll();
      web.set('/evil', `<title>${escaped}</title><p>changed ${escaped} and more</p>`);
      web.set('/price', '<b id="price">9.99 €</b>');
      await lookAtAll();
      const { pages } = (await (await api('/api/pages?text=evil')).json()) as { pages: { id: string; site: string }[] };
      const { id, site } = pages[0]!;
      // What users and other programs can name goes through the same views.
      await api('/api/tokens', { name: evil.slice(0, 100), scope: 'read' });
      const made = await api('/api/subscriptions', {
        deliver: `${web.url}/hook?${encodeURIComponent(evil.slice(0, 100))}`,
        name: evil.slice(0, 200),
        match: `title ~ "${evil.slice(2, 60).replaceAll('"', "'")}"`,
      });
      expect(made.status).toBe(201);
      for (const hash of [
        '#/changes',
        `#/changes?tag=${encodeURIComponent(evil.slice(0, 200))}`,
        '#/pages',
        `#/pages?text=evil&tag=${encodeURIComponent(evil.slice(0, 200))}`,
        `#/pages/${id}`,
        `#/pages/${id}/when`,
        `#/pages/${id}/looks`,
        `#/pages/${id}/settings`,
        `#/pages/${encodeURIComponent(evil.slice(0, 60))}`,
        '#/plan',
        '#/sites',
        `#/sites/${encodeURIComponent(site)}`,
        `#/sites/${encodeURIComponent(evil.slice(0, 60))}`,
        '#/robots',
        '#/lab',
        '#/settings',
        '#/search?q=changed',
        `#/search?q=${encodeURIComponent(evil.slice(0, 60))}`,
        `#/add?url=${encodeURIComponent(`${web.url}/evil`)}`,
      ]) {
        await turn(hash);
        if (hash === '#/settings') await page.getByRole('button', { name: 'Past matches' }).click();
        await settled();
        const found = await page.evaluate(() => ({
          pwned: (globalThis as { pwned?: unknown }).pwned,
          foreign: document.querySelectorAll(
            'main img, main script, main style, main iframe:not([sandbox="allow-same-origin"]), main object',
          ).length,
          handlers: [...document.querySelectorAll('*')].filter((element) =>
            [...element.attributes].some(({ name }) => name.startsWith('on')),
          ).length,
          scripts: document.querySelectorAll('a[href^="javascript" i], a[href^="data" i]').length,
          wide: document.documentElement.scrollWidth > document.documentElement.clientWidth,
          text: document.body.innerText,
        }));
        expect(found, hash).toMatchObject({ foreign: 0, handlers: 0, scripts: 0, wide: false });
        expect(found.pwned).toBeUndefined();
        for (const steering of ['\u0007', '\u202e']) expect(found.text, hash).not.toContain(steering);
        if (hash.startsWith(`#/pages/${id}`)) expect(found.text).toContain('<script>');
      }
      // A page or site that is not there is answered with 404, which browsers write down.
      expect(trouble.filter((said) => !said.includes('404'))).toEqual([]);
    });

    test('pages are found, gone through with the keyboard, and edited in bulk', async () => {
      await go('#/pages?order=title');
      await page.locator('.page-row a').first().waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type('price');
      await expect.poll(() => page.locator('.list .page-row').count()).toBe(1);
      await page.locator('h1').click();
      await page.keyboard.press('j');
      await page.keyboard.press('x');
      await page.getByRole('toolbar').waitFor();
      await page.getByRole('toolbar').getByLabel('Tag').fill('watched-closely');
      await page.getByRole('button', { name: 'Add tag' }).click();
      await expect
        .poll(async () =>
          ((await (await api('/api/tags')).json()) as { tags: { tag: string }[] }).tags.map(({ tag }) => tag),
        )
        .toContain('watched-closely');
      await page.locator('.page-row .tag', { hasText: 'watched-closely' }).waitFor({ timeout: 15_000 });
      await page.locator('h1').click();
      await page.keyboard.press('Enter');
      await page.getByRole('navigation', { name: 'Of this page' }).waitFor();
      await page.getByLabel('side by side').check();
      await expect.poll(said).toContain('9.99');
      await page.keyboard.press('g');
      await page.locator('h1').click();
      await page.keyboard.press('g');
      await page.keyboard.press('s');
      await page.getByRole('heading', { name: 'Sites' }).waitFor();
      expect(trouble).toEqual([]);
    });

    test('settings of a page are tried on its past before they are saved', async () => {
      const { pages } = (await (await api('/api/pages?text=price')).json()) as { pages: { id: string }[] };
      await go(`#/pages/${pages[0]!.id}/settings`);
      await page.getByText('told 1 of 1').waitFor();
      await page.getByLabel('A number moves by percent').fill('50');
      await page.getByText('told 0 of 1').waitFor();
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Saved.').waitFor();
      expect(await (await api(`/api/pages/${pages[0]!.id}`)).json()).toMatchObject({
        options: { tell: { movesPercent: 50 } },
      });
      // Somebody else saves while the form is open: theirs stays until it was read.
      await api(`/api/pages/${pages[0]!.id}`, { title: 'Theirs' }, 'PATCH');
      await page.getByLabel('Title').fill('Mine');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Somebody else has changed these settings').waitFor();
      await page.getByRole('heading', { name: 'Theirs' }).waitFor();
      await page.getByRole('button', { name: 'Load them anew' }).click();
      expect(await page.getByLabel('Title').inputValue()).toBe('Theirs');
      await page.getByLabel('Title').fill('Mine');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Saved.').waitFor();
      await page.getByRole('heading', { name: 'Mine' }).waitFor();
      // What was refused on purpose, browsers write down.
      expect(trouble.filter((said) => !said.includes('412'))).toEqual([]);
    });

    test('the budget is set, a token made and shown once, a subscription tried on the past', async () => {
      await go('#/settings');
      await page.getByLabel('Requests over all pages').fill('7200/hour');
      await page.getByRole('button', { name: 'Set', exact: true }).click();
      await expect
        .poll(async () => ((await (await api('/api/settings')).json()) as { budgetPerHour: number }).budgetPerHour)
        .toBe(7_200);
      await page.getByLabel('Name', { exact: true }).fill('grafana');
      await page.getByRole('button', { name: 'Make a token' }).click();
      await page.getByText(/rv_[\w-]{43}/).waitFor();
      await page.getByRole('button', { name: 'Add a subscription' }).click();
      await page.getByLabel('Which changes; empty for all').fill('tag = shop');
      await page.getByText(/matched 1 of/i).waitFor();
      await page.getByLabel('Address', { exact: true }).fill(`${web.url}/hook`);
      await page.getByRole('button', { name: 'Subscribe' }).click();
      await page.getByRole('button', { name: 'Send a test' }).last().click();
      await page.locator('.notice', { hasText: /404|refused|allowed/ }).waitFor();
      expect(trouble).toEqual([]);
    });

    test('quiet hours are set, coming looks explained, a trace tried in the lab', async () => {
      await go('#/settings');
      await page.getByLabel(/No page is looked at then/).fill('25:00-99:00');
      await page.getByRole('button', { name: 'Set quiet hours' }).click();
      await page.locator('.notice', { hasText: 'quiet[0]' }).waitFor();
      await page.getByLabel(/No page is looked at then/).fill('sun 03:00-03:01 Europe/Vienna');
      await page.getByRole('button', { name: 'Set quiet hours' }).click();
      await page.getByText('Saved.').waitFor();
      await page.getByLabel(/No page is looked at then/).fill('');
      await page.getByRole('button', { name: 'Set quiet hours' }).click();
      await page.getByText('There are no quiet hours.').waitFor();
      const { pages } = (await (await api('/api/pages?text=price')).json()) as { pages: { id: string }[] };
      await go(`#/pages/${pages[0]!.id}/when`);
      await page.getByRole('heading', { name: 'Why then' }).waitFor();
      expect(await page.locator('.reasons').innerText()).toMatch(/believed to change/);
      await go('#/lab');
      const rows = Array.from({ length: 200 }, (_, i) => `site${i % 3}/page${i % 10},${1_600_000_000 + i * 7_919}`);
      await page
        .getByLabel('Add a trace')
        .setInputFiles({ name: 'mine.csv', mimeType: 'text/csv', buffer: Buffer.from(rows.join('\n')) });
      await page.getByText('200 changes of 30 pages.').waitFor();
      await page.getByLabel('Record').selectOption('mine.csv');
      await page.getByLabel(/Looks a page and day/).fill('2, 8');
      for (const name of ['lambdacrawl', 'nutch']) await page.getByLabel(name, { exact: true }).uncheck();
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByRole('cell', { name: 'revisit', exact: true }).waitFor({ timeout: 30_000 });
      await page.getByRole('button', { name: '8 a day' }).click();
      await page.getByRole('img', { name: /Mean wait of a change/ }).waitFor();
      // A wrong line of hours was refused on purpose, and browsers write down what was refused.
      expect(trouble.filter((said) => !said.includes('400'))).toEqual([]);
    });

    test('where robots look from elsewhere they are listed, and read robots.txt by themselves', async () => {
      const { crew } = (await (await api('/api/robots')).json()) as {
        crew: { name: string; process: string }[] | null;
      };
      const { pages } = (await (await api('/api/pages?text=news')).json()) as { pages: { site: string }[] };
      await go('#/robots');
      await page.getByRole('heading', { name: 'Seen, and as the model forecasts' }).waitFor();
      const listed = page.getByRole('heading', { name: '1 wanted, 1 there' });
      expect(crew?.map(({ name }) => name)).toEqual(place.robot === undefined ? undefined : [place.robot]);
      expect(await listed.count()).toBe(crew ? 1 : 0);
      for (const { name, process } of crew ?? [])
        expect(await page.getByRole('row', { name: `${name} ${process}` }).innerText()).toMatch(/there|ago/);
      // Answers that take longer than the time between two questions are shown all the same.
      const slow = '**/api/robots';
      await page.route(slow, async (route) => {
        await new Promise((resolve) => setTimeout(resolve, 2_500));
        await route.continue().catch(() => {});
      });
      await page.reload();
      await page.getByText('In line for their site').waitFor();
      await page.unroute(slow);
      await go(`#/sites/${pages[0]!.site}`);
      await page.getByRole('heading', { name: 'robots.txt, as understood' }).waitFor();
      expect(await said()).toContain(crew ? 'The robots read it by themselves' : '1 rule holds for us');
      expect(trouble).toEqual([]);
    });

    test('every view, in light and dark, wide and narrow: for everybody, without a word on the console', async () => {
      const { pages } = (await (await api('/api/pages?text=news')).json()) as { pages: { id: string; site: string }[] };
      const { id, site } = pages[0]!;
      const views = [
        '#/changes',
        '#/pages',
        '#/add',
        `#/add?url=${encodeURIComponent(`${web.url}/news`)}`,
        `#/pages/${id}`,
        `#/pages/${id}/when`,
        `#/pages/${id}/looks`,
        `#/pages/${id}/settings`,
        '#/plan',
        '#/sites',
        `#/sites/${site}`,
        '#/robots',
        '#/lab',
        '#/settings',
        '#/search?q=bridge',
      ];
      for (const { colorScheme, width } of looks) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        await go('#/changes');
        for (const hash of views) {
          await turn(hash);
          if (hash.startsWith('#/add?')) await page.frameLocator('.picture iframe').locator('#lead').waitFor();
          await complains(page, `${hash} ${colorScheme}`);
        }
      }
      await page.setViewportSize({ width: 1200, height: 800 });
      await go('#/pages');
      const visited: string[] = [];
      for (let i = 0; i < 14; i++) {
        await page.keyboard.press('Tab');
        visited.push(
          await page.evaluate(() => {
            const focus = document.activeElement!;
            const box = focus.getBoundingClientRect();
            return `${getComputedStyle(focus).outlineStyle} ${Math.round(box.width) > 0}`;
          }),
        );
      }
      expect(new Set(visited)).toEqual(new Set(['solid true']));
      expect(trouble).toEqual([]);
    });
  });
}
