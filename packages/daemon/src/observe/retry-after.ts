/** Retry-After (RFC 9110, 10.2.3): seconds, or a date that is read against the server's own clock. */
import type { Headers } from './ask.ts';
import { headerOf } from './ask.ts';

/** A server that asks for longer is asked again after this: it may have meant milliseconds, or moved on. */
export const retryAfterMsMax = 30 * 86_400_000;

const day = '(Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const month = '(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';
const time = String.raw`\d\d:\d\d:\d\d`;
/** The three forms of a date (RFC 9110, 5.6.7). Anything else that a date parser makes sense of, `1.5` or `-5`, is none. */
const httpDate = new RegExp(
  String.raw`^(${day}, \d\d ${month} \d{4} ${time} GMT|${day}[a-z]{3,6}, \d\d-${month}-\d\d ${time} GMT|${day} ${month} [ \d]\d ${time} \d{4})$`,
);

function dateMs(text: string): number | undefined {
  if (!httpDate.test(text)) return undefined;
  const atMs = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(atMs) ? undefined : atMs;
}

/** Of several, the longest. */
export function retryAfterMs(headers: Headers, nowMs: number): number | undefined {
  const said = headers['retry-after'];
  const texts = Array.isArray(said) ? said : said === undefined ? [] : [said];
  const waits = texts.flatMap((text) => waitMs(text.trim(), headers, nowMs) ?? []);
  return waits.length === 0 ? undefined : Math.max(...waits);
}

function waitMs(text: string, headers: Headers, nowMs: number): number | undefined {
  if (/^\d+$/.test(text)) return Math.min(retryAfterMsMax, Number(text) * 1000);
  const thenMs = dateMs(text);
  if (thenMs === undefined) return undefined;
  const delayMs = thenMs - (dateMs(headerOf(headers, 'date')?.trim() ?? '') ?? nowMs);
  return Math.min(retryAfterMsMax, Math.max(0, delayMs));
}
