import { hash } from 'node:crypto';
import type { Change } from '../values/change.ts';
import type { Look } from '../values/look.ts';

/**
 * A change's id follows from its page, its kind and what it is known by: the probe of its look, or the finding that an observer told of,
 * which may come with one probe after another. So what is kept twice is still one change.
 */
export function changeId(
  { cause, probeId }: Pick<Look, 'cause' | 'probeId'>,
  { pageId, kind }: Pick<Change, 'pageId' | 'kind'>,
): string {
  return hash('sha256', `${cause ?? probeId}\n${pageId}\n${kind}`, 'hex').slice(0, 24);
}
