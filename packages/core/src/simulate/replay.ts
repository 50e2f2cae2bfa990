/**
 * The monitor's loop in virtual time on a recorded trace: births are watched, the policy says who is next, the look tells
 * whether the page changed since its last look, and nothing else.
 *
 * Looks fall on whole seconds, as the traces' events do, so a list of probes written to a file says exactly what happened. A page
 * is looked at once a second at most: a policy told more than that would look without end, and time would stand still.
 * A site that asks for spacing gets it: a look that comes too early waits for its turn while other sites go on.
 * Cost: O(log pages) a look beyond what the policy spends.
 */
import { KeptMarket } from '../policy/kept-market.ts';
import { type Policy, expectedPerDay } from '../policy/policy.ts';
import { DueQueue } from '../time/due-queue.ts';
import type { Kin } from '../model/kin.ts';
import { ProbeLog } from './probe-log.ts';
import type { Split } from './split.ts';

export interface ReplayOptions {
  /** Probes allowed in the test; the run stops looking when they are spent. */
  readonly allowed: number;
  /** What the policy is told of its budget, relative to the truth: one of the knobs that calibration turns. */
  readonly told: number;
  readonly kin: Kin;
  /** `events`: training is told with the exact time of every change, page by page, or by the policy's own looks where it hears times. */
  readonly learn: 'probes' | 'events';
  readonly spacingSeconds: number;
  /** The weight of each page; 1 for all when undefined. */
  readonly weights?: Float64Array;
  /** Tells the policy the prices of a market, as the daemon does; otherwise it finds the price of the whole test by itself. */
  readonly market?: boolean;
  /** Called every few dozen steps, however long they take: whoever shows it has a clock. */
  readonly progress?: (share: number) => void;
  /** Called before each look of the test: what the policy says of the copy, and what the look then showed. */
  readonly audit?: (page: number, at: number, changed: boolean) => void;
}

export interface Replay {
  readonly log: ProbeLog;
  /** Looks the policy wanted in the test, which may be more than were allowed. */
  readonly wanted: number;
  readonly trainProbes: number;
}

/** Kept in hand while the budget is spread, so that it does not end hours before the test does. */
const inHand = 0.001;
/** The least and the most a policy is told to spend, over an even spread. The least is no more than keeps prices finite: a policy told
 * more than is left would end before the test does, and everything that happens then would wait for its end. */
const spread = { least: 0.01, most: 2 };
/** A policy that plans at every step takes milliseconds for each; others go through millions a second, and a call of so many costs nothing. */
const stepsBetweenProgress = 64;

export function replay(split: Split, policy: Policy, options: ReplayOptions): Replay {
  const run = new Run(split, policy, options);
  return run.go();
}

class Run {
  private readonly split: Split;
  private readonly policy: Policy;
  private readonly options: ReplayOptions;
  private readonly log = new ProbeLog();
  private readonly born: Int32Array;
  private bornCount = 0;
  /** Events of the page that its last look has seen, and a running place in its list. */
  private readonly seen: Int32Array;
  private readonly watched: Uint8Array;
  private readonly waiting = new DueQueue();
  private readonly siteFree: Float64Array;
  private readonly lastLook: Float64Array;
  /** Kept for policies that go by its prices, as the daemon does. */
  private readonly market: KeptMarket | undefined;
  /** Pages' histories are told one by one before the test; otherwise the policy looks in training. */
  private readonly teaches: boolean;
  /** Looks in training say when each change happened. */
  private readonly tellsTimes: boolean;
  private wanted = 0;
  private trainProbes = 0;

  constructor(split: Split, policy: Policy, options: ReplayOptions) {
    this.split = split;
    this.policy = policy;
    this.options = options;
    const events = options.learn === 'events';
    this.tellsTimes = events && policy.hearsTimes === true;
    this.teaches = events && !this.tellsTimes && policy.taught !== undefined;
    this.born = Int32Array.from(split.names.keys()).sort((a, b) => split.birth[a]! - split.birth[b]! || a - b);
    this.seen = new Int32Array(split.names.length);
    this.watched = new Uint8Array(split.names.length);
    this.market = options.market ? new KeptMarket(policy, 0) : undefined;
    this.siteFree = new Float64Array(options.kin.sites).fill(-Infinity);
    this.lastLook = new Float64Array(split.names.length).fill(-Infinity);
  }

  go(): Replay {
    const { split, policy, options } = this;
    const duration = split.testEnd - split.testStart;
    const perPage = (options.told * options.allowed) / duration / split.names.length;
    const teach = this.teaches;
    const patience = Math.max(1, Math.ceil(0.5 / (perPage * split.names.length)));
    let now = split.trainStart;
    if (teach) {
      for (const page of this.born) this.watch(page, split.trainStart);
      this.bornCount = this.born.length;
      this.setBudget(perPage * split.names.length, split.trainStart);
      this.teachAll();
      now = split.testStart;
    }
    let steps = 0;
    let retold = split.testStart + duration / 100;
    while (now < split.testEnd) {
      if (options.progress && ++steps % stepsBetweenProgress === 0) {
        options.progress((now - split.trainStart) / (split.testEnd - split.trainStart));
      }
      if (now >= retold) {
        // What is left is spread over the time that is left, as anyone with a budget to keep would.
        const left = ((1 - inHand) * options.allowed - this.wanted) / (split.testEnd - now);
        const even = options.allowed / duration;
        this.setBudget(options.told * even * Math.max(spread.least, Math.min(spread.most, left / even)), now);
        retold = now + Math.max(duration / 20_000, Math.min(duration / 100, (split.testEnd - now) / 20));
      }
      const birth = this.bornCount < this.born.length ? split.birth[this.born[this.bornCount]!]! : Infinity;
      const held = this.waiting.first();
      const heldAt = held < 0 ? Infinity : this.waiting.timeOf(held);
      this.market?.tell(now);
      const choice = policy.next(now);
      const at = choice ? Math.max(now, Math.ceil(choice.at)) : Infinity;
      const soonest = Math.min(birth, heldAt, at);
      // A host asks again now and then even when nothing is due: prices fall while nobody looks.
      const asked = choice
        ? now + patience
        : Math.min(now + patience, Math.max(now + 1, policy.asksAgainAt?.() ?? Infinity));
      if (soonest > asked && asked < split.testEnd) {
        now = asked;
        continue;
      }
      if (!(soonest < split.testEnd)) break;
      if (birth <= soonest) {
        now = Math.max(now, birth);
        while (this.bornCount < this.born.length && split.birth[this.born[this.bornCount]!]! <= now) {
          this.watch(this.born[this.bornCount++]!, now);
        }
        this.setBudget(perPage * this.bornCount, now);
        continue;
      }
      now = soonest;
      if (heldAt <= soonest) {
        this.waiting.remove(held);
        this.look(held, now);
      } else {
        policy.started(choice!.page, now);
        const turn = this.turn(choice!.page, now);
        if (turn > now) this.waiting.set(choice!.page, turn);
        else this.look(choice!.page, now);
      }
      if (this.wanted > 2 * options.allowed + 10) {
        // Far too eager: what the whole test would take is clear enough.
        this.wanted = Math.round((this.wanted * duration) / (now - split.testStart));
        break;
      }
    }
    return { log: this.log, wanted: this.wanted, trainProbes: this.trainProbes };
  }

  private setBudget(looksPerSecond: number, now: number): void {
    this.policy.setBudget(looksPerSecond, now);
    this.market?.setBudget(looksPerSecond, now);
  }

  private enter(page: number, now: number): void {
    if (!this.market) return;
    const { kin, weights } = this.options;
    const scale = ((weights ? weights[page]! : 1) * expectedPerDay(this.policy.belief(page, now))) / day;
    this.market.market.set(page, scale, kin.site[page]!);
  }

  /** The whole second at which the page and its site may be asked again; reserves it. */
  private turn(page: number, now: number): number {
    const { spacingSeconds, kin } = this.options;
    const own = Math.max(now, Math.floor(this.lastLook[page]!) + 1);
    if (spacingSeconds === 0) return own;
    const site = kin.site[page]!;
    const turn = Math.max(own, Math.ceil(this.siteFree[site]!));
    this.siteFree[site] = turn + spacingSeconds;
    return turn;
  }

  private watch(page: number, now: number): void {
    const { kin, weights } = this.options;
    this.watched[page] = 1;
    this.policy.watch(
      {
        page,
        site: kin.site[page]!,
        folder: kin.groups[page]![0] ?? 0,
        groups: kin.groups[page]!,
        alike: kin.alike[page]!,
        content: kin.content[page]!,
        weight: weights ? weights[page]! : 1,
        spacingSeconds: 0,
      },
      now,
    );
    this.market?.changing();
    this.enter(page, now);
    this.advance(page, now);
    if (!this.teaches) this.policy.looked(page, now, { kind: 'first' });
  }

  private teachAll(): void {
    const { split, policy } = this;
    for (let page = 0; page < split.names.length; page++) {
      this.advance(page, split.testStart);
      const times = split.times[page]!;
      let from = 0;
      while (times[from]! <= split.birth[page]!) from++;
      policy.taught!(page, times.subarray(from, this.seen[page]!), split.birth[page]!, split.testStart);
    }
  }

  /** Moves the page's place to `now`; true when something changed since the last look. */
  private advance(page: number, now: number): boolean {
    this.lastLook[page] = now;
    const times = this.split.times[page]!;
    const before = this.seen[page]!;
    let place = before;
    while (place < times.length && times[place]! <= now) place++;
    this.seen[page] = place;
    return place > before;
  }

  private look(page: number, now: number): void {
    const inTest = now > this.split.testStart;
    if (inTest && ++this.wanted > this.options.allowed) {
      this.lastLook[page] = now;
      this.policy.looked(page, now, failed);
      return;
    }
    const before = this.seen[page]!;
    const changed = this.advance(page, now);
    if (inTest) {
      this.options.audit?.(page, now, changed);
      this.log.add(page, now);
    } else {
      this.trainProbes++;
    }
    const times =
      changed && !inTest && this.tellsTimes ? this.split.times[page]!.subarray(before, this.seen[page]!) : undefined;
    this.policy.looked(page, now, times ? { ...found, times } : changed ? found : unchanged);
    this.market?.learned();
    this.enter(page, now);
  }
}

const day = 86_400;

const found = { kind: 'changed' } as const;
const unchanged = { kind: 'unchanged' } as const;
const failed = { kind: 'failed' } as const;
