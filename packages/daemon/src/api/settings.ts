/** What can be changed while the daemon runs: the budget and the quiet hours; and copies of everything. */
import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Type } from '@sinclair/typebox';
import { quietMistake } from '../config/site-rules.ts';
import { rateForm, ratePerSecond } from '../config/units.ts';
import { hoursForm, parseHours } from '../values/hours.ts';
import type { Desk } from '../desk.ts';
import { SqliteStore } from '../store/sqlite.ts';
import { changedMeanwhile, ifMatch, matchesNot, settingsTag, tagged } from './if-match.ts';
import { type Api, Media, operation } from './operation.ts';
import { notRunning } from './pages.ts';
import { problem, unavailable } from './problem.ts';

const Settings = Type.Object({
  budgetPerHour: Type.Number(),
  spacingSeconds: Type.Number({ description: 'The least time between two requests to one site.' }),
  robots: Type.Integer({ description: 'Requests that may be under way at once.' }),
  queueMax: Type.Integer(),
  policy: Type.String(),
  quiet: Type.Array(Type.String(), { description: 'Hours in which nothing is asked for.' }),
});

const budgetKey = 'budget-set';
const quietKey = 'quiet-set';
/** A week has few stretches; more are a mistake. */
const quietMax = 20;

/**
 * What was set while running holds over restarts, until the configuration says something new; and at every process on the
 * same store, whichever was asked.
 */
export async function followSettings({ store, loop }: Desk, configured: Configured): Promise<void> {
  if (!loop) return;
  const recall = async (key: string): Promise<Record<string, unknown> | undefined> => {
    const saved = await store.recall(key);
    return saved && (JSON.parse(Buffer.from(saved).toString('utf8')) as Record<string, unknown>);
  };
  const budget = await recall(budgetKey);
  if (budget?.['configured'] === configured.looksPerSecond && budget['looksPerSecond'] !== loop.wholeBudget)
    loop.setBudget(budget['looksPerSecond'] as number);
  const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
  const quiet = await recall(quietKey);
  if (quiet && same(quiet['configured'], configured.quiet) && !same(quiet['quiet'], loop.settings.quiet ?? []))
    loop.setQuiet(quiet['quiet'] as string[]);
}

/** What the configuration says. */
interface Configured {
  readonly looksPerSecond: number;
  readonly quiet: readonly string[];
}

export function settingRoutes(app: Api, desk: Desk): void {
  const configured = desk.loop?.settings;
  const remember = (key: string, value: object) => desk.store.remember(key, Buffer.from(JSON.stringify(value)));

  const read = operation({ tag: 'system', summary: 'How the daemon is set', answers: { 200: Settings } });
  app.get('/api/settings', { schema: read }, async (_request, reply) =>
    desk.loop ? tagged(reply, body()) : notRunning(reply),
  );

  const change = operation({
    tag: 'system',
    summary: 'Change the budget or the quiet hours',
    headers: ifMatch,
    body: Type.Object(
      {
        budget: Type.Optional(Type.String({ description: 'Such as 600/hour.' })),
        quiet: Type.Optional(
          Type.Array(Type.String({ maxLength: 200 }), {
            maxItems: quietMax,
            description: 'Such as "22:00-06:00" or "sat-sun 00:00-24:00 Europe/Berlin"; none for an empty list.',
          }),
        ),
      },
      { additionalProperties: false },
    ),
    answers: { 200: Settings },
  });
  app.patch('/api/settings', { schema: change, config: { scope: 'admin' } }, async (request, reply) => {
    if (!desk.loop) return notRunning(reply);
    if (matchesNot(request, settingsTag(body()))) return changedMeanwhile(reply);
    const { budget, quiet } = request.body;
    const wrong = (field: string, value: string, form: string) =>
      problem(reply, 400, 'bad-request', `${field}: ${JSON.stringify(value.slice(0, 80))} is not allowed; ${form}`);
    // Both are read before either is set.
    const looksPerSecond = budget === undefined ? undefined : ratePerSecond(budget);
    if (budget !== undefined && !(looksPerSecond! > 0)) return wrong('budget', budget, rateForm);
    const unclear = quiet?.findIndex((text) => parseHours(text) === undefined) ?? -1;
    if (unclear >= 0) return wrong(`quiet[${unclear}]`, quiet![unclear]!, hoursForm);
    const shut = quietMistake(['quiet'], quiet);
    if (shut) return problem(reply, 400, 'bad-request', shut.sentence);
    if (looksPerSecond !== undefined) {
      const kept = await remember(budgetKey, { configured: configured!.looksPerSecond, looksPerSecond });
      if (kept.kind === 'failed') return unavailable(reply, kept.fault);
      desk.loop.setBudget(looksPerSecond);
    }
    if (quiet !== undefined) {
      const kept = await remember(quietKey, { configured: configured!.quiet ?? [], quiet });
      if (kept.kind === 'failed') return unavailable(reply, kept.fault);
      desk.loop.setQuiet(quiet);
    }
    return tagged(reply, body());
  });

  function body() {
    const { spacingMs, robots, queueMax, quiet = [] } = desk.loop!.settings;
    return {
      budgetPerHour: desk.loop!.wholeBudget * 3600,
      spacingSeconds: spacingMs / 1000,
      robots,
      queueMax,
      policy: desk.loop!.policy.name,
      quiet: [...quiet],
    };
  }

  const backup = operation({
    tag: 'system',
    summary: 'A consistent copy of everything, as one SQLite file, while all goes on',
    answers: { 200: Media('application/vnd.sqlite3', 'Put it into an empty data folder as revisit.db.') },
  });
  app.get('/api/backup', { schema: backup, config: { scope: 'admin' } }, async (_request, reply) => {
    if (!(desk.store instanceof SqliteStore))
      return problem(reply, 409, 'backup-elsewhere', 'The state is in PostgreSQL; back it up with its own tools.');
    const folder = await mkdtemp(join(tmpdir(), 'revisit-backup-'));
    const file = join(folder, 'revisit.db');
    await desk.store.care.backup(file);
    const stream = createReadStream(file);
    stream.on('close', () => void rm(folder, { recursive: true, force: true }));
    return reply
      .type('application/vnd.sqlite3')
      .header('content-disposition', 'attachment; filename="revisit.db"')
      .header('cache-control', 'no-store')
      .send(stream);
  });
}
