/** One address a line, with a title after it if there is one; empty lines and lines that begin with # are left out. */
import { type Found, impossible } from './found.ts';
import { type Pieces, Unreadable } from './source.ts';

/** Longer than any address with its title; a file without line ends is no list. */
const lineCharactersMax = 16_384;

export async function* readUrlList(pieces: Pieces): AsyncGenerator<readonly Found[]> {
  let rest = '';
  let number = 0;
  const read = (line: string): Found | undefined => {
    number++;
    const text = line.trim();
    if (text === '' || text.startsWith('#')) return undefined;
    const where = `line ${number}`;
    // oxlint-disable-next-line no-control-regex
    if (/[\u0000-\u0008]/.test(text)) return impossible(where, 'the line is not text');
    const blank = text.search(/\s/);
    const title = blank < 0 ? '' : text.slice(blank).trim();
    return {
      kind: 'page',
      where,
      input: { url: blank < 0 ? text : text.slice(0, blank), ...(title === '' ? {} : { title }) },
    };
  };
  for await (const piece of pieces) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop()!;
    if (rest.length > lineCharactersMax)
      throw new Unreadable(`line ${number + lines.length + 1} is longer than ${lineCharactersMax} characters`);
    const found = lines.flatMap((line) => read(line) ?? []);
    if (found.length > 0) yield found;
  }
  const last = read(rest);
  if (last) yield [last];
}
