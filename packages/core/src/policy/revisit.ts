/**
 * The daemon's own policy: look at a page when what has probably been missed is worth the price of a look.
 *
 * With U(t) changes expected since the last look at a page of weight w, intensity r(t) and importance a(t) of the time, and
 * a price c per look, loss grows as w a U. For a steady page the best gap g between looks minimises w a r g / 2 + c / g, so
 * a look is due when U = r g = sqrt(2 c r / (w a)). The same mark holds when r moves, or when U leaps because a sibling was
 * found changed: from then on every second costs more than the average second of the best plan, so waiting cannot pay.
 * For staleness (a copy is stale or not, however many changes were missed) the mark is 1 - (1 + U) exp(-U) = c r / (w a),
 * and a page that changes faster than looks can follow is left alone.
 * The price follows the budget (dispatch/price.ts). A page about which little is known has the mean of a wide posterior for
 * its rate, which is more than most such pages have: it is looked at for what may be learned, by the same mark.
 *
 * Due times are kept in a heap and checked when they come up; a price or activity that falls only makes them late to be
 * moved on, one that rises by more than a tenth moves the pages concerned. Cost: O(log pages) a look, and O(members) for
 * a group with an episode worth a look.
 */
import { Price } from '../dispatch/price.ts';
import { PageModels, type Parts } from '../learn/page-models.ts';
import { DueQueue } from '../time/due-queue.ts';
import { ImportantHours } from './important-hours.ts';
import type { Belief, Choice, Finding, MarketPrices, Policy, Watched } from './policy.ts';

const day = 86_400;
const hour = 3600;

/** What is asked of the policy, beside its budget. */
export interface Aims {
  readonly loss?: 'obsolescence' | 'staleness';
  /** How much the time t counts, relative to 1. */
  readonly importance?: (t: number) => number;
  /** How long a busy time may borrow from quiet ones. */
  readonly horizonSeconds?: number;
  readonly parts?: Parts;
}

/** A page never seen to change is taken to change once in this many looks. */
const looksPerChangeGuess = 30;
/** Queued times are worked out again when the price has fallen, or a site's activity risen, by this share. */
const drift = 0.15;
/** A sibling's chance far below what looks usually need moves nobody; skipping it saves reading large groups. */
const concernMin = 0.3;
/** Pages that are due stand in the way of others when they wait longer than so many requests need, or this share of the pages:
 * the host's own line may hold most of a small collection. */
const patience = { requests: 16, pages: 1 / 8 };
/** Groups up to this size are always gone through; larger ones as often as the looks made pay for it, so that a look
 * costs the same however large a site is. */
const smallGroup = 200;
const effortPerLook = 12;
const effortMax = 1_000_000;
/** Where the hours of a week differ, due times are sought by the hour, over the last day before them. */
const hoursAhead = 24;
const contrastMin = 1.5;
/** Looks further apart than this hardly gain from the right hour, unless hours differ in what they count. */
const hourlyGapMax = 3 * day;
const hoursInWeek = 168;

export class RevisitPolicy implements Policy {
  readonly name = 'revisit';
  private readonly models: PageModels;
  private readonly aims: Aims;
  private readonly price: Price;
  private readonly hours: ImportantHours;
  private readonly queue = new DueQueue();
  private readonly watched: (Terms | undefined)[] = [];
  /** Pages of a site mostly share theirs; one for each page would take as much memory as its model. */
  private readonly termsKnown = new Map<string, Terms>();
  private readonly members: Members[] = [];
  private readonly plannedActivity: number[] = [];
  private pages = 0;
  private budget = 0;
  /** The price now, and at the last plan. */
  private dear = 0;
  private plannedPrice = Number.NaN;
  /** Where the market asks for more than that, and by which factor. */
  private dearSites: MarketPrices['dear'] = new Map();
  private usualMass = 0.03;
  /** Pages of large groups that may still be gone through; every look adds some. */
  private effort = 0;

  constructor(aims: Aims = {}) {
    this.aims = aims;
    this.models = new PageModels(aims.parts);
    this.hours = new ImportantHours(this.models.week, aims.importance);
    this.price = new Price(aims.horizonSeconds ?? 30 * day);
  }

  watch(page: Watched, now: number): void {
    if (this.watched[page.page]) this.forget(page.page);
    const groups = page.groups ?? [page.folder];
    this.watched[page.page] = this.termsOf(page);
    this.hours.open(page);
    this.models.open(page.page, groups, now);
    for (const group of groups) this.members[group] = joined(this.members[group], page.page);
    this.pages++;
    this.queue.set(page.page, now);
  }

  private termsOf({ site, weight, spacingSeconds, loss, importance }: Watched): Terms {
    if (importance) return { site, weight, spacingSeconds, importance, ...(loss ? { loss } : {}) };
    const key = `${site} ${weight} ${spacingSeconds} ${loss}`;
    let terms = this.termsKnown.get(key);
    if (!terms) {
      terms = { site, weight, spacingSeconds, ...(loss ? { loss } : {}) };
      // As many kinds of terms as pages at worst; then they are no longer worth remembering.
      if (this.termsKnown.size >= termsKnownMax) this.termsKnown.clear();
      this.termsKnown.set(key, terms);
    }
    return terms;
  }

  forget(page: number): void {
    if (!this.watched[page]) return;
    for (const group of this.models.groupsOf(page)) {
      this.members[group] = left(this.members[group], page);
    }
    this.hours.close(this.watched[page]);
    this.watched[page] = undefined;
    this.models.close(page);
    this.queue.remove(page);
    this.pages--;
  }

  setBudget(looksPerSecond: number, now: number): void {
    this.budget = looksPerSecond;
    this.price.setBudget(looksPerSecond, this.pages, now);
  }

  setPrices({ moved, dear }: MarketPrices, now: number): void {
    this.dearSites = dear;
    this.price.move(moved, this.pages, now);
  }

  next(now: number): Choice | undefined {
    if (!(this.budget > 0) || this.pages === 0) return undefined;
    if (!this.price.started) this.startPrice();
    this.dear = this.price.at(now);
    if (!(this.dear > (1 - drift) * this.plannedPrice)) this.plan(now);
    else if (this.dear > (1 + 3 * drift) * this.plannedPrice) this.plannedPrice = this.dear;
    for (;;) {
      const page = this.queue.first();
      const at = page < 0 ? Infinity : this.queue.timeOf(page);
      if (at > now) {
        this.price.press(false, now);
        return at === Infinity ? undefined : { page, at };
      }
      const ripe = this.ripeness(page, now);
      const soon = now >= this.earliest(page) ? this.bestHour(page, now, now, ripe) : undefined;
      if (soon === undefined ? ripe >= 0.999 && now >= this.earliest(page) : soon <= now) {
        this.price.press(at < now - Math.min(patience.requests, patience.pages * this.pages) / this.budget, now);
        return { page, at: now };
      }
      if (soon !== undefined) {
        this.queue.set(page, soon);
        continue;
      }
      // Some progress is made in any case, or a rising price would have the same pages tried again and again.
      const least = now + Math.max(1, 0.02 * (now - this.models.lastLook(page)));
      this.queue.set(page, Math.max(least, this.ripeAt(page, now, ripe)));
    }
  }

  started(page: number): void {
    this.queue.remove(page);
  }

  looked(page: number, at: number, finding: Finding): void {
    if (!this.watched[page]) return;
    const last = this.models.lastLook(page);
    if (finding.kind === 'first') {
      this.models.fresh(page, at);
    } else {
      this.price.spent(at);
      this.effort = Math.min(effortMax, this.effort + effortPerLook);
      if (finding.kind !== 'failed' && at > last) this.learn(page, last, at, finding);
    }
    if (!this.price.started) {
      this.queue.set(page, at);
      return;
    }
    this.dear = this.price.at(at);
    // A look that failed is not tried again at once: the mark has been passed and would be passed again.
    const soonest = finding.kind === 'failed' ? at + Math.max(60, (at - last) / 4) : at;
    this.queue.set(page, Math.max(soonest, this.ripeAt(page, at, 0)));
  }

  taught(page: number, changes: Float64Array, from: number, to: number): void {
    this.models.teach(page, changes, from, to);
    this.queue.set(page, to);
  }

  hinted(page: number, now: number, chance: number): void {
    if (!this.watched[page]) return;
    this.models.hint(page, chance);
    if (this.queue.has(page) && this.ripeness(page, now) >= 1) this.queue.set(page, Math.max(now, this.earliest(page)));
  }

  due(page: number): number {
    return this.queue.timeOf(page);
  }

  belief(page: number, now: number): Belief {
    this.models.outlook(page, now);
    const current = Math.exp(-this.models.mass) * (1 - this.models.together);
    const { rate, interval } = this.models.longRun(page, now);
    return { current, ratePerDay: rate * day, rateInterval: [interval[0] * day, interval[1] * day] };
  }

  /** How fast pages are believed to change in each hour of the week, Monday 00:00 UTC first, 1 on average. */
  weekShape(): Float64Array {
    return this.models.week.values;
  }

  save(page: number): Uint8Array {
    return this.models.save(page);
  }

  restore(page: number, saved: Uint8Array, now: number): boolean {
    if (!this.models.restore(page, saved, now)) return false;
    this.queue.set(page, now);
    return true;
  }

  saveAll(): Uint8Array {
    // Numbers in JSON are plain ASCII, so a byte a letter is enough.
    const text = JSON.stringify({ version: 1, price: this.price.save(), models: this.models.saveShared() });
    return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  }

  restoreAll(saved: Uint8Array, now: number): void {
    let text = '';
    for (const byte of saved) text += String.fromCharCode(byte);
    const all = JSON.parse(text) as { version: number; price: number[]; models: unknown };
    if (all.version !== 1) return;
    this.models.restoreShared(all.models);
    // By now the pages are known, and the saved price was for so many looks a page.
    this.price.setBudget(this.budget, this.pages, now);
    this.price.restore(all.price, now);
  }

  private startPrice(): void {
    // At even intervals of pages / budget an average page makes this the price at which nobody would change anything.
    const gap = this.pages / this.budget;
    this.models.guessRate(1 / (looksPerChangeGuess * gap));
    this.price.start((this.models.meanRate() * gap * gap) / 2);
  }

  private earliest(page: number): number {
    return this.models.lastLook(page) + this.watched[page]!.spacingSeconds;
  }

  private learn(page: number, last: number, at: number, finding: Finding): void {
    const changed = finding.kind === 'changed';
    const mass = this.models.learn(page, at, changed, believable(finding.modifiedAt, at));
    this.usualMass += 0.01 * (Math.min(1, mass) - this.usualMass);
    if (changed && this.aims.parts?.siblings !== false) this.tell(page, last, at);
    const wide = this.models.groupsOf(page).at(-1);
    if (wide === undefined) return;
    const activity = this.models.activity(page, at);
    const planned = this.plannedActivity[wide] ?? 1;
    if (activity > (1 + drift) * planned) {
      this.plannedActivity[wide] = activity;
      this.hasten(listOf(this.members[wide]), at);
    } else if (activity < (1 - drift) * planned) {
      this.plannedActivity[wide] = activity;
    }
  }

  /** The page was found changed in (from, until]: its kin may have changed with it. */
  private tell(page: number, from: number, until: number): void {
    const { siblings } = this.models;
    for (const group of this.models.groupsOf(page)) {
      siblings.found(group, from, until);
      if (siblings.episodeChance(group) >= concernMin * this.usualMass) this.hasten(listOf(this.members[group]), until);
    }
  }

  /** Brings forward those of the pages that are due already. */
  private hasten(pages: readonly number[], now: number): void {
    if (pages.length > smallGroup) {
      if (pages.length > this.effort) return;
      this.effort -= pages.length;
    }
    for (let i = 0; i < pages.length; i++) {
      const page = pages[i]!;
      if (this.queue.timeOf(page) <= now || !this.queue.has(page)) continue;
      const ripe = this.ripeness(page, now);
      const at = ripe >= 1 ? Math.max(now, this.earliest(page)) : this.queue.timeOf(page);
      if (at < this.queue.timeOf(page)) this.queue.set(page, at);
    }
  }

  private plan(now: number): void {
    this.plannedPrice = this.dear;
    for (let page = 0; page < this.watched.length; page++) {
      if (!this.watched[page] || !this.queue.has(page)) continue;
      this.models.settle(page, now);
      this.queue.set(page, this.ripeAt(page, now, this.ripeness(page, now)));
    }
  }

  /** What has probably been missed, over the amount at which a look pays; `evenly` as if all hours counted alike. */
  private ripeness(page: number, now: number, evenly = false): number {
    const { models, aims } = this;
    models.outlook(page, now);
    const watched = this.watched[page]!;
    const { weight, loss } = watched;
    const price = this.priceOf(page);
    const hours = this.hours.of(watched);
    if (hours && this.hourly(page))
      return (models.evenMass + models.together) / Math.sqrt((2 * price * models.even) / (weight * hours.usual));
    const worth = weight * (evenly ? 1 : this.hours.at(watched, now));
    const missed = models.mass + models.together;
    const mark = (price * models.rate) / worth;
    if ((loss ?? aims.loss) !== 'staleness') return missed / Math.sqrt(2 * mark);
    // For small U both marks agree: 1 - (1 + U) exp(-U) is U^2 / 2 there.
    return Math.sqrt(Math.max(0, missed < 1e-3 ? missed ** 2 / 2 : 1 - (1 + missed) * Math.exp(-missed)) / mark);
  }

  /** The price of a look at the page: looks at sites whose limits bind are dearer. */
  private priceOf(page: number): number {
    return this.dear * (this.dearSites.get(this.watched[page]!.site) ?? 1);
  }

  /** After `outlook`: whether the hours around the page's due time are to be weighed against each other. */
  private hourly(page: number): boolean {
    const { models } = this;
    const watched = this.watched[page]!;
    const { loss, weight } = watched;
    const hours = this.hours.of(watched);
    if (!hours || (loss ?? this.aims.loss) === 'staleness') return false;
    return hours.matters(models.weekSay, Math.sqrt((2 * this.priceOf(page)) / (models.even * weight * hours.usual)));
  }

  /** After `ripeness` at `seen`: the best hour from `from` on, or undefined where hours do not matter. */
  private bestHour(page: number, seen: number, from: number, ripe: number): number | undefined {
    const hours = this.hours.of(this.watched[page]!);
    if (!hours || !this.hourly(page)) return undefined;
    const { models } = this;
    const last = models.lastLook(page);
    const gap = Math.max(1, seen - last);
    const waiting = {
      last,
      weekSay: models.weekSay,
      mean: models.evenMass / gap,
      even: models.even,
      extra: models.together,
      cost: this.priceOf(page) / this.watched[page]!.weight,
    };
    return hours.after(waiting, from, last + gap / Math.max(ripe, 1e-3));
  }

  /** When ripeness reaches 1, about: what counts is the check at that time. */
  private ripeAt(page: number, now: number, ripe: number): number {
    const least = Math.max(now, this.earliest(page));
    if (ripe >= 1 && !this.hourly(page)) return least;
    const own = this.watched[page]!.importance !== undefined;
    if (this.models.rhythmSay(page) > 0.1) {
      const at = Math.max(least, this.ripeInStretches(page, now, own));
      return own ? this.ripeByHour(page, now, at) : at;
    }
    const last = this.models.lastLook(page);
    let gap = now - last;
    // Where hours count for nothing ripeness says nothing of when: that is sought as if they were alike, then by the hour.
    let got = own ? this.ripeness(page, now, true) : ripe;
    if (gap <= 0 || got <= 0) {
      gap = Math.max(1, gap, this.pages / this.budget / 50);
      got = this.ripeness(page, last + gap, own);
    }
    for (let step = 0; step < 8 && ripe < 1; step++) {
      gap *= Math.min(20, Math.max(0.2, 1 / got));
      got = this.ripeness(page, last + gap, own);
      if (Math.abs(got - 1) < 0.02) break;
    }
    const at = Math.max(least, last + gap);
    if (!Number.isFinite(at)) return now + 365 * day;
    const best = this.bestHour(page, last + gap, least, got);
    if (best !== undefined) return best;
    if (own) return this.ripeByHour(page, now, at);
    const hourly = this.aims.importance !== undefined || this.models.weekSay * this.models.week.contrast > contrastMin;
    return hourly && at - now > hour && at - last < hourlyGapMax ? this.ripeByHour(page, now, at) : at;
  }

  /** For a page with a rhythm ripeness may leap where a stretch of its waits ends, so each is tried in turn. */
  private ripeInStretches(page: number, now: number, evenly: boolean): number {
    let low = now;
    let high = this.models.rhythmStretchEnd(page, low);
    while (high < Infinity && this.ripeness(page, high - 1e-3, evenly) < 1) {
      low = high;
      high = this.models.rhythmStretchEnd(page, low);
    }
    if (high === Infinity) {
      let wait = Math.max(60, (low - this.models.lastLook(page)) / 4);
      for (let step = 0; step < 40 && this.ripeness(page, low + wait, evenly) < 1; step++) {
        low += wait;
        wait *= 2;
      }
      high = low + wait;
    }
    for (let step = 0; step < 7; step++) {
      const middle = (low + high) / 2;
      if (this.ripeness(page, middle, evenly) >= 1) high = middle;
      else low = middle;
    }
    return high;
  }

  /** Where hours differ, ripeness does not rise evenly: the first hour in which it reaches 1 is sought, then the moment. */
  private ripeByHour(page: number, now: number, at: number): number {
    const last = this.models.lastLook(page);
    let low = Math.max(now, Math.min(last + 0.4 * (at - last), at - hoursAhead * hour));
    let high = (Math.floor(low / hour) + 1) * hour;
    const steps = this.watched[page]!.importance ? hoursAhead + hoursInWeek : 2 * hoursAhead;
    for (let step = 0; step < steps && this.ripeness(page, high) < 1; step++) {
      low = high;
      high += hour;
    }
    for (let step = 0; step < 4; step++) {
      const middle = (low + high) / 2;
      if (this.ripeness(page, middle) >= 1) high = middle;
      else low = middle;
    }
    return Math.max(now, this.earliest(page), high);
  }
}

/** A server's word on when the page changed; one that says "now" at every look, or names the future, says nothing. */
function believable(modifiedAt: number | undefined, at: number): number | undefined {
  return modifiedAt !== undefined && modifiedAt < at - 5 ? modifiedAt : undefined;
}

/** What is asked of a page. */
type Terms = Pick<Watched, 'site' | 'weight' | 'spacingSeconds' | 'loss' | 'importance'>;

const termsKnownMax = 100_000;

/** The pages of a group. Many groups have one: a list for each would take as much memory as all else that is known of its page. */
type Members = number | number[] | undefined;

function listOf(members: Members): readonly number[] {
  return members === undefined ? [] : typeof members === 'number' ? [members] : members;
}

function joined(members: Members, page: number): Members {
  if (members === undefined) return page;
  if (typeof members === 'number') return [members, page];
  members.push(page);
  return members;
}

function left(members: Members, page: number): Members {
  if (members === undefined || typeof members === 'number') return members === page ? undefined : members;
  members[members.indexOf(page)] = members[members.length - 1]!;
  members.pop();
  return members;
}
