/** Requests outside the plan, of which nothing is kept: they count against the budget as looks do. */
import type { Departures } from './departures.ts';
import type { Flights } from './flights.ts';
import type { LoopParts } from '../loop-parts.ts';
import { fault } from '../values/fault.ts';
import type { Observation } from '../values/observation.ts';
import type { Probe } from '../values/probe.ts';

export interface OutsideWays {
  readonly departures: Departures;
  readonly flights: Flights;
  /** When the loop is over. */
  readonly ended: AbortSignal;
}

export type Peeked = Pick<Probe, 'url' | 'site' | 'headers' | 'render'>;

/** One look, for a preview; it waits for its site's turn. */
export async function peek(
  { observer }: Pick<LoopParts, 'observer'>,
  { departures, flights, ended }: OutsideWays,
  what: Peeked,
): Promise<Pick<Observation, 'finalUrl' | 'outcome'>> {
  // Where others ask in our place, each of them knows only of what it asked itself: the turn is given here.
  if (observer.outlives && !(await departures.doors.turnOf(what.site, ended)))
    return { outcome: { kind: 'refused', fault: fault('site-busy', `${what.site} may not be asked now.`) } };
  const observation = await observer.observe(departures.outside(what));
  flights.count(observation.requests);
  departures.returned(observation);
  return observation;
}

/** A form for somebody who offers to tell of changes. */
export function submit(
  { observer, forms = observer }: Pick<LoopParts, 'observer' | 'forms'>,
  { departures, flights }: OutsideWays,
  url: string,
  form: Readonly<Record<string, string>>,
): Promise<number | undefined> {
  departures.settle(1);
  flights.count(1);
  return forms.submit?.(url, form) ?? Promise.resolve(undefined);
}
