/** Retry-After (RFC 9110, 10.2.3): seconds, or a date that is read against the server's own clock. */
import type { Headers } from './ask.ts';
import { headerOf } from './ask.ts';

/** A server that asks for longer is asked again after this: it may have meant milliseconds, or moved on. */
export const retryAfterMsMax = 30 * 86_400_000;

export function retryAfterMs(headers: Headers, nowMs: number): number | undefined {
  const text = headerOf(headers, 'retry-after')?.trim();
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Math.min(retryAfterMsMax, Number(text) * 1000);
  const thenMs = Date.parse(text);
  if (Number.isNaN(thenMs)) return undefined;
  const serverNowMs = Date.parse(headerOf(headers, 'date') ?? '');
  const delayMs = thenMs - (Number.isNaN(serverNowMs) ? nowMs : serverNowMs);
  return Math.min(retryAfterMsMax, Math.max(0, delayMs));
}
