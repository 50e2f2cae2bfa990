import type { Command } from 'commander';
import type { Change } from '../../api/client.ts';
import { withClient } from '../client.ts';
import type { Runner } from '../program.ts';
import { dataOption, example, jsonOption } from '../options.ts';
import { type CommandOutcome, done, print, printJson, wrong } from '../outcome.ts';
import { table } from '../table.ts';
import { findPage } from './pages.ts';

interface ChangesOptions {
  readonly data: string;
  readonly json?: boolean;
  readonly limit: string;
  readonly after?: string;
  readonly page?: string;
}

export function changeTable(changes: readonly Change[]): string {
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
    const page = options.page === undefined ? undefined : await findPage(client, options.page);
    if (page && 'code' in page) return page;
    const { after } = options;
    const where = after === undefined ? ({ order: 'newest' } as const) : { after };
    const answer = await client.call('GET /api/changes', { query: { limit, ...where, page: page?.id } });
    const found = answer.changes;
    if (options.json) printJson(answer);
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
