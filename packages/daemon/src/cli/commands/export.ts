import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import type { Command } from 'commander';
import { exportForm } from '../../import/own.ts';
import { makeFolder } from '../../store/make-folder.ts';
import { type ArchivedVersion, warcInfo, warcRecord } from '../../store/warc.ts';
import { version } from '../../version.ts';
import type { Calls } from '../../api/client.ts';
import { type Client, Refused, unlessMissing, withClient } from '../client.ts';
import type { Runner } from '../program.ts';
import { dataOption, example } from '../options.ts';
import { type CommandOutcome, counted, done, failed, note, wrong } from '../outcome.ts';

const kinds = ['revisit', 'urls', 'opml', 'warc', 'files'] as const;

interface ExportOptions {
  readonly data: string;
  readonly out?: string;
  readonly format: string;
  readonly versions: boolean;
  readonly secrets?: boolean;
}

interface ExportRecord {
  readonly id: string;
  readonly page: {
    readonly url: string;
    readonly title?: string;
    readonly tags?: readonly string[];
    readonly [name: string]: unknown;
  };
  readonly state?: { readonly version?: number };
}

type Write = (text: string) => Promise<void>;

async function* records(client: Client, secrets: boolean): AsyncGenerator<ExportRecord> {
  for (let cursor: string | null = ''; cursor !== null;) {
    const query = { limit: 500, secrets, cursor };
    const answer: Calls['GET /api/export']['answer'] = await client.call('GET /api/export', { query });
    yield* answer.records as unknown as readonly ExportRecord[];
    cursor = answer.next;
  }
}

type WriteVersion = (version: ArchivedVersion) => Promise<void>;

/** How each form writes a version; forms without one keep none. */
function versionWriter(
  kind: (typeof kinds)[number],
  write: Write,
  folder: string | undefined,
): WriteVersion | undefined {
  if (kind === 'revisit')
    return ({ number, at, format, text }) => write(`${JSON.stringify({ version: { number, at, format, text } })}\n`);
  if (kind === 'warc') return (version) => write(warcRecord(version));
  if (kind !== 'files') return undefined;
  return async ({ pageId, number, format, text }) => {
    const extension = { html: 'html', json: 'json', items: 'ndjson' }[format] ?? 'txt';
    await mkdir(join(folder!, pageId), { recursive: true });
    await writeFile(join(folder!, pageId, `${String(number).padStart(6, '0')}.${extension}`), text);
  };
}

async function writeVersions(client: Client, { id, page }: ExportRecord, write: WriteVersion): Promise<void> {
  const { versions } = await client.call('GET /api/pages/{id}/versions', { path: { id } });
  for (const { number, at, format } of versions) {
    const text = await unlessMissing(client.call('GET /api/pages/{id}/versions/{number}', { path: { id, number } }));
    // Missing: removed by retention since it was listed.
    if (text !== undefined) await write({ pageId: id, url: page.url, number, at, format, text });
  }
}

const xml = (text: string): string =>
  text
    // oxlint-disable-next-line no-control-regex
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '')
    .replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

const forms: Record<
  (typeof kinds)[number],
  { head: (secrets: boolean) => string; page: (record: ExportRecord) => string; foot: (count: number) => string }
> = {
  revisit: {
    head: (secrets) => `${JSON.stringify({ revisit: exportForm, version, secrets })}\n`,
    page: ({ id: _id, ...record }) => `${JSON.stringify(record)}\n`,
    foot: (count) => `${JSON.stringify({ end: count })}\n`,
  },
  urls: {
    head: () => '',
    page: ({ page }) => `${page.url}${page.title ? ` ${page.title.replace(/\s+/g, ' ')}` : ''}\n`,
    foot: () => '',
  },
  warc: { head: () => warcInfo(`revisit/${version}`, new Date().toISOString()), page: () => '', foot: () => '' },
  // In a folder: one folder a page, one file a version, and an index that says which page is which.
  files: {
    head: () => '',
    page: ({ id, page }) => `${id}\t${page.url}\t${(page.title ?? '').replace(/\s+/g, ' ')}\n`,
    foot: () => '',
  },
  opml: {
    head: () =>
      '<?xml version="1.0" encoding="UTF-8"?>\n<opml version="2.0"><head><title>Pages watched by Revisit</title></head><body>\n',
    page: ({ page }) =>
      `  <outline type="rss" text="${xml(page.title ?? page.url)}" xmlUrl="${xml(page.url)}"${page.tags?.length ? ` category="${xml(page.tags.join(','))}"` : ''}/>\n`,
    foot: () => '</body></opml>\n',
  },
};

async function exportAll(
  client: Client,
  options: ExportOptions,
  kind: (typeof kinds)[number],
  write: Write,
): Promise<number> {
  const form = forms[kind];
  const versions = versionWriter(kind, write, options.out);
  await write(form.head(options.secrets ?? false));
  let count = 0;
  for await (const record of records(client, options.secrets ?? false)) {
    count++;
    await write(form.page(record));
    if (versions && options.versions && (record.state?.version ?? 0) > 0) await writeVersions(client, record, versions);
  }
  await write(form.foot(count));
  return count;
}

const writer =
  (stream: Writable): Write =>
  async (text) => {
    if (text !== '' && !stream.write(text)) await once(stream, 'drain');
  };

async function exportTo(options: ExportOptions): Promise<CommandOutcome> {
  const kind = kinds.find((name) => name === options.format);
  if (!kind) return wrong(`--format ${options.format}: one of ${kinds.join(', ')} is expected`);
  return withClient({ data: options.data }, async (client) => {
    if (options.out === undefined && kind === 'files')
      return wrong('--format files: needs --out with the folder to fill');
    if (options.out === undefined) {
      await exportAll(client, options, kind, writer(process.stdout));
      return done;
    }
    const target = kind === 'files' ? join(options.out, 'pages.tsv') : options.out;
    // The old file stays until the new one is whole.
    const draft = `${target}.part`;
    try {
      if (kind === 'files') makeFolder(options.out);
      const stream = createWriteStream(draft, { mode: 0o600 });
      await once(stream, 'open');
      const written = await exportAll(client, options, kind, writer(stream));
      await new Promise<void>((resolve, reject) =>
        stream.end((error?: Error | null) => (error ? reject(error) : resolve())),
      );
      await rename(draft, target);
      note(`${counted(written, 'page')} written to ${options.out}`);
      return done;
    } catch (error) {
      await rm(draft, { force: true }).catch(() => {});
      if (error instanceof Refused) throw error;
      return failed(
        `--out ${options.out}: cannot be written (${(error as NodeJS.ErrnoException).code ?? String(error)})`,
      );
    }
  });
}

export function registerExport(program: Command, run: Runner): void {
  const command = program
    .command('export')
    .description('everything out again: pages, settings, tags, versions and what was learned')
    .option('--out <file>', 'where to write it (stdout unless said)')
    .option('--format <name>', `${kinds.join(', ')}; only the first keeps everything`, 'revisit')
    .option('--no-versions', 'leave past versions out')
    .option('--secrets', 'with the values of request headers, which may be passwords');
  example(dataOption(command), 'revisit export --out backup.ndjson');
  command.action(run(exportTo));
}
