import type { Select } from '../values/page.ts';
import { detect, type Detected } from './detect.ts';

export interface LookAt {
  readonly mediaType?: string;
  readonly afterMs?: number;
  readonly url?: string;
  readonly second?: boolean;
  readonly charset?: string;
}

/** A page with its memory, as the loop and the store keep it: each call is one look, an hour after the last unless told otherwise. */
export function watched(select: Select, options: Record<string, unknown> = {}) {
  const versions: { text: string; told: boolean }[] = [];
  let state: string | undefined;
  let lookedAtMs = 0;
  let now = 0;
  return async (body: string | Uint8Array, at: LookAt = {}): Promise<Detected> => {
    now += at.afterMs ?? 3_600_000;
    const seen = await detect({
      select,
      options,
      body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
      mediaType: at.mediaType ?? 'text/html',
      charset: at.charset,
      url: at.url ?? 'https://example.com/',
      atMs: now,
      second: at.second,
      previous:
        state === undefined
          ? undefined
          : {
              state,
              lookedAtMs,
              last: () => versions.at(-1)?.text,
              told: () => versions.findLast((version) => version.told)?.text,
            },
    });
    state = seen.state;
    lookedAtMs = now;
    const { detection } = seen;
    if (detection.kind === 'first') versions.push({ text: detection.projection.text, told: true });
    if (detection.kind === 'changed')
      versions.push({ text: detection.projection.text, told: detection.quiet === undefined });
    if (detection.kind === 'unchanged' && detection.late) versions.at(-1)!.told = true;
    return seen;
  };
}
