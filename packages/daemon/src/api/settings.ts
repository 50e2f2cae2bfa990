/** What can be changed while the daemon runs: the budget; and copies of everything. */
import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Type } from '@sinclair/typebox';
import { rateForm, ratePerSecond } from '../config/units.ts';
import type { Desk } from '../desk.ts';
import { SqliteStore } from '../store/sqlite.ts';
import { type Api, Media, operation } from './operation.ts';
import { notRunning } from './pages.ts';
import { problem, unavailable } from './problem.ts';

const Settings = Type.Object({
  budgetPerHour: Type.Number(),
  spacingSeconds: Type.Number({ description: 'The least time between two requests to one site.' }),
  robots: Type.Integer({ description: 'Requests that may be under way at once.' }),
  queueMax: Type.Integer(),
  policy: Type.String(),
});

const budgetKey = 'budget-set';

/** A budget set while running holds over restarts, until the configuration says something new. */
export async function restoreBudget(desk: Desk): Promise<void> {
  const saved = await desk.store.recall(budgetKey);
  if (!saved || !desk.loop) return;
  const { configured, looksPerSecond } = JSON.parse(Buffer.from(saved).toString('utf8')) as Record<string, number>;
  if (configured === desk.loop.settings.looksPerSecond) desk.loop.setBudget(looksPerSecond!);
}

export function settingRoutes(app: Api, desk: Desk): void {
  const configured = desk.loop?.settings.looksPerSecond;

  const read = operation({ tag: 'system', summary: 'How the daemon is set', answers: { 200: Settings } });
  app.get('/api/settings', { schema: read }, async (_request, reply) => (desk.loop ? body() : notRunning(reply)));

  const change = operation({
    tag: 'system',
    summary: 'Change the budget',
    body: Type.Object({ budget: Type.String({ description: 'Such as 600/hour.' }) }, { additionalProperties: false }),
    answers: { 200: Settings },
  });
  app.patch('/api/settings', { schema: change, config: { scope: 'admin' } }, async (request, reply) => {
    if (!desk.loop) return notRunning(reply);
    const looksPerSecond = ratePerSecond(request.body.budget);
    if (looksPerSecond === undefined || !(looksPerSecond > 0))
      return problem(
        reply,
        400,
        'bad-request',
        `budget: ${JSON.stringify(request.body.budget.slice(0, 80))} is not allowed; ${rateForm}`,
      );
    const kept = await desk.store.remember(budgetKey, Buffer.from(JSON.stringify({ configured, looksPerSecond })));
    if (kept.kind === 'failed') return unavailable(reply, kept.fault);
    desk.loop.setBudget(looksPerSecond);
    return body();
  });

  function body() {
    const { looksPerSecond, spacingMs, robots, queueMax } = desk.loop!.settings;
    return {
      budgetPerHour: looksPerSecond * 3600,
      spacingSeconds: spacingMs / 1000,
      robots,
      queueMax,
      policy: desk.loop!.policy.name,
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
