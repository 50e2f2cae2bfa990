/**
 * A schedule from prices: page by page the best future from each state at the prices, then instant by instant the pages to
 * which looking now is worth most more than the best they could still do later,
 *
 *   g(s, now) + future(after now)  −  max over f > now of (g(s, f) − price(f) + future(after f)),
 *
 * at most the capacity of them. Right prices make this optimal up to ties; any prices make it a schedule. It decides at
 * each instant from the past and from what is known of the coming ones alone: the online form that plans ahead.
 */
import type { CollectMarket } from './collect-market.ts';
import type { Path } from './collect-page.ts';

export function scheduleAtPrices(market: CollectMarket, price: Float64Array): Path[] {
  return new Roll(market, price).run();
}

interface Hope {
  /** instants + 1 when no look is worth its price. */
  readonly look: number;
  readonly net: number;
}

class Roll {
  readonly #market: CollectMarket;
  readonly #price: Float64Array;
  readonly #end: number;
  /** Best net value of the future by page and state (changes captured). */
  readonly #future: Float64Array[];
  readonly #captured: Int32Array;
  readonly #paths: { looks: number[]; gain: number }[];
  readonly #left: Int32Array;
  /** Pages by the instant they wait for; an entry counts only while `hope` says the same. */
  readonly #waiting: Set<number>[];
  readonly #hope: Hope[];
  readonly #pending = new Set<number>();

  constructor(market: CollectMarket, price: Float64Array) {
    this.#market = market;
    this.#price = price;
    this.#end = market.instants + 1;
    this.#captured = new Int32Array(market.pages);
    this.#paths = Array.from({ length: market.pages }, () => ({ looks: [], gain: 0 }));
    this.#left = Int32Array.from(market.capacity);
    this.#waiting = Array.from({ length: market.instants + 2 }, () => new Set());
    this.#hope = [];
    this.#future = [];
    for (let page = 0; page < market.pages; page++) {
      const { at } = market.inner.moments[page];
      const future = new Float64Array(at.length + 1);
      this.#future.push(future);
      for (let state = at.length - 1; state >= 0; state--) future[state] = this.#bestAfter(page, state, 0).net;
    }
  }

  run(): Path[] {
    const arriving: number[][] = Array.from({ length: this.#end + 1 }, () => []);
    for (let page = 0; page < this.#market.pages; page++) {
      this.#wait(page, this.#bestAfter(page, 0, 0));
      for (const j of this.#market.inner.moments[page].at) arriving[j].push(page);
    }
    for (let now = 1; now < this.#end; now++) {
      for (const page of arriving[now]) this.#pending.add(page);
      this.#serve(now);
      if (this.#left[now - 1] > 0) this.#fill(now);
    }
    return this.#paths;
  }

  #priceAt(page: number, f: number): number {
    const more = this.#market.siteRowOf(page);
    return this.#price[f - 1] + (more < 0 ? 0 : this.#price[more + f - 1]);
  }

  /** The best look after `now` from a state, at the prices. */
  #bestAfter(page: number, state: number, now: number): Hope {
    const { at } = this.#market.inner.moments[page];
    const future = this.#future[page];
    let look = this.#end;
    let net = 0;
    for (let next = state + 1; next <= at.length; next++) {
      const until = next < at.length ? at[next] : this.#end;
      let cheapest = Infinity;
      for (let f = Math.max(now + 1, at[next - 1]); f < until; f++) {
        const price = this.#priceAt(page, f);
        // As in collect-page.ts: a look that costs as much as an earlier one of the same stretch is not better.
        if (price >= cheapest) continue;
        cheapest = price;
        const value = this.#market.inner.gain(page, state, f) - price + future[next];
        if (value > net) [net, look] = [value, f];
      }
    }
    return { look, net };
  }

  #wait(page: number, hope: Hope): void {
    this.#hope[page] = hope;
    this.#waiting[hope.look].add(page);
  }

  #serve(now: number): void {
    const scored = Array.from(this.#waiting[now])
      .filter((page) => this.#hope[page].look === now)
      .map((page) => {
        const later = this.#bestAfter(page, this.#captured[page], now);
        return { page, later, regret: this.#worthNow(page, now) - later.net };
      });
    scored.sort((a, b) => b.regret - a.regret || a.page - b.page);
    for (const { page, later } of scored) {
      if (this.#hasRoom(page, now)) this.#look(page, now);
      else this.#wait(page, later);
    }
  }

  /** Room that nobody wants at the price is free: whoever gains most by not waiting takes it. */
  #fill(now: number): void {
    const gaining = Array.from(this.#pending, (page) => ({
      page,
      more: this.#worthNow(page, now) - this.#hope[page].net,
    }));
    const best = gaining.filter(({ more }) => more > 1e-12).sort((a, b) => b.more - a.more || a.page - b.page);
    for (const { page } of best) if (this.#hasRoom(page, now)) this.#look(page, now);
  }

  #worthNow(page: number, now: number): number {
    const gain = this.#market.inner.gain(page, this.#captured[page], now);
    return gain + this.#future[page][this.#stateAt(page, now)];
  }

  #stateAt(page: number, now: number): number {
    const { at } = this.#market.inner.moments[page];
    let state = this.#captured[page];
    while (state < at.length && at[state] <= now) state++;
    return state;
  }

  #hasRoom(page: number, now: number): boolean {
    const more = this.#market.siteRowOf(page);
    return this.#left[now - 1] > 0 && (more < 0 || this.#left[more + now - 1] > 0);
  }

  #look(page: number, now: number): void {
    const path = this.#paths[page];
    path.gain += this.#market.inner.gain(page, this.#captured[page], now);
    path.looks.push(now);
    this.#left[now - 1]--;
    const more = this.#market.siteRowOf(page);
    if (more >= 0) this.#left[more + now - 1]--;
    this.#captured[page] = this.#stateAt(page, now);
    this.#pending.delete(page);
    this.#wait(page, this.#bestAfter(page, this.#captured[page], now));
  }
}
