import type { Command } from 'commander';
import type { Calls, Page } from '../../api/client.ts';
import { type Client, unlessMissing, withClient } from '../client.ts';
import type { Runner } from '../program.ts';
import { dataOption, example, jsonOption } from '../options.ts';
import { type CommandOutcome, done, print, printJson, wrong } from '../outcome.ts';
import { table } from '../table.ts';

interface ListOptions {
  readonly data: string;
  readonly json?: boolean;
  readonly site?: string;
  readonly tag?: string;
}

/** Every page that fits, over as many answers as it takes. */
export async function everyPage(
  client: Client,
  query: { readonly site?: string; readonly tag?: string } = {},
): Promise<readonly Page[]> {
  const pages: Page[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const answer: Calls['GET /api/pages']['answer'] = await client.call('GET /api/pages', {
      query: { ...query, limit: 1_000, cursor },
    });
    pages.push(...answer.pages);
    cursor = answer.next;
  }
  return pages;
}

/** The page that a person means by its id, the beginning of it, or its URL. */
export async function findPage(client: Client, word: string): Promise<Page | CommandOutcome> {
  // What is not hexadecimal is no id.
  const direct = /^[0-9a-f]{16}$/.test(word)
    ? await unlessMissing(client.call('GET /api/pages/{id}', { path: { id: word } }))
    : undefined;
  if (direct) return direct;
  const pages = await everyPage(client);
  const url = URL.parse(word)?.href;
  const found = pages.filter((page) => page.id.startsWith(word) || page.url === word || page.url === url);
  if (found.length === 1) return found[0]!;
  if (found.length > 1) return wrong(`page ${word} is not unique; ${found.map((page) => page.id).join(', ')} fit`);
  return wrong(`page ${word} is not watched; "revisit pages" lists ids and URLs`);
}

/** A long expression would push the address out of sight; --json has it whole. */
const selectionCharactersMax = 24;
const shortened = (select: string): string =>
  select.length <= selectionCharactersMax ? select : `${select.slice(0, selectionCharactersMax - 1)}…`;

/** What keeps it from being looked at, and until when (UTC, as all times here). */
export const waits = ({ waits }: Page): string =>
  waits ? `waits: ${waits.why} until ${waits.until.slice(0, 16).replace('T', ' ')}` : '';

/** What a person should know of it beside its state. */
function remarks(page: Page): string {
  const { discovery } = page;
  const full = discovery?.leftOut ? `full with ${discovery.pages} pages: others that it lists are left out` : '';
  const misread = discovery?.misread === undefined ? '' : `not all of ${discovery.misread} can be read`;
  return [waits(page), full, misread].filter((remark) => remark !== '').join('; ');
}

async function list(options: ListOptions): Promise<CommandOutcome> {
  return withClient({ data: options.data }, async (client) => {
    const query = {
      ...(options.site === undefined ? {} : { site: options.site }),
      ...(options.tag === undefined ? {} : { tag: options.tag }),
    };
    const pages = await everyPage(client, query);
    if (options.json) printJson(pages);
    else if (pages.length === 0) print('Nothing is watched yet; "revisit add URL" begins.');
    else {
      const rows = pages.map((page) => [
        page.id,
        page.paused ? 'paused' : page.fault ? page.fault.code : page.status,
        String(page.looks),
        String(page.changes),
        page.lastProbe?.slice(0, 16).replace('T', ' ') ?? 'never',
        shortened(page.select),
        remarks(page) === '' ? page.url : `${page.url}  (${remarks(page)})`,
      ]);
      print(table(['id', 'state', 'looks', 'changes', 'last look', 'selection', 'url'], rows));
    }
    return done;
  });
}

function each(change: (client: Client, page: Page) => Promise<string | CommandOutcome>) {
  return (words: readonly string[], options: { data: string }): Promise<CommandOutcome> =>
    withClient({ data: options.data }, async (client) => {
      // All are found before any is touched: a typing error in the last one changes nothing.
      const pages: Page[] = [];
      for (const word of words) {
        const page = await findPage(client, word);
        if ('code' in page) return page;
        pages.push(page);
      }
      for (const page of pages) {
        const said = await change(client, page);
        if (typeof said !== 'string') return said;
        print(said);
      }
      return done;
    });
}

const remove = each(async (client, page) => {
  await client.call('DELETE /api/pages/{id}', { path: { id: page.id } });
  return `removed  ${page.url}`;
});

const setPaused = (paused: boolean) =>
  each(async (client, page) => {
    await client.call('PATCH /api/pages/{id}', { path: { id: page.id }, body: { paused } });
    return `${paused ? 'paused' : 'watching'}  ${page.url}`;
  });

export function registerPages(program: Command, run: Runner): void {
  const pages = program
    .command('pages')
    .description('list what is watched')
    .option('--site <site>', 'only pages of this site')
    .option('--tag <tag>', 'only pages with this tag');
  example(jsonOption(dataOption(pages)), 'revisit pages --tag shop');
  pages.action(run(list));

  const removing = program.command('remove <page...>').description('stop watching pages and forget their versions');
  example(dataOption(removing), 'revisit remove https://example.org/news');
  removing.action(run(remove));

  const pausing = program.command('pause <page...>').description('stop looking at pages, keep what was seen');
  example(dataOption(pausing), 'revisit pause https://example.org/news');
  pausing.action(run(setPaused(true)));

  const resuming = program.command('resume <page...>').description('look at paused pages again');
  example(dataOption(resuming), 'revisit resume https://example.org/news');
  resuming.action(run(setPaused(false)));
}
