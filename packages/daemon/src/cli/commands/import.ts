import type { Command } from 'commander';
import { random } from '@revisit/core';
import type { Found, Reader } from '../../import/found.ts';
import type { Gathered, Notes } from '../../import/gather.ts';
import type { FetchBody } from '../../import/open.ts';
import { type Format, formats } from '../../import/recognise.ts';
import { takeOver } from '../../import/take-over.ts';
import type { WebObserver } from '../../observe/observe.ts';
import { systemClock } from '../../values/clock.ts';
import { parseNetwork } from '../../values/network.ts';
import { normaliseUrl, siteOf } from '../../values/url.ts';
import { userAgentOf } from '../../version.ts';
import { withClient } from '../client.ts';
import type { Runner } from '../program.ts';
import { dataOption, example, jsonOption } from '../options.ts';
import { type CommandOutcome, counted, done, failed, print, printJson, wrong } from '../outcome.ts';
import { progress } from '../progress.ts';
import { harmless } from '../table.ts';

interface ImportOptions {
  readonly data: string;
  readonly json?: boolean;
  readonly format?: string;
  readonly limit: string;
  readonly dryRun?: boolean;
  readonly tag?: readonly string[];
  readonly allowNetwork?: readonly string[];
  readonly contact?: string;
}

/** What is planned in memory comfortably; whoever means more says so. */
const pagesMaxDefault = 1_000_000;

/** Sitemaps are fetched like pages: robots.txt, spacing and the guard against private addresses hold. */
function fetcher(options: ImportOptions): { fetchBody: FetchBody; close: () => Promise<void> } {
  let observer: WebObserver | undefined;
  let count = 0;
  const fetchBody: FetchBody = async (address) => {
    const normal = normaliseUrl(address);
    if (normal.kind === 'refused') return { kind: 'failed', sentence: normal.fault.sentence };
    // Only who fetches needs what fetches.
    const { createObserver } = await import('../../observe/observe.ts');
    observer ??= createObserver({
      clock: systemClock,
      random: random(1),
      userAgent: userAgentOf(options.contact),
      allowNetworks: options.allowNetwork ?? [],
      spacingMs: 2_000,
      limits: { wireBytesMax: 64 * 2 ** 20, bodyBytesMax: 64 * 2 ** 20 },
    });
    const { url, host } = normal;
    const probe = {
      id: `import-${count++}`,
      url,
      site: siteOf(host),
      pageIds: [],
      atMs: systemClock.nowMs(),
      validators: {},
    };
    const { outcome } = await observer.observe(probe);
    if (outcome.kind === 'fetched') return { kind: 'fetched', body: outcome.body };
    const sentence =
      'fault' in outcome
        ? outcome.fault.sentence
        : `the server says it is not there${'status' in outcome ? ` (${outcome.status})` : ''}`;
    return { kind: 'failed', sentence };
  };
  return { fetchBody, close: async () => observer?.close() };
}

function notesText(title: string, notes: Notes): string[] {
  if (notes.count === 0) return [];
  const shown = notes.first.slice(0, 20).map(({ where, sentence }) => `  ${harmless(where)}: ${harmless(sentence)}`);
  const more = notes.count - shown.length;
  return [
    `${title}: ${notes.count}`,
    ...shown,
    ...(more > 0 ? [`  … and ${more} more (--json shows up to 1000)`] : []),
  ];
}

function report(
  options: ImportOptions,
  format: Format,
  gathered: Gathered,
  taken: { added: number; already: number; versions: number },
): void {
  const { pages, approximated, impossible } = gathered;
  const { added, already, versions } = taken;
  if (options.json)
    return printJson({
      format,
      pages,
      added,
      already,
      versions,
      dryRun: options.dryRun ?? false,
      approximated: { count: approximated.count, notes: approximated.first },
      impossible: { count: impossible.count, notes: impossible.first },
    });
  const past = versions > 0 ? `, with ${counted(versions, 'past version')}` : '';
  const lines = [
    options.dryRun
      ? `${counted(pages, 'page')} could be taken over from this ${format} file${past}; nothing was changed`
      : `taken over: ${counted(added, 'page')} from this ${format} file${past}${already > 0 ? `; ${already} ${already === 1 ? 'was' : 'were'} watched already and ${already === 1 ? 'keeps its' : 'keep their'} settings` : ''}`,
    ...notesText('approximated', approximated),
    ...notesText('not possible', impossible),
  ];
  print(lines.join('\n'));
}

async function importFile(file: string, options: ImportOptions): Promise<CommandOutcome> {
  const format = formats.find((name) => name === options.format);
  if (options.format !== undefined && !format)
    return wrong(`--format ${options.format}: one of ${formats.join(', ')} is expected`);
  const pagesMax = Number(options.limit);
  if (!Number.isSafeInteger(pagesMax) || pagesMax < 1)
    return wrong(`--limit ${options.limit}: a whole number of at least 1 is expected`);
  for (const network of options.allowNetwork ?? []) {
    const parsed = parseNetwork(network);
    if (parsed.kind === 'refused') return wrong(`--allow-network ${network}: ${parsed.fault.sentence}`);
  }
  const stop = new AbortController();
  const end = (): void => stop.abort();
  process.once('SIGINT', end).once('SIGTERM', end);
  const { fetchBody, close } = fetcher(options);
  try {
    const [{ openImport }, { gather }, { readPage }] = await Promise.all([
      import('../../import/open.ts'),
      import('../../import/gather.ts'),
      import('../../config/page-input.ts'),
    ]);
    const opened = await openImport(file, format, fetchBody);
    if (opened.kind === 'failed') return wrong(`${file}: ${opened.sentence}`);
    const tags = options.tag ?? [];
    const reader = tags.length === 0 ? opened.reader : tagged(opened.reader, tags);
    const gathered = await gather({ reader, pagesMax, check: readPage, signal: stop.signal });
    await opened.close();
    if (gathered.kind === 'broken') return wrong(`${file}: ${gathered.sentence}. Nothing was taken over.`);
    try {
      return await settle(file, opened.format, gathered, options, stop.signal);
    } finally {
      gathered.remove();
    }
  } finally {
    process.off('SIGINT', end).off('SIGTERM', end);
    await close();
  }
}

async function* tagged(reader: Reader, tags: readonly string[]): AsyncGenerator<readonly Found[]> {
  for await (const batch of reader)
    yield batch.map((found) => {
      if (found.kind !== 'page') return found;
      const own = (found.input['tags'] as string[] | undefined) ?? [];
      return { ...found, input: { ...found.input, tags: [...own, ...tags] } };
    });
}

async function settle(
  file: string,
  format: Format,
  gathered: Gathered,
  options: ImportOptions,
  signal: AbortSignal,
): Promise<CommandOutcome> {
  if (options.dryRun) {
    report(options, format, gathered, { added: 0, already: 0, versions: gathered.versions });
    return done;
  }
  return withClient({ data: options.data, creates: true }, async (client) => {
    const bar = progress('import', gathered.pages);
    let records = 0;
    const taken = await takeOver(gathered.spool, client.call, signal, (more) => bar.to((records += more)));
    bar.end();
    if (taken.kind === 'undone') return failed(`${file}: ${taken.sentence}`);
    report(options, format, gathered, taken);
    return done;
  });
}

export function registerImport(program: Command, run: Runner): void {
  const command = program
    .command('import <file>')
    .description(`take over pages from a file, - for stdin, or the address of a sitemap: ${formats.join(', ')}`)
    .option('--format <name>', 'what the file is, where it cannot be told from its beginning')
    .option('--limit <pages>', 'refuse files that name more pages', String(pagesMaxDefault))
    .option('--dry-run', 'read and report, change nothing')
    .option('--tag <tag...>', 'labels for everything that comes over')
    .option('--allow-network <cidr...>', 'private networks from which sitemaps may be fetched')
    .option('--contact <text>', 'how site owners reach you, where sitemaps are fetched');
  example(jsonOption(dataOption(command)), 'revisit import subscriptions.opml --tag reading');
  command.action(run(importFile));
}
