/**
 * The daemon's own policy: look at a page when what has probably been missed is worth the price of a look.
 *
 * With U(t) changes expected since the last look at a page of weight w, intensity r(t) and importance a(t) of the time, and
 * a price c per look, loss grows as w a U. For a steady page the best gap g between looks minimises w a r g / 2 + c / g, so
 * a look is due when U = r g = sqrt(2 c r / (w a)). The same mark holds when r moves, or when U leaps because a sibling was
 * found changed: from then on every second costs more than the average second of the best plan, so waiting cannot pay.
 * For staleness (a copy is stale or not, however many changes were missed) a look is due when the copy is stale with the chance that
 * looks from now on would leave at the end of each wait (learn/fresh-ahead.ts): for a steady page 1 - (1 + U) exp(-U) = c r / (w a), and
 * a page that changes faster than looks can follow is left alone.
 * The price is the market's, corrected, or follows the budget where there is none (look-prices.ts). A page about which
 * little is known has the mean of a wide posterior for its rate, which is more than most such pages have: it is looked at for what
 * may be learned, by the same mark.
 *
 * Due times are kept in a heap and checked when they come up; a price or activity that falls only makes them late to be
 * moved on, one that rises by more than a tenth moves the pages concerned. Cost: O(log pages) a look, and O(members) for
 * a group with an episode worth a look.
 */
import { PageModels } from '../learn/page-models.ts';
import type { Parts } from '../learn/parts.ts';
import { Reliability } from '../learn/reliability.ts';
import type { Shared } from '../learn/shared-models.ts';
import { speeds } from '../learn/week-say.ts';
import type { GroupKeys } from '../model/kin.ts';
import { DueQueue } from '../time/due-queue.ts';
import { type Fallen, LookPrices } from './look-prices.ts';
import type { Belief, Choice, Finding, MarketPrices, Policy, Watched } from './policy.ts';
import { type Asked, Ripeness } from './ripeness.ts';
import { bytesOf, valueOf } from './saved-text.ts';

const day = 86_400;
/** How long a page whose looks fail waits for the next, at most, unless pages wait longer on average. */
const retrySeconds = day / 4;

/** What is asked of the policy, beside its budget. */
export interface Aims extends Asked {
  /** How long a busy time may borrow from quiet ones. */
  readonly horizonSeconds?: number;
  readonly parts?: Parts;
  /** Each page's rate, in changes a second, where somebody knows it; all else is learned as ever. */
  readonly rates?: ArrayLike<number>;
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
/** A host's line that no more is wanted of than can leave is empty now and then: at 99 % of the budget after a hundred requests. */
const unendingLine = { seconds: 60, requests: 256 };
/** A page is due when it is ripe, and stays in its place ahead of time when it will be about as ripe as was thought. */
const ripeEnough = 0.999;
const stillRipe = 0.9;
/** Groups up to this size are always gone through; larger ones as often as the looks made pay for it, so that a look
 * costs the same however large a site is. */
const smallGroup = 200;
const effortPerLook = 12;
const effortMax = 1_000_000;

export class RevisitPolicy implements Policy {
  readonly name = 'revisit';
  readonly hearsTimes = true;
  private readonly models: PageModels;
  private readonly aims: Aims;
  private readonly prices: LookPrices;
  private readonly ripeness: Ripeness;
  private readonly queue = new DueQueue();
  /** What is said of copies is corrected by how often such words came true, of pages that keep times of their own apart; when to look is not. */
  private readonly ofRates = new Reliability();
  private readonly ofTimes = new Reliability();
  private readonly members: Members[] = [];
  /** By site and speed. */
  private readonly plannedActivity = new Map<number, number>();
  private pages = 0;
  private budget = 0;
  private usualMass = 0.03;
  /** Pages of large groups that may still be gone through; every look adds some. */
  private effort = 0;
  /** The page ahead of all others, when its time stands whatever its siblings showed. */
  private checked = { page: -1, at: 0 };

  constructor(aims: Aims = {}) {
    this.aims = aims;
    this.models = new PageModels(aims.parts, aims.rates);
    this.prices = new LookPrices(aims.horizonSeconds);
    this.ripeness = new Ripeness(this.models, this.prices, aims);
  }

  watch(page: Watched, now: number): void {
    if (this.ripeness.knows(page.page)) this.forget(page.page);
    const groups = page.groups ?? [page.folder];
    this.ripeness.open(page);
    this.models.open(page.page, groups, now, page.site, page.content);
    for (const group of groups) this.members[group] = joined(this.members[group], page.page);
    this.regrouped(page.page, page.alike ?? []);
    this.count(1);
    this.queue.set(page.page, now);
  }

  regrouped(page: number, alike: readonly number[]): void {
    if (!this.ripeness.knows(page)) return;
    for (const group of this.models.kin.alikeOf(page)) this.members[group] = left(this.members[group], page);
    this.models.kin.setAlike(page, alike);
    for (const group of alike) this.members[group] = joined(this.members[group], page);
  }

  private count(more: number): void {
    this.pages += more;
    this.ripeness.usualGap = this.pages / this.budget;
    if (!this.prices.settled && this.pages > 0 && this.budget > 0)
      this.models.guessRate(this.budget / this.pages / looksPerChangeGuess);
  }

  forget(page: number): void {
    if (!this.ripeness.knows(page)) return;
    for (const group of this.models.kin.of(page)) {
      this.members[group] = left(this.members[group], page);
    }
    this.regrouped(page, []);
    this.ripeness.close(page);
    this.models.close(page);
    this.queue.remove(page);
    this.count(-1);
  }

  setBudget(looksPerSecond: number, now: number): void {
    this.budget = looksPerSecond;
    this.count(0);
    this.prices.setBudget(looksPerSecond, this.pages, now);
  }

  setPrices(prices: MarketPrices, now: number): void {
    this.prices.tell(prices, this.pages, now);
  }

  next(now: number, waitingSince = now): Choice | undefined {
    if (!(this.budget > 0) || this.pages === 0) return undefined;
    if (!this.prices.settled) this.startPrice();
    const fallen = this.prices.refresh(now);
    if (fallen) this.plan(now, fallen);
    const lined = now - waitingSince > Math.max(unendingLine.seconds, unendingLine.requests / this.budget);
    for (;;) {
      const page = this.queue.first();
      const at = page < 0 ? Infinity : this.queue.timeOf(page);
      if (at > now) {
        if (page >= 0 && this.overtaken(page, at)) continue;
        this.prices.press(lined, now);
        return at === Infinity ? undefined : { page, at };
      }
      const later = this.putOff(page, now, ripeEnough);
      if (later === undefined) {
        const late = now - at > Math.min(patience.requests, patience.pages * this.pages) / this.budget;
        this.prices.press(late || lined, now);
        return { page, at: now };
      }
      this.queue.set(page, later);
    }
  }

  /** When the page will be due, if at `at` it is not. */
  private putOff(page: number, at: number, enough: number): number | undefined {
    const ripe = this.ripeness.of(page, at);
    const allowed = at >= this.ripeness.earliest(page);
    const soon = allowed ? this.ripeness.bestHour(page, at, at, ripe) : undefined;
    if (soon !== undefined) return soon <= at ? undefined : soon;
    if (ripe >= enough && allowed) return undefined;
    const patient = allowed ? this.ripeness.whileSpokenFor(page, at, ripe) : undefined;
    if (patient !== undefined) return patient;
    // Some progress is made in any case, or a rising price would have the same pages tried again and again.
    const least = at + Math.max(1, 0.02 * (at - this.models.lastLook(page)));
    return Math.max(least, this.ripeness.reachesOne(page, at, ripe));
  }

  /** Siblings seen unchanged since the page's time was worked out may have put it off; then it is moved on. */
  private overtaken(page: number, at: number): boolean {
    if (this.checked.page === page && this.checked.at === at) return false;
    if (this.models.kin.isSpokenFor(page, this.models.lastLook(page), at, 1 - stillRipe)) {
      const later = this.putOff(page, at, stillRipe);
      if (later !== undefined && later > at) {
        this.queue.set(page, later);
        return true;
      }
    }
    this.checked = { page, at };
    return false;
  }

  started(page: number, now: number): void {
    this.queue.remove(page);
    if (this.ripeness.knows(page)) this.prices.asked(this.ripeness.siteOf(page), now);
  }

  looked(page: number, at: number, finding: Finding): void {
    if (!this.ripeness.knows(page)) return;
    this.checked.page = -1;
    const last = this.models.lastLook(page);
    this.models.isOfKind(page, finding.content);
    if (finding.kind === 'first') {
      this.models.fresh(page, at);
    } else {
      this.prices.spent(this.ripeness.siteOf(page), at, finding.looks ?? 1);
      this.effort = Math.min(effortMax, this.effort + effortPerLook);
      if (finding.kind !== 'failed' && at > last) this.learn(page, last, at, finding);
    }
    if (!this.prices.started) {
      this.queue.set(page, at);
      return;
    }
    this.prices.refreshSite(this.ripeness.siteOf(page), at);
    // A look that failed is not tried again at once: the mark has been passed and would be passed again. Nor after days, where the
    // budget has a look to spare sooner: whoever comes back is seen within hours.
    const longest = Math.max(retrySeconds, this.ripeness.usualGap);
    const soonest = finding.kind === 'failed' ? at + Math.min(longest, Math.max(60, (at - last) / 4)) : at;
    this.queue.set(page, Math.max(soonest, this.ripeness.reachesOne(page, at, 0)));
  }

  taught(page: number, changes: Float64Array, from: number, to: number): void {
    this.models.teach(page, changes, from, to);
    this.queue.set(page, to);
  }

  hinted(page: number, now: number, chance: number): void {
    if (!this.ripeness.knows(page)) return;
    this.models.hint(page, chance);
    if (this.queue.has(page) && this.ripeness.of(page, now) >= 1)
      this.queue.set(page, Math.max(now, this.ripeness.earliest(page)));
  }

  due(page: number): number {
    return this.queue.timeOf(page);
  }

  belief(page: number, now: number): Belief {
    // The guess of all rates moves with every page that comes before a look is paid for.
    if (!this.prices.settled) this.models.settle(page, now);
    this.models.outlook(page, now);
    const current = this.reliability().corrected(Math.exp(-this.models.mass) * (1 - this.models.together));
    const { rate, interval } = this.models.foundRate(page);
    const usualTime = this.models.usualTime(page, now);
    return {
      current,
      ratePerDay: rate * day,
      rateInterval: [interval[0] * day, interval[1] * day],
      expectedPerDay: this.models.longRun(page, now) * day,
      ...(usualTime ? { usualTime } : {}),
    };
  }

  /** What corrects words such as the last that was asked for. */
  private reliability(): Reliability {
    return this.models.byTimes ? this.ofTimes : this.ofRates;
  }

  weekShape(page?: number): Float64Array {
    const known = page !== undefined && this.ripeness.knows(page);
    return known ? this.models.believedWeek(page) : this.models.weeks.all.values;
  }

  /** The weeks of sites that have one of their own, by the numbers of the sites. */
  siteWeeks(): ReadonlyMap<number, Float64Array> {
    return new Map([...this.models.weeks.apart()].map((site) => [site, this.models.weeks.of(site).values]));
  }

  save(page: number): Uint8Array {
    return this.models.save(page);
  }

  restore(page: number, saved: Uint8Array, now: number): boolean {
    if (!this.models.restore(page, saved, now)) return false;
    this.queue.set(page, now);
    return true;
  }

  saveAll(keys: GroupKeys): Uint8Array {
    return bytesOf({
      version: 1,
      price: this.prices.save(),
      models: this.models.saveShared(keys),
      reliability: this.ofRates.save(),
      reliabilityOfTimes: this.ofTimes.save(),
    });
  }

  restoreAll(saved: Uint8Array, now: number, keys: GroupKeys): void {
    const all = valueOf(saved) as Saved | undefined;
    if (all?.version !== 1) return;
    this.models.restoreShared(all.models, keys, now);
    this.ofRates.restore(all.reliability ?? []);
    this.ofTimes.restore(all.reliabilityOfTimes ?? []);
    // By now the pages are known, and the saved price was for so many looks a page.
    this.prices.setBudget(this.budget, this.pages, now);
    this.prices.restore(all.price, now);
  }

  private startPrice(): void {
    // At even intervals of pages / budget an average page makes this the price at which nobody would change anything.
    this.prices.start((this.models.meanRate() * this.ripeness.usualGap ** 2) / 2);
  }

  private learn(page: number, last: number, at: number, finding: Finding): void {
    const changed = finding.kind === 'changed';
    const mass = this.models.learn(page, at, changed, {
      changedAt: finding.changedAt ?? believable(finding.modifiedAt, at),
      proven: finding.changedAt !== undefined,
      count: finding.count,
      times: finding.times,
    });
    this.reliability().learn(this.models.current, !changed);
    this.usualMass += 0.01 * (Math.min(1, mass) - this.usualMass);
    if (changed && this.aims.parts?.siblings !== false) this.tell(page, last, at);
    const wide = this.models.kin.of(page).at(-1);
    if (wide === undefined) return;
    const activity = this.models.activity(page, at);
    const speed = this.models.speed(page);
    const place = wide * speeds + speed;
    const planned = this.plannedActivity.get(place) ?? 1;
    if (activity > (1 + drift) * planned) {
      this.plannedActivity.set(place, activity);
      this.hasten(listOf(this.members[wide]), at, speed);
    } else if (activity < (1 - drift) * planned) {
      this.plannedActivity.set(place, activity);
    }
  }

  /** The page was found changed in (from, until]: its kin may have changed with it. */
  private tell(page: number, from: number, until: number): void {
    const { siblings } = this.models.kin;
    const rate = this.models.longRun(page, until);
    for (const group of [...this.models.kin.alikeOf(page), ...this.models.kin.of(page)]) {
      siblings.found(group, from, until, rate);
      if (siblings.episodeChance(group) >= concernMin * this.usualMass) this.hasten(listOf(this.members[group]), until);
    }
  }

  /** Brings forward those of the pages, or of those of one speed, that are due already. */
  private hasten(pages: readonly number[], now: number, speed?: number): void {
    if (pages.length > smallGroup) {
      if (pages.length > this.effort) return;
      this.effort -= pages.length;
    }
    for (let i = 0; i < pages.length; i++) {
      const page = pages[i]!;
      if (this.queue.timeOf(page) <= now || !this.queue.has(page)) continue;
      if (speed !== undefined && this.models.speed(page) !== speed) continue;
      const ripe = this.ripeness.of(page, now);
      const at = ripe >= 1 ? Math.max(now, this.ripeness.earliest(page)) : this.queue.timeOf(page);
      if (at < this.queue.timeOf(page)) this.queue.set(page, at);
    }
  }

  private plan(now: number, fallen: Fallen): void {
    const sites = fallen.kind === 'sites' ? new Set(fallen.sites) : undefined;
    for (let page = 0; page < this.ripeness.end; page++) {
      if (!this.ripeness.knows(page) || !this.queue.has(page)) continue;
      if (sites && !sites.has(this.ripeness.siteOf(page))) continue;
      this.models.settle(page, now);
      this.queue.set(page, this.ripeness.reachesOne(page, now, this.ripeness.of(page, now)));
    }
  }
}

/** What belongs to no single page, as it is kept. */
interface Saved {
  readonly version: number;
  readonly price: number[];
  readonly models: Shared;
  /** Not in what earlier versions saved. */
  readonly reliability?: number[][];
  readonly reliabilityOfTimes?: number[][];
}

/** A server's word on when the page changed; one that says "now" at every look, or names the future, says nothing. */
function believable(modifiedAt: number | undefined, at: number): number | undefined {
  return modifiedAt !== undefined && modifiedAt < at - 5 ? modifiedAt : undefined;
}

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
