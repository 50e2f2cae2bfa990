import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSqlite } from '../store/sqlite.ts';
import { type BusyPlace, busySuite } from './busy-daemon.oracle.ts';
import { serve } from './command.ts';
import { inFolder } from './place.ts';

/** One process, whose database a file beside it keeps from growing. */
function busyFolder(): BusyPlace {
  const here = inFolder();
  const full = join(here.folder, 'full');
  const writers = `${full}.writers`;
  const reading: BusyPlace['reading'] = async (look) => {
    const opened = openSqlite(join(here.folder, 'revisit.db'));
    if (opened.kind === 'failed') throw new Error(opened.sentence);
    const value = await look(opened.store);
    await opened.store.close();
    return value;
  };
  return {
    ...here,
    serve: (words) => {
      rmSync(writers, { force: true });
      process.env['REVISIT_TRIAL_FULL'] = full;
      return serve(['--data', here.folder, ...words], ['--import', join(import.meta.dirname, 'small-disk.ts')]);
    },
    // A thread of its own writes then.
    isBusy: () => existsSync(writers) && readFileSync(writers, 'utf8').includes('thread'),
    full: (isFull) => Promise.resolve(isFull ? writeFileSync(full, '') : rmSync(full)),
    reading,
    underWay: () => reading(async (store) => (await store.unfinished()).length),
  };
}

busySuite('one process', () => Promise.resolve(busyFolder()));
