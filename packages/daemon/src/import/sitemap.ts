/**
 * Sitemaps and indexes of sitemaps (sitemaps.org). An index is followed breadth first; each address once, so a cycle ends,
 * and no deeper and no more than anyone honest needs.
 */
import { approximated, type Found, impossible } from './found.ts';
import { type Pieces, Unreadable } from './source.ts';
import { XmlReader } from './xml.ts';

/** The protocol allows one level; some sites have two. */
const depthMax = 3;
/** The protocol's own bound for one index. */
const filesMax = 50_000;

export type OpenSitemap = (
  url: string,
) => Promise<
  { readonly kind: 'opened'; readonly pieces: Pieces } | { readonly kind: 'failed'; readonly sentence: string }
>;

interface Entry {
  url: string;
  priority: string;
  changefreq: string;
}

type Listed = Found | { readonly kind: 'child'; readonly url: string };

/** One file: pages of a urlset, children of an index. */
async function* readOne(pieces: Pieces, name: string): AsyncGenerator<readonly Listed[]> {
  let found: Listed[] = [];
  let entry: Entry | undefined;
  let field: keyof Entry | undefined;
  let root = '';
  let frequencies = 0;
  let line = 0;
  const open = (tag: string, _attributes: unknown, at: number): void => {
    root ||= tag;
    if (root !== 'urlset' && root !== 'sitemapindex')
      throw new Unreadable(`it is no sitemap: its first element is <${tag}>, <urlset> or <sitemapindex> is expected`);
    line = at;
    if (tag === 'url' || tag === 'sitemap') entry = { url: '', priority: '', changefreq: '' };
    else if (entry) field = tag === 'loc' ? 'url' : tag === 'priority' || tag === 'changefreq' ? tag : undefined;
  };
  const close = (tag: string): void => {
    field = undefined;
    if (!entry || (tag !== 'url' && tag !== 'sitemap')) return;
    const where = `${name} line ${line}`;
    const url = entry.url.trim();
    if (url === '') found.push(impossible(where, 'an entry names no address'));
    else if (tag === 'sitemap') found.push({ kind: 'child', url });
    else found.push({ kind: 'page', where, input: pageOf(entry, url) });
    if (entry.changefreq !== '') frequencies++;
    entry = undefined;
  };
  const reader = new XmlReader({ open, close, text: (text) => void (entry && field && (entry[field] += text)) });
  for await (const piece of pieces) {
    reader.write(piece);
    if (found.length > 0) yield found;
    found = [];
  }
  reader.end();
  if (frequencies > 0)
    found.push(approximated(name, `changefreq of ${frequencies} pages is not kept: rates are learned from looks`));
  if (found.length > 0) yield found;
}

/** The protocol's priority runs from 0 to 1 and is 0.5 where nothing is said: twice it is a weight relative to 1. */
function pageOf(entry: Entry, url: string): Record<string, unknown> {
  const priority = Number.parseFloat(entry.priority);
  return priority > 0 && priority <= 1 && priority !== 0.5 ? { url, weight: 2 * priority } : { url };
}

export async function* readSitemap(
  pieces: Pieces,
  name: string,
  openChild: OpenSitemap,
): AsyncGenerator<readonly Found[]> {
  const seen = new Set<string>();
  let level: { readonly name: string; readonly pieces: Pieces | undefined }[] = [{ name, pieces }];
  for (let depth = 0; level.length > 0; depth++) {
    const children: { readonly name: string; readonly pieces: undefined }[] = [];
    for (const file of level) {
      const opened = file.pieces ? ({ kind: 'opened', pieces: file.pieces } as const) : await openChild(file.name);
      if (opened.kind === 'failed') {
        // A part that is missing would be missed silently later: say so, and take the rest.
        yield [impossible(file.name, opened.sentence)];
        continue;
      }
      for await (const listed of readOne(opened.pieces, file.name)) {
        yield listed.filter((one): one is Found => one.kind !== 'child');
        for (const one of listed) {
          if (one.kind !== 'child' || seen.has(one.url)) continue;
          if (seen.size >= filesMax) throw new Unreadable(`it names more than ${filesMax} sitemaps`);
          seen.add(one.url);
          children.push({ name: one.url, pieces: undefined });
        }
      }
    }
    if (children.length > 0 && depth >= depthMax) {
      yield [
        impossible(
          children[0]!.name,
          `indexes within indexes are followed ${depthMax} deep; ${children.length} sitemaps are left out`,
        ),
      ];
      return;
    }
    level = children;
  }
}
