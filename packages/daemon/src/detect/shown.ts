/** A difference as people see it: without what is known to be noise, and in words for messages and searches. */
import type { Projection } from '../values/change.ts';
import { difference, type Difference } from './difference.ts';
import { withoutFields } from './items.ts';
import { ignoredFields, masked, setWatched, type NoisePart } from './noise.ts';
import { readState, writeState } from './state.ts';

/** `detectState` is what detection remembers of the page; without it nothing is left out. */
export function shownDifference(
  old: string,
  next: string,
  format: Projection['format'],
  detectState?: string,
): Difference {
  const noise = readState(detectState)?.noise;
  if (!noise || noise.parts.length === 0) return difference(old, next, { format });
  const fields = ignoredFields(noise);
  if (format === 'items')
    return difference(withoutFields(old, fields), withoutFields(next, fields), { format, ignoredFields: fields });
  const view = (text: string) => masked(text.split('\n'), noise).join('\n');
  return difference(view(old), view(next), { format });
}

export interface DifferenceInWords {
  readonly added: string;
  readonly removed: string;
  /** Lines with "+ " and "- " before them. */
  readonly lines: string;
}

export function inWords({ blocks }: Pick<Difference, 'blocks'>): DifferenceInWords {
  const added: string[] = [];
  const removed: string[] = [];
  const lines: string[] = [];
  for (const block of blocks) {
    if (block.kind === 'added') {
      added.push(block.lines.join('\n'));
      lines.push(block.lines.map((line) => `+ ${line}`).join('\n'));
    } else if (block.kind === 'removed') {
      removed.push(block.lines.join('\n'));
      lines.push(block.lines.map((line) => `- ${line}`).join('\n'));
    } else if (block.kind === 'changed') {
      const side = (gone: 'added' | 'removed') =>
        block.words
          .filter((run) => run.kind !== gone)
          .map((run) => run.text)
          .join('');
      added.push(...block.words.filter((run) => run.kind === 'added').map((run) => run.text));
      removed.push(...block.words.filter((run) => run.kind === 'removed').map((run) => run.text));
      lines.push(`- ${side('added')}`, `+ ${side('removed')}`);
    }
  }
  return { added: added.join('\n'), removed: removed.join('\n'), lines: lines.join('\n') };
}

/** What is ignored on a page as noise, for its user to see. */
export function noiseOf(detectState: string | undefined): readonly NoisePart[] {
  return readState(detectState)?.noise.parts ?? [];
}

/** What of it is ignored now, as whoever looks elsewhere needs it; undefined where nothing is known of the page. */
export function ignoredOf(detectState: string | undefined): readonly NoisePart[] | undefined {
  return readState(detectState)
    ?.noise.parts.filter(({ watched }) => !watched)
    .map((part) => ({ ...part, example: '' }));
}

/** The user's word on one noisy part; undefined when there is no such part. */
export function withNoiseWatched(detectState: string | undefined, partId: string, watch: boolean): string | undefined {
  const state = readState(detectState);
  if (!state?.noise.parts.some((part) => part.id === partId)) return undefined;
  // The fingerprint goes, so that the next look compares again under the new rule.
  return writeState({
    ...state,
    body: state.body === '' ? '' : 'again',
    noise: setWatched(state.noise, partId, watch),
  });
}
