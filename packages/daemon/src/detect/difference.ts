/**
 * The difference between two versions as data, which the command line, the API and the dashboard render each in their way.
 *
 * By line, and within lines that correspond, by word. `apply(old, difference)` gives the new version exactly: unchanged
 * runs name how many lines of the old one they take, everything else carries its text.
 */
import type { Projection } from '../values/change.ts';
import { alignStrings } from './align.ts';
import { itemDifference, readItems, type ItemDifference } from './items.ts';
import { numberIn } from './number.ts';
import { words } from './words.ts';

export interface WordRun {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

export type Block =
  /** `first` and `last` are the lines next to a change, for reading; between them stand the rest. */
  | {
      readonly kind: 'same';
      readonly lines: number;
      readonly first: readonly string[];
      readonly last: readonly string[];
    }
  | { readonly kind: 'removed'; readonly lines: readonly string[] }
  | { readonly kind: 'added'; readonly lines: readonly string[] }
  /** One line that became another. */
  | { readonly kind: 'changed'; readonly words: readonly WordRun[] };

export interface Difference {
  readonly format: Projection['format'];
  readonly blocks: readonly Block[];
  readonly linesAdded: number;
  readonly linesRemoved: number;
  readonly charactersAdded: number;
  readonly charactersRemoved: number;
  /** How many places differ. */
  readonly places: number;
  readonly number?: { readonly from: number; readonly to: number };
  readonly items?: ItemDifference;
}

/** Lines of context beside a change. */
const contextLines = 3;
/** Two lines are one line that changed when at least this share of their words, by length, is the same. */
const likenessMin = 0.4;
/** Comparing every line of a hunk with its partner is worth it only while a reader could follow. */
const pairedLinesMax = 400;

export interface DifferenceOptions {
  readonly format?: Projection['format'];
  readonly itemKey?: string;
  readonly ignoredFields?: ReadonlySet<string>;
}

export function difference(old: string, next: string, options: DifferenceOptions = {}): Difference {
  const format = options.format ?? 'text';
  const oldLines = old.split('\n');
  const nextLines = next.split('\n');
  const hunks = alignStrings(oldLines, nextLines);
  const blocks: Block[] = [];
  let at = 0;
  for (const hunk of hunks) {
    pushSame(blocks, oldLines, at, hunk.from, at === 0);
    pushHunk(blocks, oldLines.slice(hunk.from, hunk.to), nextLines.slice(hunk.newFrom, hunk.newTo));
    at = hunk.to;
  }
  pushSame(blocks, oldLines, at, oldLines.length, at === 0, true);
  return { format, blocks, ...tally(blocks, hunks.length), ...meaning(old, next, format, options) };
}

function pushSame(
  blocks: Block[],
  lines: readonly string[],
  from: number,
  to: number,
  start: boolean,
  end = false,
): void {
  if (from === to) return;
  const count = to - from;
  const first = start ? [] : lines.slice(from, Math.min(to, from + contextLines));
  const last = end ? [] : lines.slice(Math.max(from + first.length, to - contextLines), to);
  blocks.push({ kind: 'same', lines: count, first, last });
}

/** Lines that correspond are shown as one changed line each; the others as removed and added. */
function pushHunk(blocks: Block[], removed: readonly string[], added: readonly string[]): void {
  const pairs = removed.length === added.length && removed.length <= pairedLinesMax;
  const single =
    !pairs && removed.length > 0 && added.length > 0 && Math.max(removed.length, added.length) <= pairedLinesMax;
  if (!pairs && !single) {
    pushPlain(blocks, removed, added);
    return;
  }
  const paired = pairs ? removed.map((_, index) => [index, index] as const) : likePairs(removed, added);
  let at = 0;
  let newAt = 0;
  for (const [i, j] of [...paired, [removed.length, added.length] as const]) {
    pushPlain(blocks, removed.slice(at, i), added.slice(newAt, j));
    if (i < removed.length) {
      const runs = wordRuns(removed[i], added[j]);
      if (likeness(runs) >= likenessMin) blocks.push({ kind: 'changed', words: runs });
      else pushPlain(blocks, [removed[i]], [added[j]]);
    }
    at = i + 1;
    newAt = j + 1;
  }
}

function pushPlain(blocks: Block[], removed: readonly string[], added: readonly string[]): void {
  if (removed.length > 0) mergeInto(blocks, 'removed', removed);
  if (added.length > 0) mergeInto(blocks, 'added', added);
}

function mergeInto(blocks: Block[], kind: 'removed' | 'added', lines: readonly string[]): void {
  const last = blocks.at(-1);
  if (last?.kind === kind) blocks[blocks.length - 1] = { kind, lines: [...last.lines, ...lines] };
  else blocks.push({ kind, lines });
}

/** In order, each old line with the next new line that starts or ends alike. */
function likePairs(removed: readonly string[], added: readonly string[]): (readonly [number, number])[] {
  const pairs: (readonly [number, number])[] = [];
  let from = 0;
  removed.forEach((line, i) => {
    for (let j = from; j < added.length; j++) {
      if (!alike(line, added[j])) continue;
      pairs.push([i, j]);
      from = j + 1;
      return;
    }
  });
  return pairs;
}

function alike(a: string, b: string): boolean {
  const least = Math.min(a.length, b.length);
  let prefix = 0;
  while (prefix < least && a[prefix] === b[prefix]) prefix++;
  let suffix = 0;
  while (suffix < least - prefix && a[a.length - 1 - suffix] === b[b.length - 1 - suffix]) suffix++;
  return prefix + suffix >= likenessMin * Math.max(a.length, b.length);
}

export function wordRuns(old: string, next: string): WordRun[] {
  const a = words(old);
  const b = words(next);
  const runs: WordRun[] = [];
  const push = (kind: WordRun['kind'], parts: readonly string[]) => {
    if (parts.length > 0) runs.push({ kind, text: parts.join('') });
  };
  let at = 0;
  for (const hunk of alignStrings(a, b)) {
    push('same', a.slice(at, hunk.from));
    push('removed', a.slice(hunk.from, hunk.to));
    push('added', b.slice(hunk.newFrom, hunk.newTo));
    at = hunk.to;
  }
  push('same', a.slice(at));
  return runs;
}

function likeness(runs: readonly WordRun[]): number {
  const length = { same: 0, removed: 0, added: 0 };
  for (const run of runs) length[run.kind] += run.text.trim().length;
  return length.same / Math.max(1, length.same + Math.max(length.removed, length.added));
}

function tally(blocks: readonly Block[], places: number) {
  let linesAdded = 0;
  let linesRemoved = 0;
  let charactersAdded = 0;
  let charactersRemoved = 0;
  for (const block of blocks) {
    if (block.kind === 'added') {
      linesAdded += block.lines.length;
      for (const line of block.lines) charactersAdded += line.length;
    } else if (block.kind === 'removed') {
      linesRemoved += block.lines.length;
      for (const line of block.lines) charactersRemoved += line.length;
    } else if (block.kind === 'changed') {
      for (const run of block.words) {
        if (run.kind === 'added') charactersAdded += run.text.length;
        else if (run.kind === 'removed') charactersRemoved += run.text.length;
      }
    }
  }
  return { linesAdded, linesRemoved, charactersAdded, charactersRemoved, places };
}

function meaning(old: string, next: string, format: Projection['format'], options: DifferenceOptions) {
  if (format === 'number') {
    const from = numberIn(old);
    const to = numberIn(next);
    return from !== undefined && to !== undefined ? { number: { from, to } } : {};
  }
  if (format === 'items')
    return { items: itemDifference(readItems(old), readItems(next), options.itemKey, options.ignoredFields) };
  return {};
}

/** The new version, from the old one and the difference. */
export function apply(old: string, change: Pick<Difference, 'blocks'>): string {
  const lines = old.split('\n');
  const out: string[] = [];
  let at = 0;
  for (const block of change.blocks) {
    if (block.kind === 'same') {
      for (let i = 0; i < block.lines; i++) out.push(lines[at + i]);
      at += block.lines;
    } else if (block.kind === 'removed') at += block.lines.length;
    else if (block.kind === 'added') for (const line of block.lines) out.push(line);
    else {
      out.push(block.words.map((run) => (run.kind === 'removed' ? '' : run.text)).join(''));
      at++;
    }
  }
  return out.join('\n');
}
