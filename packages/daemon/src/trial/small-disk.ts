/**
 * Loaded before the command (`node --import`), in every thread of it: while the file that REVISIT_TRIAL_FULL names exists, no
 * connection's database may grow. SQLite's own limit on pages answers exactly as a full disk does, in the middle of a
 * transaction. Which threads write is noted beside it.
 */
import { appendFileSync, existsSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import Database from 'better-sqlite3';

const full = process.env['REVISIT_TRIAL_FULL']!;
const unlimited = 1_000_000_000;
const prepare = Reflect.get(Database.prototype, 'prepare') as (
  this: Database.Database,
  text: string,
) => Database.Statement<unknown[]>;
let noted = false;

function limited(this: Database.Database, text: string): Database.Statement<unknown[]> {
  const statement = prepare.call(this, text);
  if (text !== 'BEGIN IMMEDIATE') return statement;
  const run = statement.run.bind(statement);
  statement.run = () => {
    const begun = run([]);
    const most = existsSync(full) ? (this.pragma('page_count', { simple: true }) as number) : unlimited;
    this.pragma(`max_page_count = ${most}`);
    if (!noted) appendFileSync(`${full}.writers`, isMainThread ? 'loop\n' : 'thread\n');
    noted = true;
    return begun;
  };
  return statement;
}
Reflect.set(Database.prototype, 'prepare', limited);
