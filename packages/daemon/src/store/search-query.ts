/**
 * What people type into a search field, as a query for FTS5: words, "a phrase", pref*, -without, one OR other. Whatever is
 * typed is a query: signs that FTS5 would stumble over are only ever quoted.
 */

/** Scripts without spaces are found by character: a word of them is a phrase of its characters. */
const spaceless =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/gu;

/** The blocks that hold those scripts: telling that a text has none of them is ten times faster than looking for each. */
const perhapsSpaceless = /[\u0e00-\u0eff\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\uff66-\uff9f\ud840-\ud88f]/;

/** Text as it goes into the index. */
export function searchable(text: string): string {
  return perhapsSpaceless.test(text) ? text.replace(spaceless, ' $& ') : text;
}

export interface Term {
  readonly text: string;
  readonly prefix: boolean;
}

export interface SearchWords {
  /** One term of each group must be there, and none of `without`. */
  readonly groups: readonly (readonly Term[])[];
  readonly without: readonly Term[];
  /** For FTS5; undefined when nothing in it can be searched for. */
  readonly match: string | undefined;
  /** To mark in what was found, in lower case. */
  readonly marks: readonly { readonly text: string; readonly prefix: boolean }[];
}

const part = /(-?)"([^"]*)"?|(-?)([^\s"]+)/gu;
const wordsMax = 32;

export function readQuery(typed: string): SearchWords {
  const groups: Term[][] = [];
  const without: Term[] = [];
  const marks: { text: string; prefix: boolean }[] = [];
  let either = false;
  for (const found of [...typed.matchAll(part)].slice(0, wordsMax)) {
    const excluded = (found[1] ?? found[3]) === '-';
    const phrase = found[2];
    if (phrase === undefined && found[4] === 'OR') {
      either = groups.length > 0;
      continue;
    }
    const raw = phrase ?? found[4];
    const prefix = phrase === undefined && raw.endsWith('*');
    const text = (prefix ? raw.slice(0, -1) : raw).trim();
    if (!/[\p{L}\p{N}]/u.test(text)) continue;
    const term = { text: searchable(text).replace(/\s+/g, ' ').trim(), prefix };
    if (excluded) without.push(term);
    else {
      if (either) groups.at(-1)!.push(term);
      else groups.push([term]);
      marks.push({ text: text.toLowerCase(), prefix });
    }
    either = false;
  }
  return { groups, without, match: fts5(groups, without), marks };
}

function fts5(groups: readonly (readonly Term[])[], without: readonly Term[]): string | undefined {
  if (groups.length === 0) return undefined;
  const either = (terms: readonly Term[]): string =>
    terms.map(({ text, prefix }) => `"${text}"${prefix ? '*' : ''}`).join(' OR ');
  const all = groups.map((group) => `(${either(group)})`).join(' AND ');
  return without.length === 0 ? all : `(${all}) NOT (${either(without)})`;
}

export interface SnippetPart {
  readonly text: string;
  readonly hit: boolean;
}

const plain = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** The place in the text with the most of what was searched for, marked. */
export function snippet(text: string, marks: SearchWords['marks'], charactersMax = 240): readonly SnippetPart[] {
  // Accents do not count in searching, so they must not count in marking; both texts stay of one length by being cut alike.
  const characters = Array.from(text.slice(0, 200_000).replace(/\s+/g, ' '));
  // A letter outside the basic plane would count twice in the joined text; such are not marked, only shown.
  const flat = characters.map((character) => (character.length === 1 ? (plain(character)[0] ?? ' ') : ' ')).join('');
  const hits: [number, number][] = [];
  for (const mark of marks) {
    const wanted = Array.from(mark.text, (character) => plain(character)[0] ?? ' ').join('');
    for (let at = flat.indexOf(wanted); at >= 0 && hits.length < 500; at = flat.indexOf(wanted, at + 1)) {
      if (at > 0 && /[\p{L}\p{N}]/u.test(flat[at - 1]) && !wanted.match(spaceless)) continue;
      hits.push([at, at + wanted.length]);
    }
  }
  hits.sort((a, b) => a[0] - b[0]);
  const start = bestStart(hits, charactersMax, characters.length);
  const end = Math.min(characters.length, start + charactersMax);
  const parts: SnippetPart[] = [];
  let at = start;
  const push = (from: number, to: number, hit: boolean) => {
    if (to > from) parts.push({ text: characters.slice(from, to).join(''), hit });
  };
  if (start > 0) parts.push({ text: '…', hit: false });
  for (const [from, to] of hits) {
    if (from < at || to > end) continue;
    push(at, from, false);
    push(from, to, true);
    at = to;
  }
  push(at, end, false);
  if (end < characters.length) parts.push({ text: '…', hit: false });
  return parts;
}

function bestStart(hits: readonly (readonly [number, number])[], width: number, length: number): number {
  let best = 0;
  let most = 0;
  for (let i = 0, j = 0; i < hits.length; i++) {
    while (j < hits.length && hits[j][1] <= hits[i][0] + width * 0.8) j++;
    if (j - i > most) {
      most = j - i;
      best = hits[i][0];
    }
  }
  return Math.max(0, Math.min(best - Math.floor(width * 0.2), length - width));
}
