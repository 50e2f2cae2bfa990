/** One story of a page: what the server sends look by look, and what should be said each time. */
import type { Select } from '../../values/page.ts';

export type Expected =
  | { readonly say: 'first' }
  /** Nothing at all. */
  | { readonly say: 'nothing' }
  /** A change; its summary holds these words. */
  | { readonly say: 'change'; readonly words: string; readonly count?: number }
  /** Kept, but not told. */
  | { readonly say: 'quiet'; readonly why: string }
  /** Told now, although the page is as at the last look. */
  | { readonly say: 'late'; readonly words: string }
  | { readonly say: 'trouble'; readonly code: string; readonly again?: boolean };

export interface LookCase {
  readonly body: string | Uint8Array;
  readonly expect: Expected;
  readonly mediaType?: string;
  readonly charset?: string;
  readonly afterMs?: number;
  readonly url?: string;
  /** The look that the last one asked for. */
  readonly second?: boolean;
}

export interface Case {
  readonly name: string;
  readonly select: Select;
  readonly options?: Record<string, unknown>;
  readonly mediaType?: string;
  readonly looks: readonly LookCase[];
}

export const first: Expected = { say: 'first' };
export const nothing: Expected = { say: 'nothing' };
export const change = (words: string, count?: number): Expected => ({
  say: 'change',
  words,
  ...(count === undefined ? {} : { count }),
});
export const quiet = (why: string): Expected => ({ say: 'quiet', why });
export const late = (words: string): Expected => ({ say: 'late', words });
export const trouble = (code: string, again = false): Expected => ({ say: 'trouble', code, again });

/** Looks from pairs, in order. */
export function looks(...pairs: readonly (readonly [string, Expected])[]): LookCase[] {
  return pairs.map(([body, expect]) => ({ body, expect }));
}

export const text: Select = { kind: 'text' };
export const whole: Select = { kind: 'whole' };
export const main: Select = { kind: 'main' };
export const links: Select = { kind: 'links' };
export const css = (expression: string): Select => ({ kind: 'css', expression });

export function page(inner: string, head = '<title>A page</title>'): string {
  return `<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">${head}</head>\n<body>\n${inner}\n</body>\n</html>\n`;
}

/** Paragraphs that stay as they are, so that what changes is a part of something. */
export function prose(paragraphs: number, about = 'harbour'): string {
  const sentences = [
    `The ${about} council met on the upper floor and read the minutes aloud.`,
    'Rope, tar and sailcloth are stored in the northern shed until the thaw.',
    'Nobody remembered who had ordered the second bell, and nobody paid for it.',
    'The ferry leaves when it is full, or when the captain has finished his tea.',
    'A new lamp was promised for the pier, brighter than the old one.',
    'Children under ten may fish from the wall on Sundays.',
  ];
  return Array.from(
    { length: paragraphs },
    (_, i) => `<p>${i + 1}. ${sentences[i % sentences.length]} ${sentences[(i * 5 + 2) % sentences.length]}</p>`,
  ).join('\n');
}
