/**
 * Templates for titles and bodies of messages: text with {fields}. `{each}…{end}` repeats for every change of a message, and
 * {{ stands for a brace.
 */
import type { Change } from '../values/change.ts';
import type { ChangedTexts } from './match.ts';

export interface Entry extends ChangedTexts {
  readonly change: Change;
  /** What changed, line by line with + and −. */
  readonly difference: string;
}

const fields: Readonly<Record<string, (entry: Entry) => string>> = {
  url: ({ change }) => change.url,
  site: ({ change }) => change.site,
  title: ({ change }) => change.title ?? change.url,
  tags: ({ change }) => change.tags.join(', '),
  kind: ({ change }) => change.kind,
  summary: ({ change }) => change.summary,
  count: ({ change }) => String(change.count),
  time: ({ change }) => new Date(change.atMs).toISOString(),
  page: ({ change }) => change.pageId,
  version: ({ change }) => String(change.toVersion ?? ''),
  added: ({ added }) => added,
  removed: ({ removed }) => removed,
  difference: ({ difference }) => difference,
};
const ofMessage = ['changes', 'first'];

const place = /\{\{|\{([a-z]+)\}/g;

/** Why a template cannot be used, or undefined. */
export function templateWrong(template: string): string | undefined {
  const names = [...template.matchAll(place)].flatMap((found) => (found[1] === undefined ? [] : [found[1]]));
  const known = [...Object.keys(fields), ...ofMessage, 'each', 'end'];
  const stranger = names.find((name) => !known.includes(name));
  if (stranger !== undefined) return `{${stranger}} is not known; ${known.map((name) => `{${name}}`).join(' ')} are`;
  let open = false;
  for (const name of names.filter((word) => word === 'each' || word === 'end')) {
    if ((name === 'each') === open) return '{each} and {end} must come in pairs';
    open = !open;
  }
  return open ? '{each} and {end} must come in pairs' : undefined;
}

function filled(template: string, entry: Entry, count: number): string {
  return template.replace(place, (all, name: string | undefined) => {
    if (all === '{{') return '{';
    if (name === 'changes') return String(count);
    if (name === 'first') return fields['title'](entry);
    return fields[name!]?.(entry) ?? all;
  });
}

export function fill(template: string, entries: readonly Entry[]): string {
  const repeated = template.replace(/\{each\}([\s\S]*?)\{end\}/g, (_all, inner: string) =>
    entries.map((entry) => filled(inner, entry, entries.length).replaceAll('{', '\u0001')).join(''),
  );
  return filled(repeated, entries[0], entries.length).replaceAll('\u0001', '{');
}

export const plainTitle = (entries: readonly Entry[]): string =>
  entries.length === 1
    ? fill('{title}: {summary}', entries).replace(/\s+/g, ' ').slice(0, 200)
    : `${entries.length} changes on ${new Set(entries.map(({ change }) => change.pageId)).size} pages`;

export const plainBody = (entries: readonly Entry[]): string =>
  fill(
    entries.length === 1 ? '{summary}\n{url}\n\n{difference}' : '{each}{title}\n{summary}\n{url}\n\n{end}',
    entries,
  ).trim();
