import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { Checkup, SqliteCare } from '../../store/care.ts';
import { noFolder } from '../client.ts';
import { dataOption, example, jsonOption } from '../options.ts';
import { type CommandOutcome, counted, done, failed, note, print, printJson, wrong } from '../outcome.ts';
import type { Runner } from '../program.ts';

interface DoctorOptions {
  readonly data: string;
  readonly json?: boolean;
  readonly repair?: boolean;
  readonly vacuum?: boolean;
}

type Care = { readonly care: SqliteCare; readonly alone: boolean; close(): Promise<void> };

/** Reading beside a running daemon is safe; changing anything needs the folder for itself. */
async function openCare(data: string, alone: boolean): Promise<Care | CommandOutcome> {
  const { openFolder, sharesStore } = await import('../../folder.ts');
  if (sharesStore(data))
    return wrong(
      `--data ${data}: it is a coordinator's, and all it keeps is in PostgreSQL; back that up with pg_dump, and let pg_amcheck say whether it is sound`,
    );
  if (!existsSync(join(data, 'revisit.db'))) return wrong(noFolder(data));
  const { openSqlite } = await import('../../store/sqlite.ts');
  const folder = openFolder(data);
  if (folder.kind === 'opened') return { care: folder.care, alone: true, close: () => folder.close() };
  if (folder.kind === 'failed' || alone) return failed(folder.sentence);
  const opened = openSqlite(join(data, 'revisit.db'));
  if (opened.kind === 'failed') return failed(opened.sentence);
  return { care: opened.store.care, alone: false, close: () => opened.store.close() };
}

function report({ pages, versions, bytesKept, bytesWhole, findings, repaired }: Checkup): string {
  const share = bytesWhole === 0 ? 0 : (100 * bytesKept) / bytesWhole;
  const size = `${counted(pages, 'page')}, ${counted(versions, 'version')}, ${bytesKept} bytes kept for ${bytesWhole} (${share.toFixed(1)} %)`;
  if (findings.length === 0) return `${size}\nEverything reads back as it was kept.`;
  const lines = findings.map(({ what, remedy, pageId }) => `- ${pageId ? `page ${pageId}: ` : ''}${what}; ${remedy}`);
  return [size, ...lines, repaired ? 'Repaired.' : 'Run "revisit doctor --repair" to mend what can be mended.'].join(
    '\n',
  );
}

async function doctor(options: DoctorOptions): Promise<CommandOutcome> {
  const opened = await openCare(options.data, options.repair === true || options.vacuum === true);
  if ('code' in opened) return opened;
  try {
    const found = opened.care.check(options.repair === true);
    const left = found.repaired ? opened.care.check(false) : found;
    if (options.json) printJson(found);
    else print(report(found));
    if (options.vacuum) {
      const { before, after } = opened.care.vacuum();
      note(`the database went from ${before} to ${after} bytes`);
    }
    return left.findings.length === 0 ? done : failed(`${left.findings.length} things are not as they should be`);
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message?: string };
    if (typeof code !== 'string' || !/^SQLITE_(CORRUPT|NOTADB|IOERR)/.test(code)) throw error;
    return failed(
      `${join(options.data, 'revisit.db')}: the file itself is damaged (${message ?? code}) and nothing in it was touched; restore a backup, or save what can be read with: sqlite3 revisit.db .recover`,
    );
  } finally {
    await opened.close();
  }
}

async function backup(file: string, options: { readonly data: string }): Promise<CommandOutcome> {
  if (existsSync(file)) return wrong(`${file}: is there already; name a file that is not`);
  const opened = await openCare(options.data, false);
  if ('code' in opened) return opened;
  try {
    await opened.care.backup(file);
    note(`written to ${file}; to restore it, put it in a data folder as revisit.db`);
    return done;
  } catch (error) {
    return failed(`${file}: cannot be written (${error instanceof Error ? error.message : String(error)})`);
  } finally {
    await opened.close();
  }
}

export function registerDoctor(program: Command, run: Runner): void {
  const command = program
    .command('doctor')
    .description('read everything that is kept and say what is damaged')
    .option('--repair', 'mend what can be mended; what cannot be read is let go')
    .option('--vacuum', 'give unused space back to the disk');
  example(jsonOption(dataOption(command)), 'revisit doctor --repair');
  command.action(run(doctor));
  const copy = program
    .command('backup <file>')
    .description('a consistent copy of all state, also while the daemon runs');
  example(dataOption(copy), 'revisit backup revisit-2026-11-15.db');
  copy.action(run(backup));
}
