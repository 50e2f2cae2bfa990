/**
 * An import comes in parts, and whoever brings them may be killed between two. What a part adds is remembered in the
 * transaction that adds it, so that an import that never ends can be taken back: by whoever opens the collection next, by
 * the next import, or by the daemon itself when nothing more comes.
 *
 * States: none; under way (its first part has come, each further one is heard); none again (it has ended, or was taken back).
 */
import type { Desk } from './desk.ts';
import type { Journal } from './store/port.ts';
import type { Fault } from './values/fault.ts';

/** Long enough for the slowest part of the slowest import: past that its sender is gone. */
export const silenceMs = 10 * 60_000;

interface UnderWay {
  readonly name: string;
  readonly heardMs: number;
  readonly parts: number;
}

const key = 'import';
const partKey = (number: number): string => `import ${number}`;
const bytesOf = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));

async function recalled<T>(desk: Desk, from: string): Promise<T | undefined> {
  const bytes = await desk.store.recall(from);
  return bytes && ((JSON.parse(Buffer.from(bytes).toString()) as T | null) ?? undefined);
}

/** A part of the named import comes; where its ids are to be remembered, or why it cannot be taken. */
export async function partOf(desk: Desk, name: string): Promise<Journal | Fault | 'another is under way'> {
  const nowMs = desk.clock.nowMs();
  let known = await recalled<UnderWay>(desk, key);
  if (known && known.name !== name) {
    if (nowMs - known.heardMs < silenceMs) return 'another is under way';
    await takeBack(desk);
    known = undefined;
  }
  const parts = known?.parts ?? 0;
  const kept = await desk.store.remember(key, bytesOf({ name, heardMs: nowMs, parts: parts + 1 }));
  if (kept.kind === 'failed') return kept.fault;
  return { key: partKey(parts), value: (ids) => bytesOf({ name, ids }) };
}

/** It is whole: what it added stays. Or why that could not be kept, and it will be taken back. */
export async function endImport(desk: Desk, name: string): Promise<Fault | undefined> {
  if ((await recalled<UnderWay>(desk, key))?.name !== name) return undefined;
  const kept = await desk.store.remember(key, bytesOf(null));
  return kept.kind === 'failed' ? kept.fault : undefined;
}

/** Removes what an import that has not ended added; how many pages that was. */
export async function takeBack(
  desk: Desk,
  which: { readonly name?: string; readonly unheardMs?: number } = {},
): Promise<number> {
  const known = await recalled<UnderWay>(desk, key);
  if (!known || known.name !== (which.name ?? known.name)) return 0;
  if (desk.clock.nowMs() - known.heardMs < (which.unheardMs ?? 0)) return 0;
  let removed = 0;
  for (let number = 0; number < known.parts; number++) {
    const part = await recalled<{ readonly name: string; readonly ids: readonly string[] }>(desk, partKey(number));
    // A part that was never kept has left what an earlier import remembered there.
    if (part?.name !== known.name) continue;
    const gone = await desk.remove(part.ids);
    if (gone.kind === 'failed') return removed;
    removed += gone.value.length;
  }
  await desk.store.remember(key, bytesOf(null));
  return removed;
}
