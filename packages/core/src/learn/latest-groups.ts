/** The groups in which something was last found, so many at most: what they are doing is worth carrying over a restart. */
export class LatestGroups {
  private readonly most: number;
  /** Sets go through their members in the order in which these came. */
  private readonly groups = new Set<number>();

  constructor(most: number) {
    this.most = most;
  }

  touch(group: number): void {
    this.groups.delete(group);
    this.groups.add(group);
    if (this.groups.size > this.most) this.groups.delete(this.groups.values().next().value!);
  }

  /** The one touched last is the last. */
  [Symbol.iterator](): IterableIterator<number> {
    return this.groups.values();
  }
}
