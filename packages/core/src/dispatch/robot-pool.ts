/**
 * How many robots run now: the dynamic rule of plan/robots-switching.ts, fed with measured rates.
 *
 * The pool is told of every page that arrives (and how long its robot took) and of every page that was indexed (and how
 * long that took). From their means it knows λ of a robot and μ of the indexer; when their ratio has moved by a quarter
 * since the rule was made, the rule is made anew. Robots under way are never called back (`draining`).
 *
 * The rule costs O(K·M³), so long queues and large pools are planned in blocks of pages and of robots. A block's time is
 * taken as exponential, which is more random than a sum of single times, so the rule errs toward caution.
 * Where all robots together bring less than half of what the indexer takes, the queue cannot fill: all may run. Until the
 * rates are known, no more robots run than the queue has places left, so nothing can be lost to ignorance.
 *
 * Invariant: robotsMin ≤ target ≤ robotsMax, and 1 ≤ target while the queue is empty. Cost: O(1) an event, a few milliseconds when the rule is made anew.
 */
import { planRobotSwitching, type SwitchingPlan } from '../plan/robots-switching.ts';

export interface RobotPoolSettings {
  readonly robotsMin: number;
  readonly robotsMax: number;
  /** Pages that fit into the indexing queue. */
  readonly queueMax: number;
  /** What a share of starved time costs against a share of lost pages. */
  readonly starvationWeight: number;
}

export interface RobotPoolState {
  /** How many robots may run. */
  readonly robots: number;
  /** The share of time in which the indexing queue was empty. */
  readonly starvedShare: number;
  /** Pages that found the queue full. */
  readonly overflowed: number;
  readonly fetchMsMean: number;
  readonly indexMsMean: number;
}

/** Blocks of queue and robots in the rule, so that making it takes milliseconds. */
const queueBlocksMax = 16;
const robotBlocksMax = 12;
/** What a start or stop costs, in lost pages: enough that single arrivals do not flap a robot. */
const switchCost = 0.01;
/** How far the ratio of rates may move before the rule is made anew. */
const driftMax = 1.25;
/** Means forget at this pace: about the last few hundred pages. */
const meanWeightMin = 1 / 200;
/** A rule made from fewer pages would follow chance. */
const pagesBeforeRule = 20;
/** A rule holds at least this long, unless twice the pages are known: on a fast machine the ratio moves at every batch. */
const ruleMsMin = 10_000;

class RunningMean {
  value = 0;
  count = 0;

  add(sample: number, weight = 1): void {
    this.count += weight;
    this.value += (sample - this.value) * Math.min(1, Math.max(weight / this.count, weight * meanWeightMin));
  }
}

interface Rule {
  readonly plan: SwitchingPlan;
  readonly ratio: number;
  readonly queueBlock: number;
  readonly robotBlock: number;
  readonly madeMs: number;
  /** From how many pages it was made. */
  readonly pages: number;
}

export class RobotPool {
  readonly #settings: RobotPoolSettings;
  readonly #fetchMs = new RunningMean();
  readonly #indexMs = new RunningMean();
  #target: number;
  #rule: Rule | undefined;
  #overflowed = 0;
  readonly #startMs: number;
  #emptySinceMs: number | undefined;
  #emptyMs = 0;

  constructor(settings: RobotPoolSettings, nowMs: number) {
    this.#settings = settings;
    this.#target = this.#places(0);
    this.#startMs = nowMs;
    this.#emptySinceMs = nowMs;
  }

  /** How many robots may be under way. */
  get target(): number {
    return this.#target;
  }

  /** A robot brought a page; `queue` is the length after it joined, or the full length when it did not fit. */
  arrived(queue: number, fetchMs: number, fits: boolean, nowMs: number): void {
    this.#fetchMs.add(fetchMs);
    if (!fits) this.#overflowed++;
    if (this.#emptySinceMs !== undefined) this.#emptyMs += nowMs - this.#emptySinceMs;
    this.#emptySinceMs = undefined;
    this.#follow(queue, 'arrival', nowMs);
  }

  /** So many pages were indexed in so long together; `queue` is what is left. */
  indexed(queue: number, pages: number, busyMs: number, nowMs: number): void {
    if (pages > 0) this.#indexMs.add(busyMs / pages, pages);
    if (queue === 0) this.#emptySinceMs ??= nowMs;
    this.#follow(queue, 'departure', nowMs);
  }

  state(nowMs: number): RobotPoolState {
    const emptyMs = this.#emptyMs + (this.#emptySinceMs === undefined ? 0 : nowMs - this.#emptySinceMs);
    return {
      robots: this.#target,
      starvedShare: nowMs > this.#startMs ? emptyMs / (nowMs - this.#startMs) : 1,
      overflowed: this.#overflowed,
      fetchMsMean: this.#fetchMs.value,
      indexMsMean: this.#indexMs.value,
    };
  }

  #follow(queue: number, event: 'arrival' | 'departure', nowMs: number): void {
    const { robotsMin, robotsMax } = this.#settings;
    this.#renewRule(nowMs);
    if (!this.#rule) {
      this.#target = this.#known ? robotsMax : this.#places(queue);
      return;
    }
    const { plan, queueBlock, robotBlock } = this.#rule;
    const table = event === 'arrival' ? plan.afterArrival : plan.afterDeparture;
    const row = table[Math.min(table.length - 1, Math.ceil(queue / queueBlock))]!;
    const running = Math.min(row.length - 1, Math.ceil(this.#target / robotBlock));
    const wanted = row[running]!;
    // A block stops robot by robot, each when it delivers, and counts as running until its last robot has stopped.
    const asRuled = wanted < running ? this.#target - 1 : wanted > running ? wanted * robotBlock : this.#target;
    // A whole block may be more than the last places of the queue can take: there, one robot a place.
    const next = robotBlock > 1 ? Math.min(asRuled, this.#places(queue)) : asRuled;
    // An empty queue sends no further event by itself: somebody must be under way.
    this.#target = Math.min(robotsMax, Math.max(robotsMin, queue === 0 ? 1 : 0, next));
  }

  /** As many robots as there are places left in the queue, within the bounds. */
  #places(queue: number): number {
    const { robotsMin, robotsMax, queueMax } = this.#settings;
    return Math.min(robotsMax, Math.max(robotsMin, queueMax - queue));
  }

  get #known(): boolean {
    return this.#fetchMs.count >= pagesBeforeRule && this.#indexMs.count >= pagesBeforeRule;
  }

  #renewRule(nowMs: number): void {
    if (!this.#known) return;
    const old = this.#rule;
    if (old && nowMs - old.madeMs < ruleMsMin && this.#indexMs.count < 2 * old.pages) return;
    const { robotsMin, robotsMax, queueMax, starvationWeight } = this.#settings;
    // Pages the indexer takes while a robot brings one; an indexer too fast to measure takes a microsecond a page.
    const ratio = Math.max(this.#fetchMs.value, 1e-3) / Math.max(this.#indexMs.value, 1e-3);
    if (robotsMax < 0.5 * ratio) {
      this.#rule = undefined;
      return;
    }
    const made = old?.ratio;
    if (made !== undefined && ratio < made * driftMax && ratio > made / driftMax) return;
    const queueBlock = Math.max(1, Math.ceil(queueMax / queueBlocksMax));
    const robotBlock = Math.max(1, Math.ceil(robotsMax / robotBlocksMax));
    const plan = planRobotSwitching({
      arrival: robotBlock / queueBlock,
      service: ratio / queueBlock,
      buffer: Math.max(2, Math.floor(queueMax / queueBlock)),
      starvationWeight,
      robotsMin: Math.floor(robotsMin / robotBlock),
      robotsMax: Math.ceil(robotsMax / robotBlock),
      switchCost: switchCost / queueBlock,
      recall: 'draining',
    });
    this.#rule = { plan, ratio, queueBlock, robotBlock, madeMs: nowMs, pages: this.#indexMs.count };
  }
}
