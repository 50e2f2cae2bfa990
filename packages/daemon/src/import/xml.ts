/**
 * XML a piece at a time, for formats that are lists. Entities beyond XML's own five do not exist here (a document type is
 * read over, nothing in it is expanded or fetched), nesting is bounded, and so is every text and tag.
 */
import { SaxesParser } from 'saxes';
import { Unreadable } from './source.ts';

/** Folders in OPML reach five, sitemaps three. */
const depthMax = 64;
/** Between two events the parser holds everything in memory; the longest honest text is a title. */
const silenceMax = 1 << 20;

export interface XmlHandlers {
  open(name: string, attributes: Readonly<Record<string, string>>, line: number): void;
  close?(name: string): void;
  text?(text: string): void;
}

const local = (name: string): string => name.slice(name.indexOf(':') + 1).toLowerCase();

export class XmlReader {
  readonly #parser: SaxesParser;
  #depth = 0;
  #fed = 0;
  #heardAt = 0;

  constructor(handlers: XmlHandlers) {
    const parser = new SaxesParser({ xmlns: false, position: true });
    this.#parser = parser;
    parser.on('error', (error) => {
      throw new Unreadable(`it is not well-formed XML (${error.message.replace(/^(\d+):(\d+): /, 'line $1: ')})`);
    });
    parser.on('opentag', (tag) => {
      this.#heardAt = this.#fed;
      if (++this.#depth > depthMax)
        throw new Unreadable(`line ${parser.line}: elements are nested more than ${depthMax} deep`);
      handlers.open(local(tag.name), tag.attributes as Record<string, string>, parser.line);
    });
    parser.on('closetag', (tag) => {
      this.#heardAt = this.#fed;
      this.#depth--;
      handlers.close?.(local(tag.name));
    });
    const text = (words: string): void => {
      this.#heardAt = this.#fed;
      handlers.text?.(words);
    };
    parser.on('text', text);
    parser.on('cdata', text);
    parser.on('comment', () => (this.#heardAt = this.#fed));
  }

  write(piece: string): void {
    this.#fed += piece.length;
    this.#parser.write(piece);
    if (this.#fed - this.#heardAt > silenceMax)
      throw new Unreadable(`line ${this.#parser.line}: a text or tag is longer than ${silenceMax} characters`);
  }

  end(): void {
    this.#parser.close();
  }
}
