/** What a look says to whoever learns from it. */
import type { Finding } from '@revisit/core';
import type { Detection } from './values/change.ts';
import type { Look } from './values/look.ts';

export function findingOf(look: Look, detection: Detection | undefined): Finding {
  switch (look.kind) {
    case 'first':
      return { kind: 'first', ...modifiedOf(look) };
    case 'changed':
      return { kind: 'changed', count: detection?.kind === 'changed' ? detection.count : 1, ...modifiedOf(look) };
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

/** The server's word on when the page last changed; how far it is believed is the policy's affair. */
function modifiedOf(look: Look): Pick<Finding, 'modifiedAt'> {
  const modifiedMs = Date.parse(look.state.validators.lastModified ?? '');
  return Number.isNaN(modifiedMs) ? {} : { modifiedAt: modifiedMs / 1000 };
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
    const { count: _count, modifiedAt: _modifiedAt, ...rest } = finding;
    const count = Math.round(revealed.pages + revealed.hinted);
    return count > 0 ? { ...rest, kind: 'changed', count } : { ...rest, kind: 'unchanged' };
  }
  const count = Math.max(revealed.pages, finding.count ?? 1);
  return revealed.pages > 0 ? { ...finding, kind: 'changed', count } : finding;
}
