import { Type } from '@sinclair/typebox';
import type { FastifyReply } from 'fastify';
import { readPage } from '../config/page-input.ts';
import type { Desk } from '../desk.ts';
import type { PastVersion } from '../import/found.ts';
import { type TransferRecord, exportedPage, importRecords, readState } from '../transfer.ts';
import { endImport, partOf, silenceMs, takeBack } from '../unfinished-import.ts';
import type { Fault } from '../values/fault.ts';
import { type Api, Nothing, operation } from './operation.ts';
import { problem, unavailable } from './problem.ts';
import { badCursor, cursorOf, listed } from './query.ts';
import { Nullable } from './schemas.ts';
import { exceptBody } from './validation.ts';

const Records = Type.Array(Type.Record(Type.String(), Type.Unknown()));

const Name = Type.String({ minLength: 1, maxLength: 100 });
const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= 100;
const nameExpected = 'import: a name of at most 100 characters is expected';

/** Takes an import back when nothing more is heard of it; called with each of its parts. */
function listener(app: Api, desk: Desk): () => void {
  let timer: NodeJS.Timeout | undefined;
  app.addHook('onClose', () => clearTimeout(timer));
  return () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      takeBack(desk, { unheardMs: silenceMs }).catch((error: unknown) =>
        desk.log('error', 'an import that was cut off could not be taken back', { error: String(error) }),
      );
    }, silenceMs + 1_000).unref();
  };
}

/** Trying again helps where the store is away; an import that is being taken back stays so. */
const untaken = (reply: FastifyReply, fault: Fault): FastifyReply =>
  fault.code === 'import-over' ? problem(reply, 409, 'import-over', fault.sentence) : unavailable(reply, fault);

/** Moving in and out: pages with their versions and with what was seen and learned of them. */
export function transferRoutes(app: Api, desk: Desk): void {
  const heard = listener(app, desk);
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
  app.get('/api/export', { schema: leaving, config: { scope: 'admin' } }, async (request, reply) => {
    const { cursor, secrets, limit = 500 } = request.query;
    const after = cursorOf(cursor);
    if (after === undefined) return badCursor(reply, cursor);
    const { pages, next } = await listed(desk, { limit, after });
    return {
      records: pages.map((watched) => ({ id: watched.page.id, ...exportedPage(watched, secrets === true) })),
      next,
    };
  });

  const entering = operation({
    tag: 'transfer',
    summary: 'Take in pages with their past; whole or not at all',
    description:
      'With `import`, a name of the sender’s choosing, this is one part of that import: unless it is ended, it is taken back when nothing more is heard of it.',
    body: Type.Object({ records: Records, import: Type.Optional(Name) }),
    answers: {
      200: Type.Object({
        pages: Type.Array(
          Type.Object({
            id: Type.String(),
            created: Type.Boolean(),
            versions: Type.Integer({ description: 'Past versions that it did not have before.' }),
          }),
        ),
      }),
    },
  });
  app.post('/api/import', { schema: entering, validatorCompiler: exceptBody }, async (request, reply) => {
    const { records: inputs, import: name } = (request.body ?? {}) as { records?: unknown; import?: unknown };
    if (!Array.isArray(inputs)) return problem(reply, 400, 'import-wrong', 'records: a list is expected');
    if (name !== undefined && !isName(name)) return problem(reply, 400, 'import-wrong', nameExpected);
    const records: TransferRecord[] = [];
    for (const [i, input] of inputs.entries()) {
      const record = readRecord(input);
      if (typeof record === 'string') return problem(reply, 400, 'import-wrong', `records[${i}] ${record}`);
      records.push(record);
    }
    const journal = name === undefined ? undefined : await partOf(desk, name);
    if (journal === 'another is under way')
      return problem(
        reply,
        409,
        'import-under-way',
        'Another import is under way; this one can begin when it has ended.',
      );
    if (journal && 'code' in journal) return untaken(reply, journal);
    const kept = await importRecords(desk, records, journal);
    if (name !== undefined) heard();
    return kept.kind === 'failed' ? untaken(reply, kept.fault) : { pages: [...kept.value] };
  });

  const ending = operation({
    tag: 'transfer',
    summary: 'End an import that came in parts: what it added stays',
    body: Type.Object({ import: Name }, { additionalProperties: false }),
    answers: { 204: Nothing },
  });
  app.post('/api/import/end', { schema: ending }, async (request, reply) => {
    const trouble = await endImport(desk, request.body.import);
    return trouble ? untaken(reply, trouble) : reply.code(204).send();
  });

  const undoing = operation({
    tag: 'transfer',
    summary: 'Take an import back',
    description: 'The import that came in parts and has not ended.',
    body: Type.Object({ import: Name }, { additionalProperties: false }),
    answers: { 200: Type.Object({ removed: Type.Integer() }) },
  });
  app.delete('/api/import', { schema: undoing }, async (request) => ({
    removed: await takeBack(desk, { name: request.body.import }),
  }));
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
