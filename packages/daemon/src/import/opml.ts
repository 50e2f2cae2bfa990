/** OPML: what feed readers give away. Folders become tags, an outline with xmlUrl a page. */
import { approximated, type Found, impossible } from './found.ts';
import type { Pieces } from './source.ts';
import { XmlReader } from './xml.ts';

/** Attribute names are written in every case there is. */
function attribute(attributes: Readonly<Record<string, string>>, name: string): string | undefined {
  const key = Object.keys(attributes).find((candidate) => candidate.toLowerCase() === name);
  const value = key === undefined ? undefined : attributes[key]!.trim();
  return value === '' ? undefined : value;
}

export async function* readOpml(pieces: Pieces): AsyncGenerator<readonly Found[]> {
  let found: Found[] = [];
  const folders: (string | undefined)[] = [];
  const open = (name: string, attributes: Readonly<Record<string, string>>, line: number): void => {
    if (name !== 'outline') return;
    const title = attribute(attributes, 'title') ?? attribute(attributes, 'text');
    const url = attribute(attributes, 'xmlurl');
    const link = attribute(attributes, 'url') ?? attribute(attributes, 'htmlurl');
    const where = `line ${line}`;
    const type = attribute(attributes, 'type')?.toLowerCase();
    if (url !== undefined || link !== undefined) {
      const categories = (attribute(attributes, 'category') ?? '')
        .split(',')
        .map((category) => category.trim().replace(/^\//, ''));
      const tags = [...folders, ...categories].filter((tag): tag is string => tag !== undefined && tag !== '');
      found.push({
        kind: 'page',
        where,
        input: { url: url ?? link, ...(title === undefined ? {} : { title }), ...(tags.length > 0 ? { tags } : {}) },
      });
      if (url === undefined && type !== undefined && type !== 'link')
        found.push(approximated(where, `an outline of type "${type}" without xmlUrl is watched as a page`));
    } else if (type === 'rss' || type === 'link' || type === 'include')
      found.push(impossible(where, `an outline of type "${type}" names no address`));
    folders.push(url === undefined && link === undefined ? title : undefined);
  };
  const reader = new XmlReader({ open, close: (name) => void (name === 'outline' && folders.pop()) });
  for await (const piece of pieces) {
    reader.write(piece);
    if (found.length > 0) yield found;
    found = [];
  }
  reader.end();
  if (found.length > 0) yield found;
}
