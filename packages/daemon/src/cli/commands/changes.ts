import type { Command } from 'commander';
import { problemOutcome, withClient } from '../client.ts';
import type { Runner } from '../program.ts';
import { dataOption, example, jsonOption } from '../options.ts';
import { type CommandOutcome, done, print, printJson, wrong } from '../outcome.ts';
import { table } from '../table.ts';
import { findPage } from './pages.ts';

export interface ChangeBody {
  readonly cursor: string;
  readonly pageId: string;
  readonly kind: string;
  readonly at: string;
  readonly url: string;
  readonly summary: string;
}

interface ChangesOptions {
  readonly data: string;
  readonly json?: boolean;
  readonly limit: string;
  readonly after?: string;
  readonly page?: string;
}

export function changeTable(changes: readonly ChangeBody[]): string {
  const rows = changes.map((change) => [
    change.at.slice(0, 19).replace('T', ' '),
    change.kind,
    change.pageId,
    change.url,
    change.summary,
  ]);
  return table(['seen at (UTC)', 'what', 'page', 'url', 'summary'], rows);
}

async function changes(options: ChangesOptions): Promise<CommandOutcome> {
  const limit = Number(options.limit);
  if (!Number.isInteger(limit) || limit < 1 || limit > 1000)
    return wrong(`--limit ${options.limit}: a whole number from 1 to 1000 is expected`);
  return withClient({ data: options.data }, async (client) => {
    const query = new URLSearchParams({ limit: options.limit });
    if (options.after === undefined) query.set('order', 'newest');
    else query.set('after', options.after);
    if (options.page !== undefined) {
      const page = await findPage(client, options.page);
      if ('code' in page) return page;
      query.set('page', page.id);
    }
    const answer = await client.ask('GET', `/api/changes?${query.toString()}`);
    if (answer.status >= 400) return problemOutcome(answer);
    const found = (answer.body as { changes: ChangeBody[] }).changes;
    if (options.json) printJson(answer.body);
    else if (found.length === 0) print('No change was seen yet.');
    else print(changeTable(found));
    return done;
  });
}

export function registerChanges(program: Command, run: Runner): void {
  const command = program
    .command('changes')
    .description('what changed, the newest first')
    .option('--limit <number>', 'how many', '20')
    .option('--after <cursor>', 'what came after this cursor, the oldest first')
    .option('--page <page>', 'only this page (id or URL)');
  example(jsonOption(dataOption(command)), 'revisit changes --limit 50');
  command.action(run(changes));
}
