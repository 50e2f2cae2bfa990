/**
 * What a look costs now, on every site: the market's prices (standing-market.ts), each with a correction of its own.
 *
 * A page on a site whose limits do not bind pays the price of the whole budget; its correction is moved by looks made there against
 * what the market leaves for them. A page on a site whose limits bind pays that site's price; its correction is moved by looks
 * that were asked for there against what the site allows, so that no line forms before its gate however wrong the model is.
 * Without a market, or where collections have budgets of their own, one price follows the budget by itself, and a site whose
 * limits bind costs a multiple of it.
 *
 * A price that has fallen by `drift` since due times were worked out makes them too late: whose, `refresh` says. Sites are checked one
 * after the other, one a call, and all of them when prices are told.
 */
import { Price } from '../dispatch/price.ts';
import type { MarketPrices } from './policy.ts';

/** Due times are worked out again when the price has fallen by this share. */
const drift = 0.15;
const day = 86_400;

/** What must be planned anew: everybody, or the pages of some sites. */
export type Fallen = { readonly kind: 'all' } | { readonly kind: 'sites'; readonly sites: readonly number[] };

interface SitePrice {
  readonly price: Price;
  /** At the last plan of its pages. */
  planned: number;
}

export class LookPrices {
  /** The price now where no limit of a site binds, and on the other sites. */
  private whole = 0;
  private readonly bySite = new Map<number, number>();
  private readonly price: Price;
  private readonly horizonSeconds: number;
  private readonly sites = new Map<number, SitePrice>();
  private rota: number[] = [];
  private factors: ReadonlyMap<number, number> = new Map();
  private planned = Number.NaN;
  private toldAnew = false;
  private paidOnSites = false;

  constructor(horizonSeconds = 30 * day) {
    this.horizonSeconds = horizonSeconds;
    this.price = new Price(horizonSeconds);
  }

  /** The price of a look at a page of the site, as last read. */
  of(site: number): number {
    return this.bySite.get(site) ?? this.whole * (this.factors.get(site) ?? 1);
  }

  get started(): boolean {
    return this.price.started;
  }

  /** Whether a look has been paid for: until then all prices are guesses. */
  get settled(): boolean {
    return this.paidOnSites || this.price.settled;
  }

  start(price: number): void {
    this.price.start(price);
  }

  setBudget(looksPerSecond: number, pages: number, now: number): void {
    this.price.setBudget(looksPerSecond, pages, now);
  }

  /** The factor by which the market's price is corrected, on a site; undefined without a market. */
  correction(site: number): number | undefined {
    return (this.sites.get(site)?.price ?? this.price).correction;
  }

  tell({ price, looksPerSecond, moved, dear }: MarketPrices, pages: number, now: number): void {
    if (price === undefined) {
      this.factors = new Map([...dear].map(([site, { factor }]) => [site, factor]));
      this.price.move(moved, pages, now);
      return;
    }
    this.price.follow(price, looksPerSecond, pages, now);
    for (const [site, own] of dear) {
      const known = this.sites.get(site) ?? { price: new Price(this.horizonSeconds), planned: Number.NaN };
      known.price.follow(own.price, own.looksPerSecond, 1, now);
      this.sites.set(site, known);
    }
    for (const site of this.sites.keys()) if (!dear.has(site)) this.sites.delete(site);
    this.rota = [...this.sites.keys()];
    this.toldAnew = true;
  }

  /** Reads the prices of now; answers whose due times are too late by them. */
  refresh(now: number): Fallen | undefined {
    this.whole = this.price.at(now);
    if (!(this.whole > (1 - drift) * this.planned)) {
      this.planned = this.whole;
      this.readSites(now);
      for (const [site, own] of this.sites) own.planned = this.bySite.get(site)!;
      return { kind: 'all' };
    }
    if (this.whole > (1 + 3 * drift) * this.planned) this.planned = this.whole;
    const sites = this.toldAnew ? this.readSites(now) : this.readSite(this.rota.pop() ?? -1, now);
    if (this.rota.length === 0) this.rota = [...this.sites.keys()];
    return sites.length > 0 ? { kind: 'sites', sites } : undefined;
  }

  /** The price on a site after one of its pages was looked at. */
  refreshSite(site: number, now: number): void {
    this.whole = this.price.at(now);
    const own = this.sites.get(site);
    if (own) this.bySite.set(site, own.price.at(now));
  }

  /** A look at a page of the site is asked for. */
  asked(site: number, now: number): void {
    this.sites.get(site)?.price.spent(now);
  }

  /** So many looks at a page of the site were made, of which one had been asked for. */
  spent(site: number, now: number, looks: number): void {
    const own = this.sites.get(site);
    if (!own) return this.price.spent(now, looks);
    this.paidOnSites = true;
    if (looks > 1) own.price.spent(now, looks - 1);
  }

  /** Whether somebody who is due must wait, from now on. */
  press(pressed: boolean, now: number): void {
    this.price.press(pressed, now);
  }

  save(): number[] {
    return this.price.save();
  }

  restore(saved: readonly number[], now: number): void {
    this.price.restore(saved, now);
  }

  /** All of them; answers those that have fallen, or whose limits bind only now or no longer. */
  private readSites(now: number): number[] {
    this.toldAnew = false;
    const fallen: number[] = [];
    for (const site of this.bySite.keys()) {
      if (this.sites.has(site)) continue;
      this.bySite.delete(site);
      fallen.push(site);
    }
    for (const site of this.sites.keys()) fallen.push(...this.readSite(site, now));
    return fallen;
  }

  private readSite(site: number, now: number): number[] {
    const own = this.sites.get(site);
    if (!own) return [];
    const price = own.price.at(now);
    this.bySite.set(site, price);
    if (price > (1 + 3 * drift) * own.planned) own.planned = price;
    if (price > (1 - drift) * own.planned) return [];
    own.planned = price;
    return [site];
  }
}
