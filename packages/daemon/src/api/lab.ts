/** Policies and budgets tried on the collection's own history. */
import { policies } from '@revisit/core';
import { type Static, Type } from '@sinclair/typebox';
import type { Desk } from '../desk.ts';
import { Lab, type Run, historyOf } from '../lab/lab.ts';
import { timeText } from './bodies.ts';
import { type Api, Nothing, operation } from './operation.ts';
import { problem } from './problem.ts';
import { OneOf, Time, idParams } from './schemas.ts';

/** Fewer changes than this say nothing about a policy. */
const changesMin = 20;

const Result = Type.Object({
  pages: Type.Integer(),
  changes: Type.Integer(),
  testDays: Type.Number(),
  allowed: Type.Integer({ description: 'Looks that each policy had.' }),
  results: Type.Array(
    Type.Object({
      policy: Type.String(),
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
  policies: Type.Array(Type.String()),
  looksPerPageDay: Type.Number(),
  state: OneOf(['running', 'done', 'failed']),
  progress: Type.Number(),
  result: Type.Optional(Result),
  sentence: Type.Optional(Type.String()),
});

function runBody({ startedAtMs, ...run }: Run): Static<typeof RunBody> {
  return { ...run, startedAt: timeText(startedAtMs) } as Static<typeof RunBody>;
}

export function labRoutes(app: Api, desk: Desk): void {
  const lab = new Lab(desk.clock);
  app.addHook('onClose', () => lab.close());

  const list = operation({
    tag: 'lab',
    summary: 'What can be tried, and what was',
    answers: {
      200: Type.Object({ known: Type.Array(Type.String()), changes: Type.Integer(), runs: Type.Array(RunBody) }),
    },
  });
  app.get('/api/lab', { schema: list }, async () => ({
    known: Object.keys(policies),
    changes: (await desk.store.counts()).changes,
    runs: lab.runs.map(runBody),
  }));

  const one = operation({ tag: 'lab', summary: 'One run', params: idParams, answers: { 200: RunBody } });
  app.get('/api/lab/:id', { schema: one }, async (request, reply) => {
    const run = lab.runs.find(({ id }) => id === request.params.id);
    return run ? runBody(run) : problem(reply, 404, 'run-unknown', `No run has the id ${request.params.id}.`);
  });

  const start = operation({
    tag: 'lab',
    summary: 'Try policies on the own history, each with the same number of looks',
    body: Type.Object(
      {
        policies: Type.Array(Type.String(), { minItems: 1, maxItems: 20 }),
        looksPerPageDay: Type.Number({ exclusiveMinimum: 0, maximum: 10_000 }),
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
    if (lab.busy) return problem(reply, 409, 'lab-busy', 'A run is under way; wait for it, or stop it.');
    const history = await historyOf(desk.store);
    if (history.events.length < changesMin)
      return problem(
        reply,
        409,
        'history-short',
        `Only ${history.events.length} changes were seen so far; a comparison needs at least ${changesMin}.`,
      );
    const { looksPerPageDay, trainShare = 0.5, spacingSeconds = 0 } = request.body;
    const names = [...new Set(request.body.policies)];
    const run = lab.start({ ...history, policies: names, looksPerPageDay, trainShare, spacingSeconds });
    return reply.code(202).send(runBody(run));
  });

  const stop = operation({ tag: 'lab', summary: 'Stop what runs', answers: { 204: Nothing } });
  app.delete('/api/lab', { schema: stop }, async (_request, reply) => {
    await lab.close();
    return reply.code(204).send();
  });
}
