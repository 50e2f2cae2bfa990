/** What the API shows of the daemon's values. A body is not a row and not a domain object. */
import type { Belief, UsualTime } from '@revisit/core';
import type { Static } from '@sinclair/typebox';
import type { Found } from '../collection/discovery.ts';
import type { Later } from '../dispatch/left-for-later.ts';
import type { Wait } from '../dispatch/page-waits.ts';
import type { LookEntry, Version } from '../store/port.ts';
import type { Change } from '../values/change.ts';
import type { LookKind, PageState, WatchedPage } from '../values/look.ts';
import type { Select } from '../values/page.ts';
import type { ChangeBody, LookBody, PageBody, VersionBody } from './schemas.ts';

export const timeText = (ms: number): string => new Date(ms).toISOString();
/** The latest moment that can be written as a date. */
export const lastMs = 8.64e15;
export const timeOrNull = (ms: number | undefined): string | null =>
  ms === undefined || !(Math.abs(ms) <= lastMs) ? null : timeText(ms);

export function selectText(select: Select): string {
  return 'expression' in select ? `${select.kind}:${select.expression}` : select.kind;
}

export interface Outlook {
  readonly belief: Belief;
  readonly dueMs: number;
  /** What puts its next look off. */
  readonly wait?: Wait;
  /** What it has found, where it is a root of discovery. */
  readonly found?: Found;
}

export function pageBody(watched: WatchedPage, outlook: Outlook | undefined): Static<typeof PageBody> {
  const { page, state } = watched;
  const { addedAtMs, select, title, headers, tags, ...rest } = page;
  return {
    ...rest,
    tags: [...tags],
    select: selectText(select),
    title: title ?? state.seenTitle ?? null,
    // Values may be credentials: they go in and never come out again.
    ...(headers ? { headers: Object.keys(headers) } : {}),
    addedAt: timeText(addedAtMs),
    ...stateBody(state),
    current: outlook && state.version > 0 ? outlook.belief.current : null,
    // Until it has been seen, its rate is what pages like it do: a guess of ours, and nothing about this page.
    rate: outlook && state.version > 0 ? finite(outlook.belief.ratePerDay) : null,
    rateInterval: outlook && state.version > 0 ? outlook.belief.rateInterval.map(finite) : null,
    usualTime: usualTimeBody(outlook?.belief.usualTime),
    nextProbe: timeOrNull(outlook?.dueMs),
    ...(outlook?.found ? { discovery: discoveryBody(outlook.found) } : {}),
    waits: outlook?.wait ? { why: outlook.wait.why, until: timeText(outlook.wait.untilMs) } : null,
  } as Static<typeof PageBody>;
}

export const usualTimeBody = (usual: UsualTime | undefined) =>
  usual
    ? { every: usual.everySeconds, next: timeText(usual.at * 1000), within: usual.withinSeconds, share: usual.share }
    : null;

export const laterBody = ({ pages, why, untilMs }: Later) => ({ pages, why, until: timeOrNull(untilMs) });

const discoveryBody = ({ pages, pagesMax, leftOut, misread }: Found) => ({
  pages,
  limit: pagesMax,
  leftOut,
  ...(misread === undefined ? {} : { misread }),
});

export const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);

function stateBody(state: PageState) {
  return {
    status: state.status,
    version: state.version,
    looks: state.looks,
    changes: state.changes,
    failures: state.failures,
    lastProbe: timeOrNull(state.lastLookMs),
    lastSeen: timeOrNull(state.lastSeenMs),
    lastChange: timeOrNull(state.lastChangeMs),
    fault: state.fault ?? null,
    movedTo: state.movedTo ?? null,
  };
}

export function changeBody(change: Change): Static<typeof ChangeBody> {
  const { sequence, atMs, afterMs, tags, ...rest } = change;
  return { cursor: String(sequence), ...rest, tags: [...tags], at: timeText(atMs), after: timeOrNull(afterMs) };
}

export function versionBody({ atMs, ...version }: Version): Static<typeof VersionBody> {
  return { ...version, at: timeText(atMs) };
}

export function lookBody({ atMs, ...look }: LookEntry): Static<typeof LookBody> {
  return { at: timeText(atMs), ...look };
}

const letters: Readonly<Record<LookKind, string>> = {
  first: 'f',
  changed: 'c',
  unchanged: 'u',
  gone: 'g',
  unreadable: 'n',
  refused: 'r',
  failed: 'x',
};

/** Looks as one letter each, for a strip; given and shown newest last. */
export const activityText = (kinds: readonly LookKind[]): string => kinds.map((kind) => letters[kind]).join('');
