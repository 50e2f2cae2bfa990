/** From what a person names (a file, - for a pipe, an address) to the reader of its format. */
import { createWriteStream, existsSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { readChangedetection } from './changedetection.ts';
import type { Reader } from './found.ts';
import { readOpml } from './opml.ts';
import { readOwn } from './own.ts';
import { type Format, recognise } from './recognise.ts';
import { type OpenSitemap, readSitemap } from './sitemap.ts';
import { fileBytes, peek, textOf } from './source.ts';
import { readUrlList } from './url-list.ts';
import { readUrlwatch } from './urlwatch.ts';

/** The body behind an address, asked for as politely as any page. */
export type FetchBody = (
  url: string,
) => Promise<
  { readonly kind: 'fetched'; readonly body: Uint8Array } | { readonly kind: 'failed'; readonly sentence: string }
>;

export type OpenedImport =
  | { readonly kind: 'opened'; readonly format: Format; readonly reader: Reader; close(): Promise<void> }
  | { readonly kind: 'failed'; readonly sentence: string };

const headBytes = 64 * 1024;
const isAddress = (name: string): boolean => /^https?:\/\//i.test(name);

async function bytesOf(name: string, fetchBody: FetchBody): Promise<AsyncIterable<Buffer> | string> {
  if (isAddress(name)) {
    const answer = await fetchBody(name);
    return answer.kind === 'failed' ? answer.sentence : Readable.from([Buffer.from(answer.body)]);
  }
  if (name !== '-') {
    const stat = statSync(name, { throwIfNoEntry: false });
    if (!stat) return 'there is no such file';
    if (!stat.isFile() && !stat.isFIFO()) return 'it is no file';
  }
  return fileBytes(name) as AsyncIterable<Buffer>;
}

function unpackedHead(head: Buffer): Promise<string> {
  if (head[0] !== 0x1f || head[1] !== 0x8b)
    return Promise.resolve(head.toString(head[0] === 0xff && head[1] === 0xfe ? 'utf16le' : 'utf8'));
  return new Promise((resolve) => {
    const gunzip = createGunzip();
    gunzip.on('data', (chunk: Buffer) => {
      resolve(chunk.toString('utf8'));
      gunzip.destroy();
    });
    gunzip.on('error', () => resolve(''));
    gunzip.on('end', () => resolve(''));
    gunzip.end(head);
  });
}

/** Sitemaps that lie beside the index are read from there, the others are fetched. */
function childOpener(name: string, fetchBody: FetchBody): OpenSitemap {
  return async (url) => {
    const beside =
      isAddress(name) || name === '-' ? undefined : join(dirname(name), basename(URL.parse(url)?.pathname ?? ''));
    if (beside !== undefined && basename(beside) !== '' && existsSync(beside) && statSync(beside).isFile())
      return { kind: 'opened', pieces: textOf(fileBytes(beside) as AsyncIterable<Buffer>) };
    const answer = await fetchBody(url);
    return answer.kind === 'failed'
      ? answer
      : { kind: 'opened', pieces: textOf(Readable.from([Buffer.from(answer.body)])) };
  };
}

/** A zip is read from its end, so what comes through a pipe is set down first. */
async function archive(bytes: AsyncIterable<Buffer>): Promise<{ path: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'revisit-import-'));
  const path = join(folder, 'backup.zip');
  await pipeline(Readable.from(bytes), createWriteStream(path));
  return { path, remove: () => rm(folder, { recursive: true, force: true }) };
}

export async function openImport(name: string, said: Format | undefined, fetchBody: FetchBody): Promise<OpenedImport> {
  const bytes = await bytesOf(name, fetchBody);
  if (typeof bytes === 'string') return { kind: 'failed', sentence: bytes };
  let peeked: Awaited<ReturnType<typeof peek>>;
  try {
    peeked = await peek(bytes, headBytes);
  } catch (error) {
    return {
      kind: 'failed',
      sentence: `it cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)})`,
    };
  }
  const format = said ?? recognise(await unpackedHead(peeked.head));
  const opened = (reader: Reader, close = () => Promise.resolve()): OpenedImport => ({
    kind: 'opened',
    format,
    reader,
    close,
  });
  switch (format) {
    case 'changedetection': {
      if (name !== '-' && !isAddress(name)) return opened(readChangedetection(name));
      const { path, remove } = await archive(peeked.all);
      return opened(readChangedetection(path), remove);
    }
    case 'opml':
      return opened(readOpml(textOf(peeked.all)));
    case 'sitemap':
      return opened(readSitemap(textOf(peeked.all), name, childOpener(name, fetchBody)));
    case 'urlwatch':
    case 'webchanges':
      return opened(readUrlwatch(textOf(peeked.all)));
    case 'revisit':
      return opened(readOwn(textOf(peeked.all)));
    case 'urls':
      return opened(readUrlList(textOf(peeked.all)));
  }
}
