import type { Command } from 'commander';
import type { Calls } from '../../api/client.ts';
import { withClient } from '../client.ts';
import { dataOption, example, jsonOption } from '../options.ts';
import { type CommandOutcome, done, print, printJson, wrong } from '../outcome.ts';
import type { Runner } from '../program.ts';
import { harmless } from '../table.ts';

interface SearchOptions {
  readonly data: string;
  readonly json?: boolean;
  readonly past?: boolean;
  readonly site?: string;
  readonly tag?: string;
  readonly from?: string;
  readonly to?: string;
  readonly limit: string;
}

type Hit = Calls['GET /api/search']['answer']['hits'][number];

function shown(hit: Hit): string {
  const bold = process.stdout.isTTY;
  const words = hit.snippet.map(({ text, hit: found }) =>
    found ? (bold ? `\u001b[1m${harmless(text)}\u001b[22m` : `[${harmless(text)}]`) : harmless(text),
  );
  const head = `${harmless(hit.title ?? hit.url)}\n  ${harmless(hit.url)}  version ${hit.version}, ${hit.at.slice(0, 10)}`;
  return `${head}\n  ${words.join('')}`;
}

async function search(words: readonly string[], options: SearchOptions): Promise<CommandOutcome> {
  const limit = Number(options.limit);
  if (!Number.isInteger(limit) || limit < 1 || limit > 200)
    return wrong(`--limit ${options.limit}: a whole number from 1 to 200 is expected`);
  const times = new Map<string, string>();
  for (const name of ['from', 'to'] as const) {
    const text = options[name];
    if (text === undefined) continue;
    const ms = Date.parse(text);
    if (Number.isNaN(ms))
      return wrong(`--${name} ${text}: a date such as 2026-11-15 or 2026-11-15T08:00:00Z is expected`);
    times.set(name, new Date(ms).toISOString());
  }
  return withClient({ data: options.data }, async (client) => {
    const { past, site, tag } = options;
    const query = { q: words.join(' '), limit, past, site, tag, from: times.get('from'), to: times.get('to') };
    const answer = await client.call('GET /api/search', { query });
    const { hits } = answer;
    if (options.json) printJson(answer);
    else print(hits.length === 0 ? 'Nothing was found.' : hits.map(shown).join('\n\n'));
    return done;
  });
}

export function registerSearch(program: Command, run: Runner): void {
  const command = program
    .command('search <words...>')
    .description('full text over the current copies: words, "phrases", pref*, -without, one OR other')
    .option('--past', 'over everything that ever came, not only the current copies')
    .option('--site <site>', 'only pages of this site')
    .option('--tag <tag>', 'only pages with this tag')
    .option('--from <date>', 'only versions that came then or later')
    .option('--to <date>', 'only versions that came before')
    .option('--limit <number>', 'how many', '20');
  example(jsonOption(dataOption(command)), 'revisit search \'"data retention" cookie*\'');
  command.action(run(search));
}
