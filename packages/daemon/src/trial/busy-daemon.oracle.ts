/** The daemon under load, when what is found is written beside the loop: killed, stopped, without space on the disk, and read meanwhile. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { integer, random } from '@revisit/core';
import type { Store } from '../store/port.ts';
import { busyWeb, type BusyWeb } from './busy-web.ts';
import { eventually, revisit, type Serving } from './command.ts';
import type { Place } from './place.ts';

const pages = 200;
const sites = 100;
const spacingMs = 20;
/** How far arrivals may be bunched by a server that was not let run; a site asked twice as often is beyond it in a second. */
const stallMs = 1_000;

/** A place whose disk can be full, and of which it is known when it is at its busiest. */
export interface BusyPlace extends Place {
  /** Whether so much is to be written that it is written as it is under load; forgotten when a life begins. */
  isBusy(): boolean;
  full(isFull: boolean): Promise<void>;
  /** While no daemon runs. */
  reading<Value>(look: (store: Store) => Promise<Value>): Promise<Value>;
  /** Likewise: how many probes were under way. */
  underWay(): Promise<number>;
}

async function json<Body>(url: string): Promise<Body> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Body;
}

export function busySuite(name: string, place: () => Promise<BusyPlace>): void {
  describe(name, () => {
    const luck = random(11);
    const speed = ['--budget', '5000/second', '--spacing', `${spacingMs}ms`, '--allow-network', '127.0.0.0/8'];
    let web: BusyWeb;
    let here: BusyPlace;
    let editing: NodeJS.Timeout;

    beforeAll(async () => {
      web = await busyWeb(pages, sites);
      here = await place();
      await here.add(web.urls);
      editing = setInterval(() => web.edit(Array.from({ length: 10 }, () => integer(luck, pages))), 20);
    });
    afterAll(async () => {
      clearInterval(editing);
      await web.close();
      await here.end();
    });

    /** A life at its busiest, until some more requests have come. */
    async function busyLife(): Promise<Serving> {
      const daemon = await here.serve(['--log-level', 'warn', ...speed]);
      await eventually(() => here.isBusy());
      const [before, more] = [web.requests(), integer(luck, 300)];
      await eventually(() => web.requests() > before + more);
      return daemon;
    }

    test('killed again and again under load: what was under way is remembered', async () => {
      const left: number[] = [];
      for (let life = 0; life < 2; life++) {
        await (await busyLife()).end('SIGKILL');
        left.push(await here.underWay());
      }
      expect(Math.max(...left)).toBeGreaterThan(0);
    });

    test('Ctrl-C under load', async () => {
      const daemon = await busyLife();
      expect(await daemon.end('SIGINT')).toBe(0);
    });

    test('a disk without space is said and waited for; whoever reads meanwhile is answered', async () => {
      const daemon = await busyLife();
      const status = () => json<{ healthy: boolean; loop: { inFlight: number } }>(`${daemon.url}/api/status`);
      const second = await revisit(['serve', '--port', '0', '--data', here.folder]);
      expect(second).toMatchObject({ code: 2 });
      expect(second.err).toContain('Another revisit works on');

      await here.full(true);
      await eventually(async () => !(await status()).healthy);
      await eventually(async () => (await status()).loop.inFlight === 0);
      const asked = web.requests();
      for (const path of ['/api/pages?limit=50', '/api/changes?limit=50', '/api/plan', '/api/sites'])
        await json(`${daemon.url}${path}`);
      // A look without news may still fit, and let some more go out; what cannot be kept stops the asking.
      expect(web.requests() - asked).toBeLessThan(pages);
      expect(daemon.err().match(/disk is full/g)!.length).toBeLessThan(5);
      await here.full(false);
      await eventually(() => web.requests() > asked);

      // Every page is seen once more as it stays, while others read all that there is.
      clearInterval(editing);
      const quietMs = Date.now();
      await eventually(async () => {
        await json(`${daemon.url}/api/changes?limit=1000`);
        const seen = await json<{ pages: { lastSeen: string | null }[] }>(`${daemon.url}/api/pages?limit=${pages}`);
        return seen.pages.length === pages && seen.pages.every(({ lastSeen }) => Date.parse(lastSeen ?? '') > quietMs);
      });
      const slowed = await fetch(`${daemon.url}/api/settings`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ budget: '1/hour' }),
      });
      expect(slowed.status).toBe(200);
      await eventually(async () => (await status()).loop.inFlight === 0);
      expect(await daemon.end('SIGINT')).toBe(0);
      expect(daemon.err()).not.toMatch(/locked|busy|bug/);
    });

    test('at the end: no change lost or doubled, nothing left under way, every site asked at its distance', async () => {
      const { changes, wrong } = await here.read();
      expect(wrong).toEqual([]);
      expect(await here.underWay()).toBe(0);
      await here.reading(async (store) => {
        expect(changes.length).toBeGreaterThan(pages);
        expect(changes.map(({ sequence }) => sequence)).toEqual(changes.map((_, n) => n + 1));
        for (const { page, state } of await store.pages({ limit: pages })) {
          const numbers = (await store.versions(page.id)).map(({ number }) => number);
          const texts = await Promise.all(numbers.map((number) => store.versionText(page.id, number)));
          expect(numbers).toEqual(Array.from({ length: state.version }, (_, n) => n + 1));
          expect(changes.filter(({ pageId }) => pageId === page.id)).toHaveLength(numbers.length - 1);
          // They are counted from one, so what was told in another order than it was written is seen.
          const editions = texts.map((text) => Number(/edition (\d+)/.exec(text!)![1]));
          expect(editions).toEqual([...new Set(editions)].sort((a, b) => a - b));
          expect(texts.at(-1)).toContain(web.edition(page.url));
        }
      });
      expect(Math.max(...[...web.asked.values()].map(rushedMs))).toBeLessThan(stallMs);
    });
  });
}

/** By how much the requests at these times came before the time that the distance between them allows, at worst. */
function rushedMs(times: readonly number[]): number {
  let worst = 0;
  for (let i = 0, from = 0; i < times.length; i++) {
    const allowedMs = times[from]! + (i - from) * spacingMs;
    if (times[i]! >= allowedMs) from = i;
    worst = Math.max(worst, allowedMs - times[i]!);
  }
  return worst;
}
