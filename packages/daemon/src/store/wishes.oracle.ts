/** Wishes, as every store keeps them. */
import { expect, test } from 'vitest';
import type { Look } from '../values/look.ts';
import type { Store } from './port.ts';
import { freshState } from './rows.ts';

const settings = { select: { kind: 'text' } as const, tags: [], weight: 1, paused: false, options: {}, addedAtMs: 1 };
const site = 'a.example';
const urls = ['https://a.example/1', 'https://a.example/2', 'https://a.example/3'];

export function wishesContract(open: () => Promise<Store>): void {
  test('a wish is kept until a look is whose probe left after it, and goes with its page', async () => {
    const store = await open();
    const added = await store.addPages(urls.map((url) => ({ ...settings, url, site })));
    if (added.kind === 'failed') throw new Error(added.fault.sentence);
    const [one, two, three] = added.value.map(({ page }) => page.page.id) as [string, string, string];
    const looks = new Map<string, number>();
    const look = async (pageId: string, atMs: number): Promise<void> => {
      const probeId = `${pageId}-${atMs}`;
      await store.dispatched([{ id: probeId, url: urls[0]!, site, pageIds: [pageId], atMs, validators: {} }]);
      const count = (looks.get(pageId) ?? 0) + 1;
      looks.set(pageId, count);
      const state = { ...freshState, looks: count, lastLookMs: atMs };
      const made: Omit<Look, 'state'> = {
        pageId,
        probeId,
        atMs,
        endedAtMs: atMs + 5,
        kind: 'unchanged',
        bytesReceived: 1,
      };
      expect(await store.commit([{ ...made, state }])).toMatchObject({ kind: 'kept' });
    };
    const wished = async () => (await store.wishes()).map(({ id, atMs, hurried }) => [id, atMs, hurried]);
    expect(await store.wish([one, 'nobody', two], 2_000, false)).toEqual({ kind: 'kept', value: [one, two] });
    // Somebody who waits, and then one who does not: it is waited for.
    await store.wish([three], 3_000, true);
    await store.wish([three], 3_500, false);
    await look(one, 1_999);
    expect(await wished()).toEqual([
      [one, 2_000, false],
      [two, 2_000, false],
      [three, 3_500, true],
    ]);
    await look(one, 2_000);
    await look(three, 3_400);
    expect(await wished()).toEqual([
      [two, 2_000, false],
      [three, 3_500, true],
    ]);
    await look(three, 4_000);
    expect(await wished()).toEqual([[two, 2_000, false]]);
    await store.removePages([two]);
    expect(await wished()).toEqual([]);
    await store.close();
  });
}
