/**
 * Which roots of discovery list more pages than they have room for. A page whose last reading found no place for some of what it
 * lists counts for its root until one finds place for all; a process that begins knows it from how pages were read (`reading.ts`).
 */
import type { Page } from '../values/page.ts';
import { originOf } from './origin.ts';

export class LeftOut {
  /** Pages that list more, by root. */
  readonly #cut = new Map<string, Set<string>>();

  /** How a page was read; true where it is the first of its root that lists more. */
  note(page: Page, cut: boolean): boolean {
    const root = originOf(page)?.from ?? page.id;
    const pages = this.#cut.get(root) ?? new Set();
    const isFirst = cut && pages.size === 0;
    if (cut) pages.add(page.id);
    else pages.delete(page.id);
    if (pages.size > 0) this.#cut.set(root, pages);
    else this.#cut.delete(root);
    return isFirst;
  }

  has(rootId: string): boolean {
    return this.#cut.has(rootId);
  }
}
