/** From a body to the part that is compared, kept and shown. */
import { selectAll } from 'css-select';
import type { AnyNode, Element } from 'domhandler';
import { createHash } from 'node:crypto';
import type { Projection } from '../values/change.ts';
import type { Fault } from '../values/fault.ts';
import type { Select } from '../values/page.ts';
import { feedItems } from './feed.ts';
import { isItem, isItemList, itemLines, type Item } from './items.ts';
import { jq } from './jq.ts';
import { jsonLines, jsonPath, parseJson, type Json } from './json.ts';
import { linksOf } from './links.ts';
import { mainText } from './main-text.ts';
import type { MediaKind } from './media.ts';
import { normalise } from './normalise.ts';
import { numberIn } from './number.ts';
import type { DetectOptions } from './options.ts';
import { compilePattern, matches, patternMsMax } from './pattern.ts';
import { sitemapItems } from './sitemap.ts';
import { tidyMarkup, visibleText } from './text.ts';
import { parseHtml, titleOf, type Tree } from './tree.ts';
import { xpath } from './xpath.ts';

export interface Source {
  readonly select: Select;
  readonly options: DetectOptions;
  readonly media: MediaKind;
  readonly text: string;
  readonly body: Uint8Array;
  readonly mediaType: string | undefined;
  readonly url: string;
  /** The format of the last version: an emptied list stays a list. */
  readonly formatBefore: Projection['format'] | undefined;
  /** Parsed at most once, by whoever needs it first. */
  readonly tree: () => Tree;
}

export type Projected = { readonly kind: 'projected'; readonly projection: Projection } | Refused;
interface Refused {
  readonly kind: 'fault';
  readonly fault: Fault;
}

const fault = (code: string, sentence: string): Refused => ({ kind: 'fault', fault: { code, sentence } });
const oneLine = (text: string, most = 160) => text.replace(/\s+/g, ' ').trim().slice(0, most);

function invalid(select: { kind: string; expression: string }, why: string): Refused {
  return fault('selector-invalid', `The ${select.kind} selector ${select.expression} is not valid: ${oneLine(why)}`);
}
function nothing(select: { kind: string; expression: string }): Refused {
  return fault('selector-nothing', `The ${select.kind} selector ${select.expression} matches nothing on the page.`);
}

/** What is wrong with a selector in itself, whatever the page. A jq filter is read, and with nothing to run on it cannot loop. */
export async function selectorWrong(select: Select): Promise<string | undefined> {
  const found = (): object | Promise<object> => {
    if (select.kind === 'css') return cssAll(select.expression, parseHtml(''));
    if (select.kind === 'xpath') return xpath(parseHtml(''), select.expression);
    if (select.kind === 'jsonpath') return jsonPath({}, select.expression);
    if (select.kind === 'jq') return jq('', select.expression);
    return select.kind === 'regexp' ? compilePattern(select.expression) : {};
  };
  const tried = await found();
  return 'wrong' in tried && 'expression' in select ? invalid(select, String(tried.wrong)).fault.sentence : undefined;
}

/** Parses and takes out what the rules remove. */
export function treeOf(text: string, options: DetectOptions): Tree | Refused {
  const tree = parseHtml(text);
  for (const selector of options.normalise.remove) {
    const found = cssAll(selector, tree);
    if ('wrong' in found) return invalid({ kind: 'css', expression: selector }, found.wrong);
    for (const element of found.elements) detach(element);
  }
  return tree;
}

function detach(node: AnyNode): void {
  const { parent, prev, next } = node;
  if (!parent) return;
  parent.children.splice(parent.children.indexOf(node as never), 1);
  if (prev) prev.next = next;
  if (next) next.prev = prev;
  node.parent = node.prev = node.next = null;
}

function cssAll(selector: string, tree: Tree): { elements: Element[] } | { wrong: string } {
  try {
    return { elements: selectAll<AnyNode, Element>(selector, tree) };
  } catch (error) {
    return { wrong: error instanceof Error ? error.message : String(error) };
  }
}

export async function project(source: Source): Promise<Projected> {
  try {
    const raw = await selected(source);
    if ('kind' in raw) return raw;
    return finished(raw, source);
  } catch (error) {
    // Selecting recurses over the tree in places that are not ours; a page can be built to exhaust the stack there.
    if (error instanceof RangeError) return fault('page-too-deep', 'The page is nested too deeply to be read.');
    throw error;
  }
}

interface Raw {
  readonly text: string;
  readonly format: Projection['format'];
  readonly title?: string | undefined;
  /** Without white space to mend. */
  readonly tidy?: true;
}

function finished(raw: Raw, source: Source): Projected {
  const { options } = source;
  const title = raw.title ? { title: raw.title } : {};
  if (raw.format === 'items') return { kind: 'projected', projection: { text: raw.text, format: 'items', ...title } };
  // JSON is written anew, its white space is ours and shows its depth.
  const tidy = raw.format === 'json' || (raw.tidy && options.normalise.replace.length === 0);
  const rules = tidy ? { ...options.normalise, whitespace: false } : options.normalise;
  const normalised = normalise(raw.text, rules);
  if (normalised.kind === 'fault') return normalised;
  const { text } = normalised;
  if (text === '') return fault('page-empty', 'The page, or the part that is watched, is empty.');
  if (options.as === 'number') {
    const value = numberIn(text);
    if (value === undefined) return fault('selector-nothing', `What is watched holds no number: ${oneLine(text, 80)}`);
    return { kind: 'projected', projection: { text: String(value), format: 'number', ...title } };
  }
  return { kind: 'projected', projection: { text, format: raw.format, ...title } };
}

async function selected(source: Source): Promise<Raw | Refused> {
  const { select, media, text } = source;
  if (text.trim() === '' && media !== 'binary') return fault('page-empty', 'The server answered with an empty page.');
  switch (select.kind) {
    case 'css':
      return byCss(select, source);
    case 'xpath':
      return byXPath(select, source);
    case 'jsonpath':
      return byJsonPath(select, source);
    case 'jq':
      return byJq(select, source);
    case 'regexp':
      return byRegexp(select, source);
    case 'links':
      return byLinks(source);
    case 'main':
      return byDocument(source, () => byMain(source));
    case 'text':
      return byDocument(source, () => {
        const tree = source.tree();
        return {
          text: visibleText(tree, source.options.normalise.advertisements),
          format: 'text',
          title: titleOf(tree),
          tidy: true,
        };
      });
    case 'whole':
      return byDocument(source, () => ({ text: brokenLines(text), format: 'html', title: titleInSource(text) }));
  }
}

/** Feeds, JSON and files have one natural reading, whether text, main text or the whole was asked for. */
function byDocument(source: Source, html: () => Raw | Refused): Raw | Refused {
  const { media, text, options } = source;
  if (media === 'html') return html();
  if (media === 'feed' && options.items !== false) {
    const feed = feedItems(text);
    if (!('wrong' in feed)) return { text: itemLines(feed.items), format: 'items', title: feed.title };
  }
  if (media === 'sitemap' && options.items !== false) {
    const items = sitemapItems(text);
    if (items) return { text: itemLines(items), format: 'items' };
  }
  if (media === 'json') {
    const parsed = parseJson(text);
    return 'wrong' in parsed ? { text, format: 'text' } : ofJson(parsed.value, source);
  }
  if (media === 'binary') {
    const digest = createHash('sha256').update(source.body).digest('hex');
    return { text: `${source.mediaType ?? 'a file'}, ${source.body.length} bytes, SHA-256 ${digest}`, format: 'text' };
  }
  return { text, format: media === 'text' ? 'text' : 'html' };
}

function ofJson(value: Json, source: Source): Raw {
  if (source.options.items !== false) {
    if (isItemList(value)) return { text: itemLines(value), format: 'items' };
    if (Array.isArray(value) && value.length === 0 && source.formatBefore === 'items')
      return { text: '', format: 'items' };
  }
  if (typeof value === 'number') return { text: String(value), format: 'number' };
  if (typeof value === 'string') return { text: value, format: 'text' };
  return { text: jsonLines(value), format: 'json' };
}

function byCss(select: Select & { kind: 'css' }, source: Source): Raw | Refused {
  const tree = source.tree();
  const found = cssAll(select.expression, tree);
  if ('wrong' in found) return invalid(select, found.wrong);
  if (found.elements.length === 0) return nothing(select);
  return ofNodes(outermost(found.elements), tree, source);
}

/** `div` matches an element and those inside it; the text of the outer one already holds the inner. */
function outermost(elements: readonly Element[]): Element[] {
  const all = new Set<AnyNode>(elements);
  return elements.filter((element) => {
    for (let node = element.parent; node; node = node.parent) if (all.has(node)) return false;
    return true;
  });
}

function byXPath(select: Select & { kind: 'xpath' }, source: Source): Raw | Refused {
  const tree = source.tree();
  const found = xpath(tree, select.expression);
  if ('wrong' in found) return invalid(select, found.wrong);
  if (found.nodes.length === 0) return nothing(select);
  return ofNodes(found.nodes, tree, source);
}

function ofNodes(nodes: readonly (AnyNode | string)[], tree: Tree, source: Source): Raw {
  const { options } = source;
  const markup = options.as === 'html';
  const lines = nodes.map((node) => {
    if (typeof node === 'string') return node.trim();
    return markup ? tidyMarkup(node, options.normalise.attributes) : visibleText(node);
  });
  return { text: lines.join('\n'), format: markup ? 'html' : 'text', title: titleOf(tree) };
}

function jsonOf(source: Source): { value: Json } | Refused {
  const parsed = parseJson(source.text);
  if (!('wrong' in parsed)) return parsed;
  if (source.media === 'html') return fault('page-not-json', 'The address answers with HTML where JSON is expected.');
  return fault('page-not-json', `The answer is not valid JSON: ${oneLine(parsed.wrong)}`);
}

function byJsonPath(select: Select & { kind: 'jsonpath' }, source: Source): Raw | Refused {
  const parsed = jsonOf(source);
  if ('kind' in parsed) return parsed;
  const found = jsonPath(parsed.value, select.expression);
  if ('wrong' in found) return invalid(select, found.wrong);
  return ofValues(found.values, select, source);
}

async function byJq(select: Select & { kind: 'jq' }, source: Source): Promise<Raw | Refused> {
  const parsed = jsonOf(source);
  if ('kind' in parsed) return parsed;
  const answer = await jq(source.text, select.expression);
  if ('wrong' in answer) {
    if (answer.wrong.startsWith('it '))
      return fault('selector-slow', `The jq filter ${select.expression} was stopped: ${answer.wrong}.`);
    return invalid(select, answer.wrong);
  }
  const lines = answer.output.split('\n').filter((line) => line !== '');
  return ofValues(
    lines.map((line) => JSON.parse(line) as Json),
    select,
    source,
  );
}

function ofValues(
  values: readonly Json[],
  select: Select & { kind: 'jsonpath' | 'jq' },
  source: Source,
): Raw | Refused {
  const told = values.filter((value) => value !== null);
  if (told.length === 0)
    return source.formatBefore === 'items' && isEmptied(source) ? { text: '', format: 'items' } : nothing(select);
  if (told.length === 1 && !(severalWanted(select) && isItem(told[0]))) return ofJson(told[0], source);
  if (source.options.items !== false && told.every(isItem))
    return { text: itemLines(told as readonly Item[]), format: 'items' };
  if (told.every((value) => typeof value !== 'object')) return { text: told.map(String).join('\n'), format: 'text' };
  return { text: jsonLines(told), format: 'json' };
}

/** Whether the expression asks for all of something, so that one object is a list of one. */
function severalWanted(select: Select & { kind: 'jsonpath' | 'jq' }): boolean {
  return (select.kind === 'jq' ? /\[\]|\.\.|select\(/ : /\*|\.\.|\[\?|[,:]/).test(select.expression);
}

/** `$.jobs[*]` finds nothing both when the list is empty and when the name is gone; only the first is a list without items. */
function isEmptied(source: Source): boolean {
  return /\[\s*\]/.test(source.text);
}

function byRegexp(select: Select & { kind: 'regexp' }, source: Source): Raw | Refused {
  const pattern = compilePattern(select.expression);
  if (!(pattern instanceof RegExp)) return invalid(select, pattern.wrong);
  const found = matches(pattern, source.text);
  if (!found)
    return fault(
      'selector-slow',
      `The regexp ${select.expression} did not end within ${patternMsMax / 1000} s on this page.`,
    );
  const lines = found.map((match) =>
    match.length > 1
      ? match
          .slice(1)
          .filter((part) => part !== undefined)
          .join(' ')
      : match[0]!,
  );
  if (lines.every((line) => line.trim() === '')) return nothing(select);
  return {
    text: lines.join('\n'),
    format: 'text',
    title: source.media === 'html' ? titleInSource(source.text) : undefined,
  };
}

function byLinks(source: Source): Raw | Refused {
  const tree = source.tree();
  const text = linksOf(tree, source.url, source.options.normalise.tracking);
  return text === ''
    ? fault('selector-nothing', 'The page has no links.')
    : { text, format: 'text', title: titleOf(tree) };
}

function byMain(source: Source): Raw | Refused {
  const main = mainText(source.text);
  if (!main)
    return fault('selector-nothing', 'No main text was found on the page; watch its text or a part of it instead.');
  return { text: main.text, format: 'text', title: titleInSource(source.text) ?? main.title };
}

/** Beyond this a line is no line a person could compare. */
const lineCharactersMax = 2_000;

/** Source without line breaks is broken between tags, so that a difference shows the place and not the page. */
function brokenLines(text: string): string {
  return text
    .split('\n')
    .map((line) => (line.length > lineCharactersMax ? line.replace(/>\s*(?=<)/g, '>\n') : line))
    .join('\n');
}

function titleInSource(text: string): string | undefined {
  const found = /<title[^>]*>([^<]{1,2000})/i.exec(text.slice(0, 100_000));
  return found ? titleOf(parseHtml(`<title>${found[1]}</title>`)) : undefined;
}
