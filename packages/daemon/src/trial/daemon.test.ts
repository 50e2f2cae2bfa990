import { daemonSuite } from './daemon.oracle.ts';
import { inFolder } from './place.ts';

daemonSuite('one process', () => Promise.resolve(inFolder()));
