/**
 * Pages whose answers are large. They are read one at a time, and an answer that finds no room among those that wait for it is lost
 * with all that it cost its site; so a page that is known to be large leaves when there is room, and its site waits until then.
 */
import { isLarge } from '../indexing/begun.ts';
import { fault } from '../values/fault.ts';
import type { Observation } from '../values/observation.ts';
import type { Probe } from '../values/probe.ts';

/** More are not remembered; the oldest is asked for once in vain. */
const knownMax = 10_000;
/** Reading one takes seconds. */
const againMs = 5_000;

export class LargeAnswers {
  readonly #bytesOf = new Map<string, number>();
  readonly #underWay = new Map<Probe, number>();
  #bytes = 0;

  /** Whether the probe may leave; then room is kept for its answer. */
  leaves(probe: Probe, hasRoomFor: (bytes: number) => boolean): boolean {
    const bytes = this.#bytesOf.get(probe.url);
    if (bytes === undefined) return true;
    if (!hasRoomFor(this.#bytes + bytes)) return false;
    this.#underWay.set(probe, bytes);
    this.#bytes += bytes;
    return true;
  }

  /** Before its answer is taken. */
  answered({ probe, outcome }: Observation): void {
    const bytes = this.#underWay.get(probe);
    if (bytes !== undefined && this.#underWay.delete(probe)) this.#bytes -= bytes;
    if (outcome.kind !== 'fetched') return;
    if (isLarge(outcome.body)) this.#know(probe.url, outcome.body.length);
    else if (this.#bytesOf.size > 0) this.#bytesOf.delete(probe.url);
  }

  #know(url: string, bytes: number): void {
    this.#bytesOf.delete(url);
    this.#bytesOf.set(url, bytes);
    if (this.#bytesOf.size > knownMax) this.#bytesOf.delete(this.#bytesOf.keys().next().value!);
  }
}

/** As the wire says it of a site that takes no more for now. */
export const noRoomFor = (probe: Probe, nowMs: number): Observation => ({
  probe,
  startedAtMs: nowMs,
  endedAtMs: nowMs,
  bytesReceived: 0,
  requests: 0,
  outcome: {
    kind: 'refused',
    fault: fault('site-busy', 'its answer is large, and others like it wait to be read'),
    siteUntilMs: nowMs + againMs,
  },
});
