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
const strength = 1;
/** A group never seen before: about one sibling in forty changed along, worth eight looks. */
const shareStart = 0.025;
const shareWorth = 8;
/** Shares fade over about this many sibling looks. */
const fadingLooks = 400;

export class Siblings {
  private from = new Float64Array(64).fill(-Infinity);
  private until = new Float64Array(64).fill(-Infinity);
  private hits = new Float64Array(64);
  private looks = new Float64Array(64);
  private credit = new Float64Array(64);
  private debit = new Float64Array(64);
  private size = 0;
  private start = shareStart;

  /** Makes room for the group. */
  open(group: number): void {
    if (group >= this.from.length) this.grow(Math.max(group + 1, 2 * this.from.length));
    for (; this.size <= group; this.size++) {
      this.credit[this.size] = this.start * shareWorth;
      this.debit[this.size] = shareWorth;
    }
  }

  share(group: number): number {
    return this.credit[group]! / this.debit[group]!;
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

  /** The share over all groups: groups have other numbers after a restart, so their own are learned anew. */
  save(): number {
    let credits = 0;
    let debits = 0;
    for (let group = 0; group < this.size; group++) {
      credits += this.credit[group]!;
      debits += this.debit[group]!;
    }
    return debits > 0 ? credits / debits : shareStart;
  }

  restore(share: number): void {
    if (!(share > 0 && share < 1)) return;
    this.start = share;
    for (let group = 0; group < this.size; group++) {
      if (this.debit[group] === shareWorth) this.credit[group] = share * shareWorth;
    }
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
  }
}
