/**
 * Which findings have arrived: each observer goes on telling of one until it hears that it is kept, and not before, or it would be lost with
 * a coordinator that has read it and no more.
 */
import type { Observation, Probe } from 'revisit/ports';
import type { Report } from './errand.ts';

interface Told {
  readonly site: string;
  readonly url: string;
  readonly observer: string;
  readonly finding: string;
}

export class Arrivals {
  /** By probe: read, and not yet kept. */
  readonly #read = new Map<string, Told>();
  /** By URL: kept, and not yet known to the observer. */
  readonly #kept = new Map<string, Told>();

  /** From now on it is known by its own name, and the observer hears when it is kept. */
  read({ id, site, url }: Probe, observer: string, { finding }: Pick<Report, 'finding'>): Pick<Observation, 'finding'> {
    if (finding === undefined) return {};
    this.#read.set(id, { site, url, observer, finding });
    return { finding: `${observer}/${finding}` };
  }

  /** All that follows from these probes is in the store, or nothing does. */
  ended(probeIds: readonly string[]): void {
    for (const id of this.#read.size > 0 ? probeIds : []) {
      const told = this.#read.get(id);
      this.#read.delete(id);
      if (told) this.#kept.set(told.url, told);
    }
  }

  /** For an errand to the observer. */
  of(url: string, observer: string): { readonly arrived?: string } {
    const told = this.#kept.get(url);
    return told?.observer === observer ? { arrived: told.finding } : {};
  }

  /** The observer has answered an errand and has nothing more to tell. */
  known(url: string, observer: string): void {
    if (this.#kept.get(url)?.observer === observer) this.#kept.delete(url);
  }

  forget(whose: (site: string) => boolean): void {
    for (const book of [this.#read, this.#kept]) for (const [key, { site }] of book) if (whose(site)) book.delete(key);
  }
}
