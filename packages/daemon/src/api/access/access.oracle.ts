/** Who may do what through the API, whatever keeps the state. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { FastifyInstance } from 'fastify';
import { Desk } from '../../desk.ts';
import type { Store } from '../../store/port.ts';
import type { Clock } from '../../values/clock.ts';
import { type ApiOptions, createApi } from '../server.ts';
import { namesLoopback } from './guard.ts';

let store: Store;
let nowMs: number;
const clock: Clock = { nowMs: () => nowMs, sleep: () => Promise.resolve() };

const api = (options: ApiOptions = {}): FastifyInstance => createApi(new Desk(store, clock, () => {}), options);

async function token(app: FastifyInstance, scope: string): Promise<{ id: string; secret: string }> {
  const answer = await app.inject({ method: 'POST', url: '/api/tokens', payload: { name: scope, scope } });
  expect(answer.statusCode).toBe(201);
  return answer.json() as { id: string; secret: string };
}

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
const codeOf = (answer: { json(): unknown }) => (answer.json() as { title: string }).title;

export function accessSuite(name: string, open: () => Promise<Store>): void {
  describe(name, () => {
    beforeEach(async () => {
      store = await open();
      nowMs = Date.UTC(2026, 0, 5);
    });

    describe('on loopback', () => {
      test.each(['localhost', 'localhost:7373', '127.0.0.1:1', '127.9.9.9', '[::1]:7373'])('%s names it', (host) => {
        expect(namesLoopback(host)).toBe(true);
      });
      test.each([
        'evil.example',
        'localhost.evil.example',
        '10.0.0.1',
        '0.0.0.0',
        '',
        undefined,
        '127.0.0.1.evil.example',
      ])('%s does not', (host) => {
        expect(namesLoopback(host)).toBe(false);
      });

      test('nothing is asked for', async () => {
        const answer = await api().inject({ url: '/api/pages' });
        expect(answer.statusCode).toBe(200);
      });

      test('a page whose name was rebound to this machine reaches nothing', async () => {
        const answer = await api().inject({ url: '/api/pages', headers: { host: 'evil.example:7373' } });
        expect(answer.statusCode).toBe(403);
        expect(codeOf(answer)).toBe('host-refused');
      });

      test('another page cannot send a form or a request', async () => {
        const app = api();
        const url = '/api/pages';
        const foreign = await app.inject({
          method: 'POST',
          url,
          headers: { host: 'localhost:80', origin: 'https://evil.example' },
          payload: { url: 'https://a.example/' },
        });
        expect(codeOf(foreign)).toBe('origin-refused');
        const blind = await app.inject({
          method: 'POST',
          url,
          headers: { host: 'localhost', origin: 'null' },
          payload: {},
        });
        expect(codeOf(blind)).toBe('origin-refused');
        const form = await app.inject({
          method: 'POST',
          url,
          headers: { 'content-type': 'text/plain' },
          payload: '{"url":"https://a.example/"}',
        });
        expect(form.statusCode).toBe(415);
        const own = await app.inject({
          method: 'POST',
          url,
          headers: { host: 'localhost:80', origin: 'http://localhost:80' },
          payload: { url: 'https://a.example/' },
        });
        expect(own.statusCode).toBe(201);
      });

      test('whoever comes from elsewhere, or through a proxy, needs a token', async () => {
        const app = api();
        expect((await app.inject({ url: '/api/pages', remoteAddress: '10.1.2.3' })).statusCode).toBe(401);
        expect((await app.inject({ url: '/api/pages', headers: { 'x-forwarded-for': '127.0.0.1' } })).statusCode).toBe(
          401,
        );
        expect((await app.inject({ url: '/healthz', remoteAddress: '10.1.2.3' })).statusCode).toBe(200);
      });
    });

    describe('beyond loopback', () => {
      test('tokens open what their scope says, and nothing once revoked', async () => {
        const home = api();
        const [reader, writer, admin] = [
          await token(home, 'read'),
          await token(home, 'write'),
          await token(home, 'admin'),
        ];
        const app = api({ beyondLoopback: true });
        expect(codeOf(await app.inject({ url: '/api/pages' }))).toBe('token-required');
        expect(codeOf(await app.inject({ url: '/api/pages', headers: bearer('rv_wrong') }))).toBe('token-unknown');
        const add = (secret: string, url: string) =>
          app.inject({ method: 'POST', url: '/api/pages', headers: bearer(secret), payload: { url } });
        expect((await app.inject({ url: '/api/pages', headers: bearer(reader.secret) })).statusCode).toBe(200);
        expect(codeOf(await add(reader.secret, 'a.example'))).toBe('scope-missing');
        expect((await add(writer.secret, 'a.example')).statusCode).toBe(201);
        expect(codeOf(await app.inject({ url: '/api/tokens', headers: bearer(writer.secret) }))).toBe('scope-missing');
        const revoked = await app.inject({
          method: 'DELETE',
          url: `/api/tokens/${writer.id}`,
          headers: bearer(admin.secret),
        });
        expect(revoked.statusCode).toBe(204);
        expect((await add(writer.secret, 'b.example')).statusCode).toBe(401);
      });

      test('what one process lets in or no longer lets in, others on the same store do too', async () => {
        const [home, other] = [api(), api({ beyondLoopback: true })];
        const ask = async (secret: string) =>
          (await other.inject({ url: '/api/pages', headers: bearer(secret) })).statusCode;
        expect(await ask('rv_nobody')).toBe(401);
        const [first, second] = [await token(home, 'read'), await token(home, 'read')];
        expect([await ask(first.secret), await ask(second.secret)]).toEqual([200, 200]);
        await home.inject({ method: 'DELETE', url: `/api/tokens/${first.id}` });
        // A session opened there does not bring back what was revoked here.
        await other.inject({ method: 'POST', url: '/api/session', payload: { token: second.secret } });
        expect([await ask(first.secret), await ask(second.secret)]).toEqual([401, 200]);
      });

      test('secrets are nowhere in the store', async () => {
        const { secret } = await token(api(), 'admin');
        const saved = Buffer.from((await store.recall('access'))!).toString('utf8');
        expect(saved).not.toContain(secret);
        expect(saved).not.toContain(secret.slice(3));
      });

      test('the dashboard trades a token for a session that scripts cannot read and other pages cannot use', async () => {
        const { id, secret } = await token(api(), 'write');
        const admin = await token(api(), 'admin');
        const app = api({ beyondLoopback: true });
        const login = await app.inject({ method: 'POST', url: '/api/session', payload: { token: secret } });
        const cookie = String(login.headers['set-cookie']);
        expect(cookie).toMatch(/HttpOnly; SameSite=Strict/);
        const session = { cookie: cookie.split(';')[0]!, host: 'watch.example' };
        expect((await app.inject({ url: '/api/session', headers: session })).json()).toMatchObject({ scope: 'write' });
        const add = (headers: Record<string, string>) =>
          app.inject({
            method: 'POST',
            url: '/api/pages',
            headers: { ...session, ...headers },
            payload: { url: 'a.example' },
          });
        expect(codeOf(await add({}))).toBe('origin-refused');
        expect(codeOf(await add({ origin: 'https://evil.example' }))).toBe('origin-refused');
        expect((await add({ origin: 'https://watch.example' })).statusCode).toBe(201);
        const secure = await app.inject({
          method: 'POST',
          url: '/api/session',
          headers: { 'x-forwarded-proto': 'https' },
          payload: { token: secret },
        });
        expect(String(secure.headers['set-cookie'])).toContain('Secure');
        nowMs += 31 * 86_400_000;
        expect((await app.inject({ url: '/api/session', headers: session })).statusCode).toBe(401);
        nowMs -= 31 * 86_400_000;
        await app.inject({
          method: 'DELETE',
          url: `/api/tokens/${id}`,
          headers: bearer(admin.secret),
        });
        expect((await app.inject({ url: '/api/session', headers: session })).statusCode).toBe(401);
      });

      test('who may only read learns of receivers where they are, and not what opens them', async () => {
        const home = api();
        const [reader, writer] = [await token(home, 'read'), await token(home, 'write')];
        const given = [
          { kind: 'webhook', url: 'https://me:pass@hooks.example.org/path-secret?key=query-secret' },
          { kind: 'slack', url: 'https://hooks.slack.example/services/T0/B0/path-secret' },
          { kind: 'matrix', url: 'https://matrix.example', room: '!room', token: 'token-secret' },
          { kind: 'command', command: ['notify', '--key', 'word-secret'] },
        ];
        const made = await Promise.all(
          given.map((deliver) => home.inject({ method: 'POST', url: '/api/subscriptions', payload: { deliver } })),
        );
        const app = api({ beyondLoopback: true });
        const shown = async ({ secret }: { secret: string }, path = '') =>
          (await app.inject({ url: `/api/subscriptions${path}`, headers: bearer(secret) })).body;
        const seen = (await shown(reader)) + (await shown(reader, `/${made[0]!.json<{ id: string }>().id}`));
        expect(seen).not.toMatch(/pass|secret/);
        for (const part of ['"https://hooks.example.org/…"', '"https://hooks.slack.example/…"', '["notify","…"]'])
          expect(seen).toContain(part);
        expect(seen).toContain('"https://matrix.example"');
        expect(await shown(writer)).toContain(given[0]!.url);
        expect(await shown(writer)).toContain('word-secret');
        expect(await shown(writer)).not.toContain('token-secret');
      });

      test('the key of the data folder lets commands in', async () => {
        const app = api({ beyondLoopback: true, localKey: 'k'.repeat(43) });
        expect((await app.inject({ url: '/api/tokens', headers: bearer('k'.repeat(43)) })).statusCode).toBe(200);
        expect((await app.inject({ url: '/api/tokens', headers: bearer('j'.repeat(43)) })).statusCode).toBe(401);
      });

      test('each caller has a limit, and is told when to come back', async () => {
        const { secret } = await token(api(), 'read');
        const app = api({ beyondLoopback: true, requestsPerSecond: 2, requestsBurst: 3 });
        const ask = () => app.inject({ url: '/api/status', headers: bearer(secret) });
        for (let i = 0; i < 3; i++) expect((await ask()).statusCode).toBe(200);
        const refused = await ask();
        expect(refused.statusCode).toBe(429);
        expect(refused.headers['retry-after']).toBe('1');
        nowMs += 500;
        expect((await ask()).statusCode).toBe(200);
      });
    });

    describe('every request', () => {
      test('a key makes a change happen once', async () => {
        const app = api();
        const send = (payload: object, key = 'one') =>
          app.inject({ method: 'POST', url: '/api/tokens', headers: { 'idempotency-key': key }, payload });
        const first = await send({ name: 'a', scope: 'read' });
        const again = await send({ name: 'a', scope: 'read' });
        expect(again.statusCode).toBe(201);
        expect(again.body).toBe(first.body);
        expect(again.headers['idempotent-replay']).toBe('true');
        expect(codeOf(await send({ name: 'b', scope: 'read' }))).toBe('idempotency-mismatch');
        expect(((await app.inject('/api/tokens')).json() as { tokens: unknown[] }).tokens).toHaveLength(1);
        nowMs += 86_400_001;
        expect((await send({ name: 'b', scope: 'read' })).json()).toMatchObject({ name: 'b' });
      });

      test('what is known already is not sent again', async () => {
        const app = api();
        const first = await app.inject('/api/pages');
        const etag = String(first.headers['etag']);
        const again = await app.inject({ url: '/api/pages', headers: { 'if-none-match': `W/${etag}` } });
        expect(again.statusCode).toBe(304);
        expect(again.body).toBe('');
        await app.inject({ method: 'POST', url: '/api/pages', payload: { url: 'a.example' } });
        expect((await app.inject({ url: '/api/pages', headers: { 'if-none-match': etag } })).statusCode).toBe(200);
      });

      test('answers cannot be framed, sniffed or run', async () => {
        const { headers } = await api().inject('/api/pages');
        expect(headers['content-security-policy']).toContain("default-src 'none'; sandbox");
        expect(headers['x-content-type-options']).toBe('nosniff');
        expect(headers['referrer-policy']).toBe('no-referrer');
      });
    });
  });
}
