/** Filters of urlwatch and webchanges, one after the other, as a selection and options of ours. */
import { approximated, type Found, impossible } from './found.ts';
import { fromPython, linesWithout, literal, replacementFromPython, word } from './expressions.ts';

interface Filter {
  readonly name: string;
  readonly value: unknown;
}

export interface Translated {
  select?: string;
  readonly options: Record<string, Record<string, unknown>>;
  readonly notes: Found[];
}

/** "css:h1", {css: h1}, {css: {selector: h1}}, or a list of those; the oldest form is one text with commas. */
function filtersOf(value: unknown): readonly Filter[] {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string')
    return value.split(',').map((part) => {
      const colon = part.indexOf(':');
      return colon < 0
        ? { name: part.trim(), value: undefined }
        : { name: part.slice(0, colon).trim(), value: part.slice(colon + 1) };
    });
  if (Array.isArray(value))
    return value.flatMap((one) =>
      typeof one === 'string' && !one.includes(':') ? [{ name: one.trim(), value: undefined }] : filtersOf(one),
    );
  if (typeof value === 'object') return Object.entries(value).map(([name, inner]) => ({ name, value: inner }));
  return [{ name: word(value), value: undefined }];
}

function textOf(value: unknown, ...names: string[]): string | undefined {
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  if (typeof value !== 'object' || value === null) return undefined;
  for (const name of names) {
    const inner = (value as Record<string, unknown>)[name];
    if (typeof inner === 'string' || typeof inner === 'number') return String(inner);
  }
  return undefined;
}

const quoted = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

/** What we do with every page anyway. */
const alwaysDone = new Set([
  'strip',
  'strip_each_line',
  'strip_empty_lines',
  'strip_lines',
  'format-json',
  'format-xml',
  'beautify',
  'ical2text',
  'remove_repeated',
]);

export function translateFilters(value: unknown, where: string): Translated {
  const done: Translated = { options: {}, notes: [] };
  const put = (group: string, name: string, entry: unknown, list: boolean): void => {
    const options = (done.options[group] ??= {});
    options[name] = list ? [...((options[name] as unknown[] | undefined) ?? []), entry] : entry;
  };
  const select = (selection: string): void => {
    if (done.select !== undefined && done.select !== 'text')
      done.notes.push(approximated(where, `of several selections in a row the last is taken: ${selection}`));
    done.select = selection;
  };
  const pattern = (filter: Filter, use: (translated: string) => void): void => {
    const text = textOf(filter.value, 'text', 're', 'pattern', 'regex');
    const translated = text === undefined ? undefined : fromPython(text);
    if (translated === undefined)
      done.notes.push(impossible(where, `filter ${filter.name}: the expression has no form here`));
    else use(translated);
  };
  for (const filter of filtersOf(value)) translate(filter, { done, put, select, pattern, where });
  return done;
}

interface Means {
  readonly done: Translated;
  readonly where: string;
  readonly put: (group: string, name: string, entry: unknown, list: boolean) => void;
  readonly select: (selection: string) => void;
  readonly pattern: (filter: Filter, use: (translated: string) => void) => void;
}

function translate(filter: Filter, means: Means): void {
  const { name, value } = filter;
  const { done, where, put, select, pattern } = means;
  const expression = textOf(value, 'selector', 'path', 'query', 'method', 'text', 'id', 'class', 'tag');
  switch (name) {
    case 'css':
    case 'xpath':
    case 'jq':
    case 'jsonpath': {
      const prefix = name;
      if (expression === undefined) return void done.notes.push(impossible(where, `filter ${name} has no expression`));
      select(`${prefix}:${expression}`);
      const exclude =
        typeof value === 'object' && value !== null ? (value as Record<string, unknown>)['exclude'] : undefined;
      if (typeof exclude === 'string' && name === 'css') put('normalise', 'remove', exclude, true);
      else if (exclude !== undefined)
        done.notes.push(impossible(where, `filter ${name}: exclude is taken over for css only`));
      return;
    }
    case 'element-by-id':
      return select(`css:[id=${quoted(expression ?? '')}]`);
    case 'element-by-class':
      return select(`css:[class~=${quoted(expression ?? '')}]`);
    case 'element-by-style':
      return select(`css:[style=${quoted(expression ?? '')}]`);
    case 'element-by-tag':
      return select(`css:${expression ?? '*'}`);
    case 'html2text':
    case 'pyhtml2text':
      done.select ??= 'text';
      return;
    case 'grep':
    case 'keep_lines_containing':
      if (name === 'keep_lines_containing' && typeof value === 'object' && textOf(value, 'text') !== undefined)
        return put('normalise', 'ignore', linesWithout(literal(textOf(value, 'text')!)), true);
      return pattern(filter, (translated) => put('normalise', 'ignore', linesWithout(translated), true));
    case 'grepi':
    case 'delete_lines_containing':
      if (name === 'delete_lines_containing' && typeof value === 'object' && textOf(value, 'text') !== undefined)
        return put('normalise', 'ignore', literal(textOf(value, 'text')!), true);
      return pattern(filter, (translated) => put('normalise', 'ignore', translated, true));
    case 're.sub':
      return pattern(filter, (translated) => {
        const repl = typeof value === 'object' ? textOf((value as Record<string, unknown>)['repl']) : undefined;
        put('normalise', 'replace', { pattern: translated, with: replacementFromPython(repl ?? '') }, true);
      });
    case 're.findall':
      return pattern(filter, (translated) => select(`regexp:${translated}`));
    case 'sort':
      return put('normalise', 'order', 'sort', false);
    case 'remove-duplicate-lines':
    case 'deduplicate':
    case 'reverse':
      return void done.notes.push(
        approximated(where, `filter ${name} is left out: it does not decide what counts as a change`),
      );
    default:
      if (alwaysDone.has(name)) return;
      done.notes.push(impossible(where, `filter ${name} has nothing that corresponds to it`));
  }
}
