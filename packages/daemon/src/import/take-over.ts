/**
 * Hands what was gathered to the API in parts of one import. If a part fails, or the command is ended, the import is taken
 * back, and pages that were watched before are never touched; if the command is killed, the collection takes it back itself.
 */
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Ask } from '../api/client.ts';

export type TakenOver =
  | { readonly kind: 'done'; readonly added: number; readonly already: number; readonly versions: number }
  | { readonly kind: 'undone'; readonly sentence: string };

const batchRecords = 2_000;
/** Half of what the API takes at once. */
const batchCharacters = 12 * 2 ** 20;

export async function takeOver(
  spool: string,
  call: Ask,
  signal: AbortSignal,
  progress: (records: number) => void,
): Promise<TakenOver> {
  const name = randomUUID();
  const created = new Set<string>();
  let already = 0;
  let versions = 0;
  let batch: string[] = [];
  let characters = 0;
  const send = async (): Promise<void> => {
    signal.throwIfAborted();
    if (batch.length === 0) return;
    const records = batch.map((line) => JSON.parse(line) as Record<string, unknown>);
    const { pages } = await call('POST /api/import', { body: { records, import: name } });
    for (const page of pages) {
      versions += page.versions;
      if (page.created) created.add(page.id);
      else if (!created.has(page.id)) already++;
    }
    progress(batch.length);
    batch = [];
    characters = 0;
  };
  try {
    for await (const line of createInterface({ input: createReadStream(spool), crlfDelay: Infinity })) {
      if (batch.length >= batchRecords || characters + line.length > batchCharacters) await send();
      batch.push(line);
      characters += line.length;
    }
    await send();
    await call('POST /api/import/end', { body: { import: name } });
    return { kind: 'done', added: created.size, already, versions };
  } catch (error) {
    const why = signal.aborted ? 'the import was ended from outside' : reasonOf(error);
    return { kind: 'undone', sentence: `${why}. ${await undone(call, name)}` };
  }
}

const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');

async function undone(call: Ask, name: string): Promise<string> {
  try {
    const { removed } = await call('DELETE /api/import', { body: { import: name } });
    return `Nothing was taken over (${removed} pages removed again).`;
  } catch {
    return 'What had been taken over is removed again at the next start.';
  }
}
