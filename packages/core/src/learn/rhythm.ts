/**
 * The rhythm of a page: how long it waits between changes, when that is regular. A page built every hour, scraped every ten
 * minutes or published every Friday is quiet for most of its cycle; looks belong where the next change is due.
 *
 * Five quantiles of the page's waiting times, followed online by stochastic approximation in ln seconds, give a hazard that
 * is constant between quantiles, -ln((1-p')/(1-p)) / (q' - q), and falls as 1/age beyond the last. Whether the rhythm or
 * the memory model tells more is the page's own affair: the evidence is the running log-likelihood ratio of the two.
 * Cost: 14 bytes a page, 12 in the store.
 */

const shares = [0.05, 0.25, 0.5, 0.75, 0.95];
export const quantiles = shares.length;
/** Hazard mass within each stretch: before the first quantile, then between quantiles. */
const masses = shares.map((p, i) => Math.log((1 - (shares[i - 1] ?? 0)) / (1 - p)));
/** Beyond the last quantile the hazard is this over the age. */
const tail = 0.7;
/** Waiting times are kept as ln(seconds) in sixteen bits: steps of 0.03 %. */
const perLn = 3000;
const lnMax = 65_535 / perLn;
/** Evidence is kept in steps of a thousandth of a nat. */
const perNat = 1000;
/** Bytes a page in the store, now and as earlier versions saved it. */
export const savedRhythmBytes = 2 * quantiles + 2;
export const formerRhythmBytes = 2 * quantiles + 4;
/** So many waits must be known before a rhythm is listened to. */
export const waitsMin = 15;
/** Evidence is bounded so that a page that loses its rhythm is believed soon. */
const evidenceMax = 12;
/** A rhythm has a rest: waits of less than about an eighth of the median are rare. Bursts are the memory's affair. */
const restMin = Math.log(7.5) * perLn;
const middle = 2;
const evidenceStart = -5;

export class Rhythms {
  private q = new Uint16Array(0);
  private evidence = new Float32Array(0);
  private readonly ages = new Float64Array(quantiles);

  reserve(pages: number): void {
    const q = new Uint16Array(pages * quantiles);
    q.set(this.q);
    this.q = q;
    const evidence = new Float32Array(pages).fill(evidenceStart);
    evidence.set(this.evidence);
    this.evidence = evidence;
  }

  open(page: number): void {
    this.q.fill(0, page * quantiles, (page + 1) * quantiles);
    this.evidence[page] = evidenceStart;
  }

  /** The share of belief the rhythm has, 0 to 1; `waits` is how many waiting times went into it. */
  say(page: number, waits: number): number {
    if (waits < waitsMin) return 0;
    const base = page * quantiles;
    if (this.q[base + middle]! - this.q[base]! > restMin) return 0;
    return 1 / (1 + Math.exp(-this.evidence[page]!));
  }

  /** Another wait between two found changes, the second one found after `gap`; `waits` counts those before it. */
  learnWait(page: number, seconds: number, gap: number, waits: number): void {
    const x = Math.min(lnMax, Math.log(Math.max(1, seconds)));
    const base = page * quantiles;
    // The last quantile of a page that has any is above 0; several changes may have come before the first wait.
    if (waits < 1 || this.q[base + quantiles - 1] === 0) {
      for (let i = 0; i < quantiles; i++)
        this.q[base + i] = Math.round(Math.min(lnMax, Math.max(0, x + shares[i]! - 0.5)) * perLn);
      return;
    }
    // Where looks are as far apart as the short waits, short waits cannot be seen, and their absence proves nothing.
    if (Math.log(Math.max(1, 2 * gap)) * perLn > this.q[base]!)
      this.evidence[page] = Math.min(this.evidence[page]!, evidenceStart);
    // Steps shrink with the number of waits, but never so far that a page could not change its rhythm.
    const spread = Math.max(0.02, (this.q[base + quantiles - 2]! - this.q[base + 1]!) / perLn);
    const step = Math.max(0.05, 1.5 / (1 + waits) ** 0.7) * Math.min(1, 2 * spread + 1 / (1 + waits));
    let floor = 0;
    for (let i = 0; i < quantiles; i++) {
      const value = this.q[base + i]! / perLn;
      const moved = Math.max(floor, value + step * (shares[i]! - (x < value ? 1 : 0)));
      this.q[base + i] = Math.round(Math.min(lnMax, moved) * perLn);
      floor = moved + 1e-3;
    }
  }

  /** The look's outcome had these probabilities under the rhythm and under the memory. */
  weigh(page: number, rhythm: number, memory: number): void {
    const gain = Math.log(Math.max(rhythm, 1e-5) / Math.max(memory, 1e-5));
    const to = this.evidence[page]! + gain;
    this.evidence[page] = Math.max(-evidenceMax, Math.min(evidenceMax, to));
  }

  save(page: number, view: DataView, at: number): void {
    for (let i = 0; i < quantiles; i++) view.setUint16(at + 2 * i, this.q[page * quantiles + i]!);
    view.setInt16(at + 2 * quantiles, Math.round(this.evidence[page]! * perNat));
  }

  restore(page: number, view: DataView, at: number): void {
    this.restoreFormer(page, view, at);
    this.evidence[page] = view.getInt16(at + 2 * quantiles) / perNat;
  }

  /** Takes back what earlier versions saved, with the evidence in full. */
  restoreFormer(page: number, view: DataView, at: number): void {
    for (let i = 0; i < quantiles; i++) this.q[page * quantiles + i] = view.getUint16(at + 2 * i);
    this.evidence[page] = view.getFloat32(at + 2 * quantiles);
  }

  /** Makes the page's quantiles the ones the next calls mean. */
  load(page: number): void {
    const base = page * quantiles;
    for (let i = 0; i < quantiles; i++) this.ages[i] = Math.exp(this.q[base + i]! / perLn);
  }

  /** The age at which stretch i of the loaded page ends. */
  boundary(i: number): number {
    return this.ages[i]!;
  }

  /** Integral of the loaded page's hazard from age 0. */
  mass(age: number): number {
    let sum = 0;
    let start = 0;
    for (let i = 0; i < quantiles; i++) {
      const end = this.ages[i]!;
      if (age <= end) return sum + (masses[i]! * (age - start)) / (end - start);
      sum += masses[i]!;
      start = end;
    }
    return sum + tail * Math.log(age / start);
  }

  /** The loaded page's hazard at this age. */
  hazard(age: number): number {
    let start = 0;
    for (let i = 0; i < quantiles; i++) {
      const end = this.ages[i]!;
      if (age < end) return masses[i]! / (end - start);
      start = end;
    }
    return tail / age;
  }
}
