/** Every probe of a run in order of time: page indices and seconds, kept in two growing typed arrays. */
export class ProbeLog {
  private pages = new Int32Array(1024);
  private seconds = new Float64Array(1024);
  private size = 0;

  get length(): number {
    return this.size;
  }

  add(page: number, at: number): void {
    if (this.size === this.pages.length) {
      const pages = new Int32Array(2 * this.size);
      pages.set(this.pages);
      this.pages = pages;
      const seconds = new Float64Array(2 * this.size);
      seconds.set(this.seconds);
      this.seconds = seconds;
    }
    this.pages[this.size] = page;
    this.seconds[this.size++] = at;
  }

  page(i: number): number {
    return this.pages[i]!;
  }

  at(i: number): number {
    return this.seconds[i]!;
  }
}
