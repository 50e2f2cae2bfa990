/** Planners against the numbers in the design and against the papers' own algorithms, in one run. A file a planner. */
import type { Bench } from '../house/bench.ts';
import { collecting } from './plan/collect.ts';
import { horizon } from './plan/horizon.ts';
import { polite } from './plan/polite.ts';

const parts: readonly Bench[] = [polite, collecting, horizon];

export const bench: Bench = async (say) => {
  const rows = [];
  for (const part of parts) rows.push(...(await part(say)));
  return rows;
};
