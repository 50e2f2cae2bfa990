/**
 * The week of one site, mixed with that of the collection as far as the site's own changes speak for another one.
 *
 * The own week is a factor for the day times one for the hour, as the collection's is. Each is the mean of a Gamma posterior whose prior
 * is the collection's factor, worth k changes, and its evidence is what was found over what was due under the other factor:
 *   day = (k · day of all + found) / (k + due),   hour likewise, smoothed with its neighbours.
 * For a law that is such a product the numbers found by day and by hour say all there is to say, so 31 of each are kept and not 168.
 *
 * What is believed, and drawn here, is collection + g (own - collection), g the share that the own week's evidence has earned (evidence.ts).
 * Cost: a step for each hour of the gap.
 */
import { DrawnWeek, hourOfWeek, hoursInWeek } from './drawn-week.ts';
import { evidenceStart, heldEvidence, shareOf } from './evidence.ts';
import { WeekSay, shapeMin } from './week-say.ts';
import { type WeekShape, fadingSeconds, gapMax, kernel } from './week-shape.ts';

const hour = 3600;
const days = 7;
const hours = 24;
/** A day, or an hour with its neighbours, needs about this many changes of its own before it outweighs the collection's. */
const priorChanges = 2;
/** Evidence fades over so many expected changes. */
const evidenceFading = 300;
/** The week is drawn anew when the share of its own has moved by this. */
const shareMoved = 0.05;

export class SiteWeek extends DrawnWeek {
  private readonly all: WeekShape;
  private readonly own = new DrawnWeek();
  private readonly says = new WeekSay();
  private readonly byDay = new Counts(days);
  private readonly byHour = new Counts(hours);
  private evidence = evidenceStart;
  /** How far the site's own week is believed, 0 to 1. */
  share = 0;
  private learned = 0;
  private sinceRefresh = 0;
  private refreshedAt = Number.NaN;
  /** The collection's edition and the share of the own week that are drawn. */
  private drawnOf = -1;
  private drawnShare = 0;
  /** Set when another site has taken its place: what was made for it is of no use any more. */
  retired = false;

  constructor(all: WeekShape) {
    super();
    this.all = all;
    this.says.follow(all.says);
    this.own.draw((i) => all.values[i]!);
    this.byDay.factors.set(marginOf(all, days, dayOf));
    this.byHour.factors.set(marginOf(all, hours, hourOf));
  }

  /** How far the week bears on pages of this speed, 0 to 1. */
  say(speed: number): number {
    const common = this.all.say(speed);
    return common + this.share * (this.says.of(speed) - common);
  }

  /** Draws the week as it is believed now, where that has moved. */
  refreshed(): this {
    const { all, own, share } = this;
    if (this.drawnOf === all.edition && Math.abs(share - this.drawnShare) < shareMoved) return this;
    this.drawnOf = all.edition;
    this.drawnShare = share;
    this.draw((i) => all.values[i]! + share * (own.values[i]! - all.values[i]!));
    return this;
  }

  /** A look at a page of this speed after the gap (from, to], in which `even` changes were due in even time and `found` came, at `times`, if given. */
  learn(speed: number, from: number, to: number, even: number, found: number, times?: Float64Array): void {
    const gap = to - from;
    if (gap > gapMax || gap <= 0 || !(even > 0)) return;
    const total = this.own.between(from, to);
    this.weigh(speed, even, found, times, total / gap, this.all.between(from, to) / gap);
    this.says.weigh(speed, even, (even * total) / gap, found, times, this.own);
    const { byDay, byHour } = this;
    const spread = found > 0 && !times ? found / Math.max(total, 1e-9) : 0;
    let bin = hourOfWeek(from);
    let end = (Math.floor(from / hour) + 1) * hour;
    for (let t = from; t < to; t = end, end += hour, bin = bin === hoursInWeek - 1 ? 0 : bin + 1) {
      const seconds = Math.min(to, end) - t;
      const day = dayOf(bin);
      const hourOfDay = hourOf(bin);
      const due = (even * seconds) / gap;
      byDay.due[day]! += due * byHour.factors[hourOfDay]!;
      byHour.due[hourOfDay]! += due * byDay.factors[day]!;
      if (spread > 0) this.count(bin, spread * this.own.values[bin]! * seconds);
    }
    for (const t of times ?? []) this.count(hourOfWeek(t), found / times!.length);
    if (found > 0) {
      this.learned += found;
      if (++this.sinceRefresh >= 6 + this.learned / 50) this.refresh(to);
    }
  }

  private count(bin: number, found: number): void {
    this.byDay.found[dayOf(bin)]! += found;
    this.byHour.found[hourOf(bin)]! += found;
  }

  /** The own week is believed as far as it made looks likelier than the collection's. */
  private weigh(
    speed: number,
    even: number,
    found: number,
    times: Float64Array | undefined,
    own: number,
    common: number,
  ): void {
    const ownSay = this.says.of(speed);
    const commonSay = this.all.say(speed);
    const ratio = (mine: number, theirs: number): number =>
      Math.log(Math.max(shapeMin, 1 + ownSay * (mine - 1)) / Math.max(shapeMin, 1 + commonSay * (theirs - 1)));
    let gain = -even * (ownSay * (own - 1) - commonSay * (common - 1));
    if (found > 0 && !times) gain += found * ratio(own, common);
    for (const t of times ?? []) gain += (found / times!.length) * ratio(this.own.at(t), this.all.at(t));
    const left = this.evidence + ((evidenceStart - this.evidence) * Math.min(even, 1)) / evidenceFading;
    this.believe(left + gain);
  }

  private believe(evidence: number): void {
    this.evidence = heldEvidence(evidence);
    this.share = shareOf(this.evidence);
  }

  private refresh(now: number): void {
    const passed = now - this.refreshedAt > 0 ? now - this.refreshedAt : 0;
    const keep = Math.exp(-passed / fadingSeconds);
    this.refreshedAt = now;
    this.sinceRefresh = 0;
    this.learned *= keep;
    this.says.fade(keep);
    const { all, byDay, byHour } = this;
    byDay.fade(keep);
    byHour.fade(keep);
    byDay.estimate(marginOf(all, days, dayOf), []);
    byHour.estimate(marginOf(all, hours, hourOf), kernel);
    this.drawOwn();
  }

  private drawOwn(): void {
    this.own.draw((i) => this.byDay.factors[dayOf(i)]! * this.byHour.factors[hourOf(i)]!);
    this.drawnOf = -1;
  }

  save(): number[][] {
    const since = [this.evidence, this.learned, this.sinceRefresh, this.refreshedAt];
    return [since, ...this.says.save(), ...this.byDay.save(), ...this.byHour.save()].map((numbers) =>
      numbers.map(brief),
    );
  }

  /** Takes back what `save` gave; false when it is not of this form. */
  restore(saved: readonly (readonly number[])[]): boolean {
    const [since = [], says, sureness, ...counts] = saved;
    const [evidence = Number.NaN, learned = 0, sinceRefresh = 0, refreshedAt] = since;
    if (!Number.isFinite(evidence)) return false;
    if (!this.byDay.restore(counts.slice(0, 3)) || !this.byHour.restore(counts.slice(3))) return false;
    this.believe(evidence);
    this.learned = learned;
    this.sinceRefresh = sinceRefresh;
    this.refreshedAt = refreshedAt ?? Number.NaN;
    this.says.restore(says, sureness);
    this.drawOwn();
    return true;
  }
}

/** What was found and what was due in each of some classes of hours, and the factor that follows from it. */
class Counts {
  readonly found: Float32Array;
  readonly due: Float32Array;
  readonly factors: Float32Array;

  constructor(classes: number) {
    this.found = new Float32Array(classes);
    this.due = new Float32Array(classes);
    this.factors = new Float32Array(classes).fill(1);
  }

  fade(keep: number): void {
    for (let c = 0; c < this.found.length; c++) {
      this.found[c]! *= keep;
      this.due[c]! *= keep;
    }
  }

  /** Each class borrows from as many neighbours on both sides as there are weights for. */
  estimate(prior: Float64Array, weights: readonly number[]): void {
    const { found, due, factors } = this;
    const n = found.length;
    const level = sum(found) / Math.max(sum(due), 1e-9);
    for (let c = 0; c < n; c++) {
      let seen = found[c]!;
      let exposure = due[c]!;
      for (let step = 1; step <= weights.length; step++) {
        const before = (c + n - step) % n;
        const after = (c + step) % n;
        seen += weights[step - 1]! * (found[before]! + found[after]!);
        exposure += weights[step - 1]! * (due[before]! + due[after]!);
      }
      factors[c] = (seen + priorChanges * prior[c]!) / (exposure * level + priorChanges);
    }
  }

  save(): number[][] {
    return [[...this.found], [...this.due], [...this.factors]];
  }

  restore(saved: readonly (readonly number[])[]): boolean {
    const n = this.found.length;
    if (saved.length !== 3 || !saved.every((numbers) => numbers.length === n && numbers.every(Number.isFinite)))
      return false;
    this.found.set(saved[0]!);
    this.due.set(saved[1]!);
    this.factors.set(saved[2]!);
    return this.factors.every((factor) => factor > 0);
  }
}

const dayOf = (hourOfWeek: number): number => Math.floor(hourOfWeek / hours);
const hourOf = (hourOfWeek: number): number => hourOfWeek % hours;
const sum = (numbers: Float32Array): number => numbers.reduce((a, b) => a + b, 0);
/** A site's week is saved with hundreds of others: four digits of each number are plenty. */
const brief = (value: number): number =>
  Number.isFinite(value) && Math.abs(value) < 1e6 ? Number(value.toPrecision(4)) : value;

/** The mean of the week over the hours of each class. */
function marginOf(week: DrawnWeek, classes: number, classOf: (i: number) => number): Float64Array {
  const margin = new Float64Array(classes);
  for (let i = 0; i < hoursInWeek; i++) margin[classOf(i)]! += (week.values[i]! * classes) / hoursInWeek;
  return margin;
}
