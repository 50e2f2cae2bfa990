/** Policies and budgets tried on the collection's own history, or on a recorded trace. */
import { policies } from '@revisit/core';
import { type Static, Type } from '@sinclair/typebox';
import type { Desk } from '../desk.ts';
import type { History } from '../lab/experiment.ts';
import { type Run, historyOf } from '../lab/lab.ts';
import type { ShelvedTrace } from '../lab/trace-shelf.ts';
import { timeText } from './bodies.ts';
import { type Api, Nothing, operation } from './operation.ts';
import { type Trial, everyPart, holderSays } from './parts.ts';
import { problem } from './problem.ts';
import { Nullable, OneOf, Time, idParams } from './schemas.ts';
import { exceptBody } from './validation.ts';

/** Fewer changes than this say nothing about a policy. */
const changesMin = 20;

const Result = Type.Object({
  pages: Type.Integer(),
  changes: Type.Integer(),
  testDays: Type.Number(),
  results: Type.Array(
    Type.Object({
      policy: Type.String(),
      looksPerPageDay: Type.Number(),
      allowed: Type.Integer({ description: 'Looks that each policy had.' }),
      probes: Type.Integer(),
      changes: Type.Integer(),
      meanDelayHours: Type.Number(),
      freshness: Type.Number(),
      hitRate: Type.Number(),
      delayQuantiles: Type.Array(Type.Number(), { description: 'Hours within which 5 %, 10 % … 95 % were found.' }),
    }),
  ),
});

const RunBody = Type.Object({
  id: Type.String(),
  startedAt: Time,
  trace: Nullable(Type.String({ description: 'The trace it runs on; null for the own history.' })),
  policies: Type.Array(Type.String()),
  budgets: Type.Array(Type.Number(), { description: 'Looks a page and day.' }),
  state: OneOf(['running', 'done', 'failed']),
  progress: Type.Number(),
  result: Type.Optional(Result),
  sentence: Type.Optional(Type.String()),
});

function runBody({ startedAtMs, trace, ...run }: Run): Static<typeof RunBody> {
  return { ...run, trace: trace ?? null, startedAt: timeText(startedAtMs) } as Static<typeof RunBody>;
}

const TraceBody = Type.Object({ name: Type.String(), bytes: Type.Integer(), addedAt: Time });

const traceBody = ({ addedAtMs, ...trace }: ShelvedTrace): Static<typeof TraceBody> => ({
  ...trace,
  addedAt: timeText(addedAtMs),
});

export function labRoutes(app: Api, desk: Desk): void {
  const { lab } = desk;
  const runs = async (): Promise<readonly Run[]> =>
    (await everyPart(desk, 'runs', {})).parts.flat().sort((a, b) => b.startedAtMs - a.startedAtMs);
  app.addHook('onClose', () => lab.close());
  traceRoutes(app, desk);

  const list = operation({
    tag: 'lab',
    summary: 'What can be tried, and what was',
    answers: {
      200: Type.Object({
        known: Type.Array(Type.String()),
        changes: Type.Integer({ description: 'In the own history.' }),
        traces: Type.Array(TraceBody),
        runs: Type.Array(RunBody),
      }),
    },
  });
  app.get('/api/lab', { schema: list }, async () => ({
    known: Object.keys(policies),
    changes: (await desk.store.counts()).changes,
    traces: (await shelved(desk)).map(traceBody),
    runs: (await runs()).map(runBody),
  }));

  const one = operation({ tag: 'lab', summary: 'One run', params: idParams, answers: { 200: RunBody } });
  app.get('/api/lab/:id', { schema: one }, async (request, reply) => {
    const run = (await runs()).find(({ id }) => id === request.params.id);
    return run ? runBody(run) : problem(reply, 404, 'run-unknown', `No run has the id ${request.params.id}.`);
  });

  const start = operation({
    tag: 'lab',
    summary: 'Try policies on the own history or a trace, each with the same number of looks',
    body: Type.Object(
      {
        policies: Type.Array(Type.String(), { minItems: 1, maxItems: 20 }),
        trace: Type.Optional(
          Type.String({ maxLength: 200, description: 'One of the traces; without, the own history.' }),
        ),
        budgets: Type.Array(Type.Number({ exclusiveMinimum: 0, maximum: 10_000 }), {
          minItems: 1,
          maxItems: 8,
          description: 'Looks a page and day; each is tried.',
        }),
        trainShare: Type.Optional(Type.Number({ minimum: 0.1, maximum: 0.9, default: 0.5 })),
        spacingSeconds: Type.Optional(Type.Number({ minimum: 0, maximum: 86_400, default: 0 })),
      },
      { additionalProperties: false },
    ),
    answers: { 202: RunBody },
  });
  app.post('/api/lab', { schema: start }, async (request, reply) => {
    const unknown = request.body.policies.find((name) => !Object.hasOwn(policies, name));
    if (unknown !== undefined)
      return problem(
        reply,
        400,
        'bad-request',
        `policies: ${JSON.stringify(unknown.slice(0, 80))} is not allowed; known policies are ${Object.keys(policies).join(', ')}`,
      );
    if ((await runs()).some(({ state }) => state === 'running'))
      return problem(reply, 409, 'lab-busy', 'A run is under way; wait for it, or stop it.');
    const { trace, trainShare = 0.5, spacingSeconds = 0 } = request.body;
    const names = [...new Set(request.body.policies)];
    const budgets = [...new Set(request.body.budgets)].sort((a, b) => a - b);
    const trial: Trial = { policies: names, budgets, trainShare, spacingSeconds };
    if (trace !== undefined) {
      const { said: run } = await holderSays(desk, 'tryOut', { ...trial, trace });
      return run
        ? reply.code(202).send(runBody(run))
        : problem(reply, 404, 'trace-unknown', await unshelved(desk, trace));
    }
    const history = await historyOf(desk.store);
    return history.events.length < changesMin
      ? problem(reply, 409, 'history-short', tooShort(history))
      : reply.code(202).send(runBody(lab.start({ ...trial, source: { kind: 'history', history } }, undefined)));
  });

  const stop = operation({ tag: 'lab', summary: 'Stop what runs', answers: { 204: Nothing } });
  app.delete('/api/lab', { schema: stop }, async (_request, reply) => {
    await everyPart(desk, 'stopLab', {});
    return reply.code(204).send();
  });
}

const tooShort = ({ events }: History): string =>
  `Only ${events.length} changes were seen so far; a comparison needs at least ${changesMin}.`;

/** The traces of every process, of each name one. */
async function shelved(desk: Desk): Promise<readonly ShelvedTrace[]> {
  const { parts } = await everyPart(desk, 'traces', {});
  return [...new Map(parts.flat().map((trace) => [trace.name, trace])).values()];
}

async function unshelved(desk: Desk, name: string): Promise<string> {
  const names = (await shelved(desk)).map((trace) => trace.name);
  return `trace: ${JSON.stringify(name.slice(0, 80))} is not there; one of ${names.join(', ') || 'none'} is expected`;
}

const traceParams = Type.Object({ name: Type.String({ minLength: 1, maxLength: 200 }) });

function traceRoutes(app: Api, desk: Desk): void {
  const shelf = desk.traces;
  // Another site's form cannot send these without being asked for leave first.
  app.addContentTypeParser(['text/csv', 'application/gzip'], { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  );
  const noFolder = 'This collection has no data folder on this machine, so it keeps no traces.';

  const keep = operation({
    tag: 'lab',
    summary: 'Put a trace on the shelf: rows of source,unix_seconds, packed with gzip or not',
    params: traceParams,
    consumes: ['text/csv', 'application/gzip'],
    body: Type.Unsafe<Uint8Array>({ type: 'string', description: 'The file.' }),
    answers: { 201: Type.Object({ ...TraceBody.properties, pages: Type.Integer(), changes: Type.Integer() }) },
  });
  app.put('/api/lab/traces/:name', { schema: keep, validatorCompiler: exceptBody }, async (request, reply) => {
    if (!shelf) return problem(reply, 409, 'no-folder', noFolder);
    const body: unknown = request.body;
    if (!(body instanceof Uint8Array))
      return problem(reply, 415, 'bad-request', 'content-type: text/csv or application/gzip is expected');
    const kept = await shelf.keep(request.params.name, body);
    if (kept.kind === 'wrong') return problem(reply, 400, 'trace-wrong', kept.sentence);
    const { trace, pages, changes } = kept;
    return reply.code(201).send({ ...traceBody(trace), pages, changes });
  });

  const remove = operation({
    tag: 'lab',
    summary: 'Take a trace off the shelf',
    params: traceParams,
    answers: { 204: Nothing },
  });
  app.delete('/api/lab/traces/:name', { schema: remove }, async (request, reply) => {
    if (!shelf) return problem(reply, 409, 'no-folder', noFolder);
    return (await everyPart(desk, 'forgetTrace', { name: request.params.name })).parts.length > 0
      ? reply.code(204).send()
      : problem(reply, 404, 'trace-unknown', `No trace has the name ${request.params.name}.`);
  });
}
