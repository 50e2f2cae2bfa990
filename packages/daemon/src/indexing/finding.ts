/** What a look says to whoever learns from it. */
import { type Finding, kindOfMediaType } from '@revisit/core';
import type { Detection } from '../values/change.ts';
import type { Look } from '../values/look.ts';
import type { Outcome } from '../values/observation.ts';

/** What others than the page's own headers say of when it changed. */
export interface Dated {
  /** By an index whose dates have proven true. */
  readonly changedAtMs: number | undefined;
  /** By the page itself, where it is an index: those of its entries since the last look, in seconds. */
  readonly times: Float64Array | undefined;
}

/** More changes than these are a dump, and when each of them happened is not worth knowing. */
const timesMax = 100;

export function findingOf(look: Look, detection: Detection | undefined, dated: Dated): Finding {
  switch (look.kind) {
    case 'first':
      return { kind: 'first', ...modifiedOf(look) };
    case 'changed': {
      const count = detection?.kind === 'changed' ? detection.count : 1;
      return { kind: 'changed', count, ...modifiedOf(look), ...timesOf(dated, count) };
    }
    case 'unchanged':
    case 'gone':
    case 'unreadable':
      // The server answered and there is nothing new to have: as far as learning goes, no change.
      return look.change && look.kind === 'gone' ? { kind: 'changed', count: 1 } : { kind: 'unchanged' };
    case 'refused':
    case 'failed':
      return { kind: 'failed' };
  }
}

/** Dates of entries are believed where there are as many as entries were found new or changed. */
function timesOf({ changedAtMs, times }: Dated, count: number): Pick<Finding, 'changedAt' | 'times'> {
  if (times && times.length === count && count <= timesMax) return { times };
  return changedAtMs === undefined ? {} : { changedAt: changedAtMs / 1000 };
}

/** The server's word on when the page last changed; how far it is believed is the policy's affair. */
function modifiedOf(look: Look): Pick<Finding, 'modifiedAt'> {
  const modifiedMs = Date.parse(look.state.validators.lastModified ?? '');
  return Number.isNaN(modifiedMs) ? {} : { modifiedAt: modifiedMs / 1000 };
}

/** What kind of thing came back, where it is something new: a server that says no more than XML of what has entries sent a feed. */
export function contentOf({ kind, projection }: Look, outcome: Outcome): Pick<Finding, 'content'> {
  if ((kind !== 'first' && kind !== 'changed') || outcome.kind !== 'fetched' || outcome.mediaType === undefined)
    return {};
  const content = kindOfMediaType(outcome.mediaType);
  return { content: content === 'xml' && projection?.format === 'items' ? 'feed' : content };
}

/**
 * What a look was worth to the plan: one that revealed new pages as much as one that found so many changes. Of an index that nobody
 * asked for, only what it says of other pages counts.
 */
export function worthOf(
  finding: Finding,
  isIndex: boolean,
  revealed: { readonly pages: number; readonly hinted: number },
): Finding {
  if (finding.kind === 'first' || finding.kind === 'failed') return finding;
  if (isIndex) {
    const { count: _count, modifiedAt: _modifiedAt, changedAt: _changedAt, times: _times, ...rest } = finding;
    const count = Math.round(revealed.pages + revealed.hinted);
    return count > 0 ? { ...rest, kind: 'changed', count } : { ...rest, kind: 'unchanged' };
  }
  if (revealed.pages === 0) return finding;
  const count = Math.max(revealed.pages, finding.count ?? 1);
  if (finding.times?.length === count) return finding;
  const { times: _times, ...rest } = finding;
  return { ...rest, kind: 'changed', count };
}
