/** What the API shows of the daemon's values. A body is not a row and not a domain object. */
import type { Belief } from '@revisit/core';
import type { Change } from '../values/change.ts';
import type { PageState, WatchedPage } from '../values/look.ts';
import type { Select } from '../values/page.ts';

const time = (ms: number | undefined): string | null =>
  ms === undefined || !Number.isFinite(ms) ? null : new Date(ms).toISOString();

function selectText(select: Select): string {
  return 'expression' in select ? `${select.kind}:${select.expression}` : select.kind;
}

export interface Outlook {
  readonly belief: Belief;
  readonly dueMs: number;
}

export function pageBody(watched: WatchedPage, outlook: Outlook | undefined): Record<string, unknown> {
  const { page, state } = watched;
  const { spacingSeconds, addedAtMs, select, title, headers, ...rest } = page;
  return {
    ...rest,
    select: selectText(select),
    title: title ?? state.seenTitle ?? null,
    ...(spacingSeconds === undefined ? {} : { spacingSeconds }),
    // Values may be credentials: they go in and never come out again.
    ...(headers ? { headers: Object.keys(headers) } : {}),
    addedAt: time(addedAtMs),
    ...stateBody(state),
    current: outlook && state.version > 0 ? outlook.belief.current : null,
    rate: outlook ? outlook.belief.ratePerDay : null,
    rateInterval: outlook ? outlook.belief.rateInterval.map((bound) => (Number.isFinite(bound) ? bound : null)) : null,
    nextProbe: time(outlook?.dueMs),
  };
}

function stateBody(state: PageState): Record<string, unknown> {
  return {
    status: state.status,
    version: state.version,
    looks: state.looks,
    changes: state.changes,
    failures: state.failures,
    lastProbe: time(state.lastLookMs),
    lastSeen: time(state.lastSeenMs),
    lastChange: time(state.lastChangeMs),
    fault: state.fault ?? null,
    movedTo: state.movedTo ?? null,
  };
}

export function changeBody(change: Change): Record<string, unknown> {
  const { sequence, atMs, afterMs, ...rest } = change;
  return { cursor: String(sequence), ...rest, at: time(atMs), after: time(afterMs) };
}
