import { Type } from '@sinclair/typebox';
import { readPage } from '../config/page-input.ts';
import type { Desk } from '../desk.ts';
import type { PastVersion } from '../import/found.ts';
import { type TransferRecord, exportedPage, importRecords, readState } from '../transfer.ts';
import { type Api, operation } from './operation.ts';
import { problem, unavailable } from './problem.ts';
import { Nullable } from './schemas.ts';
import { exceptBody } from './validation.ts';

const Records = Type.Array(Type.Record(Type.String(), Type.Unknown()));

/** Moving in and out: pages with their versions and with what was seen and learned of them. */
export function transferRoutes(app: Api, desk: Desk): void {
  const leaving = operation({
    tag: 'transfer',
    summary: 'Every page with its settings and what was learned of it',
    querystring: Type.Object({
      cursor: Type.Optional(Type.String()),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 500 })),
      secrets: Type.Optional(Type.Boolean({ description: 'With the values of headers, which may be credentials.' })),
    }),
    answers: { 200: Type.Object({ records: Records, next: Nullable(Type.String()) }) },
  });
  app.get('/api/export', { schema: leaving, config: { scope: 'admin' } }, async (request) => {
    const { cursor, secrets, limit = 500 } = request.query;
    const pages = await desk.store.pages({ limit, ...(cursor === undefined ? {} : { after: cursor }) });
    return {
      records: pages.map((watched) => ({ id: watched.page.id, ...exportedPage(watched, secrets === true) })),
      next: pages.length === limit ? pages.at(-1)!.page.id : null,
    };
  });

  const entering = operation({
    tag: 'transfer',
    summary: 'Take in pages with their past; whole or not at all',
    body: Type.Object({ records: Records }),
    answers: { 200: Type.Object({ pages: Type.Array(Type.Unknown()) }) },
  });
  app.post('/api/import', { schema: entering, validatorCompiler: exceptBody }, async (request, reply) => {
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

  const undoing = operation({
    tag: 'transfer',
    summary: 'Take an import back',
    body: Type.Object({ ids: Type.Array(Type.String()) }),
    answers: { 200: Type.Object({ removed: Type.Integer() }) },
  });
  app.delete('/api/import', { schema: undoing, validatorCompiler: exceptBody }, async (request, reply) => {
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
