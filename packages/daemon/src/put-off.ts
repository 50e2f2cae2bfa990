/** Pages that may not be visited (robots.txt, also one that cannot be read, their address): none is offered again before that may have changed. */
import type { Entry } from './collection.ts';
import type { Wait } from './page-waits.ts';
import type { Look } from './values/look.ts';
import type { Outcome } from './values/observation.ts';

/** Where nobody says when: rules are read anew once a day. */
const putOffMs = 86_400_000;

/** Where others may visit what the one that looked may not: soon, and after each look that comes to nothing twice as late. */
const othersMs = { first: 2_000, most: 600_000 };

/** `failures`: looks in a row that came to nothing. */
const othersTryAfterMs = (failures: number): number =>
  Math.min(othersMs.most, othersMs.first * 2 ** Math.max(0, failures - 1));

/** Whether the page is not to be offered again before then; where nobody says when, in a day. Sites that are left alone are held by themselves. */
export function putOffBy(outcome: Outcome, look: Look): { readonly untilMs: number | undefined } | undefined {
  if (outcome.kind === 'failed') return outcome.untilMs === undefined ? undefined : { untilMs: outcome.untilMs };
  if (outcome.kind !== 'refused' || outcome.siteUntilMs !== undefined) return undefined;
  const othersAtMs = look.endedAtMs + othersTryAfterMs(look.state.failures);
  return { untilMs: outcome.onlyHere ? othersAtMs : outcome.untilMs };
}

export class PutOff {
  /** By page: until when, and which of its looks said so. */
  readonly #pages = new Map<string, { readonly untilMs: number; readonly looks: number }>();
  readonly #sleep: (untilMs: number) => Promise<void>;

  constructor(sleep: (untilMs: number) => Promise<void>) {
    this.#sleep = sleep;
  }

  /** Resolves when its time has come: true unless another look at the page has put it off anew. */
  async until(id: string, look: Look, untilMs = look.endedAtMs + putOffMs): Promise<boolean> {
    const own = { untilMs, looks: look.state.looks };
    this.#pages.set(id, own);
    await this.#sleep(untilMs);
    return this.#pages.get(id) === own && this.#pages.delete(id);
  }

  /** Of a page that no look has been made at since. */
  wait({ page, state }: Entry): Wait | undefined {
    const own = this.#pages.get(page.id);
    if (own?.looks !== state.looks || !state.fault) return undefined;
    return { why: `${state.fault.sentence},`, untilMs: own.untilMs };
  }
}
