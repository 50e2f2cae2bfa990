/**
 * How ripe a page is for a look: what has probably been missed, over the amount at which a look pays (the marks of revisit.ts), and
 * when that will reach 1. Ripeness rises with time, evenly for a page that always changes alike; where hours differ in changes
 * or in what they count, or a page has a rhythm, the time is sought by the hour or by the stretch.
 *
 * Cost: a dozen evaluations of a page's model for a due time; where hours differ, up to some dozens more.
 */
import { counted } from '../learn/fresh-ahead.ts';
import type { PageModels } from '../learn/page-models.ts';
import { fadingOf, saved } from '../loss/fading.ts';
import { type BestHour, mayMatter } from './best-hour.ts';
import { ImportantHours } from './important-hours.ts';
import type { LookPrices } from './look-prices.ts';
import type { Watched } from './policy.ts';

const day = 86_400;
const hour = 3600;

/** Where the hours of a week differ, due times are sought by the hour, over the last day before them. */
const hoursAhead = 24;
const contrastMin = 1.5;
/** Looks further apart than this hardly gain from the right hour, unless hours differ in what they count. */
const hourlyGapMax = 3 * day;
const hoursInWeek = 168;
const termsKnownMax = 100_000;
/** A page that keeps time is tried at the turns of a dozen cycles; who is not ripe by then is asked for again. */
const turnsMost = 100;
/** Siblings mostly speak for a page when less than this of its wait is open. */
const mostlySpokenFor = 0.5;
/** A chance of 1 would be changes without end. */
const surelyTogether = 1 - 1e-6;

/** What is asked of a page. */
export interface Terms extends Pick<
  Watched,
  'site' | 'weight' | 'spacingSeconds' | 'loss' | 'importance' | 'urgency' | 'life'
> {
  /** What a change is worth fades while it waits. */
  readonly fades: boolean;
}

/** What is asked of all pages that ask for nothing else. */
export interface Asked {
  readonly loss?: 'obsolescence' | 'staleness';
  /** How much the time t counts, relative to 1. */
  readonly importance?: (t: number) => number;
}

export class Ripeness {
  /** Seconds between looks at a page on average. */
  usualGap = 0;
  private readonly models: PageModels;
  private readonly prices: LookPrices;
  private readonly asked: Asked;
  private readonly hours: ImportantHours;
  private readonly terms: (Terms | undefined)[] = [];
  /** Pages of a site mostly share theirs; one for each page would take as much memory as its model. */
  private readonly termsKnown = new Map<string, Terms>();
  private lastTerms: Terms | undefined;

  constructor(models: PageModels, prices: LookPrices, asked: Asked) {
    this.models = models;
    this.prices = prices;
    this.asked = asked;
    this.hours = new ImportantHours(models.weeks, asked.importance);
  }

  open(page: Watched): void {
    this.terms[page.page] = this.termsOf(page);
    this.hours.open(page);
  }

  close(page: number): void {
    this.hours.close(this.terms[page]!);
    this.terms[page] = undefined;
  }

  siteOf(page: number): number {
    return this.terms[page]!.site;
  }

  knows(page: number): boolean {
    return this.terms[page] !== undefined;
  }

  /** Pages are numbered below this. */
  get end(): number {
    return this.terms.length;
  }

  /** No look is made before this time. */
  earliest(page: number): number {
    return this.models.lastLook(page) + this.terms[page]!.spacingSeconds;
  }

  /** What has probably been missed, over the amount at which a look pays; `evenly` as if all hours counted alike. */
  of(page: number, now: number, evenly = false): number {
    const { models } = this;
    models.outlook(page, now);
    const terms = this.terms[page]!;
    const { weight } = terms;
    const price = this.priceOf(page);
    const hours = this.hoursThatMatter(page);
    const forFresh = this.isForStaleness(terms);
    if (hours) {
      const worth = weight * hours.usual;
      if (forFresh) return this.staleRipeness(page, now, models.evenMass, models.even, price / worth);
      return (models.evenMass + models.together) / Math.sqrt((2 * price * models.even) / worth);
    }
    const worth = weight * (evenly ? 1 : this.hours.at(terms, now));
    if (terms.fades)
      return this.fadingRipeness(terms, models.mass + models.together, now - models.lastLook(page), worth, price);
    if (forFresh) return this.staleRipeness(page, now, models.mass, models.rate, price / worth);
    return (models.mass + models.together) / Math.sqrt((2 * price * models.rate) / worth);
  }

  private isForStaleness(terms: Terms): boolean {
    return (terms.loss ?? this.asked.loss) === 'staleness';
  }

  /** After `outlook`: what was missed, over what will be when the look after one now is due (learn/fresh-ahead.ts). */
  private staleRipeness(page: number, now: number, mass: number, rate: number, cost: number): number {
    const { models } = this;
    // A copy is fresh if its own changes did not come and no sibling's was its own: the changes that would leave as small a chance.
    const missed = counted(mass, models.known(page)) - Math.log1p(-Math.min(models.together, surelyTogether));
    if (!(missed > 0)) return 0;
    const ahead = models.freshAhead(page, now, cost, rate);
    return ahead.missed < Infinity ? missed / ahead.missed : -Math.expm1(-missed) * Math.sqrt(ahead.worth);
  }

  /** The mark of a page whose changes fade (loss/fading.ts), at the rate at which they are believed to have come. */
  private fadingRipeness(terms: Terms, missed: number, gap: number, worth: number, price: number): number {
    const page = gap > 0 ? fadingOf(missed / gap, worth, terms) : undefined;
    return page ? Math.sqrt((page.b * saved(page.fading, page.a * gap)) / (page.a * price)) : 0;
  }

  /** The price of a look at the page: looks at sites whose limits bind are dearer. */
  private priceOf(page: number): number {
    return this.prices.of(this.terms[page]!.site);
  }

  /** After `outlook`: the table by which the hours around the page's due time are weighed, where that pays. */
  private hoursThatMatter(page: number): BestHour | undefined {
    const { models } = this;
    const terms = this.terms[page]!;
    const wait = this.evenGap(page);
    if (terms.fades || !mayMatter(wait)) return undefined;
    const hours = this.hours.of(terms, models.week(page));
    return hours?.matters(models.weekSay, wait) ? hours : undefined;
  }

  /** After `outlook`: how long the page would wait if all hours were alike. */
  private evenGap(page: number): number {
    const terms = this.terms[page]!;
    const worth = terms.weight * this.hours.usualOf(terms);
    return Math.sqrt((2 * this.priceOf(page)) / (this.models.even * worth));
  }

  /** After `of` at `seen`: the best hour from `from` on, or undefined where hours do not matter. */
  bestHour(page: number, seen: number, from: number, ripe: number): number | undefined {
    const hours = this.hoursThatMatter(page);
    if (!hours) return undefined;
    const { models } = this;
    // Siblings seen unchanged since the last look are as good as a later one.
    const last = models.since;
    const gap = Math.max(1, seen - last);
    const waiting = {
      last,
      weekSay: models.weekSay,
      mean: models.evenMass / gap,
      even: models.even,
      extra: models.together,
      cost: this.priceOf(page) / this.terms[page]!.weight,
    };
    return hours.after(waiting, from, last + gap / Math.max(ripe, 1e-3));
  }

  /**
   * After `of` at `now`: when a page for which siblings seen unchanged mostly speak is to be asked for again. Each of them that is looked at puts
   * off all others, so they are taken to go on speaking for it, for half as long again as it has waited at most: the member
   * looked at last stands by its own time, and a page comes up a few times between two looks however many siblings it has.
   */
  whileSpokenFor(page: number, now: number, ripe: number): number | undefined {
    const { since } = this.models;
    const gap = now - this.models.lastLook(page);
    const open = (now - since) / gap;
    if (!(open < mostlySpokenFor && ripe > 0)) return undefined;
    const wait = Math.max(1, (now - since) * (1 / ripe - 1));
    return now + Math.max(wait, Math.min(gap / 2, wait / open));
  }

  /** When ripeness reaches 1, about: what counts is the check at that time. */
  reachesOne(page: number, now: number, ripe: number): number {
    const least = Math.max(now, this.earliest(page));
    if (ripe >= 1 && !this.hoursThatMatter(page)) return least;
    const own = this.terms[page]!.importance !== undefined;
    if (this.models.keepsTime(page)) {
      const at = Math.max(least, this.ripeInStretches(page, now, own));
      return own ? this.ripeByHour(page, now, at) : at;
    }
    const last = this.models.lastLook(page);
    let gap = now - last;
    // Where hours count for nothing ripeness says nothing of when: that is sought as if they were alike, then by the hour.
    let got = own ? this.of(page, now, true) : ripe;
    if (gap <= 0 || got <= 0) {
      gap = Math.max(1, gap, this.usualGap / 50);
      got = this.of(page, last + gap, own);
    }
    for (let step = 0; step < 8 && ripe < 1; step++) {
      // What quiet siblings have spoken for is no part of what grows.
      const spoken = this.models.since - last;
      const open = spoken > 0 ? Math.max(1, gap - spoken) : gap;
      gap = spoken + open * Math.min(20, Math.max(0.2, 1 / got));
      got = this.of(page, last + gap, own);
      if (Math.abs(got - 1) < 0.02) break;
    }
    const at = Math.max(least, last + gap);
    if (!Number.isFinite(at)) return now + 365 * day;
    const best = this.bestHour(page, last + gap, least, got);
    if (best !== undefined) return best;
    if (own) return this.ripeByHour(page, now, at);
    const { contrast } = this.models.week(page);
    const hourly = this.asked.importance !== undefined || this.models.weekSay * contrast > contrastMin;
    // Where hours are steep the steps above may leap over days: from a Sunday evening, in which nothing happens, to Thursday.
    const about = Math.min(at, last + this.evenGap(page));
    return hourly && at - now > hour && about - last < hourlyGapMax ? this.ripeByHour(page, now, about) : at;
  }

  /** For a page with a rhythm ripeness may leap where a stretch of its waits ends, so each is tried in turn. */
  private ripeInStretches(page: number, now: number, evenly: boolean): number {
    let low = now;
    let high = this.models.turnAfter(page, low);
    for (let turn = 0; turn < turnsMost && high < Infinity && this.of(page, high - 1e-3, evenly) < 1; turn++) {
      low = high;
      high = this.models.turnAfter(page, low);
    }
    if (high === Infinity) {
      let wait = Math.max(60, (low - this.models.lastLook(page)) / 4);
      for (let step = 0; step < 40 && this.of(page, low + wait, evenly) < 1; step++) {
        low += wait;
        wait *= 2;
      }
      high = low + wait;
    }
    for (let step = 0; step < 7; step++) {
      const middle = (low + high) / 2;
      if (this.of(page, middle, evenly) >= 1) high = middle;
      else low = middle;
    }
    return high;
  }

  /** Where hours differ, ripeness does not rise evenly: the first hour in which it reaches 1 is sought, then the moment. */
  private ripeByHour(page: number, now: number, at: number): number {
    const last = this.models.lastLook(page);
    let low = Math.max(now, Math.min(last + 0.4 * (at - last), at - hoursAhead * hour));
    let high = (Math.floor(low / hour) + 1) * hour;
    const steps = this.terms[page]!.importance ? hoursAhead + hoursInWeek : 2 * hoursAhead;
    for (let step = 0; step < steps && this.of(page, high) < 1; step++) {
      low = high;
      high += hour;
    }
    for (let step = 0; step < 4; step++) {
      const middle = (low + high) / 2;
      if (this.of(page, middle) >= 1) high = middle;
      else low = middle;
    }
    return Math.max(now, this.earliest(page), high);
  }

  private termsOf(watched: Watched): Terms {
    const { site, weight, spacingSeconds, loss, importance, urgency, life } = watched;
    // Pages of a site mostly come together.
    const { lastTerms: last } = this;
    if (last && !importance && last.site === site && last.weight === weight && last.spacingSeconds === spacingSeconds)
      if (last.loss === loss && last.urgency === urgency && last.life === life) return last;
    const laws = urgency || life ? JSON.stringify([urgency, life]) : '';
    const key = `${site} ${weight} ${spacingSeconds} ${loss} ${laws}`;
    let terms = importance ? undefined : this.termsKnown.get(key);
    if (!terms) {
      const fades = loss !== 'staleness' && fadingOf(1, 1, watched) !== undefined;
      const asks = { ...(loss ? { loss } : {}), ...(urgency ? { urgency } : {}), ...(life ? { life } : {}) };
      terms = { site, weight, spacingSeconds, fades, ...asks, ...(importance ? { importance } : {}) };
      if (importance) return terms;
      // As many kinds of terms as pages at worst; then they are no longer worth remembering.
      if (this.termsKnown.size >= termsKnownMax) this.termsKnown.clear();
      this.termsKnown.set(key, terms);
    }
    this.lastTerms = terms;
    return terms;
  }
}
