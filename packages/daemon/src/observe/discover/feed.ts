/** What a feed (RSS, Atom, RDF, JSON Feed) lists: the pages its entries link to, with the dates they carry. */
import { parseFeed } from 'feedsmith';
import { type Listed, listedMax, stated } from './listed.ts';

interface Entry {
  readonly link?: string;
  readonly url?: string;
  readonly links?: readonly { readonly href?: string; readonly rel?: string }[];
  readonly guid?: string | { readonly value?: string; readonly isPermaLink?: boolean };
  readonly title?: string | { readonly value?: string };
  readonly updated?: string;
  readonly published?: string;
  readonly pubDate?: string;
  readonly date_modified?: string;
  readonly date_published?: string;
  readonly dc?: { readonly date?: string };
}

// A comment ends at its first end: were it free to go on, a page that begins with forty of them would be tried in 2^40 ways.
const feedStart =
  /^\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--(?:(?!-->)[\s\S])*-->\s*|<\?[^>]*\?>\s*)*<(?:rss|feed|rdf:RDF)[\s>]/i;

export function looksLikeFeed(text: string): boolean {
  return feedStart.test(text.slice(0, 4096)) || /^\s*\{[^{}]{0,400}"version"\s*:\s*"https:\/\/jsonfeed\.org/.test(text);
}

export function parseFeedIndex(text: string): readonly Listed[] {
  let entries: readonly Entry[];
  try {
    const { feed } = parseFeed(text) as { feed: { items?: Entry[]; entries?: Entry[] } };
    entries = feed.items ?? feed.entries ?? [];
  } catch {
    return [];
  }
  return entries.slice(0, listedMax).flatMap((entry) => {
    const url = linkOf(entry);
    if (url === undefined) return [];
    const date =
      entry.updated ??
      entry.date_modified ??
      entry.pubDate ??
      entry.published ??
      entry.date_published ??
      entry.dc?.date;
    const title = typeof entry.title === 'string' ? entry.title : entry.title?.value;
    return [{ url, ...stated(date ?? ''), ...(title ? { title } : {}) }];
  });
}

function linkOf(entry: Entry): string | undefined {
  const direct = entry.link ?? entry.url ?? entry.links?.find(({ rel }) => !rel || rel === 'alternate')?.href;
  if (direct !== undefined) return direct;
  const guid = typeof entry.guid === 'string' ? entry.guid : entry.guid?.value;
  return guid !== undefined && /^https?:/.test(guid) ? guid : undefined;
}
