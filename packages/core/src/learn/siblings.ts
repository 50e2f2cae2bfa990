/**
 * Pages that change together. When a look finds a page changed, the pages of its groups (name stem, folder, folder above,
 * all) may have changed in the same moment: one commit, one deploy, one template.
 *
 * For each group: how likely a member changes when another is found changed (`share`, learned), and the latest episode: the
 * window in which the change happened, which narrows as more members are found changed in it, and how many members looked
 * at since had changed or not. The chance for a member not looked at since is the Beta posterior
 *   (strength * share + hits) / (strength + looks),
 * so the first few siblings tell whether the episode was broad, and looking goes on or stops accordingly.
 * Cost: O(groups of the page) a look; no state a page.
 */

/** How much of the usual share an episode is taken to have before its first sibling is seen, in looks. */
const strength = 2;
/** Nothing known at all: about one sibling in forty changed along, worth eight looks. */
const shareStart = 0.025;
const shareWorth = 8;
/** What groups of about the same size have shown stands for a group until this many of its own looks outweigh it. */
const kindWorth = 25;
const kinds = 16;
const kindFading = 4000;
/** Shares fade over about this many sibling looks. */
const fadingLooks = 400;

export class Siblings {
  private from = new Float64Array(64).fill(-Infinity);
  private until = new Float64Array(64).fill(-Infinity);
  private hits = new Float64Array(64);
  private looks = new Float64Array(64);
  private credit = new Float64Array(64);
  private debit = new Float64Array(64);
  private members = new Int32Array(64);
  /** The same sums over all groups of about the same size. */
  private readonly kindCredit = new Float64Array(kinds).fill(shareStart * shareWorth);
  private readonly kindDebit = new Float64Array(kinds).fill(shareWorth);

  /** Makes room for the group, and counts a member in. */
  open(group: number): void {
    if (group >= this.from.length) this.grow(Math.max(group + 1, 2 * this.from.length));
    this.members[group]!++;
  }

  close(group: number): void {
    this.members[group]!--;
  }

  share(group: number): number {
    const kind = this.kindOf(group);
    const usual = this.kindCredit[kind]! / this.kindDebit[kind]!;
    return (this.credit[group]! + kindWorth * usual) / (this.debit[group]! + kindWorth);
  }

  private kindOf(group: number): number {
    return Math.min(kinds - 1, 31 - Math.clz32(Math.max(1, this.members[group]!)));
  }

  /** The chance that a member changed in the group's latest episode, if it was last looked at before it. */
  episodeChance(group: number): number {
    return (strength * this.share(group) + this.hits[group]!) / (strength + this.looks[group]!);
  }

  /** How much of the episode's window lies after a look at `last`, 0 to 1. */
  unseen(group: number, last: number): number {
    const until = this.until[group]!;
    if (!(last < until)) return 0;
    const from = this.from[group]!;
    return last <= from ? 1 : (until - last) / (until - from);
  }

  /** The group through which a page last looked at `last` is most concerned, or -1; narrow groups go first when equal. */
  concern(groups: ArrayLike<number>, last: number): number {
    let best = -1;
    let most = 0;
    for (let i = 0; i < groups.length; i++) {
      const chance = this.unseen(groups[i]!, last) * this.episodeChance(groups[i]!);
      if (chance > most) {
        most = chance;
        best = groups[i]!;
      }
    }
    return best;
  }

  /** A member that the episode concerned, with `unseen` of its window, was looked at; `credit` of the change is the episode's. */
  learn(group: number, unseen: number, changed: boolean, credit: number): void {
    this.looks[group]! += unseen;
    if (changed) this.hits[group]! += credit;
    const keep = 1 - unseen / fadingLooks;
    this.credit[group] = this.credit[group]! * keep + (changed ? credit : 0);
    this.debit[group] = this.debit[group]! * keep + unseen;
    const kind = this.kindOf(group);
    const kindKeep = 1 - unseen / kindFading;
    this.kindCredit[kind] = this.kindCredit[kind]! * kindKeep + (changed ? credit : 0);
    this.kindDebit[kind] = this.kindDebit[kind]! * kindKeep + unseen;
  }

  /** A member was found changed in (from, until]. True when this opens a new episode. */
  found(group: number, from: number, until: number): boolean {
    if (from < this.until[group]! && until > this.from[group]!) {
      this.from[group] = Math.max(from, this.from[group]!);
      this.until[group] = Math.min(until, this.until[group]!);
      return false;
    }
    if (until <= this.from[group]!) return false;
    this.from[group] = from;
    this.until[group] = until;
    this.hits[group] = 0;
    this.looks[group] = 0;
    return true;
  }

  /** What groups of each size have shown: groups have other numbers after a restart, so their own is learned anew. */
  save(): number[][] {
    return [[...this.kindCredit], [...this.kindDebit]];
  }

  restore(saved: readonly number[][]): void {
    if (saved[0]?.length !== kinds || saved[1]?.length !== kinds) return;
    this.kindCredit.set(saved[0]);
    this.kindDebit.set(saved[1]);
  }

  private grow(length: number): void {
    const wider = (old: Float64Array<ArrayBuffer>, fill: number): Float64Array<ArrayBuffer> => {
      const wide = new Float64Array(length).fill(fill);
      wide.set(old);
      return wide;
    };
    this.from = wider(this.from, -Infinity);
    this.until = wider(this.until, -Infinity);
    this.hits = wider(this.hits, 0);
    this.looks = wider(this.looks, 0);
    this.credit = wider(this.credit, 0);
    this.debit = wider(this.debit, 0);
    const members = new Int32Array(length);
    members.set(this.members);
    this.members = members;
  }
}
