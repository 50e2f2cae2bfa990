/**
 * What is kept of every page, in typed arrays: its last look, last change and birth, the number of its changes and their fading
 * memories; 48 bytes a page, one for what kind of thing it is, and what its looks found (page-rates.ts). In the store the last look is in milliseconds and the last change by how long before it was, which
 * together saves six, and counts by their logarithm, in steps of 0.03 %, which saves fourteen. Beside them are a hint, which ends with the next look, and the long-run rates, which are a cache.
 */
import { bases, memoryScales } from './memory.ts';
import { PageRates, savedRateBytes } from './page-rates.ts';

const scales = memoryScales.length;

/** Bytes a page in the store. */
const ratesAt = 16 + 2 * scales;
export const stateBytes = ratesAt + savedRateBytes;
/** As earlier versions saved it: with counts in full, and before that with both times in full, without what the page's looks found. */
const withCounts = 18 + 4 * scales + savedRateBytes;
const withTimes = 24 + 4 * scales;
export const formerStateBytes: readonly number[] = [withCounts, withTimes, withTimes];

/** Of the counts of changes the smallest that matter are a thousandth. */
const perCount = 1000;
const perLn = 3000;
const coded = (count: number): number => Math.min(65_535, Math.round(Math.log1p(count * perCount) * perLn));
const decoded = (code: number): number => Math.expm1(code / perLn) / perCount;

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
  readonly rates = new PageRates();

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
    this.rates.reserve(n);
    return n;
  }

  open(page: number, now: number): void {
    this.last[page] = now;
    this.birth[page] = now;
    this.changedAt[page] = Number.NaN;
    this.changes[page] = 0;
    this.hints[page] = 0;
    this.rates.open(page);
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
    const last = Math.max(0, Math.round(1000 * this.last[page]!));
    view.setUint16(0, Math.floor(last / 2 ** 32));
    view.setUint32(2, last % 2 ** 32);
    view.setFloat32(6, last / 1000 - this.changedAt[page]!);
    view.setFloat32(10, this.birth[page]!);
    view.setUint16(14, coded(this.changes[page]!));
    for (let k = 0; k < scales; k++) view.setUint16(16 + 2 * k, coded(this.counts[page * scales + k]!));
    this.rates.save(page, view, ratesAt);
  }

  /** Takes back what `save` gave; false when it is not of this form. */
  restore(page: number, view: DataView, now: number): boolean {
    if (!this.restoreTimes(page, shortTimes(view), view.getFloat32(10), now)) return false;
    this.changes[page] = decoded(view.getUint16(14));
    for (let k = 0; k < scales; k++) this.counts[page * scales + k] = decoded(view.getUint16(16 + 2 * k));
    this.rates.restore(page, view, ratesAt);
    return true;
  }

  /** Takes back what an earlier version saved in so many bytes; false when it is not of that form. */
  restoreFormer(page: number, view: DataView, now: number, bytes: number): boolean {
    const short = bytes === withCounts;
    const times = short ? shortTimes(view) : { last: view.getFloat64(0), changedAt: view.getFloat64(8) };
    const at = short ? 10 : 16;
    if (!this.restoreTimes(page, times, view.getFloat32(at), now)) return false;
    this.changes[page] = Math.max(0, view.getFloat32(at + 4));
    for (let k = 0; k < scales; k++) this.counts[page * scales + k] = Math.max(0, view.getFloat32(at + 8 + 4 * k));
    if (short) this.rates.restore(page, view, at + 8 + 4 * scales);
    else this.rates.restoreFormer(page, this.changes[page]!, this.last[page]! - this.birth[page]!);
    return true;
  }

  private restoreTimes(page: number, { last, changedAt }: Times, birth: number, now: number): boolean {
    if (!Number.isFinite(last)) return false;
    // A copy from the future (a clock that was wrong) is a copy of now.
    this.last[page] = Math.min(last, now);
    this.changedAt[page] = Math.min(changedAt, now);
    this.birth[page] = Math.min(birth, now);
    return true;
  }
}

interface Times {
  readonly last: number;
  readonly changedAt: number;
}

function shortTimes(view: DataView): Times {
  const last = (view.getUint16(0) * 2 ** 32 + view.getUint32(2)) / 1000;
  return { last, changedAt: last - view.getFloat32(6) };
}

function wider<T extends Float64Array | Float32Array | Uint8Array>(old: T, into: T): T {
  into.set(old);
  return into;
}
