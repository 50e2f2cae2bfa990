/** `estimate`: what a page's law of change is, from what was seen of it. `from` says what that was. */
import { chosenIntensity, intensityFromEvents } from '../learn/intensity.ts';
import { smoothIntensity } from '../learn/smooth-intensity.ts';
import { piecesAt, profileAnswer } from './estimate-pieces.ts';
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
  const { kind, breaks, period } = piecesAt(problem, 0, span);
  if (kind !== 'smooth')
    return profileAnswer((kind === 'chosen' ? chosenIntensity : intensityFromEvents)(events, 0, span, breaks, period));
  const outcome = smoothIntensity({ changed: [], free: [[0, span]], exact: events }, breaks, period);
  if (outcome.kind !== 'estimated') throw new Error('all time is known, so every rate is bounded');
  return profileAnswer(outcome);
}
