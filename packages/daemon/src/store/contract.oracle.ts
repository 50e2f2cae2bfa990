/** One contract for every store. Each implementation gives a way to open an empty one. */
import { describe, expect, test } from 'vitest';
import type { Look } from '../values/look.ts';
import type { NewPage, Store } from './port.ts';
import { freshState } from './rows.ts';
import { wishesContract } from './wishes.oracle.ts';

const page = (url: string, more: Partial<NewPage> = {}): NewPage => ({
  url,
  site: new URL(url).hostname,
  select: { kind: 'text' },
  tags: [],
  weight: 1,
  paused: false,
  options: {},
  addedAtMs: 1000,
  ...more,
});

async function added(store: Store, url: string, more: Partial<NewPage> = {}) {
  const kept = await store.addPages([page(url, more)]);
  if (kept.kind === 'failed') throw new Error(kept.fault.sentence);
  return kept.value[0]!;
}

const subscription = {
  match: '',
  deliver: { kind: 'slack' as const, url: 'https://x.example/' },
  zone: 'UTC',
  paused: false,
};

function look(pageId: string, version: number, text: string, atMs: number): Look {
  return {
    pageId,
    probeId: `probe-${atMs}`,
    atMs,
    endedAtMs: atMs + 20,
    kind: version === 1 ? 'first' : 'changed',
    bytesReceived: 100,
    state: {
      ...freshState,
      status: 'present',
      version,
      hash: `h${version}`,
      lastLookMs: atMs,
      looks: version,
      validators: { etag: '"x"', url: 'https://b.example/' },
      model: new Uint8Array([1, 2, version]),
    },
    projection: { text, format: 'text' },
    ...(version > 1
      ? {
          change: {
            pageId,
            url: 'https://a.example/',
            site: 'a.example',
            tags: [],
            kind: 'changed' as const,
            atMs,
            count: 1,
            summary: 's',
            fromVersion: version - 1,
            toVersion: version,
          },
        }
      : {}),
  };
}

export function storeContract(name: string, open: () => Promise<Store>): void {
  describe(`store on ${name}`, () => {
    wishesContract(open);

    test('a page added twice is one page; another selection of the same URL is another', async () => {
      const store = await open();
      const first = await added(store, 'https://a.example/');
      const again = await added(store, 'https://a.example/');
      const other = await added(store, 'https://a.example/', { select: { kind: 'css', expression: 'h1' } });
      expect(first.created).toBe(true);
      expect(again).toEqual({ page: first.page, created: false });
      expect(other.page.page.id).not.toBe(first.page.page.id);
      expect(await store.counts()).toMatchObject({ pages: 2 });
      await store.close();
    });

    test('what is under way comes back in the order in which it left, though it left together', async () => {
      const store = await open();
      const { id: page } = (await added(store, 'https://a.example/')).page.page;
      const left = Array.from({ length: 80 }, (_, n) => ({
        id: `run-${n.toString(36)}`,
        atMs: 5000 + Math.floor(n / 60),
      }));
      const rest = { url: 'https://a.example/', site: 'a.example', pageIds: [page], validators: {} };
      await store.dispatched(left.map((probe) => ({ ...probe, ...rest })));
      expect((await store.unfinished()).map(({ id }) => id)).toEqual(left.map(({ id }) => id));
      await store.close();
    });

    test('what a look says is kept whole and reads back', async () => {
      const store = await open();
      const { id } = (await added(store, 'https://a.example/')).page.page;
      await store.dispatched([
        { id: 'probe-5000', url: 'https://a.example/', site: 'a.example', pageIds: [id], atMs: 5000, validators: {} },
      ]);
      expect((await store.unfinished()).map((probe) => probe.id)).toEqual(['probe-5000']);
      expect(await store.commit([look(id, 1, 'old', 5000)])).toEqual({ kind: 'kept', value: [] });
      expect(await store.unfinished()).toEqual([]);
      const kept = await store.commit([look(id, 2, 'new', 6000)]);
      expect(kept.kind === 'kept' && kept.value.map((change) => [change.sequence, change.kind])).toEqual([
        [1, 'changed'],
      ]);
      expect(await store.versionText(id, 1)).toBe('old');
      expect(await store.versionText(id, 2)).toBe('new');
      expect((await store.versions(id)).map((version) => version.number)).toEqual([1, 2]);
      expect((await store.looks(id, 10)).map((entry) => [entry.atMs, entry.kind, entry.durationMs])).toEqual([
        [6000, 'changed', 20],
        [5000, 'first', 20],
      ]);
      const watched = await store.page(id);
      expect(watched?.state).toMatchObject({ version: 2, validators: { etag: '"x"', url: 'https://b.example/' } });
      expect([...watched!.state.model!]).toEqual([1, 2, 2]);
      await store.close();
    });

    test('a page that is given another URL forgets what the old one said of itself, and keeps its versions', async () => {
      const store = await open();
      const { id } = (await added(store, 'https://a.example/')).page.page;
      const seen = look(id, 1, 'text', 5000);
      await store.commit([{ ...seen, state: { ...seen.state, movedTo: 'https://b.example/', revealed: 'lw' } }]);
      expect((await store.page(id))?.state).toMatchObject({ movedTo: 'https://b.example/', revealed: 'lw' });
      await store.updatePages([{ id, settings: { tags: ['kept'] } }]);
      expect((await store.page(id))?.state.validators).not.toEqual({});
      const kept = await store.updatePages([{ id, settings: { url: 'https://a.example/other' } }]);
      const state = kept.kind === 'kept' ? kept.value[0]!.state : undefined;
      expect(state).toEqual((await store.page(id))?.state);
      expect(state).toMatchObject({ version: 1, validators: {} });
      expect(state).not.toHaveProperty('movedTo');
      expect(state).not.toHaveProperty('revealed');
      await store.close();
    });

    test('the log of changes is in order, without holes, and resumes at any cursor', async () => {
      const store = await open();
      const { id } = (await added(store, 'https://a.example/')).page.page;
      for (let version = 1; version <= 6; version++)
        await store.commit([look(id, version, `text ${version}`, version * 1000)]);
      const all = await store.changes({ after: 0, limit: 100 });
      expect(all.map((change) => change.sequence)).toEqual([1, 2, 3, 4, 5]);
      expect(new Set(all.map((change) => change.id)).size).toBe(5);
      expect(await store.changes({ after: 2, limit: 2 })).toEqual(all.slice(2, 4));
      expect((await store.latestChanges({ limit: 2 })).map((change) => change.sequence)).toEqual([5, 4]);
      expect((await store.latestChanges({ before: 4, limit: 2, pageId: id })).map((change) => change.sequence)).toEqual(
        [3, 2],
      );
      expect(await store.changes({ after: 0, limit: 10, pageId: 'other' })).toEqual([]);
      await store.close();
    });

    test('settings change, pages go, and a look at a page that went is dropped', async () => {
      const store = await open();
      const { id } = (await added(store, 'https://a.example/x', { tags: ['one'] })).page.page;
      await added(store, 'https://b.example/y', { tags: ['two'] });
      const kept = await store.updatePages([{ id, settings: { weight: 3, paused: true } }]);
      expect(kept.kind === 'kept' && kept.value[0]!.page).toMatchObject({ weight: 3, paused: true, tags: ['one'] });
      expect((await store.pages({ limit: 10, tag: 'two' })).map((entry) => entry.page.url)).toEqual([
        'https://b.example/y',
      ]);
      expect((await store.pages({ limit: 10, site: 'a.example' })).length).toBe(1);
      expect((await store.pages({ limit: 10, text: 'EXAMPLE/Y' })).length).toBe(1);
      const { place } = (await store.pages({ limit: 1 }))[0]!;
      const behind = async () => (await store.pages({ limit: 10, after: place })).map((entry) => entry.page.url);
      expect(await behind()).toEqual(['https://b.example/y']);
      await store.setDetectState(id, '{"noise":1}');
      expect((await store.page(id))?.state.detectState).toBe('{"noise":1}');
      expect(await store.removePages([id, 'never'])).toEqual({ kind: 'kept', value: [id] });
      expect(await store.page(id)).toBeUndefined();
      expect(await behind()).toEqual(['https://b.example/y']);
      expect(await store.commit([look(id, 2, 'late', 9000)])).toEqual({ kind: 'kept', value: [] });
      expect(await store.versions(id)).toEqual([]);
      await store.close();
    });

    test('messages leave in order per page, gathered ones as one, and keep their ids', async () => {
      const store = await open();
      const [a, b] = [
        (await added(store, 'https://a.example/a')).page.page.id,
        (await added(store, 'https://a.example/b')).page.page.id,
      ];
      const [single, bundled] = [
        await store.outbox.addSubscription(subscription, 1),
        await store.outbox.addSubscription({ ...subscription, name: 'b' }, 2),
      ];
      const nobody = { deliveries: new Set<string>(), subscriptions: new Set<string>() };
      const tell = async (pageId: string, version: number, atMs: number) => {
        const deliveries = [
          { subscriptionId: single.id, dueMs: atMs },
          { subscriptionId: bundled.id, dueMs: 10_000, bundle: 'digest' },
          { subscriptionId: 'removed meanwhile', dueMs: atMs },
        ];
        await store.commit([{ ...look(pageId, version, `text ${version}`, atMs), deliveries }]);
      };
      await store.commit([look(a, 1, 'one', 500)]);
      await store.commit([look(b, 1, 'one', 600)]);
      await tell(a, 2, 1000);
      await tell(b, 2, 2000);
      await tell(a, 3, 3000);
      expect(await store.outbox.nextDueMs()).toBe(1000);
      expect(await store.outbox.nextDueMs(999)).toBe(1000);
      expect(await store.outbox.nextDueMs(1000)).toBe(2000);
      const due = await store.outbox.due(5000, 10, nobody);
      expect(due.map(({ subscriptionId, sequences }) => [subscriptionId, sequences])).toEqual([
        [single.id, [1]],
        [single.id, [2]],
      ]);
      expect(await store.outbox.due(5000, 10, { ...nobody, subscriptions: new Set([single.id]) })).toEqual([]);
      expect(
        (await store.outbox.due(5000, 10, { ...nobody, deliveries: new Set([due[0]!.id]) })).map(({ id }) => id),
      ).toEqual([due[1]!.id]);
      const fault = { code: 'receiver-refused', sentence: 'no' };
      await store.outbox.settle(due[0]!.id, { kind: 'later', fault, dueMs: 90_000 }, 5000);
      await store.outbox.settle(due[1]!.id, { kind: 'taken' }, 5000);
      expect(await store.outbox.due(6000, 10, nobody)).toEqual([]);
      await store.outbox.hasten(single.id, 6000);
      expect((await store.outbox.due(6000, 10, nobody)).map(({ id, attempts }) => [id, attempts])).toEqual([
        [due[0]!.id, 1],
      ]);
      // A clock set back makes due what waits for another try, and leaves digests at their hour.
      await store.outbox.settle(due[0]!.id, { kind: 'later', fault, dueMs: 90_000 }, 6000);
      await store.outbox.hastenAll(6500);
      expect((await store.outbox.due(6500, 10, nobody)).map(({ id, attempts }) => [id, attempts])).toEqual([
        [due[0]!.id, 2],
      ]);
      expect(await store.outbox.nextDueMs(6500)).toBeGreaterThan(6500);
      await store.outbox.settle(due[0]!.id, { kind: 'dead', fault }, 7000);
      expect((await store.outbox.due(7000, 10, nobody)).map(({ sequences }) => sequences)).toEqual([[3]]);
      const digest = await store.outbox.due(10_000, 10, { ...nobody, subscriptions: new Set([single.id]) });
      expect(digest.map(({ sequences }) => sequences)).toEqual([[1, 2, 3]]);
      expect((await store.outbox.changesOf(digest[0]!)).map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
      await tell(b, 3, 11_000);
      expect((await store.outbox.deliveries({ status: 'open', limit: 9 })).map(({ sequences }) => sequences)).toEqual([
        [4],
      ]);
      expect(
        (await store.outbox.deliveries({ status: 'dead', limit: 9 })).map(({ id, fault: why }) => [id, why]),
      ).toEqual([[due[0]!.id, fault]]);
      expect(await store.outbox.replay(due[0]!.id, 12_000)).toBe(true);
      expect(await store.outbox.updateSubscription(single.id, { paused: true })).toMatchObject({ paused: true });
      expect(await store.outbox.removeSubscription(single.id)).toBe(true);
      expect(await store.outbox.deliveries({ subscriptionId: single.id, limit: 9 })).toEqual([]);
      expect((await store.outbox.subscriptions()).map(({ id }) => id)).toEqual([bundled.id]);
      await store.close();
    });

    test('messages that have ended are forgotten after their time, those under way never, and their changes stay', async () => {
      const store = await open();
      const pages = 520;
      const kept = await store.addPages(Array.from({ length: pages }, (_, i) => page(`https://a.example/${i}`)));
      if (kept.kind === 'failed') throw new Error(kept.fault.sentence);
      const subscriptionId = (await store.outbox.addSubscription(subscription, 1)).id;
      const looks = kept.value.map(({ page: { page: watched } }) => {
        const { projection: _projection, ...changed } = look(watched.id, 2, '', 1000);
        return { ...changed, probeId: watched.id, deliveries: [{ subscriptionId, dueMs: 1000 }] };
      });
      await store.commit(looks);
      const nobody = { deliveries: new Set<string>(), subscriptions: new Set<string>() };
      const due = await store.outbox.due(1000, pages, nobody);
      expect(due).toHaveLength(pages);
      const [waiting, dead, late, ...taken] = due.map(({ id }) => id);
      const fault = { code: 'receiver-refused', sentence: 'no' };
      await store.outbox.settle(waiting!, { kind: 'later', fault, dueMs: 1100 }, 1050);
      await store.outbox.settle(dead!, { kind: 'dead', fault }, 2000);
      await store.outbox.settle(late!, { kind: 'taken' }, 9000);
      for (const id of taken) await store.outbox.settle(id, { kind: 'taken' }, 2000);
      expect(await store.outbox.forget(2000)).toBe(0);
      expect(await store.outbox.forget(9000)).toBe(pages - 2);
      const left = await store.outbox.deliveries({ limit: 9 });
      expect(left.map(({ id, sequences }) => [id, sequences.length])).toEqual([
        [late, 1],
        [waiting, 1],
      ]);
      expect(await store.counts()).toMatchObject({ changes: pages });
      await store.close();
    });

    test('every page is visited once, and small things are remembered', async () => {
      const store = await open();
      await store.addPages(Array.from({ length: 7 }, (_, i) => page(`https://a.example/${i}`)));
      const seen: string[] = [];
      for await (const batch of store.everyPage()) seen.push(...batch.map((entry) => entry.page.url));
      expect(seen).toEqual(Array.from({ length: 7 }, (_, i) => `https://a.example/${i}`));
      await store.remember('budget', new Uint8Array([7]));
      await store.remember('budget', new Uint8Array([8]));
      expect([...(await store.recall('budget'))!]).toEqual([8]);
      expect(await store.recall('nothing')).toBeUndefined();
      // Of many who change it at once each finds what the one before it left.
      const count = () =>
        store.revise('count', (before) => {
          const after = new Uint8Array([(before?.[0] ?? 0) + 1]);
          return { after, value: after[0] };
        });
      const counted = await Promise.all(Array.from({ length: 12 }, count));
      expect(counted.map((kept) => kept.kind === 'kept' && kept.value).sort((a, b) => Number(a) - Number(b))).toEqual(
        Array.from({ length: 12 }, (_, i) => i + 1),
      );
      expect(await store.revise('count', (before) => ({ value: before?.[0] }))).toEqual({ kind: 'kept', value: 12 });
      expect([...(await store.recall('count'))!]).toEqual([12]);
      await store.close();
    });

    test('the last looks of pages, and how a site answers by hour of the week', async () => {
      const store = await open();
      const { page: first } = await added(store, 'https://a.example/1');
      const { page: second } = await added(store, 'https://a.example/2');
      // Monday 5 January 2026, 03:00 UTC.
      const mondayMs = Date.UTC(2026, 0, 5, 3);
      await store.commit(
        [1, 2, 3].map((version) => look(first.page.id, version, `text ${version}`, mondayMs + version)),
      );
      const {
        projection: _projection,
        change: _change,
        ...failed
      } = look(first.page.id, 3, 'text 3', mondayMs + 25 * 3_600_000);
      await store.commit([{ ...failed, kind: 'failed' }]);
      const { projection: _text, change: _none, ...kept } = look(second.page.id, 1, 'text', mondayMs + 4);
      await store.commit([{ ...kept, kind: 'refused' }]);
      const activity = await store.activity([first.page.id, second.page.id, 'nobody'], 3);
      expect(activity.get(first.page.id)).toEqual(['changed', 'changed', 'failed']);
      expect(activity.get(second.page.id)).toEqual(['refused']);
      expect(activity.get('nobody')).toEqual([]);
      expect(await store.siteHours('a.example', 0)).toEqual([
        { hour: 3, looks: 4, failures: 0, refused: 1, changes: 2, meanMs: 20 },
        { hour: 28, looks: 1, failures: 1, refused: 0, changes: 0, meanMs: 20 },
      ]);
      expect(await store.siteHours('a.example', mondayMs + 3_600_000)).toHaveLength(1);
      expect(await store.siteHours('b.example', 0)).toEqual([]);
      await store.close();
    });

    test('old looks are forgotten, and a page with rules of its own follows those', async () => {
      const store = await open();
      const [one, two] = [await added(store, 'https://a.example/1'), await added(store, 'https://b.example/2')];
      const ids = [one.page.page.id, two.page.page.id] as const;
      const [count, hourMs] = [100, 3_600_000];
      for (let n = 1; n <= count; n++) {
        const { projection: _projection, ...next } = look(ids[0], 1, '', n * hourMs);
        const state = { ...next.state, looks: n };
        await store.commit(ids.map((pageId) => ({ ...next, pageId, probeId: `${pageId}${n}`, state })));
      }
      await store.updatePages([{ id: ids[1], settings: { options: { keep: { looks: 50 } } } }]);
      const own = (keep: unknown) => ({ looksAgeMsMax: (keep as { looks: number }).looks * hourMs });
      await store.retain({ looksAgeMsMax: 10 * hourMs }, count * hourMs, own);
      for (const [id, hours] of [
        [ids[0], 10],
        [ids[1], 50],
      ] as const) {
        const kept = (await store.looks(id, 1_000)).map(({ atMs }) => atMs / hourMs);
        expect(kept.slice(0, hours)).toEqual(Array.from({ length: hours }, (_, i) => count - i));
        expect(kept.length).toBeLessThan(hours + 25);
      }
      expect(await store.counts()).toMatchObject({ looks: 2 * count });
      await store.close();
    });

    test('retention lets the old go, keeps the last and the last told, and what is left reads back', async () => {
      const store = await open();
      const [one, two] = [await added(store, 'https://a.example/1'), await added(store, 'https://b.example/2')];
      const text = (version: number): string => `${'a line of the ledger\n'.repeat(30)}version ${version}`;
      for (const { page: watched } of [one, two]) {
        for (let version = 1; version <= 20; version++) {
          const next = look(watched.page.id, version, text(version), 1000 * version);
          const told = { ...next, probeId: `${watched.page.id}${version}`, raw: `<p>${text(version)}` };
          await store.commit([{ ...told, state: { ...told.state, toldVersion: 2 } }]);
        }
      }
      const numbers = async (id: string): Promise<number[]> => (await store.versions(id)).map(({ number }) => number);
      const ids = [one.page.page.id, two.page.page.id] as const;
      // A page with rules of its own follows those.
      await store.updatePages([{ id: ids[1], settings: { options: { keep: { count: 3 } } } }]);
      const own = (keep: unknown) => ({ countMax: (keep as { count: number }).count });
      expect(await store.retain({}, 1e6)).toEqual({ kind: 'kept', value: 0 });
      expect(await store.retain({ countMax: 5 }, 1e6, own)).toEqual({ kind: 'kept', value: 15 + 17 });
      expect(await numbers(ids[0])).toEqual([2, 17, 18, 19, 20]);
      expect(await numbers(ids[1])).toEqual([2, 19, 20]);
      for (const id of ids)
        for (const number of await numbers(id)) {
          expect(await store.versionText(id, number)).toBe(text(number));
          expect(await store.versionRaw(id, number)).toBe(`<p>${text(number)}`);
        }
      // Versions go on from there, and a page that is removed leaves nothing that is in the way.
      await store.commit([look(ids[0], 21, text(21), 90_000)]);
      expect(await store.removePages([ids[1]])).toEqual({ kind: 'kept', value: [ids[1]] });
      expect(await store.retain({ ageMsMax: 0 }, 1e9)).toEqual({ kind: 'kept', value: 5 });
      expect(await store.versionText(ids[0], 21)).toBe(text(21));
      await store.close();
    });
  });
}
