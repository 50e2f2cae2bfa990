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

/**
 * The protocol's other form: an address a line and nothing else. Undefined for a text that says anything else; of one that is known to be a
 * sitemap (`isSitemap`), lines that are none are passed over, and it needs one that is.
 */
export function parseTextSitemap(text: string, isSitemap: boolean): ListRead | undefined {
  const listed: Listed[] = [];
  const misses = new Misses();
  for (const [line, number] of linesOf(text)) {
    if (line === '' || (isSitemap && line.startsWith('#'))) continue;
    if (!address.test(line)) {
      if (!isSitemap) return undefined;
      misses.skip(`line ${number}: it is no address`);
      if (++misses.mistakes > mistakesMax) break;
    } else if (listed.length >= listedMax) {
      misses.skip(`more than ${listedMax} entries`);
      break;
    } else listed.push({ url: line });
  }
  return listed.length === 0 ? undefined : { listed, ...misses.told };
}

const address = /^https?:\/\/[^\s<>"]+$/i;

/** With their numbers; one by one, as a file may have millions. */
function* linesOf(text: string): Generator<readonly [string, number]> {
  let number = 0;
  for (const { 0: line } of text.matchAll(/[^\r\n]*(?:\r\n|\r|\n|$)/g)) yield [line.trim(), ++number];
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
