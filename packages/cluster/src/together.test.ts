import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, loopbackWeb } from '../../daemon/src/trial/command.ts';
import { locate } from '../../../house/provision.ts';
import { type Pair, startPair } from './trial/pair.ts';

const hosts = 12;

describe.skipIf(locate('nats-server') === undefined)('two coordinators answer as one', () => {
  let pair: Pair;
  beforeAll(async () => {
    // Longer than one of them is stopped below.
    pair = await startPair('10s');
  });
  afterAll(() => pair.end());

  test('each lists every page, looks at every page by request, and tells subscriptions of the other', async () => {
    const web = await loopbackWeb('0.0.0.0');
    const told = new Set<string>();
    const receiver = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        for (const { pageId } of (JSON.parse(body) as { changes: { pageId: string }[] }).changes) told.add(pageId);
        response.end();
      });
    });
    await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done));
    const [one, two] = pair.urls;
    const post = async <Body>(url: string, payload: object): Promise<Body> => {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(payload) });
      expect(answer.ok).toBe(true);
      return (await answer.json()) as Body;
    };
    const list = async (
      at: string,
      query: string,
    ): Promise<{ id: string; version: number; current: number; rate: number; nextProbe: string | null }[]> =>
      ((await (await fetch(`${at}/api/pages?${query}`)).json()) as { pages: never[] }).pages;
    const urls = Array.from({ length: hosts }, (_, i) => web.url.replace('127.0.0.1', `127.0.0.${i + 1}`) + `/${i}`);
    for (let i = 0; i < hosts; i++) web.pages.set(`/${i}`, `<p>one ${i}</p>`);
    await post(
      `${one}/api/pages`,
      urls.map((url) => ({ url })),
    );
    for (const at of [one, two])
      for (const order of ['added', 'title', 'current', 'next', 'rate'])
        await eventually(async () => {
          const pages = await list(at, `order=${order}&limit=100`);
          expect(pages).toHaveLength(hosts);
          return pages.every(({ version }) => version === 1);
        });
    // Each looks after some of them, with a part of the budget.
    const metric = async (at: string, name: string): Promise<number> =>
      Number(new RegExp(`^${name} (.*)$`, 'm').exec(await (await fetch(`${at}/metrics`)).text())?.[1]);
    await eventually(async () => {
      const parts = await Promise.all([one, two].map((at) => metric(at, 'revisit_budget_per_hour')));
      return parts.every((part) => part > 0.05 * 180_000) && Math.round(parts[0]! + parts[1]!) === 180_000;
    });
    const read = async <Body>(at: string, path: string): Promise<Body> =>
      (await (await fetch(`${at}${path}`)).json()) as Body;
    for (const at of [one, two]) {
      // What only the other one knows is said by either.
      for (const order of ['next', 'current', 'rate'] as const)
        await eventually(async () => {
          const pages = await list(at, `order=${order}&limit=100`);
          const by = pages.map((page) => (order === 'next' ? Date.parse(page.nextProbe ?? '') : page[order]));
          // Times move on between two answers of which one is about the order and one about the pages.
          const sorted = order !== 'rate' || by.every((value, i) => i === 0 || value! <= by[i - 1]!);
          return pages.length === hosts && sorted && by.every((value) => Number.isFinite(value));
        });
      const plan = await eventually(async () => {
        const said = await read<{
          pages: number;
          missing: number;
          budgetPerHour: number;
          probes: { pageId: string }[];
        }>(at, '/api/plan');
        return said.probes.length === hosts && said.missing === 0 && said;
      });
      expect(plan.pages).toBe(hosts);
      expect(Math.round(plan.budgetPerHour)).toBe(180_000);
      expect(await read(at, '/api/budget')).toMatchObject({
        missing: 0,
        oneMore: { probesPerHour: expect.closeTo(180_001, 0) },
      });
      expect(await read(at, '/api/status')).toMatchObject({ budgetPerHour: 180_000, healthy: true, missing: 0 });
      const { sites } = await read<{ sites: { spacingSeconds: number | null }[] }>(at, '/api/sites');
      expect(sites.map(({ spacingSeconds }) => spacingSeconds)).toEqual(Array(hosts).fill(0.02));
      for (const { id } of await list(at, 'limit=100')) {
        const coming = await read<{ state: string }>(at, `/api/pages/${id}/coming`);
        expect(coming.state).not.toBe('none');
      }
    }
    // Both hear the one robot, each for its own sites; alone neither has asked for as much as it has answered to both.
    for (const at of [one, two])
      await eventually(async () => {
        const { crew, wanted, there, robots, requestsMax, missing } = await read<{
          crew: { name: string; process: string; looks: number; looksLastMinute: number; lastHeardAt: string }[];
          wanted: number;
          there: number;
          robots: number;
          requestsMax: number;
          missing: number;
        }>(at, '/api/robots');
        // One process, to which two coordinators give up to 64 requests each.
        expect([robots, requestsMax]).toEqual(missing === 0 ? [128, 128] : [64, 64]);
        const alone = await Promise.all([one, two].map((each) => metric(each, 'revisit_probes_sent_total')));
        const each = await Promise.all([one, two].map((other) => metric(other, 'revisit_robots_wanted')));
        const [robot] = crew;
        return (
          missing === 0 &&
          crew.length === 1 &&
          there === 1 &&
          (await metric(at, 'revisit_robots_there')) === 1 &&
          robot!.looks > Math.max(...alone) &&
          robot!.looksLastMinute > 0 &&
          Math.abs(Date.parse(robot!.lastHeardAt) - Date.now()) < 60_000 &&
          wanted > Math.max(...each) &&
          Math.abs(wanted / (each[0]! + each[1]!) - 1) < 0.1
        );
      });
    const sent = await Promise.all([one, two].map((at) => metric(at, 'revisit_probes_sent_total')));
    expect((await read<{ loop: { sent: number } }>(one, '/api/status')).loop.sent).toBeGreaterThanOrEqual(
      sent[0]! + sent[1]!,
    );
    const { port } = receiver.address() as AddressInfo;
    await post(`${two}/api/subscriptions`, { deliver: `http://127.0.0.1:${port}/` });
    for (let i = 0; i < hosts; i++) web.pages.set(`/${i}`, `<p>two ${i}</p>`);
    for (const { id } of await list(two, 'limit=100')) await post(`${one}/api/pages/${id}/probe`, {});
    await eventually(() => told.size === hosts);
    // What is set at one holds at both, and is the whole, of which each has a part.
    const settings = async (at: string): Promise<{ budgetPerHour: number; quiet: string[] }> =>
      (await (await fetch(`${at}/api/settings`)).json()) as never;
    const headers = { 'content-type': 'application/json' };
    const wanted = { budget: '72000/hour', quiet: ['03:00-03:01 Europe/Berlin'] };
    await fetch(`${one}/api/settings`, { method: 'PATCH', headers, body: JSON.stringify(wanted) });
    for (const at of [one, two])
      await eventually(async () => {
        const { budgetPerHour, quiet } = await settings(at);
        return Math.round(budgetPerHour) === 72_000 && quiet.length === 1;
      });
    // Of one that does not answer it is said that it is missing.
    pair.both[1].process.kill('SIGSTOP');
    const [plan, robots] = await Promise.all(
      ['/api/plan', '/api/robots'].map((path) => read<{ missing: number; pages: number }>(one, path)),
    );
    pair.both[1].process.kill('SIGCONT');
    expect([plan!.missing, robots!.missing]).toEqual([1, 1]);
    expect(plan!.pages).toBeLessThan(hosts);
    receiver.close();
    await web.close();
  });

  test('what is asked of both at once is done once, and neither undoes what the other did', async () => {
    const headers = { 'content-type': 'application/json' };
    const ask = (at: string, path: string, body: object, key?: string): Promise<Response> =>
      fetch(`${at}${path}`, {
        method: 'POST',
        headers: { ...headers, ...(key === undefined ? {} : { 'idempotency-key': key }) },
        body: JSON.stringify(body),
      });
    const [one, two] = pair.urls;
    const made = await Promise.all(
      Array.from({ length: 12 }, (_, i) => ask(i % 2 ? one : two, '/api/tokens', { name: `t${i}`, scope: 'read' })),
    );
    expect(made.map(({ ok }) => ok)).toEqual(made.map(() => true));
    const names = async (at: string): Promise<string[]> =>
      ((await (await fetch(`${at}/api/tokens`)).json()) as { tokens: { name: string }[] }).tokens.map(
        ({ name }) => name,
      );
    for (const at of [one, two]) expect((await names(at)).sort()).toEqual(made.map((_, i) => `t${i}`).sort());

    // A subscription more for each request that is carried out.
    const path = '/api/subscriptions';
    const body = { deliver: 'http://127.0.0.1:9/' };
    const count = async (at: string): Promise<number> =>
      ((await (await fetch(`${at}${path}`)).json()) as { subscriptions: unknown[] }).subscriptions.length;
    const before = await count(one);
    const twice = await Promise.all([one, two].map((at) => ask(at, path, body, 'key-1')));
    expect(twice.filter(({ ok }) => ok).length).toBeGreaterThan(0);
    for (const at of [one, two]) {
      const again = await ask(at, path, body, 'key-1');
      expect([again.ok, again.headers.get('idempotent-replay')]).toEqual([true, 'true']);
      expect(await count(at)).toBe(before + 1);
    }
    // A secret is shown once, by the one that made it, and kept nowhere.
    const secret = await ask(one, '/api/tokens', { name: 'secret', scope: 'read' }, 'key-2');
    expect(secret.status).toBe(201);
    const elsewhere = await ask(two, '/api/tokens', { name: 'secret', scope: 'read' }, 'key-2');
    expect([elsewhere.status, await elsewhere.text()]).toEqual([409, expect.stringContaining('idempotency-secret')]);
    expect((await names(two)).filter((name) => name === 'secret')).toHaveLength(1);
  });

  test('while NATS is away both say so at once, and no longer when it is back', async () => {
    const said = (at: string) => fetch(`${at}/api/status`).then((answer) => answer.json());
    const reachable = async (at: string): Promise<string | undefined> =>
      /^revisit_robots_reachable (.*)$/m.exec(await (await fetch(`${at}/metrics`)).text())?.[1];
    for (const at of pair.urls) expect(await said(at)).toMatchObject({ linked: true, missing: 0 });
    await pair.nats.kill();
    for (const at of pair.urls) {
      await eventually(async () => ((await said(at)) as { linked: boolean }).linked === false);
      // Nobody waits for the other, who cannot be heard.
      expect(await said(at)).toMatchObject({ linked: false, missing: 1 });
      expect(await reachable(at)).toBe('0');
    }
    await pair.nats.start();
    for (const at of pair.urls) {
      await eventually(async () => {
        const { linked, missing } = (await said(at)) as { linked: boolean; missing: number };
        return linked && missing === 0;
      });
      expect(await reachable(at)).toBe('1');
    }
  });
});
