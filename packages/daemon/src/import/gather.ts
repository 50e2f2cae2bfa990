/**
 * First everything is read, checked and set down in a file of its own, and only then is anything taken over: a file that
 * turns out broken at its end, or too long, leaves the collection as it was. Memory stays small however long the file is.
 */
import { type WriteStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Read } from '../config/config.ts';
import type { NewPageSettings } from '../values/page.ts';
import type { Found, Reader } from './found.ts';
import { Unreadable } from './source.ts';

/** Notes kept word by word, for each kind; the rest is counted. */
const notesKept = 1_000;

export interface Notes {
  count: number;
  readonly first: { readonly where: string; readonly sentence: string }[];
}

export interface Gathered {
  readonly kind: 'gathered';
  readonly pages: number;
  readonly versions: number;
  readonly approximated: Notes;
  readonly impossible: Notes;
  /** Records as the API takes them, one a line. */
  readonly spool: string;
  remove(): void;
}

export type GatherOutcome = Gathered | { readonly kind: 'broken'; readonly sentence: string };

export interface GatherOptions {
  readonly reader: Reader;
  readonly pagesMax: number;
  readonly check: (input: unknown) => Read<NewPageSettings>;
  readonly progress?: (pages: number) => void;
  readonly signal?: AbortSignal;
}

export async function gather(options: GatherOptions): Promise<GatherOutcome> {
  const folder = mkdtempSync(join(tmpdir(), 'revisit-import-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const spool = join(folder, 'records.ndjson');
  const out = createWriteStream(spool);
  // Looked at after each batch; without a listener a full disk would end the process.
  out.on('error', () => {});
  try {
    await once(out, 'open');
    const counts = await readAll(options, out);
    await new Promise<void>((resolve, reject) =>
      out.end((error?: Error | null) => (error ? reject(error) : resolve())),
    );
    if (counts.pages === 0) {
      remove();
      const first = counts.impossible.first[0];
      return {
        kind: 'broken',
        sentence: first ? `nothing in it can be watched; ${first.where}: ${first.sentence}` : 'it names no pages',
      };
    }
    return { kind: 'gathered', ...counts, spool, remove };
  } catch (error) {
    out.destroy();
    remove();
    if (error instanceof Unreadable) return { kind: 'broken', sentence: error.message };
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== undefined) return { kind: 'broken', sentence: `it cannot be read (${code})` };
    throw error;
  }
}

async function readAll(options: GatherOptions, out: WriteStream): Promise<Omit<Gathered, 'kind' | 'spool' | 'remove'>> {
  let pages = 0;
  let versions = 0;
  const notes = { approximated: { count: 0, first: [] }, impossible: { count: 0, first: [] } } as Record<
    'approximated' | 'impossible',
    Notes
  >;
  const say = (grade: 'approximated' | 'impossible', where: string, sentence: string): void => {
    const kept = notes[grade];
    kept.count++;
    if (kept.first.length < notesKept) kept.first.push({ where, sentence });
  };
  const record = (found: Extract<Found, { kind: 'page' }>): string => {
    const checked = options.check(found.input);
    if (checked.kind === 'wrong') {
      say('impossible', found.where, checked.sentence);
      return '';
    }
    pages++;
    versions += found.versions?.length ?? 0;
    if (pages > options.pagesMax)
      throw new Unreadable(`it names more than ${options.pagesMax} pages; --limit allows more, if that many are meant`);
    const { input, versions: past, state, addedAtMs } = found;
    return `${JSON.stringify({ page: input, versions: past, state, addedAtMs })}\n`;
  };
  for await (const batch of options.reader) {
    if (options.signal?.aborted) throw new Unreadable('the import was ended from outside');
    let lines = '';
    for (const found of batch) {
      if (found.kind === 'page') lines += record(found);
      else if (found.kind === 'note') say(found.grade, found.where, found.sentence);
      else throw new Unreadable(found.sentence);
    }
    if (lines !== '' && !out.write(lines) && !out.destroyed) await once(out, 'drain');
    if (out.errored) throw new Unreadable(`the temporary folder ${tmpdir()} takes no more (${out.errored.message})`);
    options.progress?.(pages);
  }
  return { pages, versions, ...notes };
}
