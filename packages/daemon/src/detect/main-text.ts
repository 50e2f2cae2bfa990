/** The article of a page without what stands around it, found as Firefox's reader view finds it. */
import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import { visibleText } from './text.ts';
import { parseHtmlPart } from './tree.ts';

/** Readability walks the tree many times; a page with more elements than this is no article. */
const elementsMax = 60_000;

export function mainText(source: string): { readonly text: string; readonly title?: string } | undefined {
  const { document } = parseHTML(source);
  const article = new Readability(document as never, { maxElemsToParse: elementsMax, charThreshold: 120 }).parse();
  if (!article?.content) return undefined;
  const text = visibleText(parseHtmlPart(article.content));
  return text === '' ? undefined : { text, ...(article.title ? { title: article.title } : {}) };
}
