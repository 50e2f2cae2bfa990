/** Our own export: a line of JSON that says what it is, then one a page, and after each page one a version. */
import { approximated, type Found, impossible, type PastVersion } from './found.ts';
import { type Pieces, Unreadable } from './source.ts';

export const exportForm = 1;
/** A version of the largest page there may be, escaped. */
const lineCharactersMax = 256 * 2 ** 20;
/** Versions of one page travel together up to this size, then in several parts. */
const partCharactersMax = 8 * 2 ** 20;

interface PageLine {
  readonly page: Readonly<Record<string, unknown>>;
  readonly state?: Readonly<Record<string, unknown>>;
  readonly addedAt?: string;
}
interface VersionLine {
  readonly version: { readonly number: number; readonly at: string; readonly format: string; readonly text: string };
}

function lineOf(text: string, number: number): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Unreadable(`line ${number} is not a JSON object, as if the export were cut off`);
  return value as Record<string, unknown>;
}

export async function* readOwn(pieces: Pieces): AsyncGenerator<readonly Found[]> {
  let number = 0;
  let page: (PageLine & { where: string }) | undefined;
  let versions: PastVersion[] = [];
  let characters = 0;
  let ended = false;
  const flush = (whole: boolean): Found[] => {
    if (!page) return [];
    const added = Date.parse(page.addedAt ?? '');
    const found: Found = {
      kind: 'page',
      where: page.where,
      input: page.page,
      ...(versions.length > 0 ? { versions } : {}),
      ...(whole && page.state ? { state: page.state } : {}),
      ...(Number.isNaN(added) ? {} : { addedAtMs: added }),
    };
    versions = [];
    characters = 0;
    return [found];
  };
  const take = (text: string): Found[] => {
    number++;
    if (text.trim() === '') return [];
    const where = `line ${number}`;
    if (ended) throw new Unreadable(`${where} stands after the end`);
    const line = lineOf(text, number);
    if (number === 1) {
      if (line['revisit'] !== exportForm)
        throw new Unreadable(`it is an export of form ${String(line['revisit'])}; form ${exportForm} is known here`);
      return line['secrets'] === false
        ? [approximated('the export', 'values of request headers are not in it; set them again where pages need them')]
        : [];
    }
    if (line['end'] !== undefined) {
      ended = true;
      const last = flush(true);
      page = undefined;
      return last;
    }
    if (line['version'] !== undefined) {
      const { version } = line as unknown as VersionLine;
      const atMs = Date.parse(version.at);
      if (!page || Number.isNaN(atMs) || typeof version.text !== 'string')
        throw new Unreadable(`${where} is no version of a page`);
      versions.push({ atMs, text: version.text, format: String(version.format), number: Number(version.number) });
      characters += version.text.length;
      return characters > partCharactersMax ? flush(false) : [];
    }
    if (line['page'] === undefined)
      return [impossible(where, `a line with ${Object.keys(line).join(', ')} is not known here`)];
    const before = flush(true);
    page = { ...(line as unknown as PageLine), where };
    return before;
  };
  let rest: string[] = [];
  let length = 0;
  for await (const piece of pieces) {
    const lines = piece.split('\n');
    rest.push(lines[0]!);
    length += lines[0]!.length;
    if (length > lineCharactersMax)
      throw new Unreadable(`line ${number + 1} is longer than ${lineCharactersMax} characters`);
    if (lines.length === 1) continue;
    const found = take(rest.join(''));
    for (const line of lines.slice(1, -1)) found.push(...take(line));
    rest = [lines.at(-1)!];
    length = rest[0]!.length;
    if (found.length > 0) yield found;
  }
  const last = take(rest.join(''));
  if (!ended) throw new Unreadable('the export is cut off: its last line, {"end":…}, is missing');
  if (last.length > 0) yield last;
}
