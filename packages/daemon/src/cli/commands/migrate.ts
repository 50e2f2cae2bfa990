import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { lockFolder } from '../../store/lock.ts';
import { emigrate } from '../../store/emigrate.ts';
import type { Runner } from '../program.ts';
import { example } from '../options.ts';
import { progress } from '../progress.ts';
import { type CommandOutcome, done, failed, note, printJson, wrong } from '../outcome.ts';

interface MigrateOptions {
  readonly data: string;
  readonly to: string;
  readonly json?: boolean;
}

async function migrate(options: MigrateOptions): Promise<CommandOutcome> {
  if (!/^postgres(ql)?:\/\//.test(options.to))
    return wrong(`--to ${options.to}: an address such as postgres://user:password@host/database is expected`);
  const file = join(options.data, 'revisit.db');
  if (!existsSync(file)) return wrong(`--data ${options.data}: there is no revisit.db in it`);
  // Whoever works on the folder goes on; what it writes meanwhile comes over at the next run.
  const lock = lockFolder(options.data);
  if (lock.kind === 'failed') return wrong(`--data ${options.data}: ${lock.sentence}`);
  const source = emigrate(file);
  if (source.kind === 'failed') return wrong(`--data ${source.sentence}`);
  const { connect, moveIn } = await import('@revisit/cluster');
  const connected = await connect(options.to);
  if (connected.kind === 'failed') return (connected.away ? failed : wrong)(`--to: ${connected.sentence}`);
  const bar = progress('migrate', source.source.rowCount);
  try {
    const outcome = await moveIn(connected.connection, source.source, resolve(options.data), (...at) => bar.to(...at));
    bar.end();
    if (outcome.kind === 'wrong') return wrong(`--to: ${outcome.sentence}`);
    const running = lock.kind === 'held';
    if (outcome.kind === 'differs')
      return failed(
        running
          ? `${outcome.sentence}; a daemon works on the folder and may have written that meanwhile: run the same command again`
          : `${outcome.sentence}; nobody works on the folder, so the database was written by somebody else: move into an empty one`,
      );
    if (options.json) printJson({ ...outcome.moved, final: !running });
    else {
      for (const { name, rows, hash } of outcome.moved.tables) note(`${name}: ${rows} rows, ${hash} on both sides`);
      note(`${outcome.moved.contents} contents unpacked, each is what its name says.`);
      note(
        running
          ? 'A daemon works on the folder: stop it and run this once more, which brings over what it has written since.'
          : `All of it has moved. Go on with: revisit serve --store ${options.to.replace(/:[^:@/]*@/, ':…@')}`,
      );
    }
    return done;
  } finally {
    bar.end();
    source.source.close();
    await connected.connection.close();
    if (lock.kind === 'locked') lock.release();
  }
}

export function registerMigrate(program: Command, run: Runner): void {
  const command = program
    .command('migrate')
    .description('move a data folder into PostgreSQL, checked row by row; may be broken off and run again')
    .requiredOption('--to <address>', 'the database, such as postgres://user:password@host/database')
    .option('--data <folder>', 'the folder that holds all state', './revisit-data')
    .option('--json', 'print one JSON document');
  example(command, 'revisit migrate --to postgres://revisit:secret@127.0.0.1/revisit');
  command.action(run(migrate));
}
