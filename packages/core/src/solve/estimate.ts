/** `estimate`: what a page's law of change is, from what was seen of it. `from` says what that was. */
import { intensityFromEvents } from '../learn/intensity.ts';
import { profileTrouble } from '../time/profile.ts';
import { estimateFromProbes } from './estimate-probes.ts';
import { estimateFromAges, estimateFromLifetimes } from './estimate-reset.ts';
import { type Fields, Refusal, numberAt, numbersAt, onlyKeys } from './read.ts';

const readers: Record<string, (problem: Fields) => Record<string, unknown>> = {
  events: estimateFromEvents,
  lifetimes: estimateFromLifetimes,
  ages: estimateFromAges,
  probes: estimateFromProbes,
};

export function solveEstimate(problem: Fields): Record<string, unknown> {
  const from = problem['from'];
  const reader = typeof from === 'string' && Object.hasOwn(readers, from) ? readers[from] : undefined;
  if (!reader) {
    const known = Object.keys(readers).map((name) => `"${name}"`);
    throw new Refusal('from', from, `one of ${known.join(', ')} is expected`);
  }
  return reader(problem);
}

/** The times of changes during [0, span] → a profile, and a 95 % interval for each of its values. */
function estimateFromEvents(problem: Fields): Record<string, unknown> {
  onlyKeys(problem, '', ['kind', 'from', 'events', 'span', 'breaks', 'period']);
  const span = numberAt(problem['span'], 'span', { above: 0 });
  const events = numbersAt(problem['events'], 'events', { min: 0, max: span });
  const period = problem['period'] === undefined ? undefined : numberAt(problem['period'], 'period', { above: 0 });
  const breaks = problem['breaks'] === undefined ? [0, period ?? span] : numbersAt(problem['breaks'], 'breaks', {}, 2);
  const trouble = profileTrouble(breaks, new Float64Array(breaks.length - 1), period);
  if (trouble) throw new Refusal(trouble.field, problem[trouble.field], trouble.allowed);
  if (period === undefined && (breaks[0] > 0 || breaks[breaks.length - 1] < span))
    throw new Refusal('breaks', problem['breaks'], `breaks from 0 to the span (${span}), or a period, are expected`);
  const { profile, intervals } = intensityFromEvents(events, 0, span, breaks, period);
  return {
    profile: {
      breaks: Array.from(profile.breaks),
      values: Array.from(profile.values),
      ...(period === undefined ? {} : { period }),
    },
    // JSON knows no infinity: null where no time was spent in a piece and nothing is known of its rate.
    interval: intervals.map(([low, high]) => [low, Number.isFinite(high) ? high : null]),
  };
}
