import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Dispatcher } from 'undici';
import { expect, test } from 'vitest';
import { systemClock } from '../values/clock.ts';
import { createFetch } from './fetch.ts';
import { defaultLimits } from './limits.ts';

const bodyBytes = 1_000_000;

/** Answers every request with a body of its own. */
const dispatcher = {
  dispatch(_options: unknown, handler: Dispatcher.DispatchHandler): boolean {
    const controller = { rawHeaders: null } as unknown as Dispatcher.DispatchController;
    handler.onRequestStart?.(controller, undefined);
    handler.onResponseStart?.(controller, 200, {}, 'OK');
    handler.onResponseData?.(controller, Buffer.from(new ArrayBuffer(bodyBytes)));
    handler.onResponseEnd?.(controller, {});
    return true;
  },
} as unknown as Dispatcher;

test('a body that nobody has any more is gone without a search of all memory', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (how: { type: 'minor' }) => void;
  const fetch = createFetch({ dispatcher, clock: systemClock, limits: defaultLimits, userAgent: 'Revisit/1.0' });
  const url = new URL('https://example.org/');
  const before = process.memoryUsage().arrayBuffers;
  for (let n = 0; n < 40; n++) {
    const answer = await fetch({ url, headers: {}, validators: {}, purpose: 'page' });
    expect(answer.kind).toBe('answered');
  }
  // What one finds to be gone is let go before the next.
  collect({ type: 'minor' });
  collect({ type: 'minor' });
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10 * bodyBytes);
});
