/** Sitemaps and their indexes as items: the addresses they list, with the dates they give. */
import { gunzipSync } from 'node:zlib';
import { SaxesParser } from 'saxes';
import { type Fault, fault } from '../values/fault.ts';
import { isLateDeclaration, mended } from '../values/xml.ts';
import type { Item } from './items.ts';

/** The protocol's limits for one file: its size unpacked, and its entries. */
const unpackedBytesMax = 50 * 2 ** 20;
const entriesMax = 50_000;
/** Longer texts inside a tag are no address and no date. */
const textCharactersMax = 4096;

const sitemapStart =
  /^\ufeff?\s*(<\?xml[^>]*\?>\s*)?(<!--(?:(?!-->)[\s\S])*-->\s*|<\?[^>]*\?>\s*|<!DOCTYPE[^[>]*(?:\[[^\]]*\]\s*)?>\s*)*<(\w+:)?(urlset|sitemapindex)[\s>]/;

export function looksLikeSitemap(text: string): boolean {
  return sitemapStart.test(text.slice(0, 4096));
}

/** What may be a packed sitemap; undefined for a body that is not packed, a fault for one that is larger than any. */
export function unpacked(body: Uint8Array): Uint8Array | Fault | undefined {
  if (!isPacked(body)) return undefined;
  try {
    return gunzipSync(body, { maxOutputLength: unpackedBytesMax });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') return undefined;
    return fault('body-too-large', `${body.length} bytes of gzip unpack to more than ${unpackedBytesMax} bytes`);
  }
}

export const isPacked = (body: Uint8Array): boolean => body[0] === 0x1f && body[1] === 0x8b;

/** Each address once; undefined for a file that is not whole, of which nobody knows what is missing. */
export function sitemapItems(text: string): readonly Item[] | undefined {
  const items = new Map<string, Item>();
  let entry: { url: string; modified: string; isUnread?: true } | undefined;
  let field: 'url' | 'modified' | undefined;
  const parser = new SaxesParser();
  parser.on('opentag', ({ name }) => {
    const local = name.slice(name.indexOf(':') + 1);
    // Pictures and films of a page have addresses and names of their own, in tags with a prefix of their own.
    const isOwn = !/^(image|video|news|xhtml):/.test(name);
    if (isOwn && (local === 'url' || local === 'sitemap')) entry = { url: '', modified: '' };
    field = !isOwn ? undefined : local === 'loc' ? 'url' : local === 'lastmod' ? 'modified' : undefined;
  });
  const take = (words: string) => {
    if (entry && field && entry[field].length < textCharactersMax) entry[field] += words;
  };
  parser.on('text', take);
  parser.on('cdata', take);
  parser.on('closetag', ({ name }) => {
    field = undefined;
    if (!entry || !/^(?:\w+:)?(url|sitemap)$/.test(name)) return;
    const url = entry.url.trim();
    const modified = entry.modified.trim();
    const { isUnread } = entry;
    entry = undefined;
    if (!isUnread && url !== '' && items.size < entriesMax)
      items.set(url, { url, ...(modified === '' ? {} : { modified }) });
  });
  parser.on('error', (error) => {
    if (isLateDeclaration(error.message)) return;
    // Entities that a file defines are never expanded: an entry that needs one is left out, and the file is whole all the same.
    if (!error.message.endsWith('undefined entity.')) throw error;
    if (entry && field) entry.isUnread = true;
  });
  try {
    parser.write(mended(text)).close();
  } catch {
    return undefined;
  }
  return [...items.values()];
}
