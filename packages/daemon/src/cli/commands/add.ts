import type { Command } from 'commander';
import { readPage } from '../../config/page-input.ts';
import { settingsWrong } from '../../settings-wrong.ts';
import type { PageInput } from '../../api/client.ts';
import { withClient } from '../client.ts';
import type { Runner } from '../program.ts';
import { dataOption, example, jsonOption } from '../options.ts';
import { type CommandOutcome, done, print, printJson, wrong } from '../outcome.ts';

interface AddOptions {
  readonly data: string;
  readonly json?: boolean;
  readonly select?: string;
  readonly title?: string;
  readonly tag?: readonly string[];
  readonly weight?: string;
  readonly spacing?: string;
  readonly options?: string;
}

function optionsOf(text: string | undefined): { options: unknown } | CommandOutcome | undefined {
  if (text === undefined) return undefined;
  try {
    return { options: JSON.parse(text) as unknown };
  } catch {
    return wrong(`--options ${text}: JSON is expected, such as '{"tell":{"percentMin":5}}'`);
  }
}

async function add(urls: readonly string[], options: AddOptions): Promise<CommandOutcome> {
  const weight = options.weight === undefined ? undefined : Number(options.weight);
  if (weight !== undefined && !(weight > 0)) return wrong(`--weight ${options.weight}: a number above 0 is expected`);
  const given = optionsOf(options.options);
  if (given && 'code' in given) return given;
  const pages = urls.map((url) => ({
    url,
    ...(options.select === undefined ? {} : { select: options.select }),
    ...(options.title === undefined ? {} : { title: options.title }),
    ...(options.tag === undefined ? {} : { tags: options.tag }),
    ...(options.spacing === undefined ? {} : { spacing: options.spacing }),
    ...(weight === undefined ? {} : { weight }),
    ...(given ? { options: given.options } : {}),
  }));
  // Checked before the folder is touched, so that a mistake leaves no trace.
  for (const page of pages) {
    const read = readPage(page);
    if (read.kind === 'wrong') return wrong(read.sentence);
    const sentence = await settingsWrong(read.value);
    if (sentence !== undefined) return wrong(sentence);
  }
  return withClient({ data: options.data, creates: true }, async (client) => {
    const answer = await client.call('POST /api/pages', { body: pages as readonly PageInput[] });
    const added = 'pages' in answer ? answer.pages : [answer];
    if (options.json) printJson(added);
    else for (const page of added) print(`${page.id}  ${page.created ? 'watching' : 'already watched'}  ${page.url}`);
    return done;
  });
}

export function registerAdd(program: Command, run: Runner): void {
  const command = program
    .command('add <url...>')
    .description('watch pages, feeds or JSON endpoints')
    .option(
      '--select <selection>',
      'the part that counts: a CSS selector, //xpath, $.jsonpath, jq:…, regexp:…, main, links, text, whole',
    )
    .option('--title <text>', 'what to call it')
    .option('--tag <tag...>', 'labels to find it by')
    .option('--weight <number>', 'how much a change of it matters, relative to 1')
    .option('--spacing <duration>', 'least time between two looks at it, such as 1h')
    .option('--options <json>', 'how it is read, compared, told and kept (docs/detecting.md)');
  example(jsonOption(dataOption(command)), 'revisit add https://example.org/prices --select "#price" --tag shop');
  command.action(run(add));
}
