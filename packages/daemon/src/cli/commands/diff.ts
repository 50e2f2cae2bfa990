import type { Command } from 'commander';
import type { Block, Difference, WordRun } from '../../detect/difference.ts';
import { withClient } from '../client.ts';
import type { Runner } from '../program.ts';
import { dataOption, example, jsonOption } from '../options.ts';
import { type CommandOutcome, done, print, printJson, wrong } from '../outcome.ts';
import { harmless } from '../table.ts';
import { findPage } from './pages.ts';

interface DiffOptions {
  readonly data: string;
  readonly json?: boolean;
  readonly from?: string;
  readonly to?: string;
}

interface Paint {
  readonly added: (text: string) => string;
  readonly removed: (text: string) => string;
}

const plain: Paint = { added: (text) => `{+${text}+}`, removed: (text) => `[-${text}-]` };
const coloured: Paint = {
  added: (text) => `\u001b[32m${text}\u001b[0m`,
  removed: (text) => `\u001b[31m${text}\u001b[0m`,
};

function run(word: WordRun, paint: Paint): string {
  const text = harmless(word.text);
  return word.kind === 'same' ? text : paint[word.kind](text);
}

function block(part: Block, paint: Paint, colour: boolean): string[] {
  switch (part.kind) {
    case 'same': {
      const hidden = part.lines - part.first.length - part.last.length;
      return [
        ...part.first.map((line) => `  ${harmless(line)}`),
        ...(hidden > 0 ? [`  … ${hidden} lines as before`] : []),
        ...part.last.map((line) => `  ${harmless(line)}`),
      ];
    }
    case 'removed':
    case 'added': {
      const sign = part.kind === 'added' ? '+' : '-';
      return part.lines.map((line) =>
        colour ? paint[part.kind](`${sign} ${harmless(line)}`) : `${sign} ${harmless(line)}`,
      );
    }
    case 'changed':
      return [`~ ${part.words.map((word) => run(word, paint)).join('')}`];
  }
}

export function differenceText(difference: Difference, colour: boolean): string {
  return difference.blocks.flatMap((part) => block(part, colour ? coloured : plain, colour)).join('\n');
}

async function diff(word: string, options: DiffOptions): Promise<CommandOutcome> {
  return withClient({ data: options.data }, async (client) => {
    const page = await findPage(client, word);
    if ('code' in page) return page;
    const query: { from?: number; to?: number } = {};
    for (const key of ['from', 'to'] as const) {
      const value = options[key];
      if (value === undefined) continue;
      if (!/^\d+$/.test(value)) return wrong(`--${key} ${value}: a version number is expected`);
      query[key] = Number(value);
    }
    const body = await client.call('GET /api/pages/{id}/diff', { path: { id: page.id }, query });
    if (options.json) printJson(body);
    else
      print(
        `${page.url}  version ${body.from} → ${body.to}\n${differenceText(body.difference as Difference, process.stdout.isTTY)}`,
      );
    return done;
  });
}

export function registerDiff(program: Command, run: Runner): void {
  const command = program
    .command('diff <page>')
    .description('what changed between two versions of a page (the last two unless said)')
    .option('--from <version>', 'the older version')
    .option('--to <version>', 'the newer version');
  example(jsonOption(dataOption(command)), 'revisit diff https://example.org/news');
  command.action(run(diff));
}
