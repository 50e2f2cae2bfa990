/**
 * What a look makes lives from its probe until it is kept, for thousands of looks at once, and then is gone. The engine takes such
 * objects for long-lived ones after a while and makes them where only a search of all memory finds that they are gone; whatever
 * they hold stays as long. Bodies then had all memory searched once for every 64 MB of them, however many pages are watched.
 */
import { setFlagsFromString } from 'node:v8';

/** For whoever starts a process that looks; before its first look. */
export function expectShortLives(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
