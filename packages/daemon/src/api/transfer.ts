import type { FastifyInstance } from 'fastify';
import { readPage } from '../config/page-input.ts';
import type { Desk } from '../desk.ts';
import type { PastVersion } from '../import/found.ts';
import { type TransferRecord, exportedPage, importRecords, readState } from '../transfer.ts';
import { problem, unavailable } from './problem.ts';
import { limitOf } from './query.ts';

/** Moving in and out: pages with their versions and with what was seen and learned of them. */
export function transferRoutes(app: FastifyInstance, desk: Desk): void {
  app.get<{ Querystring: Record<string, string | undefined> }>('/api/export', async (request, reply) => {
    const { cursor, secrets } = request.query;
    const limit = limitOf(request.query['limit'], 500, 1_000);
    if (limit === undefined)
      return problem(
        reply,
        400,
        'bad-request',
        `limit: "${request.query['limit']}" is not allowed; a whole number from 1 to 1000 is expected`,
      );
    const pages = await desk.store.pages({ limit, ...(cursor === undefined ? {} : { after: cursor }) });
    return {
      records: pages.map((watched) => ({ id: watched.page.id, ...exportedPage(watched, secrets === 'true') })),
      next: pages.length === limit ? pages.at(-1)!.page.id : null,
    };
  });

  app.post('/api/import', async (request, reply) => {
    const inputs = (request.body as { records?: unknown } | null)?.records;
    if (!Array.isArray(inputs)) return problem(reply, 400, 'import-wrong', 'records: a list is expected');
    const records: TransferRecord[] = [];
    for (const [i, input] of inputs.entries()) {
      const record = readRecord(input);
      if (typeof record === 'string') return problem(reply, 400, 'import-wrong', `records[${i}] ${record}`);
      records.push(record);
    }
    const kept = await importRecords(desk, records);
    return kept.kind === 'failed' ? unavailable(reply, kept.fault) : { pages: kept.value };
  });

  app.delete('/api/import', async (request, reply) => {
    const ids = (request.body as { ids?: unknown } | null)?.ids;
    if (!Array.isArray(ids) || !ids.every((id) => typeof id === 'string'))
      return problem(reply, 400, 'import-wrong', 'ids: a list of page ids is expected');
    const kept = await desk.remove(ids);
    return kept.kind === 'failed' ? unavailable(reply, kept.fault) : { removed: kept.value.length };
  });
}

function readRecord(input: unknown): TransferRecord | string {
  const { page, versions, state, addedAtMs } = (input ?? {}) as Record<string, unknown>;
  const settings = readPage(page);
  if (settings.kind === 'wrong') return settings.sentence;
  const past = versions === undefined ? [] : versions;
  if (!Array.isArray(past) || !past.every(isVersion))
    return 'versions: a list of {atMs, text, format} with ascending times is expected';
  const known = readState(state);
  return {
    settings: settings.value,
    versions: past,
    ...(known ? { state: known } : {}),
    ...(typeof addedAtMs === 'number' && Number.isFinite(addedAtMs) ? { addedAtMs } : {}),
  };
}

const formats = ['text', 'html', 'json', 'items', 'number'];

function isVersion(value: unknown, i: number, all: unknown[]): value is PastVersion {
  const { atMs, text, format, number } = (value ?? {}) as Record<string, unknown>;
  const before = i === 0 ? -Infinity : (all[i - 1] as PastVersion).atMs;
  return (
    typeof atMs === 'number' &&
    Number.isFinite(atMs) &&
    atMs > before &&
    typeof text === 'string' &&
    formats.includes(format as string) &&
    (number === undefined || Number.isSafeInteger(number))
  );
}
