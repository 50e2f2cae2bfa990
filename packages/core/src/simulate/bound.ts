/**
 * What knowing every page's rate beforehand would give: policy/revisit.ts itself, told how often each page changes in the test. So it
 * is no policy that anyone could run; when pages change and with which others it learns as ever, and knows no better.
 */
import type { PolicyEntry } from '../policy/catalog.ts';
import { type Aims, RevisitPolicy } from '../policy/revisit.ts';
import type { Split } from './split.ts';

/** A page that will not change is taken to change so often in the test: no rate is 0, and looks at it cost next to nothing. */
const changesLeast = 1e-6;

export const bound = 'bound';

export function boundEntry(split: Split): PolicyEntry {
  const span = split.testEnd - split.testStart;
  const rates = split.times.map(
    (times) => Math.max(changesLeast, times.filter((at) => at > split.testStart).length) / span,
  );
  const aimed = (aims: Aims) => new RevisitPolicy({ ...aims, rates });
  return { knob: 'told', create: () => aimed({}), aimed };
}
