/**
 * What each page's own looks have found, for the rate that people are shown (found-rate.ts). Plans go by the memories, whose weights are
 * the collection's: how often a page will change within days is one question, how often it has changed while it was watched another.
 * In memory 20 bytes a page; saved, 7: times as ln(1 + seconds) in sixteen bits, in steps of 0.03 %, and up to 16 million changes.
 */
import { foundRate } from './found-rate.ts';
import type { RateEstimate } from './rate.ts';

/** Bytes a page in the store. */
export const savedRateBytes = 7;

const perLn = 3000;
/** A page was found changed so often, and for so many times as long as it was found unchanged, before it is known to change at every look. */
const foretoldChanges = 30;
const foretoldShare = 40;
const changesMost = 2 ** 24 - 1;
/** What earlier versions kept counts for so many changes at most: how many a changed gap held was guessed with other pages' help. */
const formerChangesMost = 8;

export class PageRates {
  private changes = new Float32Array(0);
  private changedTime = new Float64Array(0);
  private knownTime = new Float64Array(0);

  reserve(pages: number): void {
    const { changes, changedTime, knownTime } = this;
    this.changes = new Float32Array(pages);
    this.changes.set(changes);
    this.changedTime = new Float64Array(pages);
    this.changedTime.set(changedTime);
    this.knownTime = new Float64Array(pages);
    this.knownTime.set(knownTime);
  }

  open(page: number): void {
    this.set(page, 0, 0, 0);
  }

  /** In a gap nothing changed, or so many changes were counted. */
  counted(page: number, gap: number, changes: number): void {
    this.changes[page]! += changes;
    this.knownTime[page]! += gap;
  }

  /** Something changed in a gap, once or more. */
  changed(page: number, gap: number): void {
    this.changes[page]! += 1;
    this.changedTime[page]! += gap;
  }

  /** Whether the page is found changed at nearly every look, so that its looks tell nothing that is not known before. */
  foretold(page: number): boolean {
    return this.changes[page]! >= foretoldChanges && this.changedTime[page]! > foretoldShare * this.knownTime[page]!;
  }

  /** Changes a second, where pages like it have `priorRate`. */
  of(page: number, priorRate: number): RateEstimate {
    const changes = this.changes[page]!;
    return foundRate({ changes, changedTime: this.changedTime[page]!, knownTime: this.knownTime[page]! }, priorRate);
  }

  save(page: number, view: DataView, at: number): void {
    const changes = Math.min(changesMost, Math.round(this.changes[page]!));
    view.setUint8(at, changes >>> 16);
    view.setUint16(at + 1, changes & 0xffff);
    view.setUint16(at + 3, coded(changes > 0 ? this.changedTime[page]! / changes : 0));
    view.setUint16(at + 5, coded(this.knownTime[page]!));
  }

  restore(page: number, view: DataView, at: number): void {
    const changes = view.getUint8(at) * 65_536 + view.getUint16(at + 1);
    this.set(page, changes, changes * decoded(view.getUint16(at + 3)), decoded(view.getUint16(at + 5)));
  }

  /** Makes do with what earlier versions kept: so many changes in so long. */
  restoreFormer(page: number, changes: number, seconds: number): void {
    const share = seconds > 0 ? Math.min(1, formerChangesMost / Math.max(1, changes)) : 0;
    this.set(page, Math.round(share * changes), 0, share * seconds);
  }

  private set(page: number, changes: number, changedTime: number, knownTime: number): void {
    this.changes[page] = changes;
    this.changedTime[page] = changedTime;
    this.knownTime[page] = knownTime;
  }
}

const coded = (seconds: number): number => Math.min(65_535, Math.round(Math.log1p(seconds) * perLn));
const decoded = (code: number): number => Math.expm1(code / perLn);
