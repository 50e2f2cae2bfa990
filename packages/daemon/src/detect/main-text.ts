/** The article of a page without what stands around it, found as Firefox's reader view finds it. */
import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import { parse, serialize } from 'parse5';
import { visibleText } from './text.ts';
import { parseHtmlPart } from './tree.ts';

/** Readability walks the tree many times; a page with more elements than this is no article. */
const elementsMax = 60_000;

export function mainText(source: string): { readonly text: string; readonly title?: string } | undefined {
  const article = articleOf(source);
  if (!article?.content) return undefined;
  const text = visibleText(parseHtmlPart(article.content));
  return text === '' ? undefined : { text, ...(article.title ? { title: article.title } : {}) };
}

/** Readability expects a whole document, with a body, as a browser would have made of the source; and it trips over some trees. */
function articleOf(source: string): ReturnType<Readability['parse']> {
  const { document } = parseHTML(serialize(parse(source)));
  try {
    return new Readability(document as never, { maxElemsToParse: elementsMax, charThreshold: 120 }).parse();
  } catch {
    return null;
  }
}
