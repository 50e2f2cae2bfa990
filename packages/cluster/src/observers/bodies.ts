/** The last body of each URL, for as many as fit: what observers report are differences from these. */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Probe } from 'revisit/ports';

/** Enough for tens of thousands of ordinary pages; what does not fit is sent whole the next time. */
const bytesMax = 128 * 2 ** 20;

interface Body {
  readonly site: string;
  readonly print: string;
  readonly packed: Uint8Array;
  readonly bytes: number;
}

export class Bodies {
  /** Least recently used first. */
  readonly #bodies = new Map<string, Body>();
  #bytes = 0;

  printOf(url: string): string | undefined {
    return this.#bodies.get(url)?.print;
  }

  sizeOf(url: string): number | undefined {
    return this.#bodies.get(url)?.bytes;
  }

  bodyOf(url: string): Uint8Array | undefined {
    const body = this.#bodies.get(url);
    return body && new Uint8Array(zstdDecompressSync(body.packed));
  }

  keep({ url, site }: Pick<Probe, 'url' | 'site'>, body: Uint8Array, print: string): void {
    const known = this.#bodies.get(url);
    const kept = known?.print === print ? known : { site, print, packed: zstdCompressSync(body), bytes: body.length };
    this.drop(url);
    this.#bodies.set(url, kept);
    this.#bytes += kept.packed.length;
    for (const oldest of this.#bodies.keys()) {
      if (this.#bytes <= bytesMax) break;
      this.drop(oldest);
    }
  }

  forget(whose: (site: string) => boolean): void {
    for (const [url, { site }] of this.#bodies) if (whose(site)) this.drop(url);
  }

  drop(url: string): void {
    this.#bytes -= this.#bodies.get(url)?.packed.length ?? 0;
    this.#bodies.delete(url);
  }
}
