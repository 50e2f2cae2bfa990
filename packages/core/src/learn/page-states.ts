/**
 * What is kept of every page, in typed arrays: its last look, last change and birth, the number of its changes and their fading
 * memories; 48 bytes a page, and the same bytes in the store, as well as what kind of thing it is, in one. Beside them are a hint, which ends with the next look, and the
 * long-run rates, which are a cache.
 */
import { bases, memoryScales } from './memory.ts';

const scales = memoryScales.length;

/** Bytes a page in the store. */
export const stateBytes = 24 + 4 * scales;

export class PageStates {
  last = new Float64Array(0);
  changedAt = new Float64Array(0);
  birth = new Float32Array(0);
  changes = new Float32Array(0);
  /** For each page as many as there are memories. */
  counts = new Float32Array(0);
  base = new Float32Array(0);
  hints = new Float32Array(0);
  /** The place among `contentKinds`. */
  kinds = new Uint8Array(0);

  /** Makes room; answers the number of pages there is room for when that has grown. */
  reserve(page: number): number | undefined {
    if (page < this.last.length) return undefined;
    const n = Math.max(page + 1, 2 * this.last.length, 64);
    this.last = wider(this.last, new Float64Array(n));
    this.changedAt = wider(this.changedAt, new Float64Array(n));
    this.birth = wider(this.birth, new Float32Array(n));
    this.changes = wider(this.changes, new Float32Array(n));
    this.counts = wider(this.counts, new Float32Array(n * scales));
    this.base = wider(this.base, new Float32Array(n * bases));
    this.hints = wider(this.hints, new Float32Array(n));
    this.kinds = wider(this.kinds, new Uint8Array(n));
    return n;
  }

  open(page: number, now: number): void {
    this.last[page] = now;
    this.birth[page] = now;
    this.changedAt[page] = Number.NaN;
    this.changes[page] = 0;
    this.hints[page] = 0;
    this.counts.fill(0, page * scales, (page + 1) * scales);
  }

  /** A change now `ago` seconds old joins the memories. */
  add(page: number, number: number, ago: number): void {
    for (let k = 0; k < scales; k++) this.counts[page * scales + k]! += number * Math.exp(-ago / memoryScales[k]!);
  }

  /** So many changes join the memories, spread evenly over the `span` seconds that ended `ago` seconds before. */
  addSpread(page: number, number: number, span: number, ago: number): void {
    for (let k = 0; k < scales; k++) {
      const scale = memoryScales[k]!;
      const left = (Math.exp(-ago / scale) * -Math.expm1(-span / scale) * scale) / span;
      this.counts[page * scales + k]! += number * left;
    }
  }

  save(page: number, view: DataView): void {
    view.setFloat64(0, this.last[page]!);
    view.setFloat64(8, this.changedAt[page]!);
    view.setFloat32(16, this.birth[page]!);
    view.setFloat32(20, this.changes[page]!);
    for (let k = 0; k < scales; k++) view.setFloat32(24 + 4 * k, this.counts[page * scales + k]!);
  }

  /** Takes back what `save` gave; false when it is not of this form. */
  restore(page: number, view: DataView, now: number): boolean {
    const last = view.getFloat64(0);
    if (!Number.isFinite(last)) return false;
    // A copy from the future (a clock that was wrong) is a copy of now.
    this.last[page] = Math.min(last, now);
    this.changedAt[page] = Math.min(view.getFloat64(8), now);
    this.birth[page] = Math.min(view.getFloat32(16), now);
    this.changes[page] = Math.max(0, view.getFloat32(20));
    for (let k = 0; k < scales; k++) this.counts[page * scales + k] = Math.max(0, view.getFloat32(24 + 4 * k));
    return true;
  }
}

function wider<T extends Float64Array | Float32Array | Uint8Array>(old: T, into: T): T {
  into.set(old);
  return into;
}
