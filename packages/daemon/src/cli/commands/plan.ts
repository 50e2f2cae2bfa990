import type { Command } from 'commander';
import type { BudgetBody, PlanBody } from '../../api/plan.ts';
import type { Config, Flags } from '../../config/config.ts';
import type { Opening } from '../../folder.ts';
import type { BudgetPoint } from '../../plan/standing-plan.ts';
import { systemClock } from '../../values/clock.ts';
import type { Client } from '../client.ts';
import { openedBy } from '../opening.ts';
import type { Runner } from '../program.ts';
import { example, jsonOption } from '../options.ts';
import { type CommandOutcome, counted, done, print, printJson, wrong } from '../outcome.ts';
import { plot } from '../plot.ts';
import { table } from '../table.ts';
import { configOptions } from './serve.ts';

interface PlanOptions extends Flags {
  readonly limit: string;
  readonly json?: boolean;
}

interface Planned {
  readonly plan: PlanBody;
  readonly budget: BudgetBody;
}

const planThrough = async (client: Client, limit: number): Promise<Planned> => ({
  plan: (await client.call('GET /api/plan', { query: { limit } })) as PlanBody,
  budget: (await client.call('GET /api/budget')) as BudgetBody,
});

/** What a daemon started now would plan; nothing is looked at. */
async function planAlone(config: Config, folder: Opening, limit: number): Promise<Planned> {
  // Here and not above, so that help and a plan from a daemon come without them.
  const [{ createLoop }, { Desk }, { createLog }, { budgetBody, planBody }, { followSettings }] = await Promise.all([
    import('../../daemon.ts'),
    import('../../desk.ts'),
    import('../../log.ts'),
    import('../../api/plan.ts'),
    import('../../api/settings.ts'),
  ]);
  const log = createLog(config.logLevel);
  const loop = createLoop(config, folder.store, log);
  await loop.load();
  const desk = new Desk(folder.store, systemClock, log, loop);
  await followSettings(desk, config);
  const planned = { plan: await planBody(desk, limit), budget: await budgetBody(desk) };
  await loop.close();
  await folder.close();
  return planned;
}

async function plan(file: string | undefined, options: PlanOptions): Promise<CommandOutcome> {
  const { limit: text, json, ...flags } = options;
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > 10_000)
    return wrong(`--limit ${text}: a whole number from 1 to 10000 is expected`);
  const planned = await openedBy<Planned>(file, flags, {
    through: (client) => planThrough(client, limit),
    alone: (config, folder) => planAlone(config, folder, limit),
  });
  if ('code' in planned) return planned;
  if (json) printJson({ ...planned.plan, budget: planned.budget });
  else print(planned.plan.pages === 0 ? 'Nothing is watched yet; "revisit add URL" begins.' : shown(planned));
  return done;
}

/** A time span as people say it, from hours. */
export function spanText(hours: number): string {
  if (hours >= 48) return `${digits(hours / 24)} days`;
  if (hours >= 2) return `${digits(hours)} hours`;
  if (hours * 60 >= 2) return `${digits(hours * 60)} minutes`;
  return `${digits(hours * 3600)} seconds`;
}

function digits(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}

function shown({ plan, budget }: Planned): string {
  const rows = plan.probes.map((probe) => [
    probe.at.slice(0, 19).replace('T', ' '),
    probe.ratePerDay === null ? 'not known yet' : digits(probe.ratePerDay),
    probe.current === null ? 'no copy yet' : `${Math.round(100 * probe.current)} %`,
    probe.url,
  ]);
  return [
    table(['next look (UTC)', 'changes a day', 'current', 'url'], rows),
    '',
    ...sentences(plan, budget),
    '',
    ...(plan.unseen < plan.pages ? curveText(budget) : []),
  ].join('\n');
}

export function sentences(plan: PlanBody, budget: BudgetBody): readonly string[] {
  const lines = [
    `${counted(plan.pages, 'page')}, ${digits(plan.budgetPerHour)} looks an hour, planned by policy ${plan.policy}.`,
  ];
  if (plan.missing > 0)
    lines.push(`${counted(plan.missing, 'coordinator')} did not answer: what is planned there is not in this.`);
  if (plan.meanDelayHours === null || plan.meanDelayHoursBound === null || plan.unseen === plan.pages)
    return [...lines, 'Nothing is known to change yet; the first looks will tell.'];
  if (plan.unseen > 0) lines.push(`${counted(plan.unseen, 'page')} not seen yet: how often they change is a guess.`);
  lines.push(
    `At the market's prices a change waits ${spanText(plan.meanDelayHours)} on average; no plan made ahead could bring it below ${spanText(plan.meanDelayHoursBound)} on this budget (gap ${percent(plan.gap)}).`,
    `Price: one look more saves ${spanText(plan.priceHours)} of waiting, summed over changes.`,
  );
  // The distances of a moment can be shorter than the budget keeps up for long: then they say nothing beside the bound.
  if (plan.policyDelayHours !== null && plan.policyDelayHours >= plan.meanDelayHoursBound)
    lines.push(
      `If the distances to the coming looks of policy ${plan.policy} stayed as they are, it would be ${spanText(plan.policyDelayHours)}.`,
    );
  const { soonerMinutes } = budget.oneMore;
  if (soonerMinutes !== null)
    lines.push(`One more look an hour would find changes ${spanText(soonerMinutes / 60)} sooner.`);
  const [dear] = plan.dearSites;
  if (dear)
    lines.push(
      plan.dearSites.length === 1
        ? `${dear.site} could use more looks than its limits allow.`
        : `${plan.dearSites.length} sites could use more looks than their limits allow, ${dear.site} most of all.`,
    );
  return lines;
}

function percent(share: number): string {
  return share < 1e-6 ? 'below 0.0001 %' : `${digits(100 * share)} %`;
}

function curveText(budget: BudgetBody): readonly string[] {
  const point = ({ probesPerHour, meanDelayHours }: BudgetPoint): { x: number; y: number }[] =>
    meanDelayHours !== null && meanDelayHours > 0 ? [{ x: probesPerHour, y: meanDelayHours }] : [];
  const points = budget.curve.flatMap(point);
  const [mark] = point(budget.now);
  if (!mark || points.length < 2) return [];
  const drawn = plot(points, {
    width: 60,
    height: 12,
    mark,
    x: (value) => `${digits(value)}/hour`,
    y: (value) => spanText(value),
  });
  return ['How long a change waits, against the budget (● is now):', drawn];
}

export function registerPlan(program: Command, run: Runner): void {
  const command = program
    .command('plan [config]')
    .description('the coming looks, what a look is worth, and what another budget would buy')
    .option('--limit <number>', 'how many coming looks', '10');
  example(jsonOption(configOptions(command)), 'revisit plan --limit 20');
  command.action(run(plan));
}
