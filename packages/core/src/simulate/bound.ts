/**
 * What knowing every page's rate beforehand would give: the square-root law of policy/revisit.ts (for staleness its mark too, which is
 * Cho and Garcia-Molina's optimum) at even intervals, with each page's number of changes in the test for its rate. It reads
 * the test, so it is no policy that anyone could run; what else there is to learn, when a page changes and with which others, it
 * does not know, so a policy that learns that may be better.
 */
import { cho, squareRoot } from '../policy/allocations.ts';
import type { PolicyEntry } from '../policy/catalog.ts';
import { RatePolicy } from '../policy/rate-policy.ts';
import type { Aims } from '../policy/revisit.ts';
import type { Split } from './split.ts';

/** A page that will not change is taken to change so often in the test: no rate is 0, and looks at it cost next to nothing. */
const changesLeast = 1e-6;

export function boundEntry(split: Split, loss: NonNullable<Aims['loss']> = 'obsolescence'): PolicyEntry {
  const span = split.testEnd - split.testStart;
  const rates = split.times.map(
    (times) => Math.max(changesLeast, times.filter((at) => at > split.testStart).length) / span,
  );
  const share = loss === 'staleness' ? cho : squareRoot;
  const create = () =>
    new RatePolicy('bound', (_estimates, weights, budget, pages) =>
      share(
        Float64Array.from(pages!, ({ page }) => rates[page]),
        weights,
        budget,
      ),
    );
  return { knob: 'told', create };
}
