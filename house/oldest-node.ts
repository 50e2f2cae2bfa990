/**
 * The oldest Node that the published packages promise to run on, for the tests that hold them to it. It comes from npm, as the
 * clone's own does; `npm test` has it fetched while the static checks run. Where it cannot be had, that is said loudly.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const oldestVersion = '22.19.0';

const folder = join(import.meta.dirname, '../node_modules/.cache/oldest-node');
const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
const binary = join(folder, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');

const starts = (path: string): boolean => spawnSync(path, ['--version']).status === 0;

/** Where one is that starts on this machine, or undefined. REVISIT_NODE_OLDEST names another place. */
export function oldestNode(): string | undefined {
  return [process.env['REVISIT_NODE_OLDEST'], binary].find((path) => path !== undefined && starts(path));
}

/** Ends when it is there, or with a sentence why it cannot be had. */
export async function fetchOldestNode(): Promise<string | undefined> {
  if (oldestNode() !== undefined) return undefined;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private":true}\n');
  const words = ['install', `${name}@${oldestVersion}`, '--ignore-scripts', '--no-audit', '--no-fund', '--no-save'];
  const npm = spawn('npm', words, {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    shell: process.platform === 'win32',
  });
  let said = '';
  npm.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const failed = await new Promise<string | undefined>(
    (resolve) =>
      void npm
        .once('error', (error) => resolve(`npm does not start: ${error.message}`))
        .once('close', (code) =>
          resolve(code === 0 ? undefined : `npm install ${name}@${oldestVersion}: ${why(said)}`),
        ),
  );
  return failed ?? (oldestNode() === undefined ? `${binary} does not start on this machine` : undefined);
}

/** The sentence in what npm says about a failure, among codes and where it wrote its log. */
function why(said: string): string {
  const lines = [...said.matchAll(/^npm error (?!code |errno |A complete log|syscall )(.+)$/gm)].map(
    ([, line]) => line!,
  );
  return lines[0] ?? (said.trim().split('\n').at(-1) || 'it failed without a word');
}
