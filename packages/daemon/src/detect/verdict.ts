/**
 * From an observation and, where there was something to read, a detection, to everything one look says about one page.
 * The states of a page are described at `PageStatus`; here are the arrows between them:
 *
 *   new ──readable──► present ──404, 410──► gone ──readable──► present (told: returned)
 *    │                   └──no copy──► unreadable ──readable──► present (told only if it differs from our copy)
 *    └── 404, 410 ──► gone (never seen: not told)  └──404, 410──► gone
 *
 * Each arrow is told once, when it is taken; staying in a state says nothing. Failures and refusals take no arrow.
 */
import { hash } from 'node:crypto';
import type { Change, Detection } from '../values/change.ts';
import type { Fault } from '../values/fault.ts';
import type { Look, LookKind, PageState, WatchedPage } from '../values/look.ts';
import { type Observation, lookedAtMs } from '../values/observation.ts';

export function textHash(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 32);
}

type Entry = Pick<Change, 'kind' | 'count' | 'summary'> & { fromVersion?: number; toVersion?: number };

interface Said {
  readonly kind: LookKind;
  readonly state: Partial<PageState>;
  readonly told?: Entry;
}

/** Nothing new: what most looks say. */
const still: Said = { kind: 'unchanged', state: {} };
const returned: Entry = { kind: 'returned', count: 1, summary: 'The page is back.' };

function unreadable(fault: Fault, again: boolean): Said {
  const told: Entry = { kind: 'trouble', count: 0, summary: fault.sentence };
  return {
    kind: 'unreadable',
    state: { status: 'unreadable', fault, failures: 0 },
    ...(again ? {} : { told }),
  };
}

function gone(before: PageState, status: number): Said {
  const fault: Fault = { code: 'gone', sentence: `The server says the page is not there (${status}).` };
  const told: Entry = { kind: 'gone', count: 1, summary: fault.sentence };
  return {
    kind: 'gone',
    state: { status: 'gone', fault, failures: 0, validators: {} },
    // A page that was never there has not gone; when it comes, that is told.
    ...(before.status === 'gone' || before.version === 0 ? {} : { told }),
  };
}

/** The place to which the page had moved is no more: the next look is at its own URL, which says whether it has gone. */
function lostTrack(before: PageState, movedTo: string): Said {
  const fault: Fault = { code: 'moved-lost', sentence: `The page had moved to ${movedTo}, and is no longer there.` };
  return { kind: 'failed', state: { fault, failures: before.failures + 1 } };
}

function readable(before: PageState, detection: Exclude<Detection, { kind: 'unreadable' }>): Said {
  const wasGone = before.status === 'gone';
  if (detection.kind === 'unchanged') {
    if (detection.late) {
      const { since, ...late } = detection.late;
      const told: Entry = {
        kind: 'changed',
        ...late,
        fromVersion: since === 'last' ? before.version - 1 : before.toldVersion,
        toVersion: before.version,
      };
      return { kind: 'unchanged', state: { toldVersion: before.version }, told };
    }
    return wasGone ? { kind: 'unchanged', state: {}, told: returned } : still;
  }
  const version = before.version + 1;
  const state: Partial<PageState> = {
    version,
    hash: textHash(detection.projection.text),
    ...(detection.projection.title === undefined ? {} : { seenTitle: detection.projection.title }),
  };
  if (detection.kind === 'first') {
    const summary = before.version === 0 ? 'The page is there now.' : returned.summary;
    const told: Entry = { ...returned, summary, toVersion: version };
    return { kind: 'first', state: { ...state, toldVersion: version }, ...(wasGone ? { told } : {}) };
  }
  if (detection.quiet !== undefined && !wasGone) return { kind: 'changed', state };
  const told: Entry = {
    kind: wasGone ? 'returned' : 'changed',
    count: detection.count,
    summary: detection.summary,
    fromVersion: detection.since === 'last' ? before.version : before.toldVersion,
    toVersion: version,
  };
  return { kind: 'changed', state: { ...state, toldVersion: version }, told };
}

function said(before: PageState, observation: Observation, detection: Detection | undefined): Said {
  const { outcome, probe } = observation;
  switch (outcome.kind) {
    case 'gone':
      return probe.movedFrom === undefined ? gone(before, outcome.status) : lostTrack(before, probe.url);
    case 'refused':
    case 'failed':
      return { kind: outcome.kind, state: { fault: outcome.fault, failures: before.failures + 1 } };
    case 'not-modified':
      return readable(before, { kind: 'unchanged' });
    case 'fetched': {
      if (!detection) throw new Error('a fetched body is compared before the verdict');
      if (detection.kind === 'unreadable') return unreadable(detection.fault, detection.again);
      return readable(before, detection);
    }
  }
}

/** What is told of a look that would otherwise tell nothing: that the page was found, or that it has moved for good. */
function withNews({ page, state }: WatchedPage, { movedTo }: Observation, word: Said): Said {
  const origin = page.options['discovered'] as { readonly beginning?: boolean; readonly index?: boolean } | undefined;
  if (word.told?.kind === 'changed' && origin?.index) {
    // Nobody asked for the index itself; what it lists is watched and told of.
    const { told: _told, ...quiet } = word;
    return quiet;
  }
  const moved = movedTo !== undefined && movedTo !== state.movedTo;
  if (moved && word.told?.kind === 'changed' && changedLast(state)) {
    // Waiting for a look that finds it as it was would be to wait for ever where it changes at each: both are one entry.
    const summary = `${movedText(movedTo)}; ${word.told.summary}`;
    return { ...word, told: { ...word.told, kind: 'moved', summary } };
  }
  if (word.told || word.kind === 'failed' || word.kind === 'refused') return word;
  // A page found through another is news; one that was there when the other was first read is not.
  if (word.kind === 'first' && origin && !origin.beginning && !origin.index) {
    const title = page.title ?? word.state.seenTitle;
    const summary = title === undefined ? 'A new page.' : `A new page: ${title}`;
    return { ...word, told: { kind: 'discovered', count: 1, summary, toVersion: state.version + 1 } };
  }
  return moved ? { ...word, told: { kind: 'moved', count: 1, summary: movedText(movedTo) } } : word;
}

const movedText = (movedTo: string): string => `The page has moved for good to ${movedTo}`;

/** Whether the last look that saw the page found a change as well. */
const changedLast = ({ lastChangeMs, lastSeenMs }: PageState): boolean =>
  lastChangeMs !== undefined && lastChangeMs === lastSeenMs;

/** What is left of a state when the page was seen, at its own URL or where it moved to. */
function settled(before: PageState, isBack: boolean): PageState {
  // Nearly always all of it, and taking parts out of an object is slow.
  if (before.fault === undefined && (!isBack || before.movedTo === undefined)) return before;
  const { fault: _fault, movedTo, ...rest } = before;
  return isBack || movedTo === undefined ? rest : { ...rest, movedTo };
}

function stateAfter(
  before: PageState,
  { outcome, probe, movedTo }: Observation,
  word: Said,
  atMs: number,
  detectState: string | undefined,
): PageState {
  const saw = word.kind === 'first' || word.kind === 'changed' || word.kind === 'unchanged';
  // An answer from the page's own URL itself says that it is there again.
  const isBack = saw && probe.movedFrom === undefined && movedTo === undefined;
  const looks = before.looks + 1;
  const knew = detectState === undefined || detectState === before.detectState;
  // Most looks find a page as it was, and an object put together from many parts is slow to make.
  if (word === still && knew && before.status === 'present' && before.failures === 0 && movedTo === undefined) {
    const validators = outcome.kind === 'fetched' ? outcome.validators : before.validators;
    return { ...settled(before, isBack), looks, lastLookMs: atMs, lastSeenMs: atMs, validators };
  }
  return {
    ...(saw ? settled(before, isBack) : before),
    looks,
    lastLookMs: atMs,
    ...(saw ? { status: 'present' as const, failures: 0, lastSeenMs: atMs } : {}),
    ...(saw && outcome.kind === 'fetched' ? { validators: outcome.validators } : {}),
    ...(word.kind === 'changed' ? { lastChangeMs: atMs, changes: before.changes + 1 } : {}),
    // Of a look that tells of a change alone the move is not kept, so that the next one tells of it.
    ...(movedTo === undefined || word.told?.kind === 'changed' ? {} : { movedTo }),
    ...(detectState === undefined ? {} : { detectState }),
    ...word.state,
  };
}

/** The place to which the page had moved leads back to its own URL: it has moved nowhere, and its own URL has answered. */
function atHome({ movedTo: _movedTo, probe: { movedFrom: _movedFrom, ...probe }, ...rest }: Observation): Observation {
  return { ...rest, probe };
}

/** The observation as the page would have asked for it: some who share a request have moved to its URL, others are at home there. */
function asAskedBy({ url }: WatchedPage['page'], observed: Observation): Observation {
  // Nearly always, and taking parts out of an object is slow.
  if (url === (observed.probe.movedFrom ?? observed.probe.url)) return observed;
  const { movedFrom: _movedFrom, ...probe } = observed.probe;
  if (url === probe.url) return { ...observed, probe };
  const { outcome, finalUrl = probe.url } = observed;
  const asked = { ...observed, probe: { ...probe, movedFrom: url } };
  if (outcome.kind !== 'fetched' || outcome.validators.url !== undefined) return asked;
  return { ...asked, outcome: { ...outcome, validators: { ...outcome.validators, url: finalUrl } } };
}

/** Everything this observation says about this page. */
export function verdict(
  watched: WatchedPage,
  observed: Observation,
  detection?: Detection,
  detectState?: string,
): Look {
  const { page, state: before } = watched;
  const observation = observed.movedTo === page.url ? atHome(observed) : asAskedBy(page, observed);
  const atMs = lookedAtMs(observation, watched);
  const word = withNews(watched, observation, said(before, observation, detection));
  const state = stateAfter(before, observation, word, atMs, detectState);
  const projection = detection?.kind === 'first' || detection?.kind === 'changed' ? detection.projection : undefined;
  const look = {
    pageId: page.id,
    probeId: observation.probe.id,
    atMs,
    endedAtMs: atMs + observation.endedAtMs - observation.startedAtMs,
    kind: word.kind,
    bytesReceived: observation.bytesReceived,
    state,
    after:
      before.lastLookMs === undefined
        ? { looks: before.looks }
        : { looks: before.looks, lastLookMs: before.lastLookMs },
  };
  if (!projection && !word.told) return look;
  const title = page.title ?? state.seenTitle;
  const { finding } = observation;
  return {
    ...look,
    ...(projection ? { projection } : {}),
    ...(finding === undefined ? {} : { cause: finding }),
    ...(word.told
      ? {
          change: {
            pageId: page.id,
            url: page.url,
            site: page.site,
            tags: page.tags,
            atMs,
            ...(title === undefined ? {} : { title }),
            ...(before.lastSeenMs === undefined ? {} : { afterMs: before.lastSeenMs }),
            ...word.told,
          },
        }
      : {}),
  };
}
