/**
 * An import comes in parts, and whoever brings them may be killed between two. What a part adds is remembered in the
 * transaction that adds it, so that an import that never ends can be taken back: by whoever opens the collection next, by
 * the next import, or by the daemon itself when nothing more comes. Several processes on one store may each be brought parts.
 *
 * States: none; under way (its first part has come, each further one is heard); withdrawn (being taken back: no part of it is
 * taken any more, also none that was on its way); none again (it has ended, or was taken back).
 */
import type { Desk } from './desk.ts';
import type { Journal } from './store/port.ts';
import { type Fault, StoreFailed } from './values/fault.ts';

/** Long enough for the slowest part of the slowest import: past that its sender is gone. */
export const silenceMs = 10 * 60_000;

interface UnderWay {
  readonly name: string;
  /** Tells it from an earlier one of the same name. */
  readonly beganMs: number;
  readonly heardMs: number;
  readonly parts: number;
  readonly withdrawn?: boolean;
}

interface Part extends Pick<UnderWay, 'name' | 'beganMs' | 'withdrawn'> {
  readonly ids: readonly string[];
}

const key = 'import';
const partKey = (number: number): string => `import ${number}`;
const bytesOf = (value: UnderWay | Part | null): Uint8Array => Buffer.from(JSON.stringify(value));
const readFrom = <T>(bytes: Uint8Array | undefined): T | undefined =>
  bytes && ((JSON.parse(Buffer.from(bytes).toString()) as T | null) ?? undefined);

const isOf = (part: Part | undefined, { name, beganMs }: UnderWay): part is Part =>
  part?.name === name && part.beganMs === beganMs;

const over: Fault = { code: 'import-over', sentence: 'This import is being taken back; nothing more of it is taken.' };

/** A part of the named import comes; where its ids are to be remembered, or why it cannot be taken. */
export async function partOf(
  desk: Desk,
  name: string,
  again = true,
): Promise<Journal | Fault | 'another is under way'> {
  const nowMs = desk.clock.nowMs();
  const begun = await desk.store.revise<UnderWay | Fault | 'another is under way' | 'unheard'>(key, (before) => {
    const known = readFrom<UnderWay>(before);
    if (known?.name === name && known.withdrawn) return { value: over };
    if (known && known.name !== name)
      return { value: nowMs - known.heardMs < silenceMs ? 'another is under way' : 'unheard' };
    const { beganMs = nowMs, parts = 0 } = known ?? {};
    const heard = { name, beganMs, heardMs: nowMs, parts: parts + 1 };
    return { after: bytesOf(heard), value: heard };
  });
  if (begun.kind === 'failed') return begun.fault;
  if (begun.value === 'unheard') {
    await takeBack(desk, { unheardMs: silenceMs });
    return again ? partOf(desk, name, false) : 'another is under way';
  }
  if (begun.value === 'another is under way' || 'code' in begun.value) return begun.value;
  const { beganMs, parts } = begun.value;
  return {
    key: partKey(parts - 1),
    value: (ids, before) => {
      const part = readFrom<Part>(before);
      if (isOf(part, begun.value as UnderWay) && part.withdrawn) throw new StoreFailed(over);
      return bytesOf({ name, beganMs, ids });
    },
  };
}

/** It is whole: what it added stays. Or why that could not be kept, and it will be taken back. */
export async function endImport(desk: Desk, name: string): Promise<Fault | undefined> {
  const kept = await desk.store.revise<Fault | undefined>(key, (before) => {
    const known = readFrom<UnderWay>(before);
    if (known?.name !== name) return { value: undefined };
    return known.withdrawn ? { value: over } : { after: bytesOf(null), value: undefined };
  });
  return kept.kind === 'failed' ? kept.fault : kept.value;
}

/** Removes what an import that has not ended added; how many pages that was. */
export async function takeBack(
  desk: Desk,
  which: { readonly name?: string; readonly unheardMs?: number } = {},
): Promise<number> {
  const nowMs = desk.clock.nowMs();
  const kept = await desk.store.revise<UnderWay | undefined>(key, (before) => {
    const known = readFrom<UnderWay>(before);
    if (!known || known.name !== (which.name ?? known.name)) return { value: undefined };
    if (nowMs - known.heardMs < (which.unheardMs ?? 0)) return { value: undefined };
    return { after: bytesOf({ ...known, withdrawn: true }), value: known };
  });
  if (kept.kind === 'failed' || !kept.value) return 0;
  const known = kept.value;
  let removed = 0;
  for (let number = 0; number < known.parts; number++) {
    const withdrawn = await desk.store.revise<readonly string[]>(partKey(number), (before) => {
      const part = readFrom<Part>(before);
      // A part that was never kept has left what an earlier import remembered there.
      const ids = isOf(part, known) ? part.ids : [];
      return { after: bytesOf({ name: known.name, beganMs: known.beganMs, ids, withdrawn: true }), value: ids };
    });
    const gone = withdrawn.kind === 'failed' ? withdrawn : await desk.remove(withdrawn.value);
    if (gone.kind === 'failed') return removed;
    removed += gone.value.length;
  }
  await desk.store.revise(key, (before) =>
    readFrom<UnderWay>(before)?.beganMs === known.beganMs
      ? { after: bytesOf(null), value: undefined }
      : { value: undefined },
  );
  return removed;
}
