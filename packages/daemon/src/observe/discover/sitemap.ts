/** Sitemaps (sitemaps.org 0.9) and their indexes, read as a stream of tags: a file of 50 MB leaves only its entries. */
import { gunzipSync } from 'node:zlib';
import { SaxesParser } from 'saxes';
import { mended } from '../../values/xml.ts';
import { type Listed, type ListRead, listedMax, type Stated, stated } from './listed.ts';

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

/** A file with more of them is no sitemap with mistakes; each costs a search for where its tags end. */
const mistakesMax = 1_000;
/** Mistakes between entries behind which an entry may be that is not seen as one; others say nothing of what is listed. */
const hides = /tag name|instruction|unclosed tag|unexpected end/;
const undefinedEntity = 'undefined entity.';

/** Past mistakes, without the entries that have one: what stands before and behind them is good. */
export function parseSitemap(text: string): ListRead {
  const listed: Listed[] = [];
  const misses = new Misses();
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
    if (local === 'url' || local === 'sitemap') {
      if (entry) misses.skip('an entry that does not end');
      entry = { date: {} };
    }
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
      entry = undefined;
      if (isUnread) misses.skip();
      else if (url && listed.length >= listedMax) {
        misses.skip(`more than ${listedMax} entries`);
        throw stop;
      } else if (url) listed.push({ url, ...date, ...(index ? { isIndex: true } : {}) });
    }
    collecting = '';
  });
  parser.on('error', ({ message }) => {
    // Entities that a file defines are never expanded: an address that needs one is not read, and the others are.
    const isOfAddress = message.endsWith(undefinedEntity);
    if (isOfAddress && !(entry && collecting === 'loc')) return;
    if (entry) entry.isUnread = true;
    if (entry || hides.test(message)) misses.because(message);
    if (!isOfAddress && ++misses.mistakes > mistakesMax) throw stop;
  });
  try {
    parser.write(mended(text)).close();
  } catch {
    // The reader was stopped; what was listed stays listed.
  }
  if (entry) misses.skip();
  return { listed, ...misses.told };
}

/** What was passed over in one file, and the first reason. */
class Misses {
  mistakes = 0;
  #skipped = 0;
  #why: string | undefined;

  /** Readers say where as LINE:COLUMN. */
  because(why: string): void {
    this.#why ??= why.replace(/^(\d+):\d+: (.*?)\.?$/, 'line $1: $2');
  }

  skip(why?: string): void {
    this.#skipped++;
    if (why !== undefined) this.because(why);
  }

  get told(): Pick<ListRead, 'missed'> {
    return this.#why === undefined ? {} : { missed: { skipped: this.#skipped, why: this.#why } };
  }
}
