/**
 * Probes under way: each is remembered before its request goes out, and what comes back joins the indexing queue. A probe
 * that never went out, was kept back by politeness, or found the queue full leaves its pages due.
 */
import type { AccessTimes, RobotPool } from '@revisit/core';
import type { Entry } from '../collection/collection.ts';
import type { Departures } from './departures.ts';
import type { Indexing } from '../indexing/indexing.ts';
import type { Keeping } from '../indexing/keeping.ts';
import { LargeAnswers, noRoomFor } from './large-answers.ts';
import { Lately } from './lately.ts';
import type { LoopCounts, LoopParts } from '../loop-parts.ts';
import { type Rest, robotsAwaited } from './put-off.ts';
import { madeAfter, madeMs, PageTurns } from './page-turns.ts';
import type { Fault } from '../values/fault.ts';
import type { Observation } from '../values/observation.ts';
import type { Probe } from '../values/probe.ts';

/** How long a free robot waits for others under load: probes leave together, and are remembered together. */
const gatherMs = 1;
/** As long as a page takes that has few parts, and its place in the browser at once. */
const shownMs = 3_000;

/** Whether it was kept back by the limits that its operator or we set, and not by what the site said or did. */
const isByLimits = ({ code }: Fault): boolean => code === 'site-busy';

type FlightParts = Pick<LoopParts, 'clock' | 'observer' | 'store' | 'log'>;

/** Where probes come from and where what they bring goes. */
interface Ways {
  readonly departures: Departures;
  readonly indexing: Indexing;
  readonly keeping: Keeping;
  readonly pool: RobotPool;
  readonly access: AccessTimes;
}

interface Words {
  /** Something happened that may let a request go out. */
  readonly wake: () => void;
  /** A look was asked for and not kept. */
  readonly dueAgain: (id: string, atMs: number) => void;
  /** The page waits for a robots.txt that cannot be read for now; nothing was asked for. */
  readonly putOff: (entry: Entry, rest: Omit<Rest, 'looks'>) => void;
}

export class Flights {
  readonly #parts: FlightParts;
  readonly #ways: Ways;
  readonly #robots: number;
  readonly #words: Words;
  readonly #sentLately = new Lately(3_600_000);
  readonly #underWay = new Set<Probe>();
  readonly #turns = new PageTurns<Probe>();
  readonly #large = new LargeAnswers();
  /** Of those, the ones that are remembered and wait for a robot. */
  readonly #ready: Probe[] = [];
  /** Handed back with requests made, and until when their sites wait for that. */
  #forgone: readonly { readonly probe: Probe; readonly untilMs: number }[] = [];
  /** How long answers take, and how long the store takes to remember probes, as of late. */
  #answerMs = 1000;
  #rememberMs = 0;
  #sent = 0;
  #requests = 0;
  #overflowed = 0;
  #gathering = false;
  #dead = false;

  constructor(parts: FlightParts, ways: Ways, robots: number, words: Words) {
    this.#parts = parts;
    this.#ways = ways;
    this.#robots = robots;
    this.#words = words;
  }

  /** Probes that were decided on, until their answer is in the queue. */
  get underWay(): Iterable<Probe> {
    return this.#underWay;
  }

  /** Whether a look at the page was asked for, and what it finds is not taken in yet. */
  isUnderWay(id: string): boolean {
    const { indexing } = this.#ways;
    const unkept = indexing.unkept.filter(({ pageIds }) => pageIds.includes(id));
    return [...this.#turns.of(id), ...unkept].some((probe) => indexing.askedFor(id, probe) !== undefined);
  }

  get inFlight(): number {
    return this.#underWay.size;
  }

  counts(): Pick<LoopCounts, 'sent' | 'sentLastHour' | 'requests' | 'overflowed' | 'inFlight'> {
    return {
      sent: this.#sent,
      sentLastHour: this.#sentLately.count(this.#parts.clock.nowMs()),
      requests: this.#requests,
      overflowed: this.#overflowed,
      // What waits for a robot, or for a store that can keep its answer, is not out.
      inFlight: this.inFlight - this.#ready.length,
    };
  }

  /** A probe made so many requests; one that politeness kept back made none, and was not sent. */
  count(requests: number): void {
    if (requests === 0) return;
    this.#requests += requests;
    this.#sent++;
    this.#sentLately.add(1, this.#parts.clock.nowMs());
  }

  /** Whatever is under way comes to nothing. */
  die(): void {
    this.#dead = true;
  }

  /** The probe of another process is under way still: its answer comes here. */
  rejoin(probe: Probe): void {
    this.#join(probe);
    this.#ways.departures.rejoin(probe);
    void this.#observe(probe);
  }

  /** Sends all that may go out now; answers how long nothing more can. */
  async sendDue(planned: boolean): Promise<number> {
    const { departures, keeping, pool } = this.#ways;
    this.#launch();
    await this.#finishForgone();
    departures.doors.share(pool.target);
    const room = keeping.down ? 0 : pool.target + this.#ahead() - this.inFlight;
    const { probes, waitMs } = departures.leave(room, planned);
    if (probes.length === 0) return Math.max(1, waitMs);
    for (const probe of probes) this.#join(probe);
    const begunMs = this.#parts.clock.nowMs();
    const kept = await this.#parts.store.dispatched(probes);
    this.#rememberMs += (this.#parts.clock.nowMs() - begunMs - this.#rememberMs) / 16;
    if (kept.kind === 'failed') {
      for (const probe of probes) this.#fallBack(probe);
      void keeping.awaitStore(kept.fault).then(() => this.#words.wake());
      return Infinity;
    }
    this.#ready.push(...probes);
    this.#launch();
    return 1;
  }

  /**
   * Where answers come faster than the store remembers what is asked for, robots would stand idle for it: as many probes are
   * remembered ahead of a robot as answers come in that time. On a web that takes its time, none.
   */
  #ahead(): number {
    if (this.#rememberMs < 1) return 0;
    const answers = (this.#robots * (gatherMs + this.#rememberMs)) / Math.max(1, this.#answerMs);
    return Math.min(this.#robots, Math.floor(answers));
  }

  /** Answers come by the millisecond, and go on coming: robots that gather are few only for a moment. */
  get #isStream(): boolean {
    return this.inFlight > this.#robots / 4 && this.inFlight > this.#answerMs;
  }

  /** What is remembered goes out as robots are free, and waits as everything does while nothing can be kept. */
  #launch(): void {
    const { indexing, keeping, pool } = this.#ways;
    while (this.#ready.length > 0 && !this.#dead && !keeping.down && this.inFlight - this.#ready.length < pool.target) {
      const probe = this.#ready.shift()!;
      if (this.#large.leaves(probe, (bytes) => indexing.hasRoomFor(bytes))) void this.#observe(probe);
      else void this.#stay(probe);
    }
  }

  async #stay(probe: Probe): Promise<void> {
    const nowMs = this.#parts.clock.nowMs();
    await this.#arrived(noRoomFor(probe, nowMs), nowMs);
    this.#turns.leave(probe);
  }

  /** Nothing goes out any more: what waits for a robot is due again at the next start, where it is still remembered. */
  stop(): void {
    for (const probe of this.#ready.splice(0)) this.#leave(probe);
  }

  #join(probe: Probe): void {
    this.#underWay.add(probe);
    this.#turns.join(probe);
  }

  #leave(probe: Probe): void {
    this.#underWay.delete(probe);
    this.#turns.leave(probe);
  }

  /** The probe never went out: its pages stay due. */
  #fallBack(probe: Probe): void {
    this.#leave(probe);
    this.#ways.departures.recalled(probe);
    this.#ways.departures.askAgain(probe);
  }

  /**
   * Politeness kept the probe back at the wire, or whoever carried it out is not to be believed: there was no look, and its pages wait
   * in line again.
   */
  async #handBack(probe: Probe, requests: number): Promise<void> {
    const { departures } = this.#ways;
    departures.askAgain(probe, requests);
    if (requests > 0) this.#forgone = [...this.#forgone, { probe, untilMs: departures.opensAt(probe) }];
    else await this.#end([probe]);
    this.#words.wake();
  }

  /** Probes that no look tells of are over. Where none of its pages is ours any more, neither is the probe, unless they are removed. */
  async #end(probes: readonly Probe[]): Promise<void> {
    const { departures } = this.#ways;
    const over: string[] = [];
    for (const probe of probes) {
      const isOurs = departures.pagesOf(probe).length > 0;
      if (isOurs || !(await this.#isWatched(probe))) over.push(probe.id);
    }
    if (over.length > 0) await this.#parts.store.finished(over);
  }

  /** Whether anybody watches a page of it; while the store cannot say, it may be so. */
  async #isWatched({ pageIds }: Probe): Promise<boolean> {
    const found = await Promise.all(pageIds.map((id) => this.#parts.store.page(id))).catch(() => [true]);
    return found.some(Boolean);
  }

  /** Until its site may be asked again, a process that follows must know of the probe: no look that is kept tells of its requests. */
  async #finishForgone(): Promise<void> {
    const nowMs = this.#parts.clock.nowMs();
    const over = this.#forgone.filter(({ untilMs }) => untilMs <= nowMs);
    if (over.length === 0) return;
    this.#forgone = this.#forgone.filter(({ untilMs }) => untilMs > nowMs);
    await this.#end(over.map(({ probe }) => probe));
  }

  /** Nobody may ask for its pages before their robots.txt is read again: no look happened, and they wait for that. */
  async #awaitRobots(probe: Probe, rest: Omit<Rest, 'looks'>): Promise<void> {
    const entries = this.#ways.departures.pagesOf(probe);
    for (const entry of entries) this.#words.putOff(entry, rest);
    await this.#end([probe]);
    this.#words.wake();
  }

  async #observe(probe: Probe): Promise<void> {
    const outMs = this.#parts.clock.nowMs();
    const over = new AbortController();
    if (probe.render) void this.#letPass(probe, over.signal);
    const answer = await this.#parts.observer.observe(probe);
    over.abort('over');
    const turn = this.#turns.turn(probe);
    const observation = turn ? madeAfter(answer, await turn) : answer;
    if (this.#dead) return;
    await this.#arrived(observation, outMs);
    this.#turns.leave(probe, madeMs(observation));
  }

  /** A page that is shown may take a minute without asking for anything: others of its site need not wait, as the wire gives each its turn. */
  async #letPass(probe: Probe, over: AbortSignal): Promise<void> {
    await this.#parts.clock.sleep(shownMs, over);
    if (over.aborted || this.#dead) return;
    this.#ways.departures.letPass(probe);
    this.#words.wake();
  }

  async #arrived(observation: Observation, outMs: number): Promise<void> {
    const { store, clock, log } = this.#parts;
    const { departures, indexing, pool, access } = this.#ways;
    const { probe } = observation;
    this.#underWay.delete(probe);
    this.#large.answered(observation);
    this.#launch();
    departures.returned(observation);
    const { outcome, requests, crawlDelayMs } = observation;
    departures.settle(requests - 1);
    this.count(requests);
    if (crawlDelayMs !== undefined && departures.doors.heard(probe.site, crawlDelayMs)) await this.#keepDelays();
    if (outcome.kind === 'refused' && outcome.elsewhere) {
      departures.doors.hold(outcome.elsewhere.site, outcome.elsewhere.untilMs, isByLimits(outcome.fault));
      await this.#keepHolds();
    }
    if (outcome.kind === 'refused' && outcome.siteUntilMs !== undefined) {
      const isLost = outcome.fault.code === 'robot-lost';
      // Whoever was lost with the probe may have asked the site until a moment ago, or do so until then; the site has no part in it.
      if (isLost) departures.doors.recall(probe.site, Math.max(clock.nowMs(), outcome.siteUntilMs));
      else departures.doors.hold(probe.site, outcome.siteUntilMs, isByLimits(outcome.fault));
      if (requests === 0 && isByLimits(outcome.fault)) departures.turnedBack(probe);
      if (requests === 0 || isLost) return this.#handBack(probe, requests);
      await this.#keepHolds();
    }
    const awaited = robotsAwaited(observation);
    if (awaited) return this.#awaitRobots(probe, awaited);
    const tookMs = observation.endedAtMs - observation.startedAtMs;
    // A page that is shown has waited for a browser and for each of its parts before its last request.
    const keptMs = probe.render ? clock.nowMs() - outMs : tookMs;
    if (requests > 0) departures.doors.looked(probe.site, keptMs, outcome.kind !== 'failed');
    this.#answerMs += (tookMs - this.#answerMs) / 64;
    if (outcome.kind !== 'refused' && requests > 0)
      access.learn(probe.site, observation.startedAtMs / 1000, tookMs / 1000);
    const fits = indexing.take(observation);
    pool.arrived(indexing.queued, tookMs, fits, clock.nowMs());
    if (!fits) {
      this.#overflowed++;
      log('warn', 'the indexing queue is full; the page stays due', { url: probe.url });
      for (const id of probe.pageIds) this.#words.dueAgain(id, observation.startedAtMs);
      await store.finished([probe.id]);
    } else {
      indexing.soon(this.#isStream);
    }
    this.#sendSoon();
  }

  /** Whoever was lost with a probe may have been told to leave a site alone, which is so whatever became of the look. */
  async #keepAway({ probe, outcome }: Observation): Promise<void> {
    if (outcome.kind !== 'refused' || outcome.fault.code === 'robot-lost') return;
    const { doors } = this.#ways.departures;
    const { elsewhere, siteUntilMs } = outcome;
    if (elsewhere) doors.hold(elsewhere.site, elsewhere.untilMs, isByLimits(outcome.fault));
    if (siteUntilMs !== undefined) doors.hold(probe.site, siteUntilMs, isByLimits(outcome.fault));
    if (elsewhere || siteUntilMs !== undefined) await this.#keepHolds();
  }

  /** Sites that asked to be left alone; where that cannot be kept nothing goes out until it is, or the next process would ask them. */
  async #keepHolds(): Promise<void> {
    const { doors } = this.#ways.departures;
    const write = () =>
      this.#parts.store.revise('site-holds', (before) => ({ after: doors.saveHolds(before), value: undefined }));
    const kept = await write();
    if (kept.kind === 'failed') void this.#ways.keeping.awaitStore(kept.fault, write).then(() => this.#words.wake());
  }

  /** Robots read robots.txt and keep nothing: whoever takes the site over must know what it asks for before one of them has. */
  async #keepDelays(): Promise<void> {
    const { doors } = this.#ways.departures;
    if (this.#parts.observer.outlives)
      await this.#parts.store.revise('crawl-delays', (before) => ({
        after: doors.saveDelays(before),
        value: undefined,
      }));
  }

  /** Whoever made the look was given up: its pages have been asked for again, and its requests are to be paid. Answers whether it is to be kept. */
  late(observation: Observation, isSeen: boolean): boolean {
    const { departures, indexing } = this.#ways;
    const { atMs, pageIds } = observation.probe;
    const isOld =
      isSeen || indexing.unkept.some((probe) => probe.atMs > atMs && probe.pageIds.some((id) => pageIds.includes(id)));
    departures.settle(observation.requests);
    this.count(observation.requests);
    void this.#keepAway(observation);
    if (observation.outcome.kind === 'refused' || (isOld && observation.outcome.kind !== 'fetched')) return false;
    if (!indexing.take(isOld ? overtaken(observation) : observation)) return false;
    indexing.soon(false);
    return true;
  }

  /** A robot that is free while most are busy waits a moment for others: their probes leave together. */
  #sendSoon(): void {
    if (this.inFlight <= this.#robots / 2) {
      this.#words.wake();
    } else if (!this.#gathering) {
      this.#gathering = true;
      void this.#parts.clock.sleep(gatherMs).then(() => {
        this.#gathering = false;
        this.#words.wake();
      });
    }
  }
}

/** What was seen may be gone by the newer look: it is told as the past, where it fits between what was seen before and since. */
function overtaken(observation: Observation): Observation {
  const { startedAtMs, probe } = observation;
  const earlierMs = Math.max(0, startedAtMs - probe.atMs);
  return { ...observation, overtaken: { more: false, doubted: true, earlierMs } };
}
