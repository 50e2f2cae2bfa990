/**
 * What is known of names, so that a site's pages do not each ask, and nobody waits for a name server that says nothing (as RFC 8767,
 * "serving stale data", has it for resolvers).
 *
 * States of a name:
 *   fresh      its addresses were found within `keepMs`: they are the answer
 *   asked for  one lookup is under way, however many ask. They wait for it `waitMs` at most; where older addresses may still be used,
 *              `staleAfterMs`, and then those are the answer
 *   failed     the lookup failed or is late: for `failedMs`, and until a late one ends, the answer is older addresses or the failure.
 *              A late answer is taken up when it comes
 *
 * Addresses are not judged here: whoever connects judges what it connects to, old or new.
 */
import { NODATA, NOTFOUND, TIMEOUT } from 'node:dns/promises';
import type { Clock } from '../values/clock.ts';
import type { LookupPlaces, NameStanding } from './lookup-places.ts';
import type { Resolve, ResolvedAddress } from './resolve.ts';

/** Addresses move; what an answer's own lifetime would be, the system's resolver does not say. */
const keepMs = 60_000;
/** Outlasts name servers that are down for a while; a site that has moved is asked at its old address for no longer. */
const staleMs = 3_600_000;
/** RFC 8767's own: who has an old answer waits so long for a new one. */
const staleAfterMs = 1_800;
/** Resolvers ask again after 5 s, so one lost packet is no failure; and less than connecting may take, so it is told for what it is. */
const waitMs = 8_000;
/** RFC 8767's own: a name that hangs does not take a place again at once, and one that is mended is found within half a minute. */
const failedMs = 30_000;
/** Most names have a place sooner; for one that stands in line its name server is asked whether it will answer. */
const vouchAfterMs = 1_000;
/** About 500 bytes each; as many sites as one process looks at within an hour. */
const namesMax = 50_000;

type Addresses = readonly ResolvedAddress[];

interface Name {
  /** What whoever asks is given, until then. */
  answer: Promise<Addresses>;
  answerUntilMs: number;
  found: Addresses | undefined;
  usableUntilMs: number;
  standing: NameStanding;
  /** While it is being looked up: gives an answer to whoever waits. */
  answerWith: ((answer: Promise<Addresses>) => void) | undefined;
  /** While it is being looked up: ends the wait for that. */
  waiting: AbortController | undefined;
}

/** The name does not exist, or has no address: that is an answer, and older ones are no longer true. */
const isNowhere = (error: NodeJS.ErrnoException): boolean => error.code === NOTFOUND || error.code === NODATA;

export class KnownNames {
  readonly #lookup: Resolve;
  readonly #clock: Clock;
  readonly #places: LookupPlaces;
  readonly #isAnsweredFor: ((hostname: string) => Promise<boolean>) | undefined;
  readonly #names = new Map<string, Name>();
  #closed = false;

  constructor(
    lookup: Resolve,
    clock: Clock,
    places: LookupPlaces,
    isAnsweredFor?: (hostname: string) => Promise<boolean>,
  ) {
    this.#lookup = lookup;
    this.#clock = clock;
    this.#places = places;
    this.#isAnsweredFor = isAnsweredFor;
  }

  readonly resolve: Resolve = (hostname) => {
    const known = this.#names.get(hostname);
    if (known && known.answerUntilMs > this.#clock.nowMs()) return known.answer;
    if (!known?.waiting) return this.#lookUp(hostname, known);
    this.#doWithout(known, late(hostname));
    return known.answer;
  };

  /** Nobody waits any longer, and what stands in line is not looked up. */
  close(): void {
    this.#closed = true;
    for (const [hostname, name] of this.#names) {
      if (!name.waiting) continue;
      this.#doWithout(name, late(hostname));
      name.waiting.abort('closed');
    }
  }

  #lookUp(hostname: string, known: Name | undefined): Promise<Addresses> {
    const { promise, resolve: answerWith } = Promise.withResolvers<Addresses>();
    const waiting = new AbortController();
    const before = known ?? { found: undefined, usableUntilMs: 0, standing: 'new' };
    const name: Name = { ...before, answer: promise, answerUntilMs: Infinity, answerWith, waiting };
    this.#keep(hostname, name);
    const patienceMs = this.#older(name) ? staleAfterMs : waitMs;
    void this.#clock.sleep(patienceMs, waiting.signal).then(() => {
      if (!waiting.signal.aborted) this.#doWithout(name, late(hostname));
    });
    let begunMs: number | undefined;
    const lookup = async (): Promise<Addresses> => {
      if (this.#closed) throw late(hostname);
      begunMs = this.#clock.nowMs();
      return this.#lookup(hostname);
    };
    this.#places.run(name.standing, lookup).then(
      (found) => this.#found(name, found, begunMs!),
      (error: NodeJS.ErrnoException) => this.#failed(name, error, begunMs !== undefined),
    );
    if (name.standing === 'new' && begunMs === undefined) void this.#vouch(hostname, lookup, waiting.signal);
    return promise;
  }

  /** One that was not looked up yet, and is in line behind others like it, some of which hang. */
  async #vouch(hostname: string, lookup: () => Promise<Addresses>, ended: AbortSignal): Promise<void> {
    if (!this.#isAnsweredFor) return;
    await this.#clock.sleep(vouchAfterMs, ended);
    if (!ended.aborted && (await this.#isAnsweredFor(hostname))) this.#places.vouch(lookup);
  }

  #found(name: Name, found: Addresses, begunMs: number): void {
    const nowMs = this.#clock.nowMs();
    name.found = found;
    name.usableUntilMs = nowMs + staleMs;
    // Its time in line is no fault of the name.
    name.standing = nowMs - begunMs > waitMs ? 'doubtful' : 'proven';
    this.#answer(name, Promise.resolve(found), nowMs + keepMs);
    endLookup(name);
  }

  #failed(name: Name, error: NodeJS.ErrnoException, wasAsked: boolean): void {
    if (isNowhere(error)) name.found = undefined;
    if (wasAsked) name.standing = 'doubtful';
    this.#doWithout(name, error);
    endLookup(name);
  }

  #doWithout(name: Name, why: Error): void {
    this.#answer(name, this.#older(name) ?? Promise.reject(why), this.#clock.nowMs() + failedMs);
  }

  #answer(name: Name, answer: Promise<Addresses>, untilMs: number): void {
    // Perhaps nobody asks for it, and a failure that nobody hears of is no bug.
    answer.catch(() => {});
    name.answerWith?.(answer);
    name.answer = answer;
    name.answerUntilMs = untilMs;
  }

  /** The addresses found before, while they may be used. */
  #older({ found, usableUntilMs }: Name): Promise<Addresses> | undefined {
    return found && usableUntilMs > this.#clock.nowMs() ? Promise.resolve(found) : undefined;
  }

  /** Whoever was looked up longest ago is forgotten first. */
  #keep(hostname: string, name: Name): void {
    this.#names.delete(hostname);
    this.#names.set(hostname, name);
    if (this.#names.size > namesMax) this.#names.delete(this.#names.keys().next().value!);
  }
}

function endLookup(name: Name): void {
  name.waiting?.abort('ended');
  name.waiting = undefined;
  name.answerWith = undefined;
}

function late(hostname: string): Error {
  return Object.assign(new Error(`no name server answered for ${hostname} in time`), { code: TIMEOUT });
}
