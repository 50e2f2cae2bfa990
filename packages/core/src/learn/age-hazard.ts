/**
 * Reset probabilities by age, learned from looks: Brewington's p(t) on ages that double from a quarter of an hour to two
 * years ("any reasonable discretization will serve"), as a rate of change within each stretch of age. What a page has lived
 * and how often it changed in a stretch is weighed with what all pages have there, scaled to the page's own speed, by
 * three changes' worth: a page that was seen little is like the rest, one that was seen often is itself.
 *
 * A look that found a change does not say when: the server's date if it gives one, else the middle of the gap.
 */

const stretches = 18;
const shortest = 900;
const priorChanges = 3;
// What is believed before anything was seen: a change in ten days, whatever the age.
const firstRate = 1 / 864_000;

/** Where stretch n begins. */
function begin(n: number): number {
  return n === 0 ? 0 : shortest * 2 ** (n - 1);
}

function stretchOf(age: number): number {
  return age < shortest ? 0 : Math.min(stretches - 1, 1 + Math.floor(Math.log2(age / shortest)));
}

/** The bytes that `save` takes. */
export const hazardBytes = 2 * stretches;

export class AgeHazards {
  #lived = new Float32Array(64 * stretches);
  #changes = new Float32Array(64 * stretches);
  readonly #allLived = new Float64Array(stretches).fill(864_000 / stretches);
  readonly #allChanges = new Float64Array(stretches).fill((864_000 / stretches) * firstRate);

  open(page: number): void {
    if ((page + 1) * stretches > this.#lived.length) {
      this.#lived = longer(this.#lived, (page + 1) * stretches);
      this.#changes = longer(this.#changes, (page + 1) * stretches);
    }
    this.#lived.fill(0, page * stretches, (page + 1) * stretches);
    this.#changes.fill(0, page * stretches, (page + 1) * stretches);
  }

  /** The page lived from one age to another and then changed, or was only seen not to have. */
  add(page: number, from: number, to: number, changed: boolean): void {
    for (let n = stretchOf(from); n < stretches && begin(n) < to; n++) {
      const end = n === stretches - 1 ? Infinity : begin(n + 1);
      const span = Math.min(to, end) - Math.max(from, begin(n));
      this.#lived[page * stretches + n] += span;
      this.#allLived[n] += span;
    }
    if (!changed) return;
    this.#changes[page * stretches + stretchOf(to)]++;
    this.#allChanges[stretchOf(to)]++;
  }

  /** What the page has lived and how often it changed, 36 bytes: within 5 % of what it was. */
  save(page: number, into: Uint8Array, offset: number): void {
    for (let n = 0; n < stretches; n++) {
      into[offset + n] = Math.min(255, Math.round(8 * Math.log2(1 + this.#lived[page * stretches + n])));
      into[offset + stretches + n] = Math.min(255, Math.round(16 * Math.log2(1 + this.#changes[page * stretches + n])));
    }
  }

  /** Back again; what all pages have in common is saved apart. */
  restore(page: number, from: Uint8Array, offset: number): void {
    for (let n = 0; n < stretches; n++) {
      this.#lived[page * stretches + n] = 2 ** (from[offset + n] / 8) - 1;
      this.#changes[page * stretches + n] = 2 ** (from[offset + stretches + n] / 16) - 1;
    }
  }

  saveShared(): number[][] {
    return [Array.from(this.#allLived), Array.from(this.#allChanges)];
  }

  restoreShared([lived = [], changes = []]: readonly (readonly number[])[]): void {
    if (lived.length !== stretches || changes.length !== stretches) return;
    this.#allLived.set(lived);
    this.#allChanges.set(changes);
  }

  /** Expected changes of the page while its age goes from one to another. */
  expected(page: number, from: number, to: number): number {
    const rates = this.#ratesOf(page);
    let sum = 0;
    for (let n = stretchOf(from); n < stretches && begin(n) < to; n++) {
      const end = n === stretches - 1 ? Infinity : begin(n + 1);
      sum += rates[n] * (Math.min(to, end) - Math.max(from, begin(n)));
    }
    return sum;
  }

  /** For ages 0, step, 2·step, … the changes to be expected within the next step; the last entry for `oldest` on. */
  perStep(page: number, step: number, oldest: number, into: Float64Array): void {
    const rates = this.#ratesOf(page);
    for (let t = 0; t < into.length; t++) {
      const age = t === into.length - 1 ? Math.max(oldest, t * step) : t * step;
      let sum = 0;
      for (let n = stretchOf(age); n < stretches && begin(n) < age + step; n++) {
        const end = n === stretches - 1 ? Infinity : begin(n + 1);
        sum += rates[n] * (Math.min(age + step, end) - Math.max(age, begin(n)));
      }
      into[t] = sum;
    }
  }

  /** Changes per second at each stretch of age. */
  rates(page: number, into: Float64Array): void {
    let expected = 1;
    let seen = 1;
    for (let n = 0; n < stretches; n++) {
      expected += this.#lived[page * stretches + n] * this.#pool(n);
      seen += this.#changes[page * stretches + n];
    }
    const speed = seen / expected;
    for (let n = 0; n < stretches; n++) {
      const prior = this.#pool(n) * speed;
      const changes = this.#changes[page * stretches + n];
      into[n] = (changes + priorChanges) / (this.#lived[page * stretches + n] + priorChanges / prior);
    }
  }

  #pool(n: number): number {
    return (this.#allChanges[n] + 1) / (this.#allLived[n] + 1 / firstRate);
  }

  /** The probability of no change for `wait` after being seen at `age`. */
  unchanged(page: number, age: number, wait: number): number {
    return walk(this.#ratesOf(page), age, wait, 'staleness', Infinity).unchanged;
  }

  /** How long after being seen at `age` the loss reaches `level`: the chance of being stale, or Z, the seconds stale. */
  waitUntil(page: number, age: number, loss: 'obsolescence' | 'staleness', level: number): number {
    return walk(this.#ratesOf(page), age, Infinity, loss, level).wait;
  }

  readonly #scratch = new Float64Array(stretches);

  #ratesOf(page: number): Float64Array {
    this.rates(page, this.#scratch);
    return this.#scratch;
  }

  /** Changes per second that are to be expected at this age. */
  rateAt(page: number, age: number): number {
    return this.#ratesOf(page)[stretchOf(age)];
  }
}

/** Through the stretches from an age on, until the time or the level is reached; each stretch has one rate. */
function walk(
  rates: Float64Array,
  age: number,
  until: number,
  loss: 'obsolescence' | 'staleness',
  level: number,
): { wait: number; unchanged: number } {
  let wait = 0;
  let unchanged = 1;
  let lost = 0;
  for (let n = stretchOf(age); n < stretches; n++) {
    const rate = rates[n];
    const end = n === stretches - 1 ? Infinity : begin(n + 1) - age;
    const span = Math.min(end, until) - wait;
    // Z grows by the time that the page is stale: span − unchanged·(1 − e^(−rate·span)) ⁄ rate.
    const grown = (x: number) => lost + x + (unchanged * Math.expm1(-rate * x)) / rate;
    const stale = (x: number) => 1 - unchanged * Math.exp(-rate * x);
    const value = loss === 'staleness' ? stale : grown;
    if (span === Infinity ? level < Infinity : value(span) >= level)
      return { wait: wait + reach(value, level, span, rate), unchanged };
    lost = grown(span);
    unchanged *= Math.exp(-rate * span);
    wait += span;
    if (wait >= until) break;
  }
  return { wait, unchanged };
}

/** Where a growing function reaches a level. */
function reach(value: (x: number) => number, level: number, span: number, rate: number): number {
  let high = span;
  if (high === Infinity) {
    high = 1 / rate;
    for (let n = 0; n < 60 && value(high) < level; n++) high *= 2;
  }
  let low = 0;
  for (let n = 0; n < 40; n++) {
    const middle = (low + high) / 2;
    if (value(middle) < level) low = middle;
    else high = middle;
  }
  return high;
}

function longer(list: Float32Array<ArrayBuffer>, least: number): Float32Array<ArrayBuffer> {
  const copy = new Float32Array(Math.max(least, 2 * list.length));
  copy.set(list);
  return copy;
}
