/**
 * What a look makes lives from its probe until it is kept, thousands of looks at once, and then is gone. The engine takes such
 * objects for long-lived ones after a while and makes them where only a search of all memory finds that they are gone; whatever
 * they hold stays as long. Bodies then had all memory searched once for every 64 MB of them, however many pages are watched.
 *
 * As little of it outlives a search of the young, threads that share that search find nothing to do and wait for each other with
 * their cores: beside other work on two cores they took a quarter of all that a look costs, and the loop was none the faster.
 */
import { setFlagsFromString } from 'node:v8';

/** For whoever starts a process that looks; before its first look. */
export function expectShortLives(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
  setFlagsFromString('--no-parallel-scavenge');
}
