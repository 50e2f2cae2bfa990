/**
 * Detection for whoever watches pages elsewhere and has no store: told what it said last, it tells a change from the same. What is noise
 * is decided where the page's user can see and undo it: here only that is passed over.
 */
import { detect } from './detect/detect.ts';
import type { NoisePart } from './detect/noise.ts';
import type { Outcome } from './values/observation.ts';
import type { Page } from './values/page.ts';

export interface Remembered {
  readonly state: string;
  readonly atMs: number;
  readonly text: string | undefined;
}

export async function judge(
  page: Pick<Page, 'select' | 'options'> & { readonly noise?: readonly NoisePart[] | undefined },
  fetched: Extract<Outcome, { kind: 'fetched' }>,
  at: { readonly url: string; readonly ms: number },
  before: Remembered | undefined,
): Promise<{ readonly changed: boolean; readonly remembered: Remembered }> {
  const text = before?.text;
  const { detection, state } = await detect({
    ...page,
    ...fetched,
    noise: page.noise ?? [],
    url: at.url,
    atMs: at.ms,
    ...(before
      ? { previous: { state: before.state, lookedAtMs: before.atMs, last: () => text, told: () => text } }
      : {}),
  });
  const seen = 'projection' in detection && detection.projection ? detection.projection.text : text;
  return { changed: detection.kind !== 'unchanged', remembered: { state, atMs: at.ms, text: seen } };
}
