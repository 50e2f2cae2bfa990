/**
 * The processes of a browser, as this machine sees them: what a page takes in memory beyond its scripts' heap (buffers, its
 * tree), and folders that browsers of killed processes left behind.
 */
import { execFile } from 'node:child_process';
import { readdir, readFile, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, CDPSession } from 'playwright-core';

/** How often memory is looked at; in between, a page can fill some hundred megabytes. */
const everyMs = 200;
const profilePrefix = 'playwright_chromiumdev_profile-';
/** Nobody’s mark is in these. One that is empty after a day was left by a process that was killed; a browser in use misses it as little. */
const artifactsPrefix = 'playwright-artifacts-';
const leftMs = 86_400_000;
const markOf = (processId: number): string => `revisit-${processId}`;

interface ProcessInfo {
  readonly id: number;
  readonly type: string;
}

const sessionsOf = new WeakMap<Browser, Promise<CDPSession>>();

/** Ends each page of the browser that takes more than so much, until stopped. */
export function limitMemory(browser: Browser, megabytesMax: number): { readonly stop: () => void } {
  let looking = false;
  const timer = setInterval(() => {
    if (looking) return;
    looking = true;
    void endLarge(browser, megabytesMax * 2 ** 20)
      .catch(() => {})
      .finally(() => (looking = false));
  }, everyMs);
  return { stop: () => clearInterval(timer) };
}

async function endLarge(browser: Browser, bytesMax: number): Promise<void> {
  for (const id of await processesOf(browser, 'renderer')) {
    const bytes = await residentBytes(id);
    // A browser takes the end of such a process for a crash of its page, and nothing else ends with it.
    if (bytes !== undefined && bytes > bytesMax) process.kill(id, 'SIGKILL');
  }
}

async function sessionOf(browser: Browser): Promise<CDPSession> {
  let session = sessionsOf.get(browser);
  if (!session) sessionsOf.set(browser, (session = browser.newBrowserCDPSession()));
  return session;
}

async function processesOf(browser: Browser, wanted: string): Promise<readonly number[]> {
  const { processInfo } = (await (await sessionOf(browser)).send('SystemInfo.getProcessInfo')) as {
    readonly processInfo: readonly ProcessInfo[];
  };
  return processInfo.filter(({ type }) => type === wanted).map(({ id }) => id);
}

/** The process that all others of the browser belong to. */
export async function processIdOf(browser: Browser): Promise<number | undefined> {
  return (await processesOf(browser, 'browser'))[0];
}

/** For one that does not answer: its pages end with it. */
export function endProcess(id: number | undefined): void {
  if (id !== undefined && isRunning(id)) process.kill(id, 'SIGKILL');
}

async function residentBytes(id: number): Promise<number | undefined> {
  if (process.platform === 'linux') {
    const kilobytes = /^VmRSS:\s+(\d+)/m.exec(await readFile(`/proc/${id}/status`, 'utf8'))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  }
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(id)]);
  return Number(stdout) * 1024 || undefined;
}

/** Says whose the browser's folder is, so that a later process can tell that nobody needs it any more. */
export async function markFolder(browser: Browser): Promise<void> {
  const { commandLine } = (await (await sessionOf(browser)).send('SystemInfo.getInfo')) as { commandLine: string };
  const folder = commandLine.split(/\s(?=--)/).find((word) => word.startsWith('--user-data-dir='));
  if (folder) await writeFile(join(folder.slice('--user-data-dir='.length), markOf(process.pid)), '');
}

/** A killed process cannot put its browser's folder away (five megabytes); the next one does. */
export async function removeLeftFolders(): Promise<void> {
  const names = await readdir(tmpdir());
  for (const name of names.filter((other) => other.startsWith(artifactsPrefix))) {
    const folder = join(tmpdir(), name);
    const madeMs = await stat(folder).then(
      ({ mtimeMs }) => mtimeMs,
      () => Infinity,
    );
    if (Date.now() - madeMs > leftMs) await rmdir(folder).catch(() => {});
  }
  const folders = names.filter((name) => name.startsWith(profilePrefix));
  for (const name of folders) {
    const folder = join(tmpdir(), name);
    const marks = (await readdir(folder).catch(() => [])).filter((file) => file.startsWith('revisit-'));
    const owner = Number(marks[0]?.slice('revisit-'.length));
    if (Number.isInteger(owner) && !isRunning(owner)) await rm(folder, { recursive: true, force: true });
  }
}

function isRunning(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
