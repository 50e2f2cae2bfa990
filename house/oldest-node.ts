/**
 * The oldest Node that the published packages promise to run on, for the tests that hold them to it. It comes from npm, as the
 * clone's own does; `npm test` has it fetched while the static checks run. Where it cannot be had, that is said loudly.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const oldestVersion = '22.19.0';

const folder = join(import.meta.dirname, '../node_modules/.cache/oldest-node');
const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
const binary = join(folder, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');

/** Where it is, or undefined. REVISIT_NODE_OLDEST names another place. */
export function oldestNode(): string | undefined {
  return [process.env['REVISIT_NODE_OLDEST'], binary].find((path) => path !== undefined && existsSync(path));
}

/** Ends when it is there or cannot be had. */
export function fetchOldestNode(): Promise<void> {
  if (oldestNode() !== undefined) return Promise.resolve();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private":true}\n');
  const words = ['install', `${name}@${oldestVersion}`, '--ignore-scripts', '--no-audit', '--no-fund', '--no-save'];
  const npm: ChildProcess = spawn('npm', words, { cwd: folder, stdio: 'ignore', shell: process.platform === 'win32' });
  return new Promise((resolve) => void npm.once('error', () => resolve()).once('exit', () => resolve()));
}
