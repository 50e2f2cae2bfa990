/** `estimate` from `probes`: a rate, a profile or reset probabilities from looks that found a change or not, and from the server's word where it gave one. */
import {
  type SeenLooks,
  type Stretch,
  chosenIntensityFromLooks,
  intensityFromLooks,
} from '../learn/intensity-from-looks.ts';
import { namesAnswers } from '../learn/answer-time.ts';
import { smoothIntensity } from '../learn/smooth-intensity.ts';
import { estimateRate } from '../learn/rate.ts';
import { type AskedPieces, piecesAt, profileAnswer } from './estimate-pieces.ts';
import { estimateResetFromProbes } from './estimate-reset.ts';
import { probesAt } from './probes.ts';
import { type Fields, Refusal, onlyKeys } from './read.ts';

interface Seen extends SeenLooks {
  readonly first: number;
  readonly last: number;
}

/**
 * The first look is where knowing begins: what it found says nothing, its Last-Modified does. A change whose time is known
 * leaves open what happened before it in the same gap; a Last-Modified outside its gap is a clock that lies, one at the look itself
 * names the look, and where too many are just before it all of them do (answer-time.ts).
 */
function seenAt(value: unknown): Seen {
  const probes = probesAt(value, 'probes');
  const changedGaps: Stretch[] = [];
  const free: Stretch[] = [];
  const exact: number[] = [];
  const believed = !namesAnswers(
    probes.slice(1).flatMap(({ at, changed, lastModified }, i) => {
      const age = lastModified === undefined ? undefined : at - lastModified;
      return at > probes[i].at ? [{ gap: at - probes[i].at, changed, age }] : [];
    }),
  );
  probes.forEach(({ at, changed, lastModified }, i) => {
    const before = i === 0 ? -Infinity : probes[i - 1].at;
    const known = believed && lastModified !== undefined && lastModified > before && lastModified < at;
    if (known && (changed || i === 0)) {
      exact.push(lastModified);
      free.push([lastModified, at]);
    } else if (i > 0 && at > before) {
      (changed ? changedGaps : free).push([before, at]);
    }
  });
  const first = Math.min(probes[0].at, exact[0] ?? Infinity);
  return { changed: changedGaps, free, exact, first, last: probes.at(-1)!.at };
}

export function estimateFromProbes(problem: Fields): Record<string, unknown> {
  if (problem['ages'] !== undefined) return estimateResetFromProbes(problem);
  onlyKeys(problem, '', ['kind', 'from', 'probes', 'breaks', 'period']);
  const seen = seenAt(problem['probes']);
  return problem['breaks'] === undefined && problem['period'] === undefined
    ? rateOf(seen)
    : profileOf(seen, piecesAt(problem, seen.first, seen.last), problem);
}

function rateOf({ changed, free, exact }: SeenLooks): Record<string, unknown> {
  const { rate, interval } = estimateRate({
    changedGaps: changed.map(([from, to]) => to - from),
    freeTime: free.reduce((time, [from, to]) => time + to - from, 0),
    exact: exact.length,
  });
  // JSON knows no infinity: null where every look found a change, so that nothing bounds the rate from above.
  const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);
  return { rate: finite(rate), interval: interval.map(finite) };
}

const estimators = { given: intensityFromLooks, chosen: chosenIntensityFromLooks, smooth: smoothIntensity };

function profileOf(seen: SeenLooks, asked: AskedPieces, problem: Fields): Record<string, unknown> {
  const { kind, breaks, period } = asked;
  const outcome = estimators[kind](seen, breaks, period);
  if (outcome.kind === 'estimated') return profileAnswer(outcome);
  const piece = kind !== 'given' ? 'at all' : `between ${breaks[outcome.cell]} and ${breaks[outcome.cell + 1]}`;
  throw new Refusal(
    'breaks',
    problem['breaks'],
    `a look that found no change ${piece} is expected: without one nothing bounds the rate from above`,
  );
}
