/** What pages' own pasts lead to expect of a gap after their last look (memory.ts), and of the time from then on. */
import { FreshAhead } from './fresh-ahead.ts';
import { MemoryWeights, bases, burstScales, contextOf, contexts, featureCount, memoryScales } from './memory.ts';
import type { PageStates } from './page-states.ts';

const scales = memoryScales.length;

export class PageMemories {
  /** Set by `expect`: changes expected in the gap and the intensity at its end; what of each is a burst's, which goes on at any hour. */
  mass = 0;
  rate = 0;
  burstMass = 0;
  burstRate = 0;
  /** Set by `gather`: what of its sum comes from the memories of a burst. */
  burst = 0;
  private readonly states: PageStates;
  private readonly byContext = Array.from({ length: contexts }, () => new MemoryWeights());
  private readonly features = new Float64Array(featureCount);
  private readonly fresh = new FreshAhead();
  /** Changes still expected of each memory. */
  private readonly left = new Float64Array(scales);

  constructor(states: PageStates) {
    this.states = states;
  }

  private of(page: number): MemoryWeights {
    return this.byContext[contextOf(this.states.changes[page]!)]!;
  }

  /** What the long-run rates lead to expect, whatever was found lately. */
  private steady(page: number): number {
    const { weights } = this.of(page);
    let rate = 0;
    for (let b = 0; b < bases; b++) rate += weights[b]! * this.states.base[page * bases + b]!;
    return rate;
  }

  /** What is to be expected of a gap after the last look, left in `mass`, `rate` and those of bursts. */
  expect(page: number, gap: number): void {
    const { weights } = this.of(page);
    let rate = this.steady(page);
    let mass = rate * gap;
    let burstRate = 0;
    let burstMass = 0;
    for (let k = 0; k < scales; k++) {
      const count = this.states.counts[page * scales + k]!;
      if (count < 1e-6) continue;
      const scale = memoryScales[k]!;
      const left = Math.exp(-gap / scale);
      const more = weights[bases + k]! * count;
      if (k < burstScales) {
        burstMass += more * (1 - left);
        burstRate += (more * left) / scale;
      } else {
        mass += more * (1 - left);
        rate += (more * left) / scale;
      }
    }
    this.mass = mass;
    this.rate = rate;
    this.burstMass = burstMass;
    this.burstRate = burstRate;
  }

  /** Holds the features of a gap after the last look for `learn`; returns what the memories expect in it. */
  gather(page: number, gap: number): number {
    const { features } = this;
    const { weights } = this.of(page);
    let plain = 0;
    for (let b = 0; b < bases; b++) {
      features[b] = this.states.base[page * bases + b]! * gap;
      plain += weights[b]! * features[b]!;
    }
    const long = plain;
    for (let k = 0; k < scales; k++) {
      const count = this.states.counts[page * scales + k]!;
      features[bases + k] = count > 0 ? count * -Math.expm1(-gap / memoryScales[k]!) : 0;
      plain += weights[bases + k]! * features[bases + k]!;
      if (k === burstScales - 1) this.burst = plain;
    }
    this.burst -= long;
    return plain;
  }

  /** After `gather`: the gap was looked over; what it held was to be `shaped` times the features, or `any` times those of bursts. */
  learn(page: number, shaped: number, any: number, share: number): void {
    for (let k = 0; k < featureCount; k++) this.features[k]! *= k >= bases && k < bases + burstScales ? any : shaped;
    this.of(page).learn(this.features, share);
  }

  /** Changes a second from now on, `gap` after the last look, but for what is over within a day. */
  longRun(page: number, gap: number): number {
    const { weights } = this.of(page);
    let rate = this.steady(page);
    for (let k = burstScales; k < scales; k++) {
      const scale = memoryScales[k]!;
      rate += (weights[bases + k]! * this.states.counts[page * scales + k]! * Math.exp(-gap / scale)) / scale;
    }
    return rate;
  }

  /** What fresh copies ask for `gap` after the last look, where a look costs so much and changes come at `rate` now. */
  ahead(page: number, gap: number, cost: number, rate: number): FreshAhead {
    const { weights } = this.of(page);
    const steady = this.steady(page);
    let plain = steady;
    for (let k = 0; k < scales; k++) {
      const count = this.states.counts[page * scales + k]!;
      this.left[k] = count < 1e-6 ? 0 : weights[bases + k]! * count * Math.exp(-gap / memoryScales[k]!);
      plain += this.left[k]! / memoryScales[k]!;
    }
    this.fresh.plan(cost, steady, this.left, plain > 0 ? rate / plain : 0, this.states.changes[page]!);
    return this.fresh;
  }

  save(): number[][] {
    return this.byContext.map((weights) => weights.save());
  }

  restore(saved: readonly number[][]): void {
    saved.forEach((weights, i) => this.byContext[i]?.restore(weights));
  }
}
