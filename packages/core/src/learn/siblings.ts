/**
 * Pages that change together. When a look finds a page changed, the pages of its groups (name stem, folder, folder above,
 * all, names that begin alike) may have changed in the same moment: one commit, one deploy, one template, one sweep through a list.
 *
 * For each group: how likely a member changes when another is found changed (`share`, learned), and the latest episode: the
 * window in which the change happened, which narrows as more members are found changed in it, and how many members looked
 * at since had changed or not. The chance for a member not looked at since is the Beta posterior
 *   (strength * share + hits) / (strength + looks),
 * so the first few siblings tell whether the episode was broad, and looking goes on or stops accordingly. Pages that change by
 * themselves at about the same time look like an episode, and of several groups the one that says most is listened to: so
 * what is said is believed as far as chances of about that size have come true (`trusted`).
 *
 * A member seen unchanged speaks for the others, too. Where a share s of what happens to one happens to another, of the changes expected
 * of a page since its last look the part s is ruled out for the time that looks at others have covered since; as far as that
 * has come true (`broken`), and in groups that mostly change together only. So pages that would be due at once are asked in turn, and a change
 * that one of them shows happened, as far as they share, since another was seen unchanged.
 * Cost: O(groups of the page) a look; no state a page.
 */
import type { GroupKeys } from '../model/kin.ts';
import { LatestGroups } from './latest-groups.ts';

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
/** Chances are told apart by factors of 2^(2⁄3) below 1; what each has shown starts as true, worth two changes, and fades. */
const levels = 10;
const levelsPerHalving = 1.5;
const trustWorth = 2;
const trustFading = 1 / 1000;
const chanceMost = 0.98;
/** Of what members seen unchanged are said to rule out half is taken to come all the same at first, worth two changes; fades too. */
const quietStart = 0.5;
/** Something of a wait is always open, or nothing could be expected of it and nothing learned. */
const brokenLeast = 0.003;
/** Rates of pages that always change together are believed to differ by up to this factor. */
const aboutAsOften = 1.5;
const quietRateMoves = 0.25;
/** Members seen unchanged say nothing where no more than this is shared, and all that they can say from so much on: with groups that share
 * less heard too, pages of real traces were found no sooner (docs/learning.md). */
const quietShare = { none: 0.5, all: 0.7 };
/** Groups whose episodes are saved: 150 bytes each, written every minute. */
const savedMost = 2048;

export class Siblings {
  private from = new Float64Array(64).fill(-Infinity);
  private until = new Float64Array(64).fill(-Infinity);
  private hits = new Float64Array(64);
  private looks = new Float64Array(64);
  private credit = new Float64Array(64);
  private debit = new Float64Array(64);
  private members = new Int32Array(64);
  /** 1 for groups of names that begin alike: what they show is counted apart. */
  private byName = new Uint8Array(64);
  /** The same sums over all groups of about the same size; those by name come second. */
  private readonly kindCredit = new Float64Array(2 * kinds).fill(shareStart * shareWorth);
  private readonly kindDebit = new Float64Array(2 * kinds).fill(shareWorth);
  /** Of chances of about the same size, how many changes were theirs and how many they said. */
  private readonly trueCredit = new Float64Array(2 * levels).fill(trustWorth);
  private readonly trueDebit = new Float64Array(2 * levels).fill(trustWorth);
  /** Of what siblings' quiet was said to rule out, by shares of about the same size: what came all the same, and all of it. */
  private readonly brokenCredit = new Float64Array(2 * levels).fill((1 - quietStart) * trustWorth);
  private readonly brokenDebit = new Float64Array(2 * levels).fill(trustWorth);
  /** The latest stretch of time that looks have covered in which members had not changed. */
  private quietFrom = new Float64Array(64);
  private quietUntil = new Float64Array(64);
  /** Changes a second that were expected of the members seen unchanged, the latest ones counting most. */
  private quietRate = new Float64Array(64);
  private readonly latest = new LatestGroups(savedMost);
  /** Set by `consider`: the group that concerns the page most, -1 for none, its chance as it says and as it is believed. */
  group = -1;
  said = 0;
  chance = 0;
  /** Set by `considerQuiet`: the group whose quiet says most of the page, -1 for none; seconds of its wait that are ruled out, as said and as believed. */
  quietGroup = -1;
  quietSaid = 0;
  quietSeconds = 0;

  /** Makes room for the group, and counts a member in. */
  open(group: number, byName = false): void {
    if (group >= this.from.length) this.grow(Math.max(group + 1, 2 * this.from.length));
    this.members[group]!++;
    this.byName[group] = byName ? 1 : 0;
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
    return this.byName[group]! * kinds + Math.min(kinds - 1, 31 - Math.clz32(Math.max(1, this.members[group]!)));
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

  /** Nothing concerns the page yet: each of its groups is to be considered, narrow ones first, as they go first when equal. */
  begin(): void {
    this.group = -1;
    this.said = 0;
    this.chance = 0;
    this.quietGroup = -1;
    this.quietSaid = 0;
    this.quietSeconds = 0;
  }

  /** What the group's episode says of a page that was last looked at `last`. */
  consider(group: number, last: number): void {
    const unseen = this.unseen(group, last);
    if (unseen === 0) return;
    const said = unseen * this.episodeChance(group);
    const chance = this.trusted(group, said);
    if (!(chance > this.chance)) return;
    this.group = group;
    this.said = said;
    this.chance = chance;
  }

  /** What looks at the group's other members that found nothing say of a page between its look at `last` and `now`. */
  considerQuiet(group: number, last: number, now: number, rate: number): void {
    const covered = Math.min(now, this.quietUntil[group]!) - Math.max(last, this.quietFrom[group]!);
    if (!(covered > 0)) return;
    const share = Math.min(1, this.share(group));
    if (!(share > quietShare.none)) return;
    const heard = Math.min(1, (share - quietShare.none) / (quietShare.all - quietShare.none));
    // Of a page that changes more often than they do most changes are its own.
    const said = covered * share * heard * Math.min(1, (aboutAsOften * this.quietRate[group]!) / rate);
    const seconds = said * (1 - this.broken(group, share));
    if (!(seconds > this.quietSeconds)) return;
    this.quietGroup = group;
    this.quietSaid = said;
    this.quietSeconds = seconds;
  }

  /** Of what quiet members of a group with this share are said to rule out, the part that comes all the same. */
  private broken(group: number, share: number): number {
    const level = this.levelOf(group, share);
    return Math.max(brokenLeast, Math.min(1, this.brokenCredit[level]! / this.brokenDebit[level]!));
  }

  /** A page of which the group's quiet ruled out `said` changes was looked at, and `found` changes for each that was expected. */
  learnQuiet(group: number, said: number, found: number): void {
    const share = Math.min(1, this.share(group));
    const level = this.levelOf(group, share);
    const keep = found > 0 ? 1 - trustFading : 1;
    const credit = this.broken(group, share) * said * found;
    this.brokenCredit[level] = this.brokenCredit[level]! * keep + credit;
    this.brokenDebit[level] = this.brokenDebit[level]! * keep + said;
  }

  /** A member was found unchanged between two looks. */
  quiet(group: number, from: number, until: number, rate: number): void {
    const continues = from <= this.quietUntil[group]!;
    if (continues && until <= this.quietUntil[group]!) return;
    this.quietFrom[group] = continues ? Math.min(from, this.quietFrom[group]!) : from;
    this.quietUntil[group] = until;
    const known = continues ? this.quietRate[group]! : rate;
    this.quietRate[group] = known + quietRateMoves * (rate - known);
  }

  private trusted(group: number, said: number): number {
    const level = this.levelOf(group, said);
    return Math.min(chanceMost, (said * this.trueCredit[level]!) / this.trueDebit[level]!);
  }

  private levelOf(group: number, said: number): number {
    const level = Math.floor(levels + levelsPerHalving * Math.log2(said));
    return this.byName[group]! * levels + Math.max(0, Math.min(levels - 1, level));
  }

  /**
   * A member that the episode concerned, with `unseen` of its window and a chance of `said`, was looked at; `credit` of the
   * change that was found, if any, is the episode's.
   */
  learn(group: number, unseen: number, said: number, credit: number): void {
    const level = this.levelOf(group, said);
    const trustKeep = credit > 0 ? 1 - trustFading : 1;
    this.trueCredit[level] = this.trueCredit[level]! * trustKeep + credit;
    this.trueDebit[level] = this.trueDebit[level]! * trustKeep + said;
    this.looks[group]! += unseen;
    this.hits[group]! += credit;
    const keep = 1 - unseen / fadingLooks;
    this.credit[group] = this.credit[group]! * keep + credit;
    this.debit[group] = this.debit[group]! * keep + unseen;
    const kind = this.kindOf(group);
    const kindKeep = 1 - unseen / kindFading;
    this.kindCredit[kind] = this.kindCredit[kind]! * kindKeep + credit;
    this.kindDebit[kind] = this.kindDebit[kind]! * kindKeep + unseen;
  }

  /** A member was found changed in (since, until]. True when this opens a new episode. */
  found(group: number, since: number, until: number, rate: number): boolean {
    // If others changed along it was after they were last seen unchanged; if not, the time before is as likely as ever.
    this.begin();
    this.considerQuiet(group, since, until, rate);
    const from = since + this.quietSeconds;
    // Groups of one have nobody to tell.
    if (this.members[group]! > 1) this.latest.touch(group);
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

  /** The latest episodes, each with its group's key, and what the group has shown. */
  saveEpisodes(keys: GroupKeys): number[][] {
    const sums = this.sums();
    return [...this.latest].map((group) => [keys.keyOf(group), ...sums.map((sum) => sum[group]!)]);
  }

  restoreEpisodes(saved: readonly number[][], keys: GroupKeys, now: number): void {
    const sums = this.sums();
    for (const [key, ...state] of saved) {
      const group = keys.groupOf(key!);
      if (group === undefined || !(this.members[group]! > 0)) continue;
      if (state.length < sums.length - 3 || state.length > sums.length || !state.every(Number.isFinite)) continue;
      state.forEach((value, i) => (sums[i]![group] = value));
      // A clock that was ahead: nobody has been looked at since.
      this.until[group] = Math.min(this.until[group]!, now);
      this.quietUntil[group] = Math.min(this.quietUntil[group]!, now);
      this.latest.touch(group);
    }
  }

  private sums(): readonly Float64Array[] {
    return [
      this.from,
      this.until,
      this.hits,
      this.looks,
      this.credit,
      this.debit,
      // Not in what earlier versions saved.
      this.quietFrom,
      this.quietUntil,
      this.quietRate,
    ];
  }

  /** What groups of each size have shown, and what chances of each size. */
  save(): number[][] {
    return this.lasting().map((sums) => [...sums]);
  }

  restore(saved: readonly number[][]): void {
    this.lasting().forEach((sums, i) => {
      if (saved[i]?.length === sums.length) sums.set(saved[i]!);
    });
  }

  private lasting(): readonly Float64Array[] {
    return [this.kindCredit, this.kindDebit, this.trueCredit, this.trueDebit, this.brokenCredit, this.brokenDebit];
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
    this.quietFrom = wider(this.quietFrom, 0);
    this.quietUntil = wider(this.quietUntil, 0);
    this.quietRate = wider(this.quietRate, 0);
    const members = new Int32Array(length);
    members.set(this.members);
    this.members = members;
    const byName = new Uint8Array(length);
    byName.set(this.byName);
    this.byName = byName;
  }
}
