/**
 * Does planning survive being cut into shards? A web of many sites of very different sizes, whose pages change at very
 * different rates, planned three ways over the same budget: by one planner that knows it all; by shards that divide the budget
 * by their numbers of pages; and by shards that divide it by their demand at a common price, exchanged in rounds. Sites are
 * never cut, and none is asked more often than its spacing allows, which is what makes some shards want less than they seem to.
 *
 * For a page of rate r and weight w looked at f times a unit of time, what is missed waits r w / 2f on average; at a price
 * c for a look the best f is √(r w / 2c), or what its site can take. `node experiments/scale.ts [PAGES]` prints docs/scale.md's table.
 */
import { random } from '@revisit/core';

export interface Site {
  /** √(rate × weight) summed over its pages: at the price c they want this many looks, divided by √(2c). */
  readonly want: number;
  readonly pages: number;
  /** The most looks that politeness allows it. */
  readonly cap: number;
}

export interface Split {
  readonly shards: number;
  /** Expected waiting against that of one planner for all: 1 is no loss. */
  readonly byPages: number;
  readonly byDemand: number;
  /** Rounds of exchange until the demands added up to the budget within a ten-thousandth. */
  readonly rounds: number;
  /** The largest shard's part of all pages, times the number of shards: 1 is even. */
  readonly uneven: number;
}

/** Sites whose sizes follow Zipf's law, pages whose rates are spread over five orders of magnitude. */
export function web(pages: number, capOfMean: number, seed: number): readonly Site[] {
  const luck = random(seed);
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - luck())) * Math.cos(2 * Math.PI * luck());
  const count = Math.max(1, Math.round(pages / 25));
  const scale = pages / Array.from({ length: count }, (_, i) => 1 / (i + 1)).reduce((sum, part) => sum + part, 0);
  const sites: Site[] = [];
  for (let i = 0; i < count; i++) {
    const size = Math.max(1, Math.round(scale / (i + 1)));
    const temper = normal();
    let want = 0;
    for (let page = 0; page < size; page++) want += Math.exp(0.5 * (1.2 * temper + 1.6 * normal()));
    sites.push({ want, pages: size, cap: capOfMean });
  }
  return sites;
}

/** Looks at each site, and what is missed, for a budget spent at one price. */
export function planned(sites: readonly Site[], budget: number): { readonly price: number; readonly waiting: number } {
  // Looks fall as the price rises; with caps there is no closed form, and halving the interval is as good.
  const spent = (reach: number): number => sites.reduce((sum, { want, cap }) => sum + Math.min(cap, want * reach), 0);
  let [low, high] = [0, 1];
  while (spent(high) < budget && high < 1e12) high *= 2;
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (spent(middle) < budget) low = middle;
    else high = middle;
  }
  const waiting = sites.reduce((sum, { want, cap }) => sum + (want * want) / (2 * Math.min(cap, want * high)), 0);
  return { price: 1 / (2 * high * high), waiting };
}

export function split(sites: readonly Site[], budget: number, shards: number): Split {
  const parts: Site[][] = Array.from({ length: shards }, () => []);
  // As the cluster does: by a hash of the site's name.
  sites.forEach((site, i) => parts[(Math.imul(i + 1, 0x9e3779b1) >>> 0) % shards]!.push(site));
  const full = parts.filter((part) => part.length > 0);
  const total = sites.reduce((sum, { pages }) => sum + pages, 0);
  const whole = planned(sites, budget).waiting;
  const pagesOf = (part: readonly Site[]): number => part.reduce((sum, { pages }) => sum + pages, 0);
  const waitingOf = (shares: readonly number[]): number =>
    full.reduce((sum, part, i) => sum + planned(part, budget * shares[i]!).waiting, 0);
  const byPages = waitingOf(full.map((part) => pagesOf(part) / total));
  // Each says what it would look at the common price; the price moves until that adds up to the budget.
  let reach = budget / sites.reduce((sum, { want }) => sum + want, 0);
  let demand: number[] = [];
  let rounds = 0;
  for (let over = 1; Math.abs(over) > 1e-4 && rounds < 100; rounds++) {
    demand = full.map((part) => part.reduce((sum, { want, cap }) => sum + Math.min(cap, want * reach), 0));
    const sum = demand.reduce((a, b) => a + b, 0);
    over = sum / budget - 1;
    reach *= budget / sum;
  }
  const asked = demand.reduce((sum, one) => sum + one, 0);
  const shares = demand.map((one) => one / asked);
  const uneven = (Math.max(...full.map(pagesOf)) / total) * shards;
  return { shards, byPages: byPages / whole, byDemand: waitingOf(shares) / whole, rounds, uneven };
}

if (import.meta.main) {
  const pages = Number(process.argv[2] ?? 1_000_000);
  const sites = web(pages, Infinity, 1);
  const budget = pages / 10;
  // A cap that binds for one site in a hundred or so: what the largest sites feel.
  const wants = sites.map(({ want }) => want).sort((a, b) => b - a);
  const cap = (wants[Math.floor(wants.length / 100)]! * budget) / wants.reduce((sum, want) => sum + want, 0);
  const polite = sites.map((site) => ({ ...site, cap }));
  process.stdout.write(
    '| shards | largest shard | waiting, by pages | waiting, at one price | rounds |\n|---|---|---|---|---|\n',
  );
  for (const shards of [1, 16, 256, 4096]) {
    const { byPages, byDemand, rounds, uneven } = split(polite, budget * 0.8, shards);
    process.stdout.write(
      `| ${shards} | ${uneven.toFixed(2)} of even | ${byPages.toFixed(4)} | ${byDemand.toFixed(4)} | ${rounds} |\n`,
    );
  }
}
