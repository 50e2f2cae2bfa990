import { Type } from '@sinclair/typebox';
import type { Desk } from '../desk.ts';
import type { BudgetView, ComingProbe, StandingPlan } from '../plan/standing-plan.ts';
import { wholeBudget, wholePlan } from '../plan/whole-plan.ts';
import { type Api, operation } from './operation.ts';
import { everyPart } from './parts.ts';
import { problem } from './problem.ts';
import { Missing, Nullable, Time } from './schemas.ts';

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
      Type.Number({
        description: 'No plan of looks made ahead can do better on this budget, divided among coordinators as it is.',
      }),
    ),
    gap: Nullable(Type.Number()),
    policyDelayHours: Nullable(Type.Number()),
    dearSites: Type.Array(Type.Object({ site: Type.String(), priceHours: Nullable(Type.Number()) })),
    missing: Missing,
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
  missing: Missing,
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
    return planBody(desk, request.query.limit ?? 100);
  });

  const budget = operation({
    tag: 'plan',
    summary: 'What one more look an hour is worth, and how long changes wait at other budgets',
    answers: { 200: Budget },
  });
  app.get('/api/budget', { schema: budget }, async (_request, reply) => {
    if (!desk.loop) return problem(reply, 503, 'not-running', noPlan);
    return budgetBody(desk);
  });
}

export interface PlanBody extends Omit<StandingPlan, 'probes' | 'changesPerHour' | 'seenChangesPerHour'> {
  readonly policy: string;
  readonly probes: readonly (Omit<ComingProbe, 'atMs'> & { readonly at: string })[];
  readonly missing: number;
}

export async function planBody(desk: Desk, limit: number): Promise<PlanBody> {
  const { parts, missing } = await everyPart(desk, 'plan', { limit });
  const { changesPerHour: _all, seenChangesPerHour: _seen, probes: coming, ...plan } = wholePlan(parts, limit);
  const probes = coming.map(({ atMs, ...probe }) => ({ at: new Date(atMs).toISOString(), ...probe }));
  return { policy: desk.loop!.policy.name, ...plan, probes, missing };
}

export interface BudgetBody extends Omit<BudgetView, 'changesPerHour'> {
  readonly missing: number;
}

export async function budgetBody(desk: Desk): Promise<BudgetBody> {
  const { parts, missing } = await everyPart(desk, 'budget', {});
  const { budgetPerHour, now, oneMore, curve } = wholeBudget(parts);
  return { budgetPerHour, now, oneMore, curve, missing };
}
