/**
 * What somebody saw of a page before our own last look at it, and told of after that: an observer whose link was cut for longer
 * than its mandate. Nothing of it is lost, and nothing of it makes the page go back.
 *
 * It is compared with the version that the page had at that time, and kept and told with its own time. If that was the last
 * version, it is the next one; and when all has been told, and our own look saw the page otherwise, what that saw follows it,
 * told with the time of that look. If newer versions were told meanwhile, it gets the next number all the same, as numbers are
 * for ever, and the newest is kept once more behind it, untold, so that the page stays what it is. What is the version before it in
 * time or the one after it has been told, and so has what the log has under its finding.
 *
 * What an observer saw while it was only tried is told only as far as it can be true: nothing that is like any version of the page, and,
 * while nobody vouches for the observer, nothing that the page was not seen to change away from. It is asked for once home has seen
 * another page, so where its age leaves open which was first, because the message was long under way, it came before the newest version.
 */
import type { Entry } from '../collection/collection.ts';
import { unread } from '../detect/state.ts';
import { verdict } from '../detect/verdict.ts';
import type { LoopParts } from '../loop-parts.ts';
import { changeId } from '../store/change-id.ts';
import type { Version } from '../store/port.ts';
import { type Change, type Projection, changeKinds } from '../values/change.ts';
import type { Look, PageState } from '../values/look.ts';
import type { Observation } from '../values/observation.ts';
import type { Page } from '../values/page.ts';

type Told = Omit<Change, 'sequence' | 'id'>;

/** The page and its state as the store has them, and what was seen of it at an earlier time. */
interface Bygone {
  readonly page: Page;
  readonly state: PageState;
  readonly observation: Observation;
  readonly atMs: number;
}

/** As many of a page's last changes are searched for one that is told again: an observer keeps no more of a page untold. */
const searchedMax = 100;

export class Overtaken {
  readonly #parts: Pick<LoopParts, 'store' | 'policy' | 'detect' | 'planned'>;
  /** Pages of which more is to be told, as our own last look left them. */
  readonly #seen = new Map<string, PageState>();

  constructor(parts: Pick<LoopParts, 'store' | 'policy' | 'detect' | 'planned'>) {
    this.#parts = parts;
  }

  /** The page has been looked at since: it is what that look says. */
  forget(id: string): void {
    if (this.#seen.size > 0) this.#seen.delete(id);
  }

  /** What is to be kept of it, in this order and in one piece; nothing where all of it is known. */
  async looks(entry: Entry, observation: Observation): Promise<readonly Look[]> {
    const { page } = entry;
    const kept = await this.#parts.store.page(page.id);
    const { startedAtMs, toldAfterMs = 0, overtaken, outcome } = observation;
    const atMs = Math.round(Math.max(page.addedAtMs, startedAtMs - toldAfterMs));
    if (!kept || (await this.isTold(page, observation))) return [];
    const bygone: Bygone = { page, state: kept.state, observation, atMs };
    const found = outcome.kind === 'gone' ? this.#gone(bygone) : await this.#copy(bygone);
    if (!overtaken?.more) this.#seen.delete(page.id);
    const model = page.paused ? undefined : this.#parts.policy.save?.(entry.index);
    return Promise.all(found.map((look) => this.#whole(model ? { ...look, state: { ...look.state, model } } : look)));
  }

  /** Whether it was told before: whoever heard of it was lost before the observer knew that it had arrived. */
  async isTold({ id }: Page, { finding, probe }: Observation): Promise<boolean> {
    if (finding === undefined) return false;
    const ids = new Set(
      changeKinds.map((kind) => changeId({ cause: finding, probeId: probe.id }, { pageId: id, kind })),
    );
    const changes = await this.#parts.store.latestChanges({ pageId: id, limit: searchedMax });
    return changes.some((change) => ids.has(change.id));
  }

  async #whole(look: Look): Promise<Look> {
    return look.change && this.#parts.planned ? { ...look, deliveries: await this.#parts.planned(look) } : look;
  }

  /** A page that was not there, and is again by our own look since. */
  #gone(bygone: Bygone): readonly Look[] {
    const { page, state, observation, atMs } = bygone;
    const { lastSeenMs = -Infinity } = state;
    if (state.status !== 'present' || lastSeenMs <= atMs) return [];
    const { change } = verdict({ page, state: asAt(state, atMs - 1) }, observation);
    if (!change) return [];
    const gone = lookOf(bygone, state, { kind: 'gone', atMs, change });
    const back: Told = { ...change, kind: 'returned', atMs: lastSeenMs, afterMs: atMs, summary: 'The page is back.' };
    return [gone, sinceOf(bygone, gone.state, { kind: 'unchanged', atMs: lastSeenMs, change: back })];
  }

  async #copy(told: Bygone): Promise<readonly Look[]> {
    const { store, detect } = this.#parts;
    const all = await store.versions(told.page.id);
    const versions = all.toSorted((a, b) => a.atMs - b.atMs || a.number - b.number);
    const bygone = asEarlyAsItMust(told, versions.at(-1)?.atMs ?? -Infinity);
    const { page, state, observation, atMs } = bygone;
    const { outcome, finalUrl, probe, unchangedLooks = 0, overtaken } = observation;
    if (outcome.kind !== 'fetched' || state.detectState === undefined) return [];
    const base = versions.findLast((version) => version.atMs <= atMs);
    if (!base) return [];
    const next = versions.find((version) => version.atMs > atMs);
    const isLast = next === undefined;
    if (overtaken?.doubted && isLast && state.status !== 'gone') return [];
    const before = { ...asAt(state, base.atMs), toldVersion: isLast ? state.toldVersion : base.number };
    const at = { url: finalUrl ?? probe.url, ms: atMs, second: false, unchangedLooks };
    const {
      detection,
      raw,
      state: detectState,
    } = await detect(
      { page, state: { ...before, version: base.number, detectState: unread(state.detectState) } },
      outcome,
      at,
    );
    const said = verdict({ page, state: before }, observation, detection, detectState);
    const { projection, change } = said;
    if (!projection) return change ? [lookOf(bygone, state, { kind: said.kind, atMs, change })] : [];
    if (said.state.hash === next?.hash || said.state.hash === base.hash) return [];
    const isSure = !overtaken?.doubted && overtaken?.triedFrom === undefined;
    if (!isSure && versions.some(({ hash }) => hash === said.state.hash)) return [];
    const found = {
      kind: said.kind,
      atMs,
      projection,
      ...(change ? { change: attributed(change, overtaken?.triedFrom) } : {}),
      ...(raw === undefined ? {} : { raw }),
    };
    return isLast ? this.#newest(bygone, said, found) : this.#between(bygone, base, found);
  }

  /** The newest version so far, unless our own look saw the page otherwise after it. */
  async #newest(bygone: Bygone, said: Look, found: Found): Promise<readonly Look[]> {
    const { page, state, observation, atMs } = bygone;
    const seen = this.#seen.get(page.id) ?? ((state.lastSeenMs ?? -Infinity) > atMs ? state : undefined);
    const { status, lastLookMs } = state;
    const next: PageState = { ...said.state, status, ...(lastLookMs === undefined ? {} : { lastLookMs }) };
    const look = { ...lookOf(bygone, state, found), state: next };
    if (!seen) return [look];
    if (observation.overtaken?.more) {
      this.#seen.set(page.id, seen);
      return [look];
    }
    const seenMs = seen.lastSeenMs!;
    if (next.hash === seen.hash) return [{ ...look, state: { ...next, lastSeenMs: seenMs } }];
    const again = await this.#again(page, seen);
    if (!again) return [look];
    const version = next.version + 1;
    const told: Told = {
      ...toldOf(page, seen),
      atMs: seenMs,
      afterMs: atMs,
      kind: 'changed',
      count: 1,
      fromVersion: next.version,
      toVersion: version,
      summary: `The page is as it was in version ${seen.version} again.`,
    };
    const back = sinceOf(bygone, next, { kind: 'changed', atMs: seenMs, projection: again, change: told });
    const asSeen = { ...seen, lastLookMs: lastLookMs!, version, toldVersion: version, lastChangeMs: seenMs };
    return [look, { ...back, state: { ...asSeen, looks: next.looks + 1, changes: next.changes + 1 } }];
  }

  /** A version from between others that have been told: the newest stays the page's. */
  async #between(bygone: Bygone, base: Version, found: Found): Promise<readonly Look[]> {
    const { page, state } = bygone;
    const again = await this.#again(page, state);
    if (!again) return [];
    const number = state.version + 1;
    const { change } = found;
    const told = change?.toVersion === undefined ? change : { ...change, fromVersion: base.number, toVersion: number };
    const look = lookOf(bygone, state, { ...found, ...(told ? { change: told } : {}) });
    const between = { ...look.state, version: number, changes: state.changes + 1 };
    const versions = await this.#parts.store.versions(page.id);
    const newestMs = versions.find((version) => version.number === state.version)?.atMs ?? found.atMs;
    const newest = sinceOf(bygone, between, { kind: 'unchanged', atMs: newestMs, projection: again });
    const after = { ...newest.state, version: number + 1, toldVersion: number + 1 };
    return [
      { ...look, state: between },
      { ...newest, state: after },
    ];
  }

  /** The copy of that state once more. */
  async #again(page: Page, { version, seenTitle }: PageState): Promise<Projection | undefined> {
    const { store } = this.#parts;
    const text = await store.versionText(page.id, version);
    const format = (await store.versions(page.id)).find(({ number }) => number === version)?.format;
    if (text === undefined || format === undefined) return undefined;
    return { text, format: format as Projection['format'], ...(seenTitle === undefined ? {} : { title: seenTitle }) };
  }
}

type Found = Pick<Look, 'kind' | 'atMs' | 'projection' | 'raw' | 'change'>;

function asEarlyAsItMust(told: Bygone, newestMs: number): Bygone {
  const { observation, atMs } = told;
  const { overtaken, startedAtMs } = observation;
  const isOpen = overtaken?.doubted && atMs >= newestMs && atMs - (overtaken.earlierMs ?? 0) < newestMs;
  if (!isOpen) return told;
  return { ...told, atMs: newestMs - 1, observation: { ...observation, toldAfterMs: startedAtMs - newestMs + 1 } };
}

/** Its reader is told who alone saw it. */
function attributed(change: Told, observer: string | undefined): Told {
  if (observer === undefined) return change;
  return { ...change, summary: `${change.summary} (seen by the observer ${observer} alone)` };
}

/** The state as it would be had nobody looked since. */
function asAt(state: PageState, atMs: number): PageState {
  return { ...state, status: 'present', lastLookMs: atMs, lastSeenMs: atMs };
}

/** A look that leaves the state as it is, but for being counted: each is kept only behind the one before it. */
function lookOf({ page, observation }: Bygone, state: PageState, found: Found): Look {
  const { looks, lastLookMs } = state;
  const { probe, startedAtMs, endedAtMs, bytesReceived, finding } = observation;
  return {
    pageId: page.id,
    probeId: probe.id,
    endedAtMs: found.atMs + endedAtMs - startedAtMs,
    bytesReceived,
    ...(finding === undefined ? {} : { cause: finding }),
    state: { ...state, looks: looks + 1 },
    after: lastLookMs === undefined ? { looks } : { looks, lastLookMs },
    ...found,
  };
}

/** What we saw ourselves since. A change is known by its probe, its page and its kind, and this is another. */
function sinceOf(bygone: Bygone, state: PageState, found: Found): Look {
  const look = lookOf(bygone, state, found);
  const { cause } = look;
  const known = cause === undefined ? {} : { cause: `${cause}/since` };
  return { ...look, ...known, probeId: `${look.probeId}/since`, endedAtMs: look.atMs, bytesReceived: 0 };
}

function toldOf(page: Page, { seenTitle }: PageState): Pick<Change, 'pageId' | 'url' | 'site' | 'tags' | 'title'> {
  const title = page.title ?? seenTitle;
  const { id, url, site, tags } = page;
  return { pageId: id, url, site, tags, ...(title === undefined ? {} : { title }) };
}
