/** The simulator for experiments: the daemon's own loop over a web with known laws, in virtual time. */
import { openSqlite } from '../store/sqlite.ts';
import type { Store } from '../store/port.ts';

export { givenOrder, greedyOrder, plannedOrder, randomOrder, type SweepOrder } from '../dispatch/sweep.ts';
export { poissonLaw, type SimulatedPage, type SiteLaw } from './simulated-web.ts';
export { createWorld, startLoop, type World } from './world.ts';

export function memoryStore(): Store {
  const opened = openSqlite(':memory:');
  // A store in memory has no disk that could fail.
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  return opened.store;
}
