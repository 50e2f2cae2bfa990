import { isDeepStrictEqual } from 'node:util';
import type { Command } from 'commander';
import { selectText } from '../../api/bodies.ts';
import type { Page, PageChange, PageInput } from '../../api/client.ts';
import { readPage, readPageFields } from '../../config/page-input.ts';
import { settingsWrong } from '../../settings-wrong.ts';
import type { NewPageSettings } from '../../values/page.ts';
import { type Client, withClient } from '../client.ts';
import type { Runner } from '../program.ts';
import { dataOption, example, jsonOption } from '../options.ts';
import { type CommandOutcome, done, print, printJson, wrong } from '../outcome.ts';
import { findPage } from './pages.ts';

interface SettingsOptions {
  readonly select?: string;
  readonly title?: string;
  readonly tag?: readonly string[];
  readonly weight?: string;
  readonly spacing?: string;
  readonly options?: string;
  readonly render?: boolean;
  readonly header?: readonly string[];
}

interface AddOptions extends SettingsOptions {
  readonly data: string;
  readonly json?: boolean;
}

type Settings = Pick<PageChange, 'select' | 'title' | 'tags' | 'weight' | 'spacing' | 'options' | 'render' | 'headers'>;

function optionsOf(text: string | undefined): { options: unknown } | CommandOutcome | undefined {
  if (text === undefined) return undefined;
  try {
    return { options: JSON.parse(text) as unknown };
  } catch {
    return wrong(`--options ${text}: JSON is expected, such as '{"tell":{"percentMin":5}}'`);
  }
}

/** Values may be credentials: no sentence repeats one. */
function headersOf(lines: readonly string[] = []): { headers: Record<string, string> } | CommandOutcome | undefined {
  if (lines.length === 0) return undefined;
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon)).trim();
    if (name === '') return wrong(`--header: "Name: value" is expected, such as "Accept-Language: de"`);
    if (Object.hasOwn(headers, name)) return wrong(`--header ${name}: is given twice`);
    headers[name] = line.slice(colon + 1).trim();
  }
  return { headers };
}

/** What was said of pages, as the API takes it. */
function settingsOf(options: SettingsOptions): { readonly settings: Settings } | CommandOutcome {
  const weight = options.weight === undefined ? undefined : Number(options.weight);
  if (weight !== undefined && !(weight > 0)) return wrong(`--weight ${options.weight}: a number above 0 is expected`);
  const given = optionsOf(options.options);
  if (given && 'code' in given) return given;
  const headers = headersOf(options.header);
  if (headers && 'code' in headers) return headers;
  return {
    settings: {
      ...(options.select === undefined ? {} : { select: options.select }),
      ...(options.title === undefined ? {} : { title: options.title }),
      ...(options.tag === undefined ? {} : { tags: [...options.tag] }),
      ...(options.spacing === undefined ? {} : { spacing: options.spacing }),
      ...(weight === undefined ? {} : { weight }),
      ...(given ? { options: given.options as Record<string, unknown> } : {}),
      ...(options.render === undefined ? {} : { render: options.render }),
      ...headers,
    },
  };
}

async function add(urls: readonly string[], options: AddOptions): Promise<CommandOutcome> {
  const said = settingsOf(options);
  if ('code' in said) return said;
  const pages = urls.map((url) => ({ url, ...said.settings }));
  // Checked before the folder is touched, so that a mistake leaves no trace.
  const wanted: NewPageSettings[] = [];
  for (const page of pages) {
    const read = readPage(page);
    if (read.kind === 'wrong') return wrong(read.sentence);
    const sentence = await settingsWrong(read.value);
    if (sentence !== undefined) return wrong(sentence);
    wanted.push(read.value);
  }
  return withClient({ data: options.data, creates: true }, async (client) => {
    const { select: _select, ...settings } = said.settings;
    for (const page of Object.keys(settings).length > 0 ? wanted : []) {
      const sentence = await watchedOtherwise(client, page, settings);
      if (sentence !== undefined) return wrong(sentence);
    }
    const answer = await client.call('POST /api/pages', { body: pages as readonly PageInput[] });
    const added = 'pages' in answer ? answer.pages : [answer];
    if (options.json) printJson(added);
    else for (const page of added) print(`${page.id}  ${page.created ? 'watching' : 'already watched'}  ${page.url}`);
    return done;
  });
}

/** What is said of a page that is watched already and is not so; to add it again would leave it as it is. */
async function watchedOtherwise(
  client: Client,
  wanted: NewPageSettings,
  settings: Omit<Settings, 'select'>,
): Promise<string | undefined> {
  const { pages } = await client.call('GET /api/pages', { query: { text: wanted.url, limit: 1_000 } });
  const page = pages.find(({ url, select }) => url === wanted.url && select === selectText(wanted.select));
  if (!page) return undefined;
  const read = readPageFields(settings);
  const given = Object.entries(read.kind === 'read' ? read.value : {});
  const others = given.filter(([name, value]) => !isDeepStrictEqual(value, standing(page, name)));
  if (others.length === 0) return undefined;
  const differences = others.map(([name, value]) => {
    // What stands in them nobody is told again, so nobody can say whether these are the same.
    if (name === 'headers') return 'its headers are kept as they are';
    return `${name === 'spacingSeconds' ? 'spacing in seconds' : name} is ${JSON.stringify(standing(page, name)) ?? 'not set'}, not ${JSON.stringify(value)}`;
  });
  return `${page.url} is watched already: ${differences.join('; ')}; "revisit edit ${page.id}" with the same settings changes that`;
}

/** A setting as a person would write it: where a page came from is the daemon's own note among its options. */
function standing(page: Page, name: string): unknown {
  if (name === 'render') return page.render ?? false;
  if (name !== 'options') return page[name as keyof Page];
  const { discovered: _discovered, ...options } = page.options;
  return options;
}

async function edit(words: readonly string[], options: AddOptions): Promise<CommandOutcome> {
  const said = settingsOf(options);
  if ('code' in said) return said;
  const { settings } = said;
  if (Object.keys(settings).length === 0)
    return wrong(
      'edit: nothing is said to change; --select, --title, --tag, --weight, --spacing, --render, --header or --options is expected',
    );
  return withClient({ data: options.data }, async (client) => {
    // All are found before any is touched: a typing error in the last one changes nothing.
    const pages: Page[] = [];
    for (const word of words) {
      const page = await findPage(client, word);
      if ('code' in page) return page;
      pages.push(page);
    }
    const changed: Page[] = [];
    for (const { id, options: own } of pages) {
      const { discovered } = own;
      const kept = settings.options && discovered ? { options: { ...settings.options, discovered } } : {};
      changed.push(await client.call('PATCH /api/pages/{id}', { path: { id }, body: { ...settings, ...kept } }));
    }
    if (options.json) printJson(changed);
    else for (const page of changed) print(`${page.id}  changed  ${page.url}`);
    return done;
  });
}

const together = (line: string, before: readonly string[] = []): readonly string[] => [...before, line];

const withSettings = (command: Command): Command =>
  command
    .option(
      '--select <selection>',
      'the part that counts: a CSS selector, //xpath, $.jsonpath, jq:…, regexp:…, main, links, text, whole',
    )
    .option('--title <text>', 'what to call it')
    .option('--tag <tag...>', 'labels to find it by')
    .option('--weight <number>', 'how much a change of it matters, relative to 1')
    .option('--spacing <duration>', 'least time between two looks at it, such as 1h')
    .option('--render', 'show it in a browser first, as its scripts write it (needs a Chromium)')
    .option('--no-render', 'read it as the server sends it')
    .option('--header <line>', 'send "Name: value" with each request for it; may be given again', together)
    .option('--options <json>', 'how it is read, compared, told and kept (docs/detecting.md)');

export function registerAdd(program: Command, run: Runner): void {
  const adding = withSettings(program.command('add <url...>').description('watch pages, feeds or JSON endpoints'));
  example(jsonOption(dataOption(adding)), 'revisit add https://example.org/prices --select "#price" --tag shop');
  adding.action(run(add));

  const editing = withSettings(
    program.command('edit <page...>').description('change how pages are watched; what is not said stays as it is'),
  );
  example(jsonOption(dataOption(editing)), 'revisit edit https://example.org/prices --spacing 1h');
  editing.action(run(edit));
}
