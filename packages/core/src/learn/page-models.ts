/**
 * What is believed of every page, learned from looks: one model, five voices.
 *
 * The intensity of a page is  (memory) x (week) x (activity of its site and speed),  or its rhythm or its clock where that explains it better; to
 * the changes expected since the last look comes the chance that a sibling's change was also this page's. See memory.ts,
 * week-shape.ts, activity.ts, page-times.ts and siblings.ts for each.
 *
 * State: 61 bytes a page in the store (last look 6, last change 4, birth 4, changes 2, memories 12, own rate 7, waits 12, clock 13, kind 1), 117 in typed
 * arrays; the two long-run rates beside them are a cache. Cost: O(1) a look, about ten exponentials.
 * Delicate: gaps of zero length tell nothing and are skipped; a change found at every look counts at most one and a half times a look where it is not counted, so
 * a page with a clock on it is not believed to change ever faster.
 */
import { type ContentKind, contentKinds } from '../model/content-kind.ts';
import type { GroupKeys } from '../model/kin.ts';
import type { UsualTime } from './clock.ts';
import type { FreshAhead } from './fresh-ahead.ts';
import { KindRates } from './kind-rates.ts';
import { bases, memoryScales, priorShapes } from './memory.ts';
import type { RateEstimate } from './rate.ts';
import { PageKin } from './page-kin.ts';
import { PageMemories } from './page-memories.ts';
import { PageStates, formerStateBytes, stateBytes } from './page-states.ts';
import { PageTimes, savedTimesBytes } from './page-times.ts';
import { type PageWeek, PageWeeks } from './page-weeks.ts';
import { type Parts, allParts } from './parts.ts';
import { PriorRates, posteriorRate } from './prior-rates.ts';
import { formerRhythmBytes } from './rhythm.ts';
import { SiteActivities } from './site-activities.ts';
import type { Shared } from './shared-models.ts';
import { type Told, sharedNumber, toldNumber, toldTimes } from './told.ts';
import { speedOf } from './week-say.ts';

const scales = memoryScales.length;

/** A page found changed at every look may change ever so often; believing more than this would feed on itself. */
const numberMax = 1.5;

/** What was held for impossible may still be found; taken for less likely than this it would count without bound. */
const chanceMin = 1e-6;

export class PageModels {
  readonly weeks = new PageWeeks();
  readonly kin = new PageKin();
  /** Set by `outlook`: changes expected since the last look, the intensity now, and the chance of a shared change. */
  mass = 0;
  rate = 0;
  together = 0;
  /** Set by `outlook` too: the intensity an average hour would have now, and how far the week bears on the page. */
  even = 0;
  evenMass = 0;
  weekSay = 0;
  /** Set by `outlook` too: from when on nothing is known of the page, its last look or later, as far as siblings seen unchanged speak for it. */
  since = 0;
  /** Set by `learn`: the chance that the copy was current just before the look, as `outlook` had it. */
  current = 1;
  /** Set by both: whether that is more the word of the page's own times than of rates. */
  byTimes = false;

  private readonly parts: Required<Parts>;
  private readonly activities = new SiteActivities();
  private readonly states = new PageStates();
  private readonly memories = new PageMemories(this.states);
  private readonly times: PageTimes;
  private readonly priors = new PriorRates();
  private readonly kinds = new KindRates();

  private readonly told: ArrayLike<number> | undefined;
  private readonly toldMean: number;

  /** `told`: each page's rate, in changes a second, where somebody knows it. */
  constructor(parts: Parts = {}, told?: ArrayLike<number>) {
    this.parts = { ...allParts, ...parts };
    this.times = new PageTimes(this.states, this.parts.rhythm);
    this.told = told;
    this.toldMean = told ? Array.from(told).reduce((sum, rate) => sum + rate, 0) / told.length : 0;
  }

  /** Before anything is found a page is taken to change once in so many looks. */
  guessRate(perSecond: number): void {
    this.priors.guess = perSecond;
  }

  meanRate(): number {
    return this.priors.mean();
  }

  open(page: number, groups: readonly number[], now: number, site = 0, kind?: ContentKind): void {
    const room = this.states.reserve(page);
    if (room !== undefined) {
      this.times.reserve(room);
      this.kin.reserve(room);
    }
    this.states.open(page, now);
    this.times.open(page);
    this.kin.open(page, groups, site);
    this.weeks.open(site, groups.at(-1));
    this.priors.open(groups);
    const wide = groups.at(-1) ?? -1;
    if (wide >= 0) this.activities.open(wide);
    this.states.kinds[page] = 0;
    this.isOfKind(page, kind);
    this.settle(page, now);
  }

  /** What kind of thing the page is, where somebody can tell. */
  isOfKind(page: number, kind: ContentKind = 'unknown'): void {
    if (kind !== 'unknown') this.states.kinds[page] = contentKinds.indexOf(kind);
  }

  close(page: number): void {
    this.kin.close(page);
  }

  lastLook(page: number): number {
    return this.states.last[page]!;
  }

  /** The copy is fresh from here, and nothing is known of the time before. */
  fresh(page: number, at: number): void {
    this.states.last[page] = at;
    this.states.hints[page] = 0;
    this.settle(page, at);
  }

  hint(page: number, chance: number): void {
    this.states.hints[page] = Math.max(this.states.hints[page]!, Math.min(1, chance));
  }

  /** The week by which the page goes. */
  week(page: number): PageWeek {
    return this.weeks.of(this.kin.siteOf(page));
  }

  /** The factor that the pages of its site and speed have now. */
  activity(page: number, now: number, speed = this.speed(page)): number {
    const groups = this.kin.of(page);
    if (groups.length === 0 || !this.parts.activity) return 1;
    return this.activities.factor(groups[groups.length - 1]!, speed, now);
  }

  /** What is to be expected of the page at `now`, left in `mass`, `rate` and `together`. */
  outlook(page: number, now: number): void {
    const last = this.states.last[page]!;
    const gap = Math.max(0, now - last);
    this.memories.expect(page, gap);
    let { mass, rate } = this.memories;
    const { burstMass, burstRate } = this.memories;
    const speed = this.speed(page);
    const activity = this.activity(page, now, speed);
    this.even = (rate + burstRate) * activity;
    this.evenMass = (mass + burstMass) * activity;
    const week = this.week(page);
    this.weekSay = this.parts.week ? week.say(speed) : 0;
    mass *= 1 + this.weekSay * (gap > 0 ? week.between(last, now) / gap - 1 : 0);
    rate *= 1 + this.weekSay * (week.at(now) - 1);
    mass = (mass + burstMass) * activity;
    rate = (rate + burstRate) * activity;
    this.times.expect(page, now, mass, rate);
    if (this.times.rule(page)) this.weekSay = 0;
    this.byTimes = this.times.others < 0.5;
    ({ mass, rate } = this.times);
    this.rate = rate;
    if (this.parts.siblings) this.kin.consult(page, last, now, gap > 0 ? mass / gap : rate);
    const { quietSeconds } = this.kin.siblings;
    const chance = this.kin.siblings.chance * this.toldShare(page);
    this.together = 1 - (1 - this.states.hints[page]!) * (1 - chance);
    this.since = last + quietSeconds;
    const open = gap > 0 ? 1 - quietSeconds / gap : 1;
    this.mass = mass * open;
    this.evenMass *= open;
  }

  /** What fresh copies ask of the page at `now`, where a look costs so much and changes come at `rate`. */
  freshAhead(page: number, now: number, cost: number, rate: number): FreshAhead {
    return this.memories.ahead(page, Math.max(0, now - this.states.last[page]!), cost, rate);
  }

  /** What siblings change together with is shared by those that change at all: how far the page is one of them, where that is told. */
  private toldShare(page: number): number {
    return this.told ? Math.min(1, (this.told[page] ?? 0) / this.toldMean) : 1;
  }

  /** How many changes of the page are known. */
  known(page: number): number {
    return this.states.changes[page]!;
  }

  /** Whether the page goes by times of its own, and when what is expected of it takes its next turn after `now`; Infinity where it takes none. */
  keepsTime(page: number): boolean {
    return this.times.rule(page);
  }

  turnAfter(page: number, now: number): number {
    return this.times.turnAfter(page, now);
  }

  /** When the page usually changes, where it has such a time. */
  usualTime(page: number, now: number): UsualTime | undefined {
    return this.times.usualTime(page, now);
  }

  /** A look that told whether the page changed since the last one, and perhaps more. Returns what was expected, without siblings. */
  learn(page: number, at: number, changed: boolean, told: Told = {}): number {
    const last = this.states.last[page]!;
    const gap = at - last;
    if (!(gap > 0)) return 0;
    const plain = this.memories.gather(page, gap);
    const { burst } = this.memories;
    const speed = this.speed(page);
    const week = this.week(page);
    const weekly = this.parts.week ? 1 + week.say(speed) * (week.between(last, at) / gap - 1) : 1;
    const activity = this.activity(page, at, speed);
    const { siblings } = this.kin;
    const usual = (plain * activity) / gap;
    if (this.parts.siblings) this.kin.consult(page, last, at, usual);
    const { group, said, chance: together, quietGroup, quietSaid } = siblings;
    // Of the gap only so much was open: quiet siblings had spoken for the rest.
    const open = 1 - siblings.quietSeconds / gap;
    const shapedPart = (plain - burst) * activity * open;
    const memory = shapedPart * weekly + burst * activity * open;
    this.times.weigh(page, at, memory, open, changed);
    const { mass, others: own } = this.times;
    this.byTimes = own < 0.5;
    const still = Math.exp(-mass) * (1 - together);
    const chance = Math.max(chanceMin, 1 - still);
    this.current = still * (1 - this.states.hints[page]!);

    const times = changed ? toldTimes(told, last, at, mass) : undefined;
    const number = changed ? toldNumber(told) : 0;
    // Several that were counted are shared out by what was expected of each voice; of one, expectation maximisation says how many it
    // stands for.
    const shared = changed ? sharedNumber(told) : 0;
    const over = shared > 0 ? Math.max(chanceMin, mass) : chance;
    const siblingsPart =
      shared > 0 ? (together * shared) / ((1 - together) * over + together * shared) : together / chance;
    const found = !changed ? 0 : shared > 0 ? shared - siblingsPart : 1;
    // The voices are two accounts of the page, and each learns by its own: held against what both expect, memory would be taught that
    // nothing changes by a page whose rhythm foretells its changes, and with it all pages that share its weights.
    const overMemory = Math.max(chanceMin, shared > 0 ? memory : 1 - Math.exp(-memory) * (1 - together));
    const foundOfMemory = found / overMemory;
    const credit = own * foundOfMemory;
    // Where all looks find a change, likelihood rises with the rate without end, and would take with it what all pages share.
    const teaches = !this.states.rates.foretold(page);
    if (this.parts.week && teaches)
      this.weeks.learn(this.kin.siteOf(page), speed, last, at, shapedPart * own, credit * shapedPart * weekly, times);
    if (this.parts.activity && teaches) this.learnActivity(page, at, (memory / activity) * own, credit * memory);
    if (this.parts.memory && teaches)
      this.memories.learn(page, weekly * activity * open * own, activity * open * own, foundOfMemory);
    if (group >= 0) siblings.learn(group, siblings.unseen(group, last), said, changed ? siblingsPart : 0);
    if (quietGroup >= 0) siblings.learnQuiet(quietGroup, ((mass / open) * quietSaid) / gap, found / over);
    if (!changed && this.parts.siblings) this.kin.quiet(page, last, at, usual);

    // Where there is a rest between changes a gap holds one, as gaps are shorter than the rest where it is believed.
    if (changed && number === 0 && !this.byTimes) this.states.rates.changed(page, gap);
    else this.states.rates.counted(page, gap, changed ? Math.max(1, number) : 0);
    // A changed gap may hold several changes; how many, the model's own expectation says where nobody else does, within reason.
    const expected = changed ? Math.min(numberMax, mass > 1e-6 ? mass / -Math.expm1(-mass) : 1) : 0;
    this.remember(page, at, gap, number > 0 ? number : expected, told);
    return mass;
  }

  /** The class of speed the page belongs to. */
  speed(page: number): number {
    return speedOf(this.states.base[page * bases]!);
  }

  private learnActivity(page: number, at: number, plain: number, credit: number): void {
    const wide = this.kin.of(page).at(-1);
    if (wide !== undefined) this.activities.learn(wide, this.speed(page), at, plain, credit);
  }

  /** Moves the page's own state to the look at `at`, which found `number` changes, at the times it was told. */
  private remember(page: number, at: number, gap: number, number: number, told: Told): void {
    const groups = this.kin.of(page);
    const { states } = this;
    const age = Math.max(0, states.last[page]! - states.birth[page]!);
    this.kinds.learn(states.kinds[page]!, this.priors.of(groups), age, states.changes[page]!, gap, number);
    this.priors.watched(groups, gap);
    for (let k = 0; k < scales; k++) states.counts[page * scales + k]! *= Math.exp(-gap / memoryScales[k]!);
    this.times.lookedOver(page, gap, at);
    if (number > 0) {
      this.priors.found(groups, number);
      for (const when of told.times ?? []) {
        this.times.found(page, when, when);
        this.happened(page, when, 1, 0, at);
      }
      if (!told.times) this.happened(page, this.timeOf(page, at, gap, number, told), number, gap, at);
    }
    states.last[page] = at;
    states.hints[page] = 0;
    this.settle(page, at);
  }

  /** When the latest of so many changes was that a look at `at` found after `gap`, as far as anybody knows. */
  private timeOf(page: number, at: number, gap: number, number: number, told: Told): number {
    const last = at - gap;
    const { changedAt = Number.NaN } = told;
    const said = changedAt > last && changedAt <= at;
    const byClock = this.times.found(page, said ? changedAt : last, said ? changedAt : at);
    // The latest of n is to be expected so long before the look.
    return said ? changedAt : (byClock ?? at - gap / (number > numberMax ? number + 1 : 2));
  }

  /** `number` changes, the latest about at `when`, found at `at` after `gap`. */
  private happened(page: number, when: number, number: number, gap: number, at: number): void {
    const { states } = this;
    const several = number > numberMax;
    if (several) states.addSpread(page, number, when - states.last[page]!, at - when);
    else states.add(page, number, at - when);
    const wait = (when - states.changedAt[page]!) / (several ? number : 1);
    if (wait >= 0) this.times.waited(page, wait, gap);
    states.changedAt[page] = when;
    states.changes[page]! += number;
  }

  /** The page's own past, known change by change; nothing is learned from it of pages that change together or of the week. */
  teach(page: number, changes: Float64Array, from: number, to: number): void {
    this.states.last[page] = from;
    this.states.birth[page] = from;
    this.states.rates.counted(page, to - from, changes.length);
    this.remember(page, to, to - from, changes.length, { times: changes });
  }

  /** Works out the long-run rates: a Gamma posterior whose prior mean comes from the page's groups, widest first, and its kind. */
  settle(page: number, now: number): void {
    const mean = this.priorRate(page);
    const { base, birth, changes } = this.states;
    const age = Math.max(0, now - birth[page]!);
    const median = !this.parts.exploration;
    for (let b = 0; b < bases; b++)
      base[page * bases + b] = this.told?.[page] ?? posteriorRate(priorShapes[b]!, mean, changes[page]!, age, median);
  }

  private priorRate(page: number): number {
    return this.priors.of(this.kin.of(page)) * this.kinds.factor(this.states.kinds[page]!);
  }

  /** How fast the page is believed to change in each hour of the week, 1 on average. */
  believedWeek(page: number): Float64Array {
    const week = this.week(page);
    const say = this.parts.week && !this.keepsTime(page) ? week.say(this.speed(page)) : 0;
    return week.values.map((value) => 1 + say * (value - 1));
  }

  /** Changes a second to be expected from now on, averaged over a week: what plans go by. */
  longRun(page: number, now: number): number {
    return this.times.longRun(page, this.memories.longRun(page, Math.max(0, now - this.states.last[page]!)));
  }

  /** Changes a second over the time that the page has been watched, by its own looks, and a 95 % interval: what people are shown. */
  foundRate(page: number): RateEstimate {
    return this.states.rates.of(page, this.priorRate(page));
  }

  save(page: number): Uint8Array {
    const bytes = new Uint8Array(savedBytes);
    const view = new DataView(bytes.buffer);
    this.states.save(page, view);
    this.times.save(page, view, stateBytes);
    bytes[savedBytes - 1] = this.states.kinds[page]!;
    return bytes;
  }

  /** Takes back what `save` gave; false when the bytes are not of this form. */
  restore(page: number, bytes: Uint8Array, now: number): boolean {
    const former = formerBytes.indexOf(bytes.length);
    if (bytes.length !== savedBytes && former < 0) return false;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (former < 0) {
      if (!this.states.restore(page, view, now)) return false;
      this.times.restore(page, view, stateBytes);
      this.isOfKind(page, contentKinds[bytes[savedBytes - 1]!]);
    } else {
      const stateLength = formerStateBytes[former]!;
      if (!this.states.restoreFormer(page, view, now, stateLength)) return false;
      this.times.restoreFormer(page, view, stateLength);
      this.isOfKind(page, contentKinds[bytes[stateLength + formerRhythmBytes] ?? 0]);
    }
    // What its groups and the collection know of it comes back with the page.
    this.priors.watched(this.kin.of(page), Math.max(0, this.states.last[page]! - this.states.birth[page]!));
    this.priors.found(this.kin.of(page), this.states.changes[page]!);
    this.settle(page, now);
    return true;
  }

  /** What belongs to no single page. Groups' counts of changes are not in it: they come back with the pages. */
  saveShared(keys: GroupKeys): Shared {
    return {
      guess: this.priors.guess,
      memories: this.memories.save(),
      week: this.weeks.all.save(),
      siteWeeks: this.weeks.save(keys),
      kinds: this.kinds.save(),
      siblings: this.kin.siblings.save(),
      episodes: this.kin.siblings.saveEpisodes(keys),
      activities: this.activities.save(keys),
    };
  }

  /** By now the pages are known, and with them the groups. */
  restoreShared(saved: Shared, keys: GroupKeys, now: number): void {
    this.priors.guess = saved.guess;
    this.memories.restore(saved.memories);
    this.weeks.all.restore(saved.week);
    this.weeks.restore(saved.siteWeeks ?? [], keys);
    this.kinds.restore(saved.kinds ?? []);
    this.kin.siblings.restore(saved.siblings);
    this.kin.siblings.restoreEpisodes(saved.episodes ?? [], keys, now);
    this.activities.restore(saved.activities ?? [], keys, now);
  }
}

/** Bytes a page in the store. */
const savedBytes = stateBytes + savedTimesBytes + 1;
/** What earlier versions saved: with memories in full, before that with times in full, and before that without its kind. */
const formerBytes = formerStateBytes.map((bytes, i) => bytes + formerRhythmBytes + (i < 2 ? 1 : 0));
