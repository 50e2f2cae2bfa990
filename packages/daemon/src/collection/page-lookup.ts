/**
 * Pages by a text of theirs (id, URL), as numbers in typed arrays: a map of a million texts takes twice the memory and, each
 * time it grows, a second. Open addressing; pages with the same text stand one after the other. A slot holds the page's index
 * and, beside it, 32 bits of the text's hash; the text itself is asked for only where those agree.
 *
 * Invariant: at most half of the slots were ever taken since the last rebuild, so that every search ends at a free one.
 */
const free = -1;
const left = -2;

export class PageLookup {
  readonly #textOf: (page: number) => string;
  /** Of each slot the page, then the hash. */
  #slots = new Int32Array(2 * 64).fill(free);
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
    if (4 * (this.#taken + 1) > this.#slots.length) this.#rebuild();
    const hash = hashOf(text);
    if (this.#slot(text, hash, undefined) < 0) this.#texts++;
    this.#put(hash, page);
    this.#size++;
  }

  #put(hash: number, page: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = (2 * hash) & mask;
    while (slots[slot] !== free) slot = (slot + 2) & mask;
    slots[slot] = page;
    slots[slot + 1] = hash;
    this.#taken++;
  }

  /** The first page with this text; undefined when there is none. */
  first(text: string): number | undefined {
    const slot = this.#slot(text, hashOf(text), undefined);
    return slot < 0 ? undefined : this.#slots[slot];
  }

  /** All pages with this text, in the order in which they came unless some have gone. */
  all(text: string): number[] {
    const hash = hashOf(text);
    const found: number[] = [];
    for (let slot = this.#slot(text, hash, undefined); slot >= 0; slot = this.#slot(text, hash, slot))
      found.push(this.#slots[slot]!);
    return found;
  }

  /** While its text can still be asked for. */
  remove(text: string, page: number): void {
    const hash = hashOf(text);
    let slot = this.#slot(text, hash, undefined);
    while (slot >= 0 && this.#slots[slot] !== page) slot = this.#slot(text, hash, slot);
    if (slot < 0) return;
    this.#slots[slot] = left;
    this.#size--;
    if (this.#slot(text, hash, undefined) < 0) this.#texts--;
  }

  /** The next slot of this text after another, or from the beginning; negative when there is none. */
  #slot(text: string, hash: number, after: number | undefined): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = after === undefined ? (2 * hash) & mask : (after + 2) & mask; ; slot = (slot + 2) & mask) {
      const page = slots[slot]!;
      if (page === free) return -1;
      if (page !== left && slots[slot + 1] === hash && this.#textOf(page) === text) return slot;
    }
  }

  #rebuild(): void {
    const slots = this.#slots;
    let length = slots.length;
    while (length < 8 * (this.#size + 1)) length *= 2;
    this.#slots = new Int32Array(length).fill(free);
    this.#taken = 0;
    // From a free slot on, so that pages of one text stay in their order where a row of slots goes round the end.
    let start = 0;
    while (slots[start] !== free) start += 2;
    for (let i = 0; i < slots.length; i += 2) {
      const slot = (start + i) & (slots.length - 1);
      if (slots[slot]! >= 0) this.#put(slots[slot + 1]!, slots[slot]!);
    }
  }
}

function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return hash ^ (hash >>> 13);
}
