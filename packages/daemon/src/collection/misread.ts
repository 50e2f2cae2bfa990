/**
 * Which sitemaps of a root could be read in part only, or not at all: as last read, until they can be. A process that begins knows it from
 * how pages were read (`reading.ts`).
 */
import type { Page } from '../values/page.ts';
import { originOf } from './origin.ts';

export class Misread {
  /** Addresses by the id of their page, by root. */
  readonly #urls = new Map<string, Map<string, string>>();

  /** How a page was read; true where it was not known to be misread. */
  note(page: Page, misread: boolean): boolean {
    const root = originOf(page)?.from ?? page.id;
    const urls = this.#urls.get(root) ?? new Map<string, string>();
    const isNew = misread && !urls.has(page.id);
    if (misread) urls.set(page.id, page.url);
    else urls.delete(page.id);
    if (urls.size > 0) this.#urls.set(root, urls);
    else this.#urls.delete(root);
    return isNew;
  }

  /** One of them. */
  of(rootId: string): string | undefined {
    return this.#urls.get(rootId)?.values().next().value;
  }
}
