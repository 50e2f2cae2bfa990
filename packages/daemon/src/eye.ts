/** Detection for whoever watches pages elsewhere and has no store: told what it said last, it tells a change from the same. */
import { detect } from './detect/detect.ts';
import type { Outcome } from './values/observation.ts';
import type { Page } from './values/page.ts';

export interface Remembered {
  readonly state: string;
  readonly atMs: number;
  readonly text: string | undefined;
}

export async function judge(
  page: Pick<Page, 'select' | 'options'>,
  fetched: Extract<Outcome, { kind: 'fetched' }>,
  at: { readonly url: string; readonly ms: number },
  before: Remembered | undefined,
): Promise<{ readonly changed: boolean; readonly remembered: Remembered }> {
  const text = before?.text;
  const { detection, state } = await detect({
    ...page,
    ...fetched,
    url: at.url,
    atMs: at.ms,
    ...(before
      ? { previous: { state: before.state, lookedAtMs: before.atMs, last: () => text, told: () => text } }
      : {}),
  });
  const seen = 'projection' in detection && detection.projection ? detection.projection.text : text;
  return { changed: detection.kind !== 'unchanged', remembered: { state, atMs: at.ms, text: seen } };
}
