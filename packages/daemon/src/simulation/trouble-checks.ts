/** What must be true of a collection after days in trouble: nothing lost, nothing doubled. */
import type { Store } from '../store/port.ts';
import type { Change } from '../values/change.ts';
import type { ListedPage } from '../store/port.ts';
import type { FaultyWeb } from './faulty-web.ts';

/** The slowest answers take so long, from asking to what they show. */
const answerMs = 20_000;

export async function wrongAfterwards(
  store: Store,
  web: FaultyWeb,
  { calmMs, clockIsSet }: { readonly calmMs: number; readonly clockIsSet: boolean },
): Promise<readonly string[]> {
  const changes = await store.changes({ after: 0, limit: 1_000_000 });
  const wrong = [...wrongInLog(changes)];
  const pages = await store.pages({ limit: 10_000 });
  if (pages.length !== web.urls.length) wrong.push(`${pages.length} pages are watched, not ${web.urls.length}`);
  for (const watched of pages) {
    const { page, state } = watched;
    const say = (what: string): void => void wrong.push(`${page.url} ${what}`);
    if ((state.lastSeenMs ?? 0) < calmMs)
      say(`was last seen ${state.lastSeenMs ? new Date(state.lastSeenMs).toISOString() : 'never'}`);
    const own = changes.filter(({ pageId, atMs }) => pageId === page.id && (clockIsSet || atMs >= page.addedAtMs));
    wrongInVersions(await versionsOf(store, page.id), watched, own, web).forEach(say);
    wrongInPresence(own, clockIsSet ? undefined : web).forEach(say);
  }
  const unfinished = await store.unfinished();
  // Whatever was under way at the end was so for minutes at most.
  if (unfinished.some(({ atMs }) => atMs < calmMs)) wrong.push('a probe of long ago was never finished');
  if ((await store.wishes()).some(({ atMs }) => atMs < calmMs)) wrong.push('a look that was asked for was never made');
  return wrong;
}

/** Every change once, in order, without holes. */
function wrongInLog(changes: readonly Change[]): readonly string[] {
  const wrong = changes.flatMap(({ sequence }, index) =>
    sequence === index + 1 ? [] : [`change ${index + 1} has the number ${sequence}`],
  );
  if (new Set(changes.map(({ id }) => id)).size !== changes.length) wrong.push('a change has the id of another');
  return wrong;
}

interface Shown {
  readonly number: number;
  /** What the web showed, and how often that had changed. */
  readonly url: string;
  readonly version: number;
}

async function versionsOf(store: Store, pageId: string): Promise<readonly Shown[]> {
  const shown: Shown[] = [];
  for (const { number } of await store.versions(pageId)) {
    const [, url = '', version] = /^(\S+) version (\d+)/.exec((await store.versionText(pageId, number)) ?? '') ?? [];
    shown.push({ number, url, version: Number(version) });
  }
  return shown;
}

/** Each version is newer than the one before and was told once; the last is what the page showed when it was seen. */
function wrongInVersions(
  versions: readonly Shown[],
  { page, state }: ListedPage,
  changes: readonly Change[],
  web: FaultyWeb,
): readonly string[] {
  const wrong: string[] = [];
  const list = versions.map(({ number, url, version }) => `${number}: ${url} ${version}`).join(', ');
  if (versions.some(({ number }, index) => number !== index + 1) || versions.length !== state.version)
    wrong.push(`should hold ${state.version} versions and holds ${list}`);
  const older = versions.some(({ url, version }, index) => {
    const before = versions[index - 1];
    return before?.url === url && !(version > before.version);
  });
  if (older) wrong.push(`holds the versions ${list}`);
  const told = changes.flatMap(({ toVersion }) => (toVersion === undefined || toVersion === 1 ? [] : [toVersion]));
  if (
    told.join() !==
    versions
      .slice(1)
      .map(({ number }) => number)
      .join()
  )
    wrong.push(`has ${versions.length} versions and told ${told.join()}`);
  const seenMs = state.lastSeenMs ?? 0;
  const last = versions.at(-1);
  const [least, most] = [web.versionAt(page.url, seenMs), web.versionAt(page.url, seenMs + answerMs)];
  if (last?.url !== page.url || last.version < least || last.version > most)
    wrong.push(`holds ${last?.url} ${last?.version}; when last seen it was ${least}`);
  return wrong;
}

/** A page goes and returns in turn, and goes only when it has gone, as far as the times of changes can be believed. */
function wrongInPresence(changes: readonly Change[], web: FaultyWeb | undefined): readonly string[] {
  const wrong: string[] = [];
  let gone = false;
  for (const { kind, atMs, summary, url } of changes) {
    const [goes, returns] = [kind === 'gone', kind === 'returned'];
    // A page that was not there at first comes without having gone.
    const first = summary === 'The page is there now.';
    if ((goes && gone) || (returns && !gone && !first)) wrong.push(`told ${kind} twice`);
    if (goes && web && !web.wasGone(url, atMs, atMs + answerMs))
      wrong.push(`told gone at ${new Date(atMs).toISOString()}`);
    if (goes || returns) gone = goes;
  }
  return wrong;
}
