import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Visitor, executablePath } from '../../../daemon/src/trial/browser.ts';
import { eventually, serve, type Serving } from '../../../daemon/src/trial/command.ts';
import { leash } from '../../../daemon/src/trial/leash.ts';
import { locate } from '../../../../house/provision.ts';
import { type NatsServer, startNats } from '../trial/nats-server.ts';
import { type PostgresServer, startPostgres } from '../trial/postgres-server.ts';
import { type TroubledLink, troubledLink } from '../trial/troubled-link.ts';

const bin = join(import.meta.dirname, '../../../daemon/bin/revisit.js');
const open = ['--allow-network', '127.0.0.0/8', '--spacing', '50ms', '--log-level', 'error'];
/** What the sites take longer for whoever comes from far away. */
const farMs = 400;
const hosts = 3;
const budgetPerSecond = 12;
/** Words: a number that differs at six looks in a row is taken for a counter. */
const numbers = ['one', 'two', 'three', 'four', 'five', 'six', 'seven'];
const filler = Array.from({ length: 300 }, (_, i) => `<p>Paragraph ${i} of ${(i * 7919) % 9973} words.</p>`).join('\n');

interface ObserverBody {
  readonly name: string;
  readonly state: string;
  readonly sites: readonly string[];
  readonly looks: number;
  readonly linkBytes: number;
  readonly savedBytes: number;
}

describe.skipIf(locate('nats-server') === undefined)('an observer as a process of its own', () => {
  let edition = 'edition one';
  const asked: { readonly host: string; readonly who: string; readonly atMs: number }[] = [];
  const children: ChildProcess[] = [];
  let web: Server;
  let postgres: PostgresServer;
  let nats: NatsServer;
  let link: TroubledLink;
  let store: string;
  let coordinator: Serving;

  const run = (...words: string[]): ChildProcess => {
    const child = leash(
      spawn(process.execPath, [bin, ...words, ...open], { cwd: tmpdir(), stdio: ['ignore', 'ignore', 'inherit'] }),
    );
    children.push(child);
    return child;
  };
  const coordinate = (mandate: string): Promise<Serving> => {
    const where = ['--store', store, '--nats', nats.url, '--policy', 'uniform'];
    return serve([...where, '--budget', `${budgetPerSecond}/second`, '--mandate', mandate, ...open]);
  };
  const folder = mkdtempSync(join(tmpdir(), 'revisit-observer-'));
  const near = (): ChildProcess => {
    const words = ['--name', 'near', '--contact', 'near', '--data', folder];
    return run('observer', '--nats', `nats://127.0.0.1:${link.port}`, ...words);
  };
  let observing: ChildProcess;
  /** The observer has looked at every site twice since, so it has done with the first of the two. */
  const lookedTwice = (since: number): boolean =>
    Array.from({ length: hosts }, (_, host) => `127.0.0.${host + 1}:`).every(
      (host) => asked.slice(since).filter((entry) => entry.who === 'near' && entry.host.startsWith(host)).length > 1,
    );
  const found = async (next: string): Promise<void> => {
    edition = next;
    const since = asked.length;
    await eventually(() => lookedTwice(since));
  };
  const allEditions = async (count: number): Promise<void> => {
    const pages = await eventually(async () => {
      const { pages: all } = await json<{ pages: { id: string; version: number }[] }>('/api/pages');
      return all.every(({ version }) => version >= count) && all;
    });
    const wanted = numbers.slice(0, count).map((number) => `edition ${number}`);
    for (const { id } of pages) expect(await editionsOf(id, count)).toEqual(wanted);
  };
  /** Changes that were found before the link was mended are dated before that, each page's in their order. */
  const datedAsFound = async (versions: readonly number[], mendedMs: number): Promise<void> => {
    type Dated = { readonly pageId: string; readonly toVersion: number; readonly at: string };
    const { changes } = await json<{ changes: Dated[] }>('/api/changes?limit=1000');
    const { pages } = await json<{ pages: { id: string; lastChange: string }[] }>('/api/pages');
    for (const { id, lastChange } of pages) {
      const own = changes.filter(({ pageId }) => pageId === id);
      const times = own.map(({ at }) => Date.parse(at));
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      expect(own.map(({ toVersion }) => toVersion)).toEqual(own.map((_, i) => i + 2));
      for (const [i, { toVersion }] of own.entries())
        if (versions.includes(toVersion)) expect(times[i]).toBeLessThan(mendedMs);
        else if (toVersion > Math.max(...versions)) expect(times[i]).toBeGreaterThanOrEqual(mendedMs);
      expect(lastChange).toBe(own.at(-1)!.at);
    }
  };
  const json = async <Body>(path: string): Promise<Body> =>
    (await (await fetch(coordinator.url + path)).json()) as Body;
  const observer = async (): Promise<ObserverBody | undefined> =>
    (await json<{ observers: ObserverBody[] }>('/api/robots')).observers[0];
  const editionsOf = async (id: string, count: number): Promise<string[]> =>
    Promise.all(
      Array.from({ length: count }, async (_, i) => {
        const text = await (await fetch(`${coordinator.url}/api/pages/${id}/versions/${i + 1}`)).text();
        return /edition \w+/.exec(text)![0];
      }),
    );

  beforeAll(async () => {
    web = createServer((request, response) => {
      if (request.url === '/robots.txt') return response.writeHead(404).end();
      const who = /far|near/.exec(request.headers['user-agent'] ?? '')?.[0] ?? 'nobody';
      asked.push({ host: request.headers.host!, who, atMs: Date.now() });
      const send = (): void =>
        void response.writeHead(200, { 'content-type': 'text/html' }).end(`<body>${filler}<p>${edition}</p></body>`);
      return who === 'far' ? setTimeout(send, farMs) : send();
    });
    await new Promise<void>((done) => web.listen(0, '0.0.0.0', done));
    [postgres, nats] = await Promise.all([startPostgres(), startNats()]);
    link = await troubledLink({ host: '127.0.0.1', port: Number(new URL(nats.url).port) });
    store = await postgres.database('observers');
    coordinator = await coordinate('20m');
    run('robot', '--nats', nats.url, '--contact', 'far');
    observing = near();
    const { port } = web.address() as AddressInfo;
    const urls = Array.from({ length: hosts }, (_, i) => ({ url: `http://127.0.0.${i + 1}:${port}/` }));
    const added = await fetch(`${coordinator.url}/api/pages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(urls),
    });
    expect(added.status).toBe(201);
  });
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    await coordinator.end('SIGKILL');
    await link.end();
    await Promise.all([postgres.end(), nats.end()]);
    web.closeAllConnections();
    web.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('gets the sites that it is nearer to, and its reports take a small part of the traffic', async () => {
    await eventually(async () => (await observer())?.sites.length === hosts);
    const before = (await observer())!;
    await eventually(async () => (await observer())!.looks > before.looks + 30);
    const now = (await observer())!;
    expect(now.savedBytes - before.savedBytes).toBeGreaterThan(4 * (now.linkBytes - before.linkBytes));
  });

  /** What the cells say is what the API says just before and just after. */
  async function shownBetween(cells: Locator): Promise<void> {
    const before = (await observer())!;
    // The page asks every two seconds.
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    const [name, sites, looks, ...traffic] = await cells.allInnerTexts();
    const after = (await observer())!;
    expect(name).toMatch(/^near\s+there, [\d.]+ ms away$/);
    expect(sites).toBe(after.sites.join(', '));
    expect(Number(looks!.replaceAll(/\D/g, ''))).toBeGreaterThanOrEqual(before.looks);
    expect(Number(looks!.replaceAll(/\D/g, ''))).toBeLessThanOrEqual(after.looks);
    for (const [i, of] of (['linkBytes', 'savedBytes'] as const).entries()) {
      const [, amount, unit] = /^([\d.]+) (k?B|MB)$/.exec(traffic[i]!)!;
      const step = { B: 1, kB: 1e3, MB: 1e6 }[unit!]!;
      // An errand that is on its way has cost what its look has not saved yet.
      const spent = of === 'savedBytes' ? after.linkBytes - before.linkBytes : 0;
      // Shown to a tenth of its unit.
      expect(Number(amount) * step).toBeGreaterThanOrEqual(before[of] - spent - 0.06 * step);
      expect(Number(amount) * step).toBeLessThanOrEqual(after[of] + spent + 0.06 * step);
    }
  }

  test.skipIf(!executablePath)('the dashboard shows what it observes, and what that saves', async () => {
    const visitor = await Visitor.open(coordinator.url);
    try {
      await visitor.go('#/robots');
      const row = visitor.page.locator('section', { hasText: 'Robots near their sources' }).locator('tbody tr');
      await row.waitFor();
      // A busy machine may hear nothing of it for a moment, or show what was true before the first of these.
      await vi.waitFor(() => shownBetween(row.locator('td')), { timeout: 60_000, interval: 500 });
      expect(visitor.trouble).toEqual([]);
    } finally {
      await visitor.close();
    }
  });

  test('without its link it goes on looking, and reports every edition later, in order', async () => {
    link.cut();
    const since = asked.length;
    await found('edition two');
    await found('edition three');
    // Nobody slows it down now: it keeps to what it was lent by itself.
    await eventually(() => asked.length > since + 3 * budgetPerSecond);
    const alone = asked.slice(since);
    // One of each site may have been asked for by an errand when the link was cut.
    const looks = alone.length - hosts;
    expect(looks / ((alone.at(-1)!.atMs - alone[0]!.atMs) / 1000)).toBeLessThan(budgetPerSecond);
    const mendedMs = Date.now();
    link.mend();
    edition = 'edition four';
    await allEditions(4);
    await datedAsFound([2, 3], mendedMs);
  });

  test('killed without its link, with findings that nobody has: the one that comes after it tells them, in order', async () => {
    link.cut();
    await found('edition five');
    await found('edition six');
    const killed = new Promise((done) => observing.once('close', done));
    observing.kill('SIGKILL');
    await killed;
    expect(readFileSync(join(folder, 'near.findings'), 'utf8').split('\n').length).toBeGreaterThan(2 * hosts);
    edition = 'edition seven';
    const mendedMs = Date.now();
    link.mend();
    observing = near();
    await allEditions(7);
    await datedAsFound([5, 6], mendedMs);
    // What the coordinator has is let go of.
    await eventually(() => readFileSync(join(folder, 'near.findings'), 'utf8') === '');
  });

  test('told to leave, it says so: its sites come home long before its mandates end', async () => {
    observing.kill('SIGTERM');
    const since = asked.length;
    await eventually(() =>
      Array.from({ length: hosts }, (_, host) => `127.0.0.${host + 1}:`).every((host) =>
        asked.slice(since).some((entry) => entry.who === 'far' && entry.host.startsWith(host)),
      ),
    );
    expect(await observer()).toBeUndefined();
  });

  /** Its link is cut, it finds what comes then, and home looks at every site before the link is mended. */
  const cutBeyondMandate = async (editions: readonly string[], then: string): Promise<number> => {
    await eventually(async () => (await observer())?.sites.length === hosts);
    const looks = (await observer())!.looks;
    await eventually(async () => (await observer())!.looks > looks + 10);
    link.cut();
    for (const next of editions) await found(next);
    const foundMs = Date.now();
    edition = then;
    const since = asked.length;
    await eventually(() => seenFrom('far', since));
    link.mend();
    return foundMs;
  };
  const seenFrom = (who: string, since: number): boolean =>
    Array.from({ length: hosts }, (_, host) => `127.0.0.${host + 1}:`).every(
      (host) => asked.slice(since).filter((entry) => entry.who === who && entry.host.startsWith(host)).length > 1,
    );
  type Told = {
    readonly pageId: string;
    readonly fromVersion: number;
    readonly toVersion: number;
    readonly at: string;
  };
  const toldSince = async (versions: number, count: number): Promise<readonly (readonly Told[])[]> =>
    eventually(async () => {
      const { changes } = await json<{ changes: Told[] }>('/api/changes?limit=1000');
      const late = Map.groupBy(
        changes.filter(({ toVersion }) => toVersion > versions),
        ({ pageId }) => pageId,
      );
      return late.size === hosts && [...late.values()].every((each) => each.length >= count) && [...late.values()];
    });

  test('cut from home for longer than its mandate lasts: what it found and what it saw undone are told, though home has looked since', async () => {
    await coordinator.end('SIGTERM');
    coordinator = await coordinate('12s');
    observing = near();
    const foundMs = await cutBeyondMandate(['edition eight', 'edition seven'], 'edition seven');
    for (const changes of await toldSince(7, 2)) {
      const [id] = changes.map(({ pageId }) => pageId);
      expect((await editionsOf(id!, 9)).slice(6)).toEqual(['edition seven', 'edition eight', 'edition seven']);
      expect(changes.map(({ fromVersion, toVersion }) => [fromVersion, toVersion])).toEqual([
        [7, 8],
        [8, 9],
      ]);
      for (const { at } of changes) expect(Date.parse(at)).toBeLessThan(foundMs + 500);
    }
    await eventually(() => readFileSync(join(folder, 'near.findings'), 'utf8') === '');
  });

  test('where home has told of a newer edition by then, it stays the newest, and what came before is told with its time', async () => {
    const foundMs = await cutBeyondMandate(['edition nine'], 'edition ten');
    for (const changes of await toldSince(9, 2)) {
      const told = await Promise.all(
        changes.map(async ({ pageId, toVersion, at }) => {
          const editions = await editionsOf(pageId, toVersion);
          return [editions.at(-1)!, Date.parse(at) < foundMs + 500] as const;
        }),
      );
      expect(told.map(([each]) => each).toSorted((a, b) => a.localeCompare(b))).toEqual([
        'edition nine',
        'edition ten',
      ]);
      expect(told.find(([each]) => each === 'edition nine')![1]).toBe(true);
    }
    await eventually(() => readFileSync(join(folder, 'near.findings'), 'utf8') === '');
    const { pages } = await json<{ pages: { id: string; version: number }[] }>('/api/pages');
    for (const { id, version } of pages) expect((await editionsOf(id, version)).at(-1)).toBe('edition ten');
  });

  test('no site was asked beyond its spacing by the two together', () => {
    const gaps: string[] = [];
    for (const host of new Set(asked.map((entry) => entry.host))) {
      const times = asked.filter((entry) => entry.host === host);
      times.forEach(({ atMs, who }, i) => {
        const gapMs = i === 0 ? Infinity : atMs - times[i - 1]!.atMs;
        if (gapMs < 20) gaps.push(`${host} after ${gapMs} ms by ${who}`);
      });
    }
    expect(gaps).toEqual([]);
  });
});
