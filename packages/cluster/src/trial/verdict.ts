/** What must hold of the whole history of a trial, whatever happened in it. */
import type { LoopbackWeb } from '../../../daemon/src/trial/command.ts';
import { budgetPerSecond, hosts, pathOf, spacingMs } from './crew.ts';

/** Arrival times at the server jitter by a few milliseconds against the times of sending, more on a busy machine. */
const jitterMs = 30;

export interface PageBody {
  readonly id: string;
  readonly url: string;
  readonly version: number;
}

interface ChangeBody {
  readonly id: string;
  readonly cursor: string;
  readonly pageId: string;
  readonly toVersion: number;
}

export async function json<Body>(url: string): Promise<Body> {
  return (await (await fetch(url)).json()) as Body;
}

/** What does not hold of the log, in sentences. */
export async function wrongInLog(coordinator: string, pages: readonly PageBody[]): Promise<string[]> {
  const changes: ChangeBody[] = [];
  for (let cursor = '0'; ;) {
    const next = await json<{ changes: ChangeBody[] }>(`${coordinator}/api/changes?after=${cursor}&limit=1000`);
    if (next.changes.length === 0) break;
    changes.push(...next.changes);
    cursor = next.changes.at(-1)!.cursor;
  }
  const wrong: string[] = [];
  if (changes.some((change, i) => Number(change.cursor) !== i + 1)) wrong.push('the log has a hole');
  if (new Set(changes.map((change) => change.id)).size < changes.length) wrong.push('a change was told twice');
  for (const { id, url, version } of pages) {
    const told = changes.filter((change) => change.pageId === id).map((change) => change.toVersion);
    if (told.length !== version - 1 || told.some((to, i) => to !== i + 2))
      wrong.push(`${url} has ${version} versions and told of ${told.join(', ')}`);
  }
  return wrong;
}

/** Sites that were asked sooner than their spacing allows. */
export function rushed(web: LoopbackWeb): string[] {
  const wrong: string[] = [];
  for (let host = 0; host < hosts; host++) {
    const asked = web.asked.filter((entry) => entry.path === pathOf(host));
    asked.forEach(({ atMs, agent }, i) => {
      const before = asked[i - 1];
      const gapMs = before ? atMs - before.atMs : Infinity;
      if (gapMs < spacingMs - jitterMs)
        wrong.push(`${pathOf(host)} was asked again after ${gapMs} ms by ${agent} after ${before!.agent}`);
    });
  }
  return wrong;
}

/**
 * Where more was asked for than the budget had given by then: it gives nothing in advance, so that whatever was asked for in the
 * time from the beginning to any moment is at most budget · time, by robots and observers together.
 */
export function overspent(web: LoopbackWeb, startedMs: number): string[] {
  const at = web.asked.findIndex(({ atMs }, i) => i + 1 > (budgetPerSecond * (atMs - startedMs)) / 1000);
  if (at < 0) return [];
  const seconds = (web.asked[at]!.atMs - startedMs) / 1000;
  return [`${at + 1} looks in the first ${seconds.toFixed(1)} s, where ${budgetPerSecond} a second are allowed`];
}
