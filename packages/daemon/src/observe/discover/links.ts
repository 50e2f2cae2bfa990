/** The links of an HTML page, from its tags alone: no tree is built. `nofollow` is respected, for one link or the page. */
import type { Token } from 'parse5';
import { Tokenizer, TokenizerMode } from 'parse5';
import type { Listed } from './listed.ts';
import { listedMax } from './listed.ts';

/** Elements whose content is text to the tokenizer, whatever it looks like. */
const rawText: Readonly<Record<string, number>> = {
  script: TokenizerMode.SCRIPT_DATA,
  style: TokenizerMode.RAWTEXT,
  textarea: TokenizerMode.RCDATA,
  title: TokenizerMode.RCDATA,
  xmp: TokenizerMode.RAWTEXT,
  iframe: TokenizerMode.RAWTEXT,
  noembed: TokenizerMode.RAWTEXT,
  noframes: TokenizerMode.RAWTEXT,
};

const feedTypes = /^\s*application\/(rss|atom|rdf|feed)\+(xml|json)\b/i;
/** No page has so many of its own. */
const namedMax = 100;

export interface PageLinks {
  readonly listed: readonly Listed[];
  /** Feeds and sitemaps the page names as its own. */
  readonly feeds: readonly string[];
  readonly sitemaps: readonly string[];
}

export function parseLinks(html: string): PageLinks & { readonly base?: string } {
  const listed: Listed[] = [];
  const feeds: string[] = [];
  const sitemaps: string[] = [];
  let base: string | undefined;
  let nofollow = false;
  const nothing = () => {};
  const tokenizer: Tokenizer = new Tokenizer(
    { sourceCodeLocationInfo: false },
    {
      onStartTag: (tag: Token.TagToken) => {
        const mode = rawText[tag.tagName];
        if (mode !== undefined) tokenizer.state = mode as typeof tokenizer.state;
        const at = (name: string) => tag.attrs.find((attribute) => attribute.name === name)?.value;
        const rel = (at('rel') ?? '').toLowerCase().split(/\s+/);
        const href = at('href')?.trim();
        if (tag.tagName === 'meta' && at('name')?.toLowerCase() === 'robots') {
          nofollow ||= /\b(nofollow|none)\b/i.test(at('content') ?? '');
        }
        if (href === undefined || href === '') return;
        if (tag.tagName === 'base') base ??= href;
        if (tag.tagName === 'link' && feeds.length + sitemaps.length < namedMax) {
          if (rel.includes('alternate') && feedTypes.test(at('type') ?? '')) feeds.push(href);
          else if (rel.includes('sitemap')) sitemaps.push(href);
        }
        const isLink = tag.tagName === 'a' || tag.tagName === 'area';
        if (isLink && !rel.includes('nofollow') && listed.length < listedMax) listed.push({ url: href });
      },
      onEndTag: nothing,
      onCharacter: nothing,
      onComment: nothing,
      onDoctype: nothing,
      onEof: nothing,
      onNullCharacter: nothing,
      onWhitespaceCharacter: nothing,
    },
  );
  tokenizer.write(html, true);
  return {
    ...(nofollow ? { listed: [], feeds: [], sitemaps: [] } : { listed, feeds, sitemaps }),
    ...(base === undefined ? {} : { base }),
  };
}
