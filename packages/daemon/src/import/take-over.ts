/**
 * Hands what was gathered to the API in batches. If a batch fails, or the command is ended, what this import had added is
 * removed again; pages that were watched before are never touched.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

export interface ImportAnswer {
  readonly status: number;
  readonly body: unknown;
}
export type Ask = (method: 'POST' | 'DELETE', path: string, body?: unknown) => Promise<ImportAnswer>;

export type TakenOver =
  | { readonly kind: 'done'; readonly added: number; readonly already: number }
  | { readonly kind: 'undone'; readonly sentence: string; readonly removed: number };

const batchRecords = 2_000;
/** Half of what the API takes at once. */
const batchCharacters = 12 * 2 ** 20;

export async function takeOver(
  spool: string,
  ask: Ask,
  signal: AbortSignal,
  progress: (records: number) => void,
): Promise<TakenOver> {
  const created = new Set<string>();
  let already = 0;
  let batch: string[] = [];
  let characters = 0;
  const send = async (): Promise<string | undefined> => {
    if (signal.aborted) return 'the import was ended from outside';
    if (batch.length === 0) return undefined;
    const answer = await ask('POST', '/api/import', { records: batch.map((line) => JSON.parse(line) as unknown) });
    const body = answer.body as { pages?: { id: string; created: boolean }[]; detail?: string } | undefined;
    if (answer.status >= 400 || !body?.pages) return body?.detail ?? `the daemon answered ${answer.status}`;
    for (const page of body.pages) {
      if (page.created) created.add(page.id);
      else if (!created.has(page.id)) already++;
    }
    progress(batch.length);
    batch = [];
    characters = 0;
    return undefined;
  };
  for await (const line of createInterface({ input: createReadStream(spool), crlfDelay: Infinity })) {
    const full = batch.length >= batchRecords || characters + line.length > batchCharacters;
    const trouble = full ? await send() : undefined;
    if (trouble !== undefined) return undo(trouble, created, ask);
    batch.push(line);
    characters += line.length;
  }
  const trouble = await send();
  return trouble === undefined ? { kind: 'done', added: created.size, already } : undo(trouble, created, ask);
}

async function undo(sentence: string, created: ReadonlySet<string>, ask: Ask): Promise<TakenOver> {
  const ids = [...created];
  for (let i = 0; i < ids.length; i += batchRecords)
    await ask('DELETE', '/api/import', { ids: ids.slice(i, i + batchRecords) });
  return { kind: 'undone', sentence, removed: ids.length };
}
