/** What must hold of the whole history of a trial, whatever happened in it. */
import type { LoopbackWeb } from '../../../daemon/src/trial/command.ts';
import { budgetPerSecond, spacingMs } from './crew.ts';

/** Arrival times at the server jitter by a few milliseconds against the times of sending, more on a busy machine. */
const jitterMs = 30;

export interface PageBody {
  readonly id: string;
  readonly url: string;
  readonly version: number;
}

export interface ChangeBody {
  readonly id: string;
  readonly cursor: string;
  readonly pageId: string;
  readonly toVersion: number;
  readonly at: string;
}

export async function json<Body>(url: string): Promise<Body> {
  return (await (await fetch(url)).json()) as Body;
}

/** The text of each version of the page, from the first. */
export async function versionsOf(coordinator: string, { id, version }: PageBody): Promise<readonly string[]> {
  const texts: string[] = [];
  for (let number = 1; number <= version; number++)
    texts.push(await (await fetch(`${coordinator}/api/pages/${id}/versions/${number}`)).text());
  return texts;
}

/** Which edition each of them is. */
async function editionsOf(coordinator: string, page: PageBody): Promise<readonly number[]> {
  return (await versionsOf(coordinator, page)).map((text) => Number(/edition (\d+)/.exec(text)?.[1]));
}

/** The whole log. */
export async function allChanges(coordinator: string): Promise<readonly ChangeBody[]> {
  const changes: ChangeBody[] = [];
  for (let cursor = '0'; ;) {
    const next = await json<{ changes: ChangeBody[] }>(`${coordinator}/api/changes?after=${cursor}&limit=1000`);
    if (next.changes.length === 0) return changes;
    changes.push(...next.changes);
    cursor = next.changes.at(-1)!.cursor;
  }
}

/**
 * What does not hold of the log, in sentences. Each page was served the editions from the first to this one, each for as long as it took
 * until all had it.
 */
export async function wrongInLog(
  coordinator: string,
  pages: readonly PageBody[],
  edition: number,
): Promise<readonly string[]> {
  const changes = await allChanges(coordinator);
  const wrong: string[] = [];
  if (changes.some((change, i) => Number(change.cursor) !== i + 1)) wrong.push('the log has a hole');
  if (new Set(changes.map((change) => change.id)).size < changes.length) wrong.push('a change was told twice');
  for (const page of pages) {
    const told = changes.filter((change) => change.pageId === page.id);
    wrong.push(...wrongOfPage(await editionsOf(coordinator, page), told, edition).map((what) => `${page.url} ${what}`));
  }
  return wrong;
}

/** What does not hold of one page, given the edition of each of its versions and what was told of it, in that order. */
export function wrongOfPage(
  editions: readonly number[],
  told: readonly Pick<ChangeBody, 'toVersion' | 'at'>[],
  edition: number,
): readonly string[] {
  const wrong: string[] = [];
  const versions = told.map(({ toVersion }) => toVersion);
  const all = Array.from({ length: edition }, (_, i) => i + 1);
  const lacking = all.filter((each) => !editions.includes(each));
  if (lacking.length > 0) wrong.push(`has no version of edition ${lacking.join(', ')}`);
  if (editions.some((each) => !all.includes(each))) wrong.push(`has editions ${editions.join(', ')}`);
  if (editions.at(-1) !== edition) wrong.push(`ends with edition ${editions.at(-1)}`);
  // The newest is kept once more behind what was told late, and is not told again.
  const untold = editions.flatMap((each, i) => (i === 0 || editions.indexOf(each) < i ? [] : [i + 1]));
  const missing = untold.filter((version) => !versions.includes(version));
  if (missing.length > 0) wrong.push(`has ${editions.length} versions and told of ${versions.join(', ')}`);
  if (versions.some((version, i) => i > 0 && version <= versions[i - 1]!))
    wrong.push('told of a version after a later one');
  const toldEditions = versions.map((version) => editions[version - 1]!);
  if (new Set(toldEditions).size < toldEditions.length)
    wrong.push(`told twice of an edition: ${toldEditions.join(', ')}`);
  // One that goes back is the past, told late and with its own time.
  let newest = 0;
  toldEditions.forEach((each, i) => {
    const isPast = Date.parse(told[i]!.at) < Date.parse(told[newest]!.at);
    if (each < toldEditions[newest]! && !isPast)
      wrong.push(`went back from edition ${toldEditions[newest]} to ${each}`);
    if (each >= toldEditions[newest]!) newest = i;
  });
  return wrong;
}

/** Sites that were asked sooner than their spacing allows, for whatever it was. */
export function rushed(web: LoopbackWeb, leastMs = spacingMs): string[] {
  const wrong: string[] = [];
  const before = new Map<string, LoopbackWeb['requests'][number]>();
  for (const request of web.requests) {
    const { host, path, atMs, agent } = request;
    const last = before.get(host);
    before.set(host, request);
    const gapMs = last ? atMs - last.atMs : Infinity;
    if (gapMs < leastMs - jitterMs)
      wrong.push(`${host}${path} was asked for ${gapMs} ms after ${last!.path}, by ${agent} after ${last!.agent}`);
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
