/**
 * Pages by a text of theirs (id, URL), as numbers in typed arrays: a map of a million texts takes twice the memory and, each
 * time it grows, a second. Open addressing; pages with the same text stand one after the other. A slot holds the page's index
 * and 32 bits of the text's hash, and the text itself is asked for only where those agree.
 *
 * Invariant: at most half of the slots were ever taken since the last rebuild, so that every search ends at a free one.
 */
const free = -1;
const left = -2;

export class PageLookup {
  readonly #textOf: (page: number) => string;
  #pages = new Int32Array(64).fill(free);
  #hashes = new Int32Array(64);
  /** Slots that are not free: those of pages and those that pages left. */
  #taken = 0;
  #size = 0;
  #texts = 0;

  constructor(textOf: (page: number) => string) {
    this.#textOf = textOf;
  }

  get size(): number {
    return this.#size;
  }

  /** How many different texts there are. */
  get texts(): number {
    return this.#texts;
  }

  /** The page must not be there yet under this text. */
  add(text: string, page: number): void {
    if (2 * (this.#taken + 1) > this.#pages.length) this.#rebuild();
    const hash = hashOf(text);
    if (this.#slot(text, hash, undefined) < 0) this.#texts++;
    this.#put(hash, page);
    this.#size++;
  }

  #put(hash: number, page: number): void {
    const mask = this.#pages.length - 1;
    let slot = hash & mask;
    while (this.#pages[slot] !== free) slot = (slot + 1) & mask;
    this.#pages[slot] = page;
    this.#hashes[slot] = hash;
    this.#taken++;
  }

  /** The first page with this text; undefined when there is none. */
  first(text: string): number | undefined {
    const slot = this.#slot(text, hashOf(text), undefined);
    return slot < 0 ? undefined : this.#pages[slot];
  }

  /** All pages with this text, in the order in which they came unless some have gone. */
  all(text: string): number[] {
    const hash = hashOf(text);
    const found: number[] = [];
    for (let slot = this.#slot(text, hash, undefined); slot >= 0; slot = this.#slot(text, hash, slot))
      found.push(this.#pages[slot]!);
    return found;
  }

  /** While its text can still be asked for. */
  remove(text: string, page: number): void {
    const hash = hashOf(text);
    let slot = this.#slot(text, hash, undefined);
    while (slot >= 0 && this.#pages[slot] !== page) slot = this.#slot(text, hash, slot);
    if (slot < 0) return;
    this.#pages[slot] = left;
    this.#size--;
    if (this.#slot(text, hash, undefined) < 0) this.#texts--;
  }

  /** The next slot of this text after another, or from the beginning; negative when there is none. */
  #slot(text: string, hash: number, after: number | undefined): number {
    const mask = this.#pages.length - 1;
    for (let slot = after === undefined ? hash & mask : (after + 1) & mask; ; slot = (slot + 1) & mask) {
      const page = this.#pages[slot]!;
      if (page === free) return -1;
      if (page !== left && this.#hashes[slot] === hash && this.#textOf(page) === text) return slot;
    }
  }

  #rebuild(): void {
    const [pages, hashes] = [this.#pages, this.#hashes];
    let length = pages.length;
    while (length < 4 * (this.#size + 1)) length *= 2;
    this.#pages = new Int32Array(length).fill(free);
    this.#hashes = new Int32Array(length);
    this.#taken = 0;
    // From a free slot on, so that pages of one text stay in their order where a row of slots goes round the end.
    const start = pages.indexOf(free) + 1;
    for (let i = 0; i < pages.length; i++) {
      const slot = (start + i) & (pages.length - 1);
      if (pages[slot]! >= 0) this.#put(hashes[slot]!, pages[slot]!);
    }
  }
}

function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return hash ^ (hash >>> 13);
}
