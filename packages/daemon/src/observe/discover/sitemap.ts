/** Sitemaps (sitemaps.org 0.9) and their indexes, read as a stream of tags: a file of 50 MB leaves only its entries. */
import { gunzipSync } from 'node:zlib';
import { SaxesParser } from 'saxes';
import { type Listed, listedMax, type Stated, stated } from './listed.ts';

/** The protocol's limit for one file, unpacked. */
const unpackedBytesMax = 50 * 2 ** 20;
/** Longer texts inside a tag are no address and no date. */
const textCharactersMax = 4096;

export function looksLikeSitemap(text: string): boolean {
  return /<(?:\w+:)?(urlset|sitemapindex)[\s>]/.test(text.slice(0, 4096));
}

/** Sitemaps are often kept as .gz files and served as what they are. */
export function unpackSitemap(body: Uint8Array): Uint8Array | undefined {
  if (body[0] !== 0x1f || body[1] !== 0x8b) return body;
  try {
    return gunzipSync(body, { maxOutputLength: unpackedBytesMax });
  } catch {
    return undefined;
  }
}

/** The protocol's other form: an address a line and nothing else; undefined for a text that says anything else. */
export function parseTextSitemap(text: string): readonly Listed[] | undefined {
  const lines = text
    .replace(/^\ufeff/, '')
    .split(/\r\n|\r|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (lines.length === 0 || !lines.every((line) => /^https?:\/\/[^\s<>"]+$/i.test(line))) return undefined;
  return lines.slice(0, listedMax).map((url) => ({ url }));
}

/** Entries up to the first mistake in the file: what came before it is good. */
export function parseSitemap(text: string): readonly Listed[] {
  const listed: Listed[] = [];
  const parser = new SaxesParser();
  const stop = new Error('enough');
  let index = false;
  let entry: { url?: string; date: Stated; isUnread?: true } | undefined;
  let collecting = '';
  let words = '';
  const collect = (text: string) => {
    if (collecting !== '' && words.length < textCharactersMax) words += text;
  };
  parser.on('opentag', ({ name }) => {
    const local = name.slice(name.indexOf(':') + 1);
    if (local === 'sitemapindex') index = true;
    if (local === 'url' || local === 'sitemap') entry = { date: {} };
    collecting = name === local || !name.includes('image') ? local : '';
    words = '';
  });
  parser.on('text', collect);
  parser.on('cdata', collect);
  parser.on('closetag', ({ name }) => {
    const local = name.slice(name.indexOf(':') + 1);
    if (entry && local === collecting && local === 'loc' && entry.url === undefined) entry.url = words.trim();
    if (entry && local === collecting && local === 'lastmod') entry.date = stated(words.trim());
    if (entry && (local === 'url' || local === 'sitemap')) {
      const { url, date, isUnread } = entry;
      if (url && !isUnread) listed.push({ url, ...date, ...(index ? { isIndex: true } : {}) });
      entry = undefined;
      if (listed.length >= listedMax) throw stop;
    }
    collecting = '';
  });
  parser.on('error', ({ message }) => {
    // Entities that a file defines are never expanded: an address that needs one is not read, and the others are.
    if (!message.endsWith('undefined entity.')) throw stop;
    if (entry && collecting === 'loc') entry.isUnread = true;
  });
  try {
    parser.write(text).close();
  } catch {
    // The reader was stopped, by us or by what stands in the file; what was listed stays listed.
  }
  return listed;
}
