/**
 * WIC that plans ahead as far as probabilities are known: at each instant every page brings the chances of the coming ones,
 * the first of them this instant's, and a plan for all of them says who looks now (rolling-market.ts). Known one instant
 * ahead it is Algorithm 1 itself; known for the whole epoch it comes near the offline optimum.
 *
 * Behind the instants in sight there is one more row, as wide as all of them, in which what is pending may still be captured
 * later than all that is known: without it a plan would put off what keeps, again and again, and then lose it.
 *
 * A page's gain g(last look, f) counts the changes since its last look, so the chances of past instants are remembered: up to
 * `memory` of them one by one, what is older as if it had happened at the oldest (exact for append × uniform, too kind to old
 * changes otherwise). The table of one page is filled backwards from each f,
 *
 *   g(e, f) = g(e + 1, f) + weight · π_{e+1} · urgency(f − e − 1) · P(fewer than Z changes in e + 2…f),
 *
 * the probability by the Poisson-binomial recurrence: O(ahead · (ahead + memory) · Z) a page and instant. Where urgency × life
 * has a factor per instant one number stands for the whole past, and a table costs O(ahead²). Pages with nothing to offer
 * now or in sight cost nothing.
 */
import { changesToForget, cutoffOf, decayOf, urgencyAfter } from '../loss/capture.ts';
import type { Valued } from './running-gains.ts';
import { RollingMarket, endIndex, tableIndex } from './rolling-market.ts';

export interface AheadOptions {
  /** How many instants, the present one included, are planned at once. */
  readonly ahead: number;
  /** How many past instants are remembered one by one. */
  readonly memory: number;
  /** Up to so many pages prices are exact. */
  readonly exactPagesMax: number;
  /**
   * What a capture is worth an instant later, 1 where an epoch has an end. Without an end what keeps can be put off for ever at
   * no loss, and pages that change all the time would be: they always have more to offer later.
   */
  readonly discount: number;
}

/** What is known of a page's coming changes, this instant's chance first; undefined when it cannot change. */
export type Chances = (page: number) => ArrayLike<number> | undefined;

const usual: AheadOptions = { ahead: 12, memory: 32, exactPagesMax: 200, discount: 1 };

export class AheadCollector {
  readonly #market: RollingMarket;
  readonly #ahead: number;
  readonly #discount: number;
  readonly #memory: number;
  #capacity: number;
  readonly #pages: (Law | undefined)[];
  /**
   * Chances of past instants since the last look, the latest first; the last one counts all that is older. Of a page with a
   * factor per instant, what they were worth at the last instant.
   */
  readonly #past: (number[] | undefined)[] = [];
  #tables = new Float64Array(0);
  #utility = 0;

  constructor(pages: readonly Valued[], capacity: number, options: Partial<AheadOptions> = {}) {
    const { ahead, memory, exactPagesMax, discount } = { ...usual, ...options };
    // With nothing known there is nothing to wait for.
    this.#market = new RollingMarket(ahead > 1 ? ahead + 1 : 1, exactPagesMax);
    this.#ahead = ahead;
    this.#discount = discount;
    this.#memory = memory;
    this.#capacity = capacity;
    this.#pages = pages.map(lawOf);
  }

  /** What the looks of all steps are expected to have captured. */
  get utility(): number {
    return this.#utility;
  }

  get prices(): Float64Array {
    return this.#market.prices;
  }

  set prices(price: Float64Array) {
    this.#market.prices = price;
  }

  /** Looks in each coming instant. */
  set capacity(looks: number) {
    this.#capacity = looks;
  }

  has(page: number): boolean {
    return this.#pages[page] !== undefined;
  }

  /** One more page, and what its changes are worth. */
  set(page: number, law: Valued): void {
    this.#pages[page] = lawOf(law);
    this.#past[page] = undefined;
  }

  forget(page: number): void {
    this.#pages[page] = undefined;
    this.#past[page] = undefined;
  }

  /** The page was looked at: everything until now is captured. */
  looked(page: number): void {
    this.#past[page] = undefined;
  }

  /** The page has not been looked at for some instants, each with this chance: how a page is taken up that has a past. */
  recall(page: number, instants: number, chance: number): void {
    const factor = this.#pages[page]?.factor;
    if (factor) {
      const kept = factor.decay * (factor.overwritten ? 1 - chance : 1);
      this.#past[page] = [chance * (kept < 1 ? (1 - kept ** instants) / (1 - kept) : instants)];
      return;
    }
    const apart = Math.min(instants, this.#memory);
    const past = Array.from({ length: apart }, () => chance);
    if (apart > 0) past[apart - 1] += (instants - apart) * chance;
    this.#past[page] = past;
  }

  /**
   * The next instant. The first of a page's `chances` is the probability that it changes at this instant, those after it what
   * is known of the coming ones; the list is read at once, so one may serve for all pages. `left` is the number of instants
   * there will be, this one included, where they end some time. Returns the pages to look at, ascending, and takes them for
   * looked at.
   */
  step(chances: Chances, left = Infinity, capacity = this.#capacity): Int32Array {
    const { cells } = this.#market;
    const open: number[] = [];
    const now: number[] = [];
    for (let page = 0; page < this.#pages.length; page++) {
      const law = this.#pages[page];
      const known = law && chances(page);
      if (!law || !(this.#past[page] || hasChance(known, this.#ahead))) continue;
      this.#reserve((open.length + 1) * cells);
      if (law.factor) this.#fillByFactor(law, law.factor, this.#past[page]?.[0] ?? 0, known ?? [], open.length * cells);
      else this.#fill(law, this.#past[page] ?? [], known ?? [], open.length * cells);
      open.push(page);
      now.push(known?.[0] ?? 0);
    }
    const chosen = this.#market.choose(this.#tables, open.length, this.#room(left, capacity));
    for (const place of chosen) this.#utility += this.#tables[place * cells];
    open.forEach((page, place) => this.#remember(page, now[place]));
    const pages = chosen.map((place) => open[place]);
    for (const page of pages) this.#past[page] = undefined;
    this.#market.roll();
    return pages.sort();
  }

  #reserve(cells: number): void {
    if (this.#tables.length >= cells) return;
    const wider = new Float64Array(2 * cells);
    wider.set(this.#tables);
    this.#tables = wider;
  }

  #room(left: number, now: number): Float64Array {
    const ahead = this.#ahead;
    return Float64Array.from({ length: this.#market.rows }, (_, row) => {
      if (row === 0) return now;
      if (row === ahead) return this.#capacity * Math.max(0, Math.min(ahead, left - ahead));
      return row < left ? this.#capacity : 0;
    });
  }

  #remember(page: number, chance: number): void {
    const past = this.#past[page];
    const factor = this.#pages[page]?.factor;
    if (factor) {
      const worth = (past?.[0] ?? 0) * factor.decay * (factor.overwritten ? 1 - chance : 1) + chance;
      if (worth < 1e-300) this.#past[page] = undefined;
      else if (past) past[0] = worth;
      else this.#past[page] = [worth];
      return;
    }
    if (!past) {
      if (chance > 0 && cutoffOf(this.#pages[page]!) >= 1) this.#past[page] = [chance];
      return;
    }
    past.unshift(chance);
    // What no look can capture any more is forgotten, what is merely old is counted together.
    const cutoff = cutoffOf(this.#pages[page]!);
    if (past.length > cutoff) past.length = Math.ceil(cutoff);
    if (past.length > this.#memory) {
      const oldest = past.pop() ?? 0;
      past[past.length - 1] += oldest;
    }
    if (past.every((one) => one === 0)) this.#past[page] = undefined;
  }

  #fillByFactor(law: Valued, factor: Factor, past: number, ahead: ArrayLike<number>, base: number): void {
    const { rows } = this.#market;
    const tables = this.#tables;
    for (let e = 0; e <= rows; e++) {
      let gain = e === 0 ? past : 0;
      const from = base + tableIndex(rows, e, e + 1) - e - 1;
      let weight = law.weight * this.#discount ** e;
      for (let f = e + 1; f <= rows; f++) {
        const inSight = f <= this.#ahead;
        const chance = inSight ? (ahead[f - 1] ?? 0) : 0;
        const later = inSight ? 1 : Math.ceil(this.#ahead / 2);
        gain =
          gain * (later === 1 ? factor.decay : factor.decay ** later) * (factor.overwritten ? 1 - chance : 1) + chance;
        if (later > 1) weight *= this.#discount ** (later - 1);
        tables[from + f] = weight * gain;
        weight *= this.#discount;
      }
      tables[base + endIndex(rows, e)] = 0;
    }
  }

  #fill(law: Valued, past: readonly number[], ahead: ArrayLike<number>, base: number): void {
    const { rows } = this.#market;
    const forget = changesToForget(law.life);
    const cutoff = cutoffOf(law);
    const tables = this.#tables;
    // The chance that so many changes have come since k, up to the number that wipes it out.
    const since = new Float64Array(forget === Infinity ? 1 : forget);
    for (let f = 1; f <= rows; f++) {
      since.fill(0);
      since[0] = 1;
      let gain = 0;
      // The row behind those in sight stands for its middle, and nothing is known of changes there.
      const at = f <= this.#ahead ? f : this.#ahead + Math.ceil(this.#ahead / 2);
      const weight = law.weight * this.#discount ** (at - 1);
      for (let k = f; k > -past.length; k--) {
        const chance = (k > this.#ahead ? 0 : k > 0 ? ahead[k - 1] : past[-k]) ?? 0;
        if (chance > 0 && at - k <= cutoff) {
          gain += weight * chance * urgencyAfter(law.urgency, at - k) * (forget === Infinity ? 1 : sum(since));
        }
        if (forget < Infinity && chance > 0) another(since, Math.min(1, chance));
        if (k > 0) tables[base + tableIndex(rows, k - 1, f)] = gain;
      }
      tables[base + tableIndex(rows, 0, f)] = gain;
    }
    for (let e = 0; e <= rows; e++) tables[base + endIndex(rows, e)] = 0;
  }
}

interface Factor {
  readonly decay: number;
  /** Whether the next change wipes out what is pending. */
  readonly overwritten: boolean;
}

interface Law extends Valued {
  readonly factor: Factor | undefined;
}

function lawOf({ weight, life, urgency }: Valued): Law {
  const decay = decayOf(urgency);
  const forget = changesToForget(life);
  const simple =
    decay !== undefined && cutoffOf({ life, urgency }) === Infinity && (forget === 1 || forget === Infinity);
  return { weight, life, urgency, factor: simple ? { decay, overwritten: forget === 1 } : undefined };
}

/** One more instant at which a change may have come. */
function another(since: Float64Array, chance: number): void {
  for (let m = since.length - 1; m > 0; m--) since[m] = since[m] * (1 - chance) + since[m - 1] * chance;
  since[0] *= 1 - chance;
}

function sum(values: Float64Array): number {
  let total = 0;
  for (let m = 0; m < values.length; m++) total += values[m];
  return total;
}

function hasChance(chances: ArrayLike<number> | undefined, rows: number): boolean {
  if (!chances) return false;
  for (let j = 0; j < Math.min(rows, chances.length); j++) if (chances[j] > 0) return true;
  return false;
}
