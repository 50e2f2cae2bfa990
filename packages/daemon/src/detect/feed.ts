/** Feeds as items: what each entry says, without the feed's own dates and counters. */
import { parseFeed } from 'feedsmith';
import type { Json } from './json.ts';
import { visibleText } from './text.ts';
import { parseHtmlPart } from './tree.ts';

const feedTypes = /^(application\/(rss|atom|rdf|feed)\+(xml|json))$/;
// A comment ends at its first end: were it free to go on, a page that begins with forty of them would be tried in 2^40 ways.
const feedStart = /^\s*(<\?xml[^>]*\?>\s*)?(<!--(?:(?!-->)[\s\S])*-->\s*)*(<\?[^>]*\?>\s*)*<(rss|feed|rdf:RDF)[\s>]/i;

export function looksLikeFeed(mediaType: string | undefined, text: string): boolean {
  if (mediaType !== undefined && feedTypes.test(mediaType)) return true;
  return feedStart.test(text.slice(0, 4096)) || /^\s*\{[^{}]{0,400}"version"\s*:\s*"https:\/\/jsonfeed\.org/.test(text);
}

interface Entry {
  readonly id?: string;
  readonly guid?: string | { readonly value?: string };
  readonly link?: string;
  readonly url?: string;
  readonly links?: readonly { readonly href?: string; readonly rel?: string }[];
  readonly title?: string | { readonly value?: string };
  readonly description?: string;
  readonly summary?: string | { readonly value?: string };
  readonly content?: string | { readonly value?: string };
  readonly content_html?: string;
  readonly content_text?: string;
  readonly rdf?: { readonly about?: string };
}

const valueOf = (part: string | { readonly value?: string } | undefined): string | undefined =>
  typeof part === 'string' ? part : part?.value;

const plain = (markup: string | undefined): string | undefined =>
  markup === undefined ? undefined : visibleText(parseHtmlPart(markup)) || undefined;

function itemOf(entry: Entry): { readonly [name: string]: Json } {
  const link =
    entry.link ??
    entry.url ??
    (entry.links?.find((link) => !link.rel || link.rel === 'alternate') ?? entry.links?.[0])?.href;
  const title = plain(valueOf(entry.title));
  const text =
    plain(entry.content_html ?? valueOf(entry.content)) ??
    entry.content_text ??
    plain(entry.description ?? valueOf(entry.summary));
  const id = valueOf(entry.guid) ?? entry.id ?? entry.rdf?.about ?? link ?? title ?? text ?? '';
  return { id, ...(title ? { title } : {}), ...(link ? { link } : {}), ...(text ? { text } : {}) };
}

export function feedItems(
  text: string,
): { readonly items: readonly { readonly [name: string]: Json }[]; readonly title?: string } | { wrong: string } {
  try {
    const { feed } = parseFeed(text) as {
      feed: { title?: string | { value?: string }; items?: Entry[]; entries?: Entry[] };
    };
    const title = valueOf(feed.title);
    const entries = feed.items ?? feed.entries ?? [];
    return { items: entries.map(itemOf), ...(title ? { title } : {}) };
  } catch (error) {
    return { wrong: error instanceof Error ? error.message : String(error) };
  }
}
