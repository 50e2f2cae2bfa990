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
