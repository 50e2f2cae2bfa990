/** Where a daemon of a test lives: what is the same for one process and for a cluster, so that one suite speaks to both. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { openSqlite } from '../store/sqlite.ts';
import type { Change } from '../values/change.ts';
import { freshFolder, revisit, serve, type Serving } from './command.ts';

/** One place where state is kept, and daemons that work on it. */
export interface Place {
  /** Commands with `--data` and this find the daemon that runs. */
  readonly folder: string;
  /** The name of the robot that looks, where that is another process. */
  readonly robot?: string;
  serve(words: readonly string[]): Promise<Serving>;
  /** Adds pages while no daemon runs. */
  add(urls: readonly string[]): Promise<readonly string[]>;
  /** How the pages are while no daemon runs. */
  statuses(): Promise<readonly string[]>;
  /** While no daemon runs: the log, and what is wrong with the state. */
  read(): Promise<{ readonly changes: readonly Change[]; readonly wrong: readonly string[] }>;
  end(): Promise<void>;
}

/** One process on a data folder of its own. */
export function inFolder(): Place {
  const folder = freshFolder();
  return {
    folder,
    serve: (words) => serve(['--data', folder, ...words]),
    add: async (urls) => {
      const added = await revisit(['add', ...urls, '--data', folder, '--json']);
      return (JSON.parse(added.out) as { id: string }[]).map(({ id }) => id);
    },
    statuses: async () => {
      const pages = await revisit(['pages', '--data', folder, '--json']);
      return (JSON.parse(pages.out) as { status: string }[]).map(({ status }) => status);
    },
    read: async () => {
      const opened = openSqlite(join(folder, 'revisit.db'));
      if (opened.kind === 'failed') throw new Error(opened.sentence);
      const wrong = opened.store.care.check(false).findings.map(({ what }) => what);
      const changes = await opened.store.changes({ after: 0, limit: 1_000_000 });
      await opened.store.close();
      return { changes, wrong };
    },
    end: () => Promise.resolve(rmSync(folder, { recursive: true, force: true })),
  };
}
