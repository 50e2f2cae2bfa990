/** Changing things: many at once, only if unchanged, in quiet hours, and what settings would have done. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { policies, random } from '@revisit/core';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Desk } from '../desk.ts';
import type { Loop } from '../loop.ts';
import { poissonLaw } from '../simulation/simulated-web.ts';
import { type World, createWorld, startLoop } from '../simulation/world.ts';
import type { Store } from '../store/port.ts';
import { followSettings } from './settings.ts';
import { createApi } from './server.ts';

const startMs = Date.UTC(2026, 0, 5);
const hourMs = 3_600_000;
export function changingSuite(name: string, openStore: () => Promise<Store>): void {
  describe(name, () => {
    const folder = mkdtempSync(join(tmpdir(), 'revisit-changing-'));
    const settings = { looksPerSecond: 0.005, spacingMs: 1_000, robots: 4, queueMax: 64 };

    let app: FastifyInstance;
    let world: World;
    let loop: Loop;
    let id: string;

    beforeAll(async () => {
      const store = await openStore();
      const pages = [0, 1, 2].map((i) => ({
        url: `https://s${i}.example/p`,
        site: `s${i}.example`,
        law: poissonLaw(hourMs),
      }));
      world = await createWorld({ seed: 5, startMs, store, pages });
      loop = await startLoop(world, policies['revisit']!.create(1), settings);
      void loop.run(new AbortController().signal);
      await world.clock.runUntil(startMs + 12 * hourMs);
      app = createApi(new Desk(store, world.clock, () => {}, loop, undefined, folder));
      id = (await store.pages({ limit: 1 }))[0]!.page.id;
    });
    afterAll(async () => {
      await app.close();
      rmSync(folder, { recursive: true, force: true });
    });

    async function ask<Body = Record<string, unknown>>(
      method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE',
      url: string,
      payload?: unknown,
      headers: Record<string, string> = {},
    ) {
      const answer = await app.inject({
        method,
        url,
        headers,
        ...(payload === undefined ? {} : { payload: payload as object }),
      });
      const isJson = String(answer.headers['content-type']).includes('json');
      return { status: answer.statusCode, headers: answer.headers, body: (isJson ? answer.json() : undefined) as Body };
    }

    test.each([
      ['a b', 'x', 'a b'],
      ['<script>', 'x', '<script>'],
      ['', 'x', ''],
      ['Host', 'x', 'Host'],
      ['transfer-encoding', 'chunked', 'transfer-encoding'],
      ['X-Token', 'secret\r\nX-More: 1', 'headers.X-Token'],
      ['X-Token', 'secret\u2028', 'headers.X-Token'],
    ])(
      'a header that no request can carry is refused by its name, and its value repeated to nobody',
      async (name, value, said) => {
        const headers = { [name]: value };
        for (const answer of [
          await ask<{ detail: string }>('POST', '/api/pages', { url: 'https://new.example/', headers }),
          await ask<{ detail: string }>('PATCH', `/api/pages/${id}`, { headers }),
        ]) {
          expect(answer.status).toBe(400);
          expect(answer.body.detail).toContain(said);
          expect(answer.body.detail).not.toContain('secret');
        }
      },
    );

    describe('If-Match', () => {
      test.each([
        ['/api/pages/ID', { tags: ['a'] }, { tags: ['b'] }],
        ['/api/settings', { budget: '80/hour' }, { budget: '90/hour' }],
      ])('%s is changed only if it is what was read', async (path, first, second) => {
        const url = path.replace('ID', id);
        const { headers } = await ask('GET', url);
        const tag = String(headers['etag']);
        const changed = await ask('PATCH', url, first, { 'if-match': tag });
        expect(changed.status).toBe(200);
        const refused = await ask('PATCH', url, second, { 'if-match': tag });
        expect([refused.status, refused.body['title']]).toEqual([412, 'changed-meanwhile']);
        expect((await ask('GET', url)).body).toMatchObject('tags' in first ? first : { budgetPerHour: 80 });
        expect((await ask('PATCH', url, second, { 'if-match': String(changed.headers['etag']) })).status).toBe(200);
        expect((await ask('PATCH', url, second, { 'if-match': '*' })).status).toBe(200);
      });

      test('a look in between is no change of the settings', async () => {
        const { headers } = await ask('GET', `/api/pages/${id}`);
        await world.clock.runUntil(world.clock.nowMs() + 6 * hourMs);
        const again = await ask('GET', `/api/pages/${id}`);
        expect(again.headers['etag']).not.toBe(headers['etag']);
        expect(
          (await ask('PATCH', `/api/pages/${id}`, { weight: 1 }, { 'if-match': String(headers['etag']) })).status,
        ).toBe(200);
      });

      test('a subscription too', async () => {
        const made = await ask<{ id: string }>('POST', '/api/subscriptions', { deliver: 'https://example.org/hook' });
        const url = `/api/subscriptions/${made.body.id}`;
        const tag = String((await ask('GET', url)).headers['etag']);
        expect((await ask('PATCH', url, { paused: true }, { 'if-match': tag })).status).toBe(200);
        expect((await ask('PATCH', url, { paused: false }, { 'if-match': tag })).status).toBe(412);
        await ask('DELETE', url);
      });

      test('nor is a page removed that was set anew', async () => {
        const made = await ask<{ id: string }>('POST', '/api/pages', {
          url: 'https://example.org/removed',
          paused: true,
        });
        const url = `/api/pages/${made.body.id}`;
        const tag = String((await ask('GET', url)).headers['etag']);
        const changed = await ask('PATCH', url, { weight: 2 });
        expect((await ask('DELETE', url, undefined, { 'if-match': tag })).status).toBe(412);
        expect((await ask('DELETE', url, undefined, { 'if-match': String(changed.headers['etag']) })).status).toBe(204);
      });
    });

    test('a list of pages goes on where it was when the last page of a part is removed meanwhile', async () => {
      const urls = ['1', '2', '3'].map((name) => `https://list.example/${name}`);
      await ask(
        'POST',
        '/api/pages',
        urls.map((url) => ({ url, paused: true })),
      );
      type Part = { pages: { id: string; url: string }[]; next: string };
      const first = (await ask<Part>('GET', '/api/pages?site=list.example&limit=2')).body;
      await ask('DELETE', `/api/pages/${first.pages[1]!.id}`);
      const rest = (await ask<Part>('GET', `/api/pages?site=list.example&limit=2&cursor=${first.next}`)).body;
      expect(rest.pages.map((page) => page.url)).toEqual([urls[2]]);
      await ask('POST', '/api/pages/bulk', { do: 'remove', match: { site: 'list.example' } });
    });

    test.each(['/api/pages?cursor=nonsense', '/api/export?cursor=nonsense'])('%s is refused', async (url) => {
      const refused = await ask('GET', url);
      expect([refused.status, refused.body['title']]).toEqual([400, 'bad-cursor']);
    });

    test.each([
      ['/api/search?q=a&from=yesterday', 'from: "yesterday" is not allowed; a time such as 2026-01-05T14:00:00Z'],
      ['/api/search?q=a&to=1', 'to: "1" is not allowed; a time'],
      ['/api/pages/ID/versions/1e400', 'number: Infinity is not allowed; a whole number from 1 to 2147483647'],
    ])('%s is refused by its name', async (path, said) => {
      const refused = await ask('GET', path.replace('ID', id));
      expect([refused.status, refused.body['detail']]).toEqual([400, expect.stringContaining(said)]);
    });

    test('an address that is wrongly escaped is answered as every other error', async () => {
      const refused = await ask('GET', '/api/pages/%ff');
      expect([refused.status, refused.body['title']]).toEqual([400, 'bad-request']);
      expect(refused.headers['content-type']).toContain('application/problem+json');
    });

    test('thousands of pages are added, edited and removed in one request each, and a repeated request is carried out once', async () => {
      const pages = Array.from({ length: 5_000 }, (_, i) => ({
        url: `https://bulk${i % 50}.example/${i}`,
        tags: ['bulk'],
      }));
      const key = { 'idempotency-key': 'bulk-1' };
      const added = await ask<{ pages: { created: boolean }[] }>('POST', '/api/pages', pages, key);
      expect([added.status, added.body.pages.length]).toEqual([201, 5_000]);
      expect(added.body.pages.every(({ created }) => created)).toBe(true);
      const again = await ask<{ pages: { created: boolean }[] }>('POST', '/api/pages', pages);
      expect([again.status, again.body.pages.some(({ created }) => created)]).toEqual([200, false]);
      const wrong = await ask('POST', '/api/pages', [...pages.slice(0, 10), { url: 'ftp://x' }]);
      expect([wrong.status, String(wrong.body['detail']).startsWith('[10] ')]).toEqual([400, true]);
      // Nobody has looked at them: what is believed of their rate is a guess, and no answer.
      expect(added.body.pages[0]).toMatchObject({ looks: 0, current: null, rate: null, rateInterval: null });
      expect((await ask('GET', `/api/pages/${id}`)).body).toMatchObject({ rate: expect.any(Number) });
      const fastest = await ask<{ pages: { rate: number | null }[] }>('GET', '/api/pages?order=rate&limit=5');
      expect(fastest.body.pages.map(({ rate }) => rate !== null)).toEqual([true, true, true, false, false]);
      const match = { tag: 'bulk' };
      const update = { do: 'update', match, set: { paused: true }, addTags: ['more'], removeTags: ['none'] };
      expect((await ask('POST', '/api/pages/bulk', update, { 'idempotency-key': 'edit-1' })).body).toEqual({
        pages: 5_000,
      });
      const replayed = await ask('POST', '/api/pages/bulk', update, { 'idempotency-key': 'edit-1' });
      expect(replayed.headers['idempotent-replay']).toBe('true');
      const other = await ask('POST', '/api/pages/bulk', { do: 'remove', match }, { 'idempotency-key': 'edit-1' });
      expect([other.status, other.body['title']]).toEqual([422, 'idempotency-mismatch']);
      const { body } = await ask<{ total: number }>('GET', '/api/pages?status=paused&tag=more&limit=1');
      expect(body.total).toBe(5_000);
      expect((await ask('POST', '/api/pages/bulk', { do: 'remove', match })).body).toEqual({ pages: 5_000 });
      expect((await ask('POST', '/api/pages/bulk', { do: 'remove', match })).body).toEqual({ pages: 0 });
    });

    describe('quiet hours', () => {
      test('nothing leaves within them, and everything goes on after', async () => {
        const nowMs = world.clock.nowMs();
        const hour = new Date(nowMs).getUTCHours();
        const [from, to] = [hour, (hour + 3) % 24].map((value) => `${String(value).padStart(2, '0')}:00`);
        const quiet = [`${from}-${to}`];
        expect((await ask('PATCH', '/api/settings', { quiet })).body).toMatchObject({ quiet });
        const sent = world.web.sent.length;
        const endsMs = Math.floor(nowMs / hourMs) * hourMs + 3 * hourMs;
        await ask('POST', `/api/pages/${id}/probe`);
        await world.clock.runUntil(endsMs - 1_000);
        expect(world.web.sent.length).toBe(sent);
        const { body } = await ask<{ looks: { at: string }[]; reasons: string[] }>('GET', `/api/pages/${id}/coming`);
        expect(body.looks[0]!.at).toBe(new Date(endsMs).toISOString());
        expect(body.reasons[0]).toBe('It waits: quiet hours until then.');
        const until = new Date(endsMs).toISOString();
        const waits = { why: 'quiet hours', until };
        expect((await ask('GET', `/api/pages/${id}`)).body).toMatchObject({ waits, nextProbe: until });
        await world.clock.runUntil(endsMs + 2 * hourMs);
        expect(world.web.sent.length).toBeGreaterThan(sent);
        expect(world.web.sent[sent]!.atMs).toBeGreaterThanOrEqual(endsMs);
      });

      test('they hold over a restart, until the configuration says something new', async () => {
        await ask('PATCH', '/api/settings', { quiet: ['01:00-02:00'] });
        const restarted = async (quiet: readonly string[]) => {
          const next = await startLoop(world, policies['uniform']!.create(1), { ...settings, quiet });
          await followSettings(new Desk(world.store, world.clock, () => {}, next), { ...settings, quiet });
          return next.settings.quiet;
        };
        expect(await restarted([])).toEqual(['01:00-02:00']);
        expect(await restarted(['05:00-06:00'])).toEqual(['05:00-06:00']);
        const wrong = await ask('PATCH', '/api/settings', { quiet: ['01:00-02:00', '25:00-26:00'], budget: '1/hour' });
        expect([wrong.status, wrong.body['detail']]).toEqual([400, expect.stringContaining('quiet[1]: "25:00-26:00"')]);
        const shut = await ask('PATCH', '/api/settings', { quiet: ['00:00-12:00', '12:00-24:00'], budget: '1/hour' });
        expect([shut.status, shut.body['detail']]).toEqual([
          400,
          expect.stringContaining('a minute of the week outside'),
        ]);
        // A request that is refused changes nothing.
        expect((await ask('GET', '/api/settings')).body).toMatchObject({ budgetPerHour: 90, quiet: ['01:00-02:00'] });
        expect((await ask('PATCH', '/api/settings', { quiet: [] })).body).toMatchObject({ quiet: [] });
      });
    });

    test('coming looks are said with reasons, and none for a page that is paused', async () => {
      const { body } = await ask<{ state: string; looks: unknown[]; reasons: string[] }>(
        'GET',
        `/api/pages/${id}/coming?limit=5`,
      );
      expect(['planned', 'in line']).toContain(body.state);
      expect(body.looks.length).toBe(5);
      expect(body.reasons.join(' ')).toMatch(/believed to change/);
      await ask('PATCH', `/api/pages/${id}`, { paused: true });
      expect((await ask('GET', `/api/pages/${id}/coming`)).body).toEqual({
        state: 'none',
        looks: [],
        reasons: ['It is paused.'],
      });
      await ask('PATCH', `/api/pages/${id}`, { paused: false });
    });

    test('rules are tried on the versions that were kept', async () => {
      const tried = async (options: unknown) =>
        (await ask<{ tried: { verdict: string }[] }>('POST', `/api/pages/${id}/try`, { options })).body.tried;
      const all = await tried({});
      expect(all.length).toBeGreaterThan(3);
      expect(all.every(({ verdict }) => verdict === 'told')).toBe(true);
      // Every line is ignored, so nothing ever changes.
      const none = await tried({ normalise: { ignore: ['.'] } });
      expect(none.every(({ verdict }) => verdict === 'no change')).toBe(true);
    });

    describe('the lab', () => {
      const luck = random(3);
      const rows = Array.from(
        { length: 400 },
        (_, i) => `site${i % 4}/page${i % 20},${1_600_000_000 + Math.floor(luck() * 20 * 86_400)}`,
      );
      const csv = `source,unix_seconds\n${rows.join('\n')}\n`;
      const done = async (run: string) => {
        await expect
          .poll(async () => (await ask<{ state: string }>('GET', `/api/lab/${run}`)).body.state)
          .not.toBe('running');
        return (
          await ask<{ state: string; sentence?: string; result?: { results: Record<string, number>[] } }>(
            'GET',
            `/api/lab/${run}`,
          )
        ).body;
      };

      test('a trace is put on the shelf, packed or not, and tried with several policies and budgets', async () => {
        const plain = await ask('PUT', '/api/lab/traces/four-sites.csv', csv, { 'content-type': 'text/csv' });
        expect([plain.status, plain.body['pages'], plain.body['changes']]).toEqual([201, 20, 400]);
        const packed = await ask('PUT', '/api/lab/traces/packed.csv.gz', gzipSync(csv), {
          'content-type': 'application/gzip',
        });
        expect(packed.status).toBe(201);
        const body = { trace: 'packed.csv.gz', policies: ['uniform', 'cho'], budgets: [8, 2, 2] };
        const started = await ask<{ id: string; trace: string; budgets: number[] }>('POST', '/api/lab', body);
        expect([started.status, started.body.trace, started.body.budgets]).toEqual([202, 'packed.csv.gz', [2, 8]]);
        expect((await ask('POST', '/api/lab', body)).status).toBe(409);
        const { state, result } = await done(started.body.id);
        expect(state).toBe('done');
        expect(result!.results.map(({ policy, looksPerPageDay }) => [policy, looksPerPageDay])).toEqual([
          ['uniform', 2],
          ['cho', 2],
          ['uniform', 8],
          ['cho', 8],
        ]);
        const [few, , many] = result!.results;
        expect(many!['meanDelayHours']).toBeLessThan(few!['meanDelayHours']!);
        expect(many!['probes']).toBeLessThanOrEqual(many!['allowed']!);
        expect(
          (await ask<{ traces: { name: string }[] }>('GET', '/api/lab')).body.traces.map(({ name }) => name),
        ).toEqual(['four-sites.csv', 'packed.csv.gz']);
        expect((await ask('DELETE', '/api/lab/traces/packed.csv.gz')).status).toBe(204);
        expect((await ask('POST', '/api/lab', body)).body).toMatchObject({ title: 'trace-unknown' });
      });

      test('what is no trace, or would land elsewhere, is refused and leaves nothing', async () => {
        const put = (name: string, text: string) =>
          ask('PUT', `/api/lab/traces/${encodeURIComponent(name)}`, text, { 'content-type': 'text/csv' });
        expect((await put('a.csv', 'no,trace\nhere,at all')).body).toMatchObject({
          title: 'trace-wrong',
          detail: expect.stringMatching(/^a\.csv: trace row 2/) as string,
        });
        for (const name of ['../a.csv', '.hidden.csv', 'a.txt', 'a\u0000.csv', 'a/b.csv', `${'x'.repeat(90)}.csv`])
          expect((await put(name, csv)).body, name).toMatchObject({ title: 'trace-wrong' });
        expect((await ask('PUT', '/api/lab/traces/b.csv', { a: 1 })).status).toBe(415);
        expect((await ask<{ traces: unknown[] }>('GET', '/api/lab')).body.traces.length).toBe(1);
      });
    });

    describe('a preview', () => {
      const preview = async (): Promise<string> => {
        const asked = ask<{ picture: string }>('POST', '/api/preview', { url: 'https://s0.example/p' });
        let answered = false;
        void asked.then(() => (answered = true));
        while (!answered) {
          await new Promise(setImmediate);
          await world.clock.runUntil(world.clock.nowMs() + 1_000);
        }
        const { status, body } = await asked;
        expect(status).toBe(200);
        return body.picture;
      };

      test('fetched anew has a picture of its own name, so that no frame keeps the old one', async () => {
        const first = await preview();
        expect(await preview()).toBe(first);
        expect((await app.inject(`/api/preview/${first}`)).statusCode).toBe(200);
        await world.clock.runUntil(world.clock.nowMs() + hourMs);
        const second = await preview();
        expect(second).not.toBe(first);
        expect((await app.inject(`/api/preview/${second}`)).statusCode).toBe(200);
        expect((await app.inject(`/api/preview/${first}`)).statusCode).toBe(404);
      });
    });
  });
}
