/**
 * Pages in order of when they are wanted (or sites of when they open, sleepers of when they wake): a binary heap over dense
 * indices with the place of each kept, so that a time can be changed where it stands.
 *
 * Invariant: at[heap[i]] >= at[heap[(i - 1) >> 1]] and place[heap[i]] = i. Cost: O(log pages) a change, O(1) to look at
 * the first. Ties go to whoever stands first; pages are never compared otherwise.
 */

export class DueQueue {
  private heap = new Int32Array(64);
  private place = new Int32Array(64).fill(-1);
  private at = new Float64Array(64).fill(Infinity);
  private size = 0;

  get length(): number {
    return this.size;
  }

  /** The page wanted first, or -1. */
  first(): number {
    return this.size > 0 ? this.heap[0]! : -1;
  }

  /** When the page is wanted; Infinity when it is not in the queue. */
  timeOf(page: number): number {
    return page < this.place.length && this.place[page]! >= 0 ? this.at[page]! : Infinity;
  }

  has(page: number): boolean {
    return page < this.place.length && this.place[page]! >= 0;
  }

  set(page: number, at: number): void {
    this.grow(page);
    let i = this.place[page]!;
    if (i < 0) {
      i = this.size++;
      if (this.size > this.heap.length) this.heap = widened(this.heap, this.size);
      this.at[page] = at;
      this.rise(i, page, at);
      return;
    }
    const before = this.at[page]!;
    this.at[page] = at;
    if (at < before) this.rise(i, page, at);
    else if (at > before) this.sink(i, page, at);
  }

  remove(page: number): void {
    if (!this.has(page)) return;
    const i = this.place[page]!;
    this.place[page] = -1;
    const last = this.heap[--this.size]!;
    if (last === page) return;
    const at = this.at[last]!;
    if (i > 0 && at < this.at[this.heap[(i - 1) >> 1]!]!) this.rise(i, last, at);
    else this.sink(i, last, at);
  }

  private rise(from: number, page: number, at: number): void {
    let i = from;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      const other = this.heap[parent]!;
      if (this.at[other]! <= at) break;
      this.heap[i] = other;
      this.place[other] = i;
      i = parent;
    }
    this.heap[i] = page;
    this.place[page] = i;
  }

  private sink(from: number, page: number, at: number): void {
    const { heap, place, size } = this;
    const times = this.at;
    let i = from;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= size) break;
      if (child + 1 < size && times[heap[child + 1]!]! < times[heap[child]!]!) child++;
      const other = heap[child]!;
      if (times[other]! >= at) break;
      heap[i] = other;
      place[other] = i;
      i = child;
    }
    heap[i] = page;
    place[page] = i;
  }

  private grow(page: number): void {
    if (page < this.place.length) return;
    const length = Math.max(page + 1, 2 * this.place.length);
    const place = new Int32Array(length).fill(-1);
    place.set(this.place);
    this.place = place;
    const at = new Float64Array(length).fill(Infinity);
    at.set(this.at);
    this.at = at;
  }
}

function widened(old: Int32Array<ArrayBuffer>, least: number): Int32Array<ArrayBuffer> {
  const wide = new Int32Array(Math.max(least, 2 * old.length));
  wide.set(old);
  return wide;
}
