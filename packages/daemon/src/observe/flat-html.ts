/**
 * A shown page as one HTML document: what the browser's own snapshot holds, which page scripts cannot change. Its tree is the one that a
 * person sees: shadow roots (closed ones too) stand in the place of their host's content, and what a slot was given in the place of the slot.
 *
 * A frame that was read is `<div data-frame="ADDRESS">` with the frame's other attributes and, inside, what its body holds: HTML has no
 * element for a document in a document whose content is read as markup. Scripts, styles and what is said of a whole document
 * (`base`, `meta`, `title`) are left out of frames, and styles and the like out of shadow roots, as they would hold for the page around them.
 */

/** The parts of the protocol's DOMSnapshot.captureSnapshot that are read; texts are numbers in `strings`, and −1 is none. */
export interface Snapshot {
  readonly documents: readonly SnapshotDocument[];
  readonly strings: readonly string[];
}

export interface SnapshotDocument {
  readonly documentURL: number;
  readonly baseURL: number;
  readonly publicId: number;
  readonly systemId: number;
  readonly frameId: number;
  readonly nodes: {
    readonly parentIndex?: readonly number[];
    readonly nodeType?: readonly number[];
    readonly nodeName?: readonly number[];
    readonly nodeValue?: readonly number[];
    readonly backendNodeId?: readonly number[];
    readonly attributes?: readonly (readonly number[])[];
    readonly shadowRootType?: { readonly index: readonly number[] };
    readonly pseudoType?: { readonly index: readonly number[] };
    readonly contentDocumentIndex?: { readonly index: readonly number[]; readonly value: readonly number[] };
  };
}

/** A page's documents in one process of the browser, and by the id of their frames' elements those that it shows from others. */
export interface ShownPart {
  readonly snapshot: Snapshot;
  readonly elsewhere: ReadonlyMap<number, ShownPart>;
}

/** Frames in frames are read so far; deeper there are only advertisements in advertisements. */
export const framesDeepMax = 5;
/** So many frames of a page are read, the first in its order; a page that has more repeats itself, and each costs a document. */
export const framesMax = 50;

/** Undefined where it would be longer than so many characters. */
export function flatHtml(page: ShownPart, charactersMax: number): string | undefined {
  const writer = new Writer(charactersMax);
  writer.document(page, 0, 0);
  return writer.text;
}

const [elementNode, textNode, commentNode, doctypeNode] = [1, 3, 8, 10];
const unclosed = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '));
/** By the names that HTML's own elements have in a snapshot; those of other kinds are in small letters. */
const raw = new Set('SCRIPT STYLE XMP IFRAME NOEMBED NOFRAMES NOSCRIPT PLAINTEXT'.split(' '));
const notInFrames = new Set('BASE HEAD LINK META NOSCRIPT SCRIPT STYLE TEMPLATE TITLE'.split(' '));
const notInShadow = new Set('BASE LINK META STYLE TITLE'.split(' '));
/** The document's own elements, of which the page around a frame has one each. */
const ofDocument = new Set(['HTML', 'BODY']);
const linking = new Set(['A', 'AREA']);
const addresses = new Set(['href', 'src', 'action', 'poster']);
/** The address says it, and what it was given as text is inside. */
const notOfFrame = new Set(['src', 'srcdoc', 'data-frame']);

interface Reading {
  readonly part: ShownPart;
  readonly document: SnapshotDocument;
  readonly depth: number;
  readonly shadow: ReadonlySet<number>;
  readonly pseudo: ReadonlySet<number>;
  readonly frames: ReadonlyMap<number, number>;
  readonly noFollow: boolean;
}

interface Open {
  readonly index: number;
  readonly end: string;
  readonly isRaw: boolean;
}

class Writer {
  #parts: string[] = [];
  #characters = 0;
  #frames = 0;
  readonly #charactersMax: number;

  constructor(charactersMax: number) {
    this.#charactersMax = charactersMax;
  }

  get text(): string | undefined {
    return this.#isFull ? undefined : this.#parts.join('');
  }

  get #isFull(): boolean {
    return this.#characters > this.#charactersMax;
  }

  #write(text: string): void {
    this.#characters += text.length;
    if (this.#isFull) this.#parts = [];
    else this.#parts.push(text);
  }

  /** Nodes come in the order of the page, so an element ends where one comes that is not below it; no tree is so deep that this fails. */
  document(part: ShownPart, index: number, depth: number): void {
    const document = part.snapshot.documents[index];
    if (!document) return;
    const { parentIndex = [], nodeType = [] } = document.nodes;
    const reading = readingOf(part, document, depth);
    const open: Open[] = [];
    let skipped = -1;
    for (let node = 0; node < parentIndex.length && !this.#isFull; node++) {
      const parent = parentIndex[node]!;
      // What is below something left out comes right behind it.
      if (skipped >= 0 && parent >= skipped) continue;
      skipped = -1;
      while (open.length > 0 && open.at(-1)!.index > parent) this.#write(open.pop()!.end);
      if (nodeType[node] === elementNode) {
        if (!this.#element(reading, node, open)) skipped = node;
      } else this.#other(reading, node, open.at(-1)?.isRaw === true);
    }
    while (open.length > 0) this.#write(open.pop()!.end);
  }

  /** Whether what is below it is read. */
  #element(reading: Reading, node: number, open: Open[]): boolean {
    const name = stringOf(reading, reading.document.nodes.nodeName?.[node]);
    if (reading.pseudo.has(node)) return false;
    const inShadow = reading.shadow.has(node);
    if ((reading.depth > 0 && notInFrames.has(name)) || (inShadow && notInShadow.has(name))) return false;
    if ((inShadow && name === 'SLOT') || (reading.depth > 0 && ofDocument.has(name))) return true;
    if (this.#frame(reading, node)) return false;
    const tag = tagOf(reading, node, name);
    this.#write(`<${tag}${attributesOf(reading, node)}>`);
    if (!unclosed.has(tag)) open.push({ index: node, end: `</${tag}>`, isRaw: raw.has(name) });
    return true;
  }

  #frame(reading: Reading, node: number): boolean {
    if (reading.depth >= framesDeepMax || this.#frames >= framesMax) return false;
    const inner = frameOf(reading, node);
    if (!inner) return false;
    this.#frames++;
    const given = attributesOf(reading, node, notOfFrame);
    this.#write(`<div data-frame="${escaped(inner.url)}"${given}>`);
    this.document(inner.part, inner.index, reading.depth + 1);
    this.#write('</div>');
    return true;
  }

  #other(reading: Reading, node: number, isRaw: boolean): void {
    const { nodes } = reading.document;
    const value = stringOf(reading, nodes.nodeValue?.[node]);
    if (nodes.nodeType?.[node] === textNode) this.#write(isRaw ? value : escaped(value));
    else if (reading.depth > 0) return;
    else if (nodes.nodeType?.[node] === commentNode) this.#write(`<!--${value}-->`);
    else if (nodes.nodeType?.[node] === doctypeNode) this.#write(doctypeOf(reading, node));
  }
}

function readingOf(part: ShownPart, document: SnapshotDocument, depth: number): Reading {
  const { shadowRootType, pseudoType, contentDocumentIndex: content } = document.nodes;
  const reading = {
    part,
    document,
    depth,
    shadow: new Set(shadowRootType?.index),
    pseudo: new Set(pseudoType?.index),
    frames: new Map(content?.index.map((node, at) => [node, content.value[at]!])),
    noFollow: false,
  };
  return { ...reading, noFollow: depth > 0 && forbidsFollowing(reading) };
}

const stringOf = ({ part }: Pick<Reading, 'part'>, at = -1): string => part.snapshot.strings[at] ?? '';

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (sign) => escapes[sign]!);

/** Of a page of framesets the frames are what a person sees, and HTML reads nothing but frames in them. */
function tagOf(reading: Reading, node: number, name: string): string {
  if (name !== 'FRAMESET') return name.toLowerCase();
  const { nodeName, parentIndex } = reading.document.nodes;
  const around = stringOf(reading, nodeName?.[parentIndex?.[node] ?? -1]);
  return reading.depth === 0 && around === 'HTML' ? 'body' : 'div';
}

interface Inner {
  readonly part: ShownPart;
  readonly index: number;
  readonly url: string;
}

/** The document that the element shows; undefined where it shows none, or the browser its own words about one that did not come. */
function frameOf({ part, document, frames }: Reading, node: number): Inner | undefined {
  const here = frames.get(node);
  const other = part.elsewhere.get(document.nodes.backendNodeId?.[node] ?? -1);
  const inner = other ? { part: other, index: 0 } : here === undefined ? undefined : { part, index: here };
  const shown = inner?.part.snapshot.documents[inner.index];
  if (!inner || !shown) return undefined;
  const url = stringOf(inner, shown.documentURL);
  return url.startsWith('chrome-error:') ? undefined : { ...inner, url };
}

function attributesOf(reading: Reading, node: number, without?: ReadonlySet<string>): string {
  const given = reading.document.nodes.attributes?.[node] ?? [];
  let text = '';
  for (let at = 0; at + 1 < given.length; at += 2) {
    const name = stringOf(reading, given[at]);
    if (without?.has(name)) continue;
    const value = stringOf(reading, given[at + 1]);
    text += ` ${name}="${escaped(reading.depth > 0 && addresses.has(name) ? absolute(reading, value) : value)}"`;
  }
  const isLink = linking.has(stringOf(reading, reading.document.nodes.nodeName?.[node]));
  // Of two attributes of one name the first counts.
  return reading.noFollow && isLink ? ` rel="nofollow"${text}` : text;
}

/** What a frame leads to is named from where the frame is. */
const absolute = (reading: Reading, value: string): string =>
  URL.parse(value, stringOf(reading, reading.document.baseURL))?.href ?? value;

/** What a frame's document asks of robots holds for its links wherever they stand. */
function forbidsFollowing(reading: Reading): boolean {
  const { nodeName = [] } = reading.document.nodes;
  return nodeName.some((name, node) => {
    if (stringOf(reading, name) !== 'META') return false;
    const given = attributesOf(reading, node);
    return /\sname="robots"/i.test(given) && /\scontent="[^"]*\b(nofollow|none)\b/i.test(given);
  });
}

function doctypeOf(reading: Reading, node: number): string {
  const { nodes, publicId, systemId } = reading.document;
  const [open, system] = [stringOf(reading, publicId), stringOf(reading, systemId)];
  const ids = open !== '' ? ` PUBLIC "${open}"${system && ` "${system}"`}` : system && ` SYSTEM "${system}"`;
  return `<!DOCTYPE ${stringOf(reading, nodes.nodeName?.[node])}${ids}>`;
}
