import type { FastifyInstance } from 'fastify';
import type { Desk } from '../desk.ts';
import type { Loop } from '../loop.ts';
import { type ComingProbe, type StandingPlan, budgetView, standingPlan } from '../standing-plan.ts';
import { problem } from './problem.ts';
import { limitOf } from './query.ts';

const noPlan = 'No daemon runs on this data folder, so nothing is planned; use "revisit plan".';

/** More coming looks than this in one answer help nobody; the soonest are shown. */
const limitMost = 10_000;

export function planRoutes(app: FastifyInstance, desk: Desk): void {
  app.get<{ Querystring: { limit?: string } }>('/api/plan', async (request, reply) => {
    const limit = limitOf(request.query.limit, 100, limitMost);
    if (limit === undefined)
      return problem(reply, 400, 'bad-request', `limit: a whole number from 1 to ${limitMost} is expected`);
    if (!desk.loop) return problem(reply, 503, 'not-running', noPlan);
    return planBody(desk.loop, desk.clock.nowMs(), limit);
  });

  app.get('/api/budget', async (_request, reply) => {
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
