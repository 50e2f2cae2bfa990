/** What one answer reveals about other pages, whatever kind of index it is: URLs in their one spelling, each once. */
import type { Outcome } from '../../values/observation.ts';
import { decodeText } from '../../values/text.ts';
import { normaliseUrl } from '../../values/url.ts';
import { looksLikeFeed, parseFeedIndex } from './feed.ts';
import { parseLinks } from './links.ts';
import type { Listed, Missed } from './listed.ts';
import { looksLikeSitemap, parseSitemap, parseTextSitemap, unpackSitemap } from './sitemap.ts';

export interface Revealed {
  readonly kind: 'sitemap' | 'feed' | 'links' | 'nothing';
  readonly listed: readonly Listed[];
  /** Feeds and sitemaps that a page with links names. */
  readonly named?: readonly Listed[];
  /** What of a sitemap could not be read. */
  readonly missed?: Missed;
}

/** What is known of a body before it is read. */
export interface ReadAs {
  readonly isSitemap?: boolean | undefined;
}

type Fetched = Extract<Outcome, { kind: 'fetched' }>;
type RevealingBody = Pick<Fetched, 'body'> & { readonly [Name in 'mediaType' | 'charset']?: Fetched[Name] };

export function reveal(fetched: RevealingBody, pageUrl: string, { isSitemap = false }: ReadAs = {}): Revealed {
  const body = unpackSitemap(fetched.body);
  if (!body) return { kind: 'nothing', listed: [] };
  const { text } = decodeText(body, fetched.mediaType, fetched.charset);
  if (looksLikeSitemap(text)) {
    const { listed, ...missed } = parseSitemap(text);
    return { kind: 'sitemap', listed: tidy(listed, pageUrl), ...missed };
  }
  if (looksLikeFeed(text)) return { kind: 'feed', listed: tidy(parseFeedIndex(text), pageUrl) };
  const mayBeLines = fetched.mediaType === 'text/plain' || (isSitemap && isPackedType(fetched.mediaType));
  const lines = mayBeLines ? parseTextSitemap(text, isSitemap) : undefined;
  if (lines) return { kind: 'sitemap', ...lines, listed: tidy(lines.listed, pageUrl) };
  if (fetched.mediaType !== undefined && !/html|xml/.test(fetched.mediaType)) return { kind: 'nothing', listed: [] };
  const { listed, feeds, sitemaps, base: stated } = parseLinks(text);
  const base = (stated && URL.parse(stated, pageUrl)?.href) ?? pageUrl;
  const named = [...namedSitemaps(sitemaps, base), ...tidy(feeds.map(asFeed), base)];
  return { kind: 'links', listed: tidy(listed, base), ...(named.length > 0 ? { named } : {}) };
}

/** As what servers send a packed text. */
const isPackedType = (type = ''): boolean => /gzip|octet-stream/.test(type);

const asFeed = (url: string): Listed => ({ url, isIndex: true, isFeed: true });

/** Sitemaps by the addresses that a page or robots.txt gives for them. */
export function namedSitemaps(urls: readonly string[], base: string): readonly Listed[] {
  return tidy(
    urls.map((url) => ({ url, isIndex: true })),
    base,
  );
}

function tidy(listed: readonly Listed[], base: string): readonly Listed[] {
  const seen = new Map<string, Listed>();
  for (const entry of listed) {
    const absolute = URL.parse(entry.url, base)?.href;
    const normalised = absolute === undefined ? undefined : normaliseUrl(absolute);
    if (normalised?.kind === 'url' && !seen.has(normalised.url))
      seen.set(normalised.url, { ...entry, url: normalised.url });
  }
  return [...seen.values()];
}
