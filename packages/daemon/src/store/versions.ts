/**
 * Versions as compressed differences. A content is named by its SHA-256 and kept once, however many versions have it; it
 * is kept as a small edit of another (`splice.ts`), compressed with zstd with another as its dictionary, or alone.
 *
 * Which one: the version with index i (from 0) builds on index i with its lowest bit cleared, and every 64th stands alone.
 * So reading any version takes at most seven steps, half of all versions build on their immediate predecessor, and
 * the mean distance to the base is three: a small edit costs a few of itself, not a copy of the page.
 *
 * These functions know nothing of tables: a store gives them `Contents`.
 */
import { hash } from 'node:crypto';
import { constants, zstdCompressSync, zstdDecompressSync, type ZstdOptions } from 'node:zlib';
import type { Retention } from '../values/retention.ts';
import { isSplice, splice, spliced } from './splice.ts';

export interface Content {
  /** The content it builds on; null stands alone. */
  readonly base: string | null;
  /** Length before compression. */
  readonly bytes: number;
  readonly packed: Uint8Array;
}

export interface Contents {
  get(name: string): Content | undefined;
  put(name: string, content: Content): void;
}

/** Every so many versions stands alone: a power of two. */
const aloneEvery = 64;
/** A difference that saves less than this over a full copy is not worth a longer chain. */
const differenceShareMax = 0.75;
/** Larger than any body that is fetched; a damaged header must not make us allocate more. */
const bytesMax = 256 * 2 ** 20;
/** From here on the last tenth of a text's size is not worth five times the time. */
const largeBytes = 2 ** 20;
/** A content that came back may already stand deep in an older chain; what would go deeper stands alone. */
const chainMax = Math.log2(aloneEvery) + 1;

export function nameOf(content: Uint8Array): string {
  return hash('sha256', content, 'hex');
}

/** The number of the version that this one builds on, versions counted from 1; undefined stands alone. */
export function baseNumber(number: number): number | undefined {
  const index = number - 1;
  return index % aloneEvery === 0 ? undefined : (index & (index - 1)) + 1;
}

/** zstd looks back only as far as its window; old and new must both fit. */
function options(bytes: number, dictionary: Uint8Array | undefined): ZstdOptions {
  const reach = bytes + (dictionary?.length ?? 0);
  const large = reach > 2 ** 20;
  const windowLog = Math.min(27, Math.max(18, Math.ceil(Math.log2(reach + 1))));
  return {
    params: {
      [constants.ZSTD_c_compressionLevel]: dictionary || bytes > largeBytes ? 3 : 9,
      [constants.ZSTD_c_windowLog]: windowLog,
      ...(large && dictionary ? { [constants.ZSTD_c_hashLog]: 22, [constants.ZSTD_c_chainLog]: 22 } : {}),
    },
    ...(dictionary ? { dictionary } : {}),
  };
}

export function pack(content: Uint8Array, base?: Uint8Array): Uint8Array {
  const edit = base && splice(base, content);
  // A content that shares nothing may be small too: what builds on another for no reason is read in one step more.
  if (edit && edit.length < content.length / 2) return edit;
  return zstdCompressSync(content, options(content.length, base));
}

export function unpack(packed: Uint8Array, base?: Uint8Array): Uint8Array {
  if (isSplice(packed)) return spliced(base, packed);
  return zstdDecompressSync(packed, {
    maxOutputLength: bytesMax,
    params: { [constants.ZSTD_d_windowLogMax]: 27 },
    ...(base ? { dictionary: base } : {}),
  });
}

/** Keeps a content once and returns its name. */
export function keepContent(
  contents: Contents,
  content: Uint8Array,
  base: string | undefined,
  recent?: RecentContents,
): string {
  const name = nameOf(content);
  if (contents.get(name)) return name;
  const old = base === undefined || base === name ? undefined : readContent(contents, base, recent);
  if (old?.kind === 'read' && old.steps < chainMax) {
    const difference = pack(content, old.content);
    // Small differences are taken at once; only doubtful ones are held against a full copy.
    if (difference.length < content.length / 20 || difference.length < differenceShareMax * pack(content).length) {
      contents.put(name, { base: base!, bytes: content.length, packed: difference });
      recent?.put(name, { content, steps: old.steps + 1, checked: true });
      return name;
    }
  }
  contents.put(name, { base: null, bytes: content.length, packed: pack(content) });
  recent?.put(name, { content, steps: 1, checked: true });
  return name;
}

export type ReadContent =
  | { readonly kind: 'read'; readonly content: Uint8Array; readonly steps: number }
  /** `at` is the content that is missing or damaged: the one asked for, or one it builds on. */
  | { readonly kind: 'broken'; readonly at: string; readonly why: string };

export function readContent(contents: Contents, name: string, recent?: RecentContents): ReadContent {
  const chain: { name: string; entry: Content }[] = [];
  let known: RecentContent | undefined;
  for (let next: string | null = name; next !== null;) {
    known = recent?.get(next);
    if (known) break;
    const entry: Content | undefined = contents.get(next);
    if (!entry) return { kind: 'broken', at: next, why: 'it is missing' };
    if (chain.length === chainMax) return { kind: 'broken', at: next, why: 'its chain of differences does not end' };
    chain.push({ name: next, entry });
    next = entry.base;
  }
  let content = known?.content;
  let steps = known?.steps ?? 0;
  for (const { name: at, entry } of chain.reverse()) {
    try {
      content = unpack(entry.packed, content);
    } catch (error) {
      return { kind: 'broken', at, why: error instanceof Error ? error.message : String(error) };
    }
    steps++;
    recent?.put(at, { content, steps, checked: false });
  }
  if (!(chain.length === 0 && known?.checked) && nameOf(content!) !== name)
    return { kind: 'broken', at: name, why: 'what was read is not what was kept' };
  recent?.put(name, { content: content!, steps, checked: true });
  return { kind: 'read', content: content!, steps };
}

interface RecentContent {
  readonly content: Uint8Array;
  readonly steps: number;
  /** Held against its name, not only read on the way to another. */
  readonly checked: boolean;
}

/**
 * Contents read or kept last. A changed page is read as the version before, as the one last told, as the one whose words are
 * known and as the one to build on: mostly one content, and always one chain, since what a version builds on is on the
 * chain of its predecessor.
 */
export class RecentContents {
  readonly #kept = new Map<string, RecentContent>();
  readonly #bytesMax: number;
  #bytes = 0;

  /** Enough for the pages of one transaction; a content of more than an eighth would push all others out. */
  constructor(bytesMax = 16 * 2 ** 20) {
    this.#bytesMax = bytesMax;
  }

  get(name: string): RecentContent | undefined {
    const found = this.#kept.get(name);
    if (!found) return undefined;
    this.#kept.delete(name);
    this.#kept.set(name, found);
    return found;
  }

  put(name: string, content: RecentContent): void {
    if (content.content.length > this.#bytesMax / 8) return;
    const old = this.#kept.get(name);
    if (old) this.#kept.delete(name);
    this.#bytes += content.content.length - (old?.content.length ?? 0);
    this.#kept.set(name, old?.checked ? old : content);
    for (const [oldest, { content: bytes }] of this.#kept) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#kept.delete(oldest);
      this.#bytes -= bytes.length;
    }
  }
}

/** So few lines are looked for one by one: to tell them from all lines of a version, those had to be put in order first. */
const fewLines = 4;

/** Lines that the version before did not have. */
export function brought(before: string | undefined, text: string): string {
  if (before === undefined) return text;
  const [old, lines] = [before.split('\n'), text.split('\n')];
  // What stands as it stood, from the beginning and from the end, needs no looking up.
  let [from, to] = [0, lines.length];
  while (from < to && lines[from] === old[from]) from++;
  while (to > from && lines[to - 1] === old[to - 1 + old.length - lines.length]) to--;
  if (from === to) return '';
  const between = lines.slice(from, to);
  if (between.length <= fewLines) return between.filter((line) => !old.includes(line)).join('\n');
  const known = new Set(old);
  return between.filter((line) => !known.has(line)).join('\n');
}

export interface KeptVersion {
  readonly number: number;
  readonly atMs: number;
  readonly bytesKept: number;
}

/** Numbers of the versions to let go, oldest first. */
export function expired(
  versions: readonly KeptVersion[],
  retention: Retention,
  nowMs: number,
  always: ReadonlySet<number>,
): number[] {
  const out: number[] = [];
  let count = versions.length;
  let bytes = versions.reduce((sum, version) => sum + version.bytesKept, 0);
  const last = versions.at(-1)?.number;
  for (const version of versions) {
    const old = retention.ageMsMax !== undefined && nowMs - version.atMs > retention.ageMsMax;
    const many = retention.countMax !== undefined && count > retention.countMax;
    const large = retention.bytesMax !== undefined && bytes > retention.bytesMax;
    if (version.number === last || always.has(version.number) || !(old || many || large)) continue;
    out.push(version.number);
    count--;
    bytes -= version.bytesKept;
  }
  return out;
}
