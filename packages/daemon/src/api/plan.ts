import { Type } from '@sinclair/typebox';
import type { Desk } from '../desk.ts';
import type { Loop } from '../loop.ts';
import { type ComingProbe, type StandingPlan, budgetView, standingPlan } from '../standing-plan.ts';
import { type Api, operation } from './operation.ts';
import { problem } from './problem.ts';
import { Nullable, Time } from './schemas.ts';

const noPlan = 'No daemon runs on this data folder, so nothing is planned; use "revisit plan".';

/** More coming looks than this in one answer help nobody; the soonest are shown. */
const limitMost = 10_000;

const Plan = Type.Object(
  {
    policy: Type.String(),
    pages: Type.Integer(),
    unseen: Type.Integer({ description: 'Pages that nobody has looked at yet; how often they change is guessed.' }),
    budgetPerHour: Type.Number(),
    probes: Type.Array(
      Type.Object({
        at: Time,
        pageId: Type.String(),
        url: Type.String(),
        site: Type.String(),
        ratePerDay: Nullable(Type.Number({ description: 'Null before the first look.' })),
        current: Nullable(Type.Number({ description: 'Null while there is no copy.' })),
      }),
      { description: 'The coming looks, soonest first.' },
    ),
    priceHours: Nullable(Type.Number({ description: 'What one look saves at the margin, in hours of delay.' })),
    meanDelayHours: Nullable(Type.Number()),
    meanDelayHoursBound: Nullable(
      Type.Number({ description: 'No plan of looks made ahead can do better on this budget.' }),
    ),
    gap: Nullable(Type.Number()),
    policyDelayHours: Nullable(Type.Number()),
    dearSites: Type.Array(Type.Object({ site: Type.String(), priceHours: Nullable(Type.Number()) })),
  },
  { additionalProperties: true },
);

const point = {
  probesPerHour: Type.Number(),
  meanDelayHours: Nullable(Type.Number()),
  priceHours: Nullable(Type.Number()),
};

const Budget = Type.Object({
  budgetPerHour: Type.Number(),
  now: Type.Object(point),
  oneMore: Type.Object({ ...point, soonerMinutes: Nullable(Type.Number()) }),
  curve: Type.Array(Type.Object(point)),
});

export function planRoutes(app: Api, desk: Desk): void {
  const plan = operation({
    tag: 'plan',
    summary: 'The coming looks, their price, and how far the plan can be from the best there is',
    querystring: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limitMost, default: 100 })),
    }),
    answers: { 200: Plan },
  });
  app.get('/api/plan', { schema: plan }, async (request, reply) => {
    if (!desk.loop) return problem(reply, 503, 'not-running', noPlan);
    return planBody(desk.loop, desk.clock.nowMs(), request.query.limit ?? 100);
  });

  const budget = operation({
    tag: 'plan',
    summary: 'What one more look an hour is worth, and how long changes wait at other budgets',
    answers: { 200: Budget },
  });
  app.get('/api/budget', { schema: budget }, async (_request, reply) => {
    if (!desk.loop) return problem(reply, 503, 'not-running', noPlan);
    return budgetView(desk.loop, desk.clock.nowMs());
  });
}

export interface PlanBody extends Omit<StandingPlan, 'probes'> {
  readonly policy: string;
  readonly probes: readonly (Omit<ComingProbe, 'atMs'> & { readonly at: string })[];
}

export function planBody(loop: Loop, nowMs: number, limit: number): PlanBody {
  const plan = standingPlan(loop, nowMs, limit);
  const probes = plan.probes.map(({ atMs, ...probe }) => ({ at: new Date(atMs).toISOString(), ...probe }));
  return { policy: loop.policy.name, ...plan, probes };
}
