import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LoopbackWeb, eventually, loopbackWeb } from '../../daemon/src/trial/command.ts';
import { locate } from '../../../house/provision.ts';
import { type Pair, answerTo, call, startPair } from './trial/pair.ts';

/** So many that each coordinator has some. */
const hosts = 12;
const everyHost = Array.from({ length: hosts }, (_, i) => i);

interface PageSaid {
  readonly id: string;
  readonly url: string;
  readonly version: number;
  readonly looks: number;
}

describe.skipIf(locate('nats-server') === undefined)('whichever coordinator is asked', () => {
  let pair: Pair;
  let web: LoopbackWeb;
  beforeAll(async () => {
    [pair, web] = await Promise.all([startPair('4s'), loopbackWeb('0.0.0.0')]);
  });
  afterAll(() => Promise.all([pair.end(), web.close()]));

  const urlOf = (host: number, path: string): string =>
    `${web.url.replace('127.0.0.1', `127.0.0.${host + 1}`)}/${path}/${host}`;
  const add = async (path: string, settings: object): Promise<readonly string[]> => {
    const inputs = everyHost.map((host) => ({ url: urlOf(host, path), ...settings }));
    const { pages } = await call<{ pages: PageSaid[] }>('POST', `${pair.urls[0]}/api/pages`, inputs);
    return pages.map(({ id }) => id);
  };
  const page = (at: string, id: string): Promise<PageSaid> => call('GET', `${at}/api/pages/${id}`);
  const write = (path: string, text: (host: number) => string): void => {
    for (const host of everyHost) web.pages.set(`/${path}/${host}`, text(host));
  };

  test('a check looks at every page, and is over when all of them are kept', async () => {
    write('checked', (host) => `<p>one ${host}</p>`);
    // The plan leaves them alone for hours after their first look.
    const ids = await add('checked', { spacing: '5h' });
    for (const id of ids) await eventually(async () => (await page(pair.urls[0], id)).version === 1);
    // Each has its part: of pages that change hands meanwhile requests may be counted by both.
    const part = async (at: string): Promise<number> =>
      Number(/^revisit_budget_per_hour (.*)$/m.exec(await call<string>('GET', `${at}/metrics`))![1]);
    for (const at of pair.urls) await eventually(async () => (await part(at)) > 9_000);
    for (const [n, at] of pair.urls.entries()) {
      write('checked', (host) => `<p>edition ${n} of ${host}</p>`);
      const before = web.requests.length;
      const checked = await call<{ looks: number; requests: number; changes: { pageId: string }[]; missing: number }>(
        'POST',
        `${at}/api/check`,
        { all: true },
      );
      expect(checked).toMatchObject({ looks: hosts, requests: web.requests.length - before, missing: 0 });
      expect(checked.changes.map(({ pageId }) => pageId).sort()).toEqual([...ids].sort());
    }
    await call('POST', `${pair.urls[0]}/api/pages/bulk`, { do: 'remove', ids });
  });

  test('a page of any site is previewed, and its picture is with both', async () => {
    write('shown', (host) => `<p>To be seen ${host}</p>`);
    for (const host of everyHost) {
      const [one, other] = host % 2 ? pair.urls : pair.urls.toReversed();
      const said = await call<{ text: string; picture: string }>('POST', `${one}/api/preview`, {
        url: urlOf(host, 'shown'),
      });
      expect(said.text).toBe(`To be seen ${host}`);
      expect(await call<string>('GET', `${other}/api/preview/${said.picture}`)).toContain(`To be seen ${host}`);
    }
  });

  test('what its user says of a noisy part holds at the next look', async () => {
    const text = Array.from({ length: 20 }, (_, line) => `<p>Line ${line} stays.</p>`).join('');
    web.pages.set('/noisy/0', `<p>Viewed by 1000 people</p>${text}`);
    const [id] = await add('noisy', { spacing: '5h' });
    const noise = async (at: string): Promise<{ id: string; ignored: boolean }[]> =>
      (await call<{ noise: { id: string; ignored: boolean }[] }>('GET', `${at}/api/pages/${id}/noise`)).noise;
    let readers = 1000;
    const look = async (at: string): Promise<void> => {
      const { looks } = await page(at, id!);
      web.pages.set('/noisy/0', `<p>Viewed by ${(readers += 7)} people</p>${text}`);
      await call('POST', `${at}/api/pages/${id}/probe`, {});
      await eventually(async () => (await page(at, id!)).looks > looks);
    };
    await eventually(async () => (await page(pair.urls[0], id!)).looks > 0);
    const [part] = await eventually(async () => {
      await look(pair.urls[0]);
      const found = await noise(pair.urls[0]);
      return found.length > 0 && found;
    });
    for (const at of pair.urls)
      for (const ignored of [false, true]) {
        await call('PATCH', `${at}/api/pages/${id}/noise/${part!.id}`, { ignored });
        await look(at);
        expect(await noise(at)).toMatchObject([{ id: part!.id, ignored }]);
      }
  });

  test('pages are taken in with their past, and parts of one import that come to both at once are one import', async () => {
    const record = (host: number, n: number) => ({
      page: { url: urlOf(host, `moved/${n}`), paused: true },
      versions: [
        { atMs: 1_000, text: 'old', format: 'text' },
        { atMs: 2_000, text: 'new', format: 'text' },
      ],
    });
    const parts = Array.from({ length: 16 }, (_, n) => ({
      import: 'whole',
      records: everyHost.map((host) => record(host, n)),
    }));
    const taken = await Promise.all(
      parts.map((part, n) =>
        call<{ pages: { id: string; versions: number }[] }>('POST', `${pair.urls[n % 2]!}/api/import`, part),
      ),
    );
    const ids = taken.flatMap(({ pages }) => pages.map(({ id }) => id));
    expect(new Set(ids).size).toBe(16 * hosts);
    for (const { pages } of taken) expect(pages.map(({ versions }) => versions)).toEqual(everyHost.map(() => 2));
    for (const id of ids.slice(0, hosts)) {
      const { versions } = await call<{ versions: unknown[] }>('GET', `${pair.urls[1]}/api/pages/${id}/versions`);
      expect(versions).toHaveLength(2);
    }
    const { removed } = await call<{ removed: number }>('DELETE', `${pair.urls[1]}/api/import`, { import: 'whole' });
    expect(removed).toBe(16 * hosts);
  });

  test('an import that is taken back leaves nothing of parts that were on their way', async () => {
    for (const attempt of [0, 1, 2, 3]) {
      const name = `cut ${attempt}`;
      const records = everyHost.flatMap((host) =>
        Array.from({ length: 40 }, (_, n) => ({ page: { url: urlOf(host, `cut/${attempt}/${n}`), paused: true } })),
      );
      const part = async (at: string, from: number, to: number): Promise<number> =>
        (await answerTo('POST', `${at}/api/import`, { import: name, records: records.slice(from, to) })).status;
      expect(await part(pair.urls[0], 0, 100)).toBe(200);
      const late = [part(pair.urls[0], 100, 300), part(pair.urls[1], 300, 480)];
      await call('DELETE', `${pair.urls[1]}/api/import`, { import: name });
      // Taken and removed again, or refused; or begun anew after all was taken back, and to be taken back once more.
      for (const status of await Promise.all(late)) expect([200, 409]).toContain(status);
      await call('DELETE', `${pair.urls[0]}/api/import`, { import: name });
      const { pages } = await call<{ pages: unknown[] }>('GET', `${pair.urls[0]}/api/pages?text=cut/${attempt}/`);
      expect(pages).toHaveLength(0);
    }
  });

  test('what the lab tries is seen, stopped and forgotten by both', async () => {
    const lines = Array.from({ length: 400 }, (_, i) => `s${i % 4},${1_700_000_000 + i * 3_600}`);
    await call('PUT', `${pair.urls[0]}/api/lab/traces/four.csv`, `source,unix_seconds\n${lines.join('\n')}\n`);
    const lab = (at: string): Promise<{ traces: { name: string }[]; runs: { id: string; state: string }[] }> =>
      call('GET', `${at}/api/lab`);
    expect((await lab(pair.urls[1])).traces).toMatchObject([{ name: 'four.csv' }]);
    const trial = { policies: ['uniform'], budgets: [1], trace: 'four.csv' };
    const { id } = await call<{ id: string }>('POST', `${pair.urls[1]}/api/lab`, trial);
    for (const at of pair.urls)
      await eventually(async () => (await call<{ state: string }>('GET', `${at}/api/lab/${id}`)).state === 'done');
    expect((await lab(pair.urls[1])).runs.map((run) => run.id)).toEqual([id]);
    await call('DELETE', `${pair.urls[1]}/api/lab/traces/four.csv`);
    for (const at of pair.urls) expect((await lab(at)).traces).toEqual([]);
  });

  test('one that cannot reach NATS leaves its pages to the other, and gets them again', async () => {
    write('left', (host) => `<p>one ${host}</p>`);
    const ids = await add('left', {});
    const seen = (version: number): Promise<unknown> =>
      Promise.all(ids.map((id) => eventually(async () => (await page(pair.urls[0], id)).version === version)));
    const part = async (at: string): Promise<number> =>
      Number(/^revisit_budget_per_hour (.*)$/m.exec(await call<string>('GET', `${at}/metrics`))![1]);
    await seen(1);
    const whole = 50 * 3600;
    for (const at of pair.urls) await eventually(async () => (await part(at)) > whole / 20);
    pair.way.cut();
    write('left', (host) => `<p>two ${host}</p>`);
    await seen(2);
    await eventually(async () => (await part(pair.urls[0])) > 0.99 * whole);
    pair.way.mend();
    for (const at of pair.urls) await eventually(async () => (await part(at)) > whole / 20);
    write('left', (host) => `<p>three ${host}</p>`);
    await seen(3);
  });
});
