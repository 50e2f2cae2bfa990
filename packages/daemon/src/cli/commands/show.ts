import type { Command } from 'commander';
import type { Page, Version } from '../../api/client.ts';
import { withClient, type Client } from '../client.ts';
import { dataOption, example, jsonOption } from '../options.ts';
import { type CommandOutcome, done, print, printJson, wrong } from '../outcome.ts';
import type { Runner } from '../program.ts';
import { stepPlot } from '../step-plot.ts';
import { harmless, table } from '../table.ts';
import { findPage, waits } from './pages.ts';

interface ShowOptions {
  readonly data: string;
  readonly json?: boolean;
  readonly version?: string;
  readonly raw?: boolean;
  readonly list?: boolean;
  readonly numbers?: boolean;
}

async function show(word: string, options: ShowOptions): Promise<CommandOutcome> {
  if (options.version !== undefined && !/^[1-9]\d*$/.test(options.version))
    return wrong(`--version ${options.version}: a version number is expected`);
  return withClient({ data: options.data }, async (client) => {
    const page = await findPage(client, word);
    if ('code' in page) return page;
    if (options.numbers) return numbers(client, page, options);
    const { versions } = await client.call('GET /api/pages/{id}/versions', { path: { id: page.id } });
    if (options.list) return list(versions, options);
    const wanted = options.version === undefined ? versions.at(-1)?.number : Number(options.version);
    if (wanted === undefined) return wrong(`page ${page.url} has no version yet${why(page)}`);
    return one(client, page, wanted, options);
  });
}

/** What keeps the page from being seen, and when it is tried again. */
function why(page: Page): string {
  const { fault, nextProbe } = page;
  const again = page.waits ? ` (${waits(page)})` : nextProbe === null ? '' : ` (next look ${nextProbe})`;
  return fault ? `: ${fault.sentence}${again}` : again;
}

function list(versions: readonly Version[], options: ShowOptions): CommandOutcome {
  if (options.json) printJson(versions);
  else if (versions.length === 0) print('No version yet.');
  else {
    const rows = versions.map(({ number, at, format, bytes, raw }) => [number, at, format, bytes, raw ? 'yes' : 'no']);
    print(
      table(
        ['version', 'since', 'format', 'bytes', 'whole page'],
        rows.map((row) => row.map(String)),
      ),
    );
  }
  return done;
}

async function one(client: Client, page: Page, number: number, options: ShowOptions): Promise<CommandOutcome> {
  const path = { id: page.id, number };
  const text = await client.call(`GET /api/pages/{id}/versions/{number}${options.raw ? '/raw' : ''}`, { path });
  if (options.json) printJson({ id: page.id, url: page.url, version: number, text });
  // A terminal obeys what it is told; a file takes it as it is.
  else print(process.stdout.isTTY ? text.split('\n').map(harmless).join('\n') : text);
  return done;
}

async function numbers(client: Client, page: Page, options: ShowOptions): Promise<CommandOutcome> {
  const body = await client.call('GET /api/pages/{id}/numbers', { path: { id: page.id } });
  if (options.json) printJson(body.numbers);
  else if (body.numbers.length === 0) print('No version of it is a number; options.as: "number" reads one.');
  else {
    const moments = body.numbers.map(({ at, value }) => ({ atMs: Date.parse(at), value }));
    print(stepPlot(moments, Math.max(Date.now(), moments.at(-1)!.atMs)));
  }
  return done;
}

export function registerShow(program: Command, run: Runner): void {
  const command = program
    .command('show <page>')
    .description('what a version of a page says (the last one unless said)')
    .option('--version <number>', 'which version')
    .option('--raw', 'the whole page as it came, where it is kept (options.keepRaw)')
    .option('--list', 'which versions there are')
    .option('--numbers', 'the number it shows, over time');
  example(jsonOption(dataOption(command)), 'revisit show https://example.org/prices --version 3');
  command.action(run(show));
}
