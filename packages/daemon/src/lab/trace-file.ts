/** Traces, page weights and importances as they come in files. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { type Trace, readCrawlHistory, readTraceCsv } from '@revisit/core';
import { type Importance, readImportance } from './importance.ts';

export type Read<Value> =
  | { readonly kind: 'read'; readonly value: Value }
  | { readonly kind: 'wrong'; readonly sentence: string };

/** More than this unpacked is no trace but a mistake, and would not fit into one string. */
const bytesMax = 500_000_000;
/** The 14-week set has no dates; its days count from Monday 2 January 2006, so that weeks begin where weeks begin. */
const historyStart = 1_136_160_000;

function textOf(file: string): Read<string> {
  try {
    const bytes = readFileSync(file === '-' ? 0 : file);
    const packed = bytes[0] === 0x1f && bytes[1] === 0x8b;
    return {
      kind: 'read',
      value: (packed ? gunzipSync(bytes, { maxOutputLength: bytesMax }) : bytes).toString('utf8'),
    };
  } catch (error) {
    return {
      kind: 'wrong',
      sentence: `${file}: cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)}); a readable file is expected`,
    };
  }
}

export function readTrace(file: string): Read<Trace> {
  const text = textOf(file);
  if (text.kind === 'wrong') return text;
  const head = text.value.slice(0, 2000);
  const history = head.includes('\t') && head.includes('[[');
  const outcome = history ? readCrawlHistory(text.value, historyStart) : readTraceCsv(text.value);
  return outcome.kind === 'read'
    ? { kind: 'read', value: outcome.trace }
    : { kind: 'wrong', sentence: `${file}: ${outcome.sentence}` };
}

export type ImportanceFile =
  | { readonly kind: 'times'; readonly importance: Importance }
  | { readonly kind: 'pages'; readonly weightOf: ReadonlyMap<string, number> };

/** A JSON profile over the week or the day, or `source,weight` (also with a tab, as the 14-week set's urlid_imp). */
export function readImportanceFile(file: string): Read<ImportanceFile> {
  const text = textOf(file);
  if (text.kind === 'wrong') return { kind: 'wrong', sentence: `--importance ${text.sentence}` };
  const wrong = {
    kind: 'wrong',
    sentence: `--importance ${file}: is neither {"breaks":[0,…],"values":[…],"period":168} in hours nor rows of source,weight`,
  } as const;
  if (text.value.trimStart().startsWith('{')) {
    try {
      const importance = readImportance(JSON.parse(text.value));
      return importance ? { kind: 'read', value: { kind: 'times', importance } } : wrong;
    } catch {
      return wrong;
    }
  }
  const weightOf = new Map<string, number>();
  for (const [row, line] of text.value.split(/\r?\n/).entries()) {
    if (line === '') continue;
    const cut = Math.max(line.lastIndexOf('\t'), line.lastIndexOf(','));
    const weight = cut > 0 && line.slice(cut + 1).trim() !== '' ? Number(line.slice(cut + 1)) : Number.NaN;
    if (!Number.isFinite(weight) || weight < 0) {
      if (row === 0) continue;
      return {
        kind: 'wrong',
        sentence: `--importance ${file}: row ${row + 1} is not source,weight with a weight of at least 0`,
      };
    }
    weightOf.set(line.slice(0, cut), weight);
  }
  return weightOf.size > 0 ? { kind: 'read', value: { kind: 'pages', weightOf } } : wrong;
}
