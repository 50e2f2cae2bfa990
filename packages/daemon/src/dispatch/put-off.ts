/** Pages that may not be visited (robots.txt, also one that cannot be read, their address): none is offered again before that may have changed. */
import type { Entry } from '../collection/collection.ts';
import type { Wait } from './page-waits.ts';
import type { Fault } from '../values/fault.ts';
import type { Look } from '../values/look.ts';
import type { Observation, Outcome } from '../values/observation.ts';

/** Where nobody says when: rules are read anew once a day. */
const putOffMs = 86_400_000;

/** Where others may visit what the one that looked may not: soon, and after each look that comes to nothing twice as late. */
const othersMs = { first: 2_000, most: 600_000 };

/** `failures`: looks in a row that came to nothing. */
const othersTryAfterMs = (failures: number): number =>
  Math.min(othersMs.most, othersMs.first * 2 ** Math.max(0, failures - 1));

/** A page is not to be offered again before then, and why; `looks` is how many had been made at it when that was said. */
export interface Rest {
  readonly untilMs: number;
  readonly looks: number;
  readonly fault: Fault | undefined;
}

/** Whether the page is not to be offered again before some time; where nobody says when, in a day. Sites that are left alone are held by themselves. */
export function putOffBy(outcome: Outcome, { state, endedAtMs }: Look): Rest | undefined {
  const rest = (untilMs: number): Rest => ({ untilMs, looks: state.looks, fault: state.fault });
  if (outcome.kind === 'failed') return outcome.untilMs === undefined ? undefined : rest(outcome.untilMs);
  if (outcome.kind !== 'refused' || outcome.siteUntilMs !== undefined) return undefined;
  if (outcome.onlyHere) return rest(endedAtMs + othersTryAfterMs(state.failures));
  return rest(outcome.untilMs ?? endedAtMs + putOffMs);
}

/** Of an observation for which nothing was asked: until when and why, where it waits for a robots.txt that another could not read. */
export function robotsAwaited({ requests, outcome }: Observation): Omit<Rest, 'looks'> | undefined {
  if (requests > 0 || (outcome.kind !== 'failed' && outcome.kind !== 'refused')) return undefined;
  const { fault, untilMs } = outcome;
  const unread = outcome.kind === 'failed' || fault.code === 'robots-unreachable';
  return unread && untilMs !== undefined ? { fault, untilMs } : undefined;
}

export class PutOff {
  readonly #pages = new Map<string, Rest>();
  readonly #sleep: (untilMs: number) => Promise<void>;

  constructor(sleep: (untilMs: number) => Promise<void>) {
    this.#sleep = sleep;
  }

  /** Resolves when its time has come: true unless another look at the page has put it off anew. */
  async until(id: string, rest: Rest): Promise<boolean> {
    this.#pages.set(id, rest);
    await this.#sleep(rest.untilMs);
    return this.#pages.get(id) === rest && this.#pages.delete(id);
  }

  /** Of a page that no look has been made at since. */
  wait({ page, state }: Entry): Wait | undefined {
    const own = this.#pages.get(page.id);
    if (own?.looks !== state.looks || !own.fault) return undefined;
    return { why: `${own.fault.sentence},`, untilMs: own.untilMs };
  }
}
