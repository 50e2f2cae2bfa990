import { Type } from '@sinclair/typebox';
import type { Desk } from '../desk.ts';
import { version } from '../version.ts';
import { timeText } from './bodies.ts';
import { type Api, operation } from './operation.ts';
import { type Work, everyPart } from './parts.ts';
import { Missing, Nullable, Time } from './schemas.ts';
import { StoreAnswers } from './store-answers.ts';

const LoopCounts = Type.Object(
  {
    sent: Type.Integer(),
    sentLastHour: Type.Integer(),
    kept: Type.Integer(),
    overflowed: Type.Integer(),
    inFlight: Type.Integer(),
    queued: Type.Integer(),
    waiting: Type.Integer(),
  },
  { additionalProperties: false },
);

const countNames = ['sent', 'sentLastHour', 'kept', 'overflowed', 'inFlight', 'queued', 'waiting'] as const;
type Count = (typeof countNames)[number];

/** What all that answered have done and have under way. */
export function summed(parts: readonly Work[]): Readonly<Record<Count, number>> {
  const sum = (name: Count): number => parts.reduce((all, { counts }) => all + counts[name], 0);
  return Object.fromEntries(countNames.map((name) => [name, sum(name)])) as Record<Count, number>;
}

export function systemRoutes(app: Api, desk: Desk): void {
  const storeAnswers = new StoreAnswers(desk.store);
  // One that is known to be away is not asked: it would be waited for.
  const isWell = async (): Promise<boolean> => (desk.loop?.healthy ?? true) && (await storeAnswers.now());

  const health = operation({
    tag: 'system',
    summary: 'Health: whether what is found can be kept, and the store answers within two seconds',
    answers: {
      200: Type.Object({ healthy: Type.Boolean(), running: Type.Boolean() }),
      503: Type.Object({ healthy: Type.Boolean(), running: Type.Boolean() }),
    },
  });
  app.get('/healthz', { schema: health, config: { scope: 'open' } }, async (_request, reply) => {
    const healthy = await isWell();
    return reply.code(healthy ? 200 : 503).send({ healthy, running: desk.loop !== undefined });
  });

  const readiness = operation({
    tag: 'system',
    summary: 'Readiness: whether the pages are loaded and the store answers within two seconds',
    answers: { 200: Type.Object({ ready: Type.Boolean() }), 503: Type.Object({ ready: Type.Boolean() }) },
  });
  app.get('/readyz', { schema: readiness, config: { scope: 'open' } }, async (_request, reply) => {
    const ready = await isWell();
    return reply.code(ready ? 200 : 503).send({ ready });
  });

  const status = operation({
    tag: 'system',
    summary: 'The collection and the daemon in numbers',
    answers: {
      200: Type.Object({
        version: Type.String(),
        now: Time,
        pages: Type.Integer(),
        changes: Type.Integer(),
        looks: Type.Integer(),
        loop: Nullable(LoopCounts),
        budgetPerHour: Nullable(Type.Number()),
        policy: Nullable(Type.String()),
        healthy: Type.Boolean(),
        linked: Type.Boolean({ description: 'Whether robots can be asked to look; false while NATS is away' }),
        missing: Missing,
      }),
    },
  });
  app.get('/api/status', { schema: status }, async () => {
    const [counts, { parts, missing }] = await Promise.all([desk.store.counts(), everyPart(desk, 'work', {})]);
    return {
      version,
      now: timeText(desk.clock.nowMs()),
      ...counts,
      loop: desk.loop ? summed(parts) : null,
      budgetPerHour: desk.loop ? desk.loop.wholeBudget * 3600 : null,
      policy: desk.loop?.policy.name ?? null,
      healthy: parts.every(({ healthy }) => healthy),
      linked: parts.every(({ linked }) => linked),
      missing,
    };
  });
}
