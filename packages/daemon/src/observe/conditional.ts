/**
 * Conditional requests with the server's own validators, sent back to the URL that issued them and never made from our
 * clock. A validator is kept only when it can tell every later edit from the copy we hold: Last-Modified counts whole
 * seconds, so a page edited again within that second keeps it. Such a one is trusted only when the server's own Date says
 * that the second was over (RFC 9110, 8.8.2.2). An ETag that came within that second, or that names the time of the answer, may be
 * made of no more than the second: it is noted as unsure, with the server's time, and sent once a later answer had it too.
 */
import type { Validators } from '../values/probe.ts';
import type { Headers, Visit } from './ask.ts';
import { headerOf } from './ask.ts';

export function withConditional(inner: Visit): Visit {
  return (ask) => {
    const { validators } = ask;
    if (!validators || (validators.url !== undefined && validators.url !== ask.url.href)) return inner(ask);
    if (validators.etag === undefined && validators.lastModified === undefined) return inner(ask);
    const headers: Record<string, string> = { ...ask.headers };
    if (validators.etag !== undefined) headers['if-none-match'] = validators.etag;
    if (validators.lastModified !== undefined) headers['if-modified-since'] = validators.lastModified;
    return inner({ ...ask, headers });
  };
}

/** What a server may say of itself in a validator; longer is no validator but a burden on every request. */
const validatorCharactersMax = 1024;

/** As RFC 9110 has it; or without its quotes, as some servers send it and take it back, where it cannot be read as a list or as any tag. */
const tagForm = /^(?:(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"|[\w.~+/=:-]+)$/;

/** What may be sent back next time. `url` names the issuer when that is not the URL asked for; `before` is what the last answer gave. */
export function validatorsOf(
  headers: Headers,
  issuer: string | undefined,
  before: Validators = noValidators,
): Validators {
  const etag = wellFormed(headerOf(headers, 'etag'), tagForm);
  const lastModified = wellFormed(headerOf(headers, 'last-modified'), /^[\x20-\x7e]+$/);
  if (etag === undefined && lastModified === undefined) return noValidators;
  const modifiedMs = lastModified === undefined ? Number.NaN : Date.parse(lastModified);
  const dateMs = Date.parse(headerOf(headers, 'date') ?? '');
  const secondIsOver = dateMs - modifiedMs >= 1000;
  const keepDate = lastModified !== undefined && secondIsOver;
  const mayBeTime = etag !== undefined && !secondIsOver && (lastModified !== undefined || namesTime(etag, dateMs));
  const kept = mayBeTime && !hadBefore(etag, dateMs, before) ? `${unsure}${dateMs}${unsure}${etag}` : etag;
  return {
    ...(kept === undefined ? {} : { etag: kept }),
    ...(keepDate ? { lastModified } : {}),
    ...(issuer !== undefined && (kept !== undefined || keepDate) ? { url: issuer } : {}),
  };
}

/** No tag of a server begins with it. */
const unsure = '?';

/** Without what is only noted. */
export function sureOf(validators: Validators): Validators {
  if (validators.etag?.startsWith(unsure) !== true) return validators;
  const { etag: _etag, ...sure } = validators;
  return sure;
}

/** Whether an answer of another second had the tag: it tells more than when it was asked for. */
function hadBefore(etag: string, dateMs: number, { etag: before }: Validators): boolean {
  if (before === etag) return true;
  const [, thenMs, noted] = /^\?([^?]*)\?(.*)$/s.exec(before ?? '') ?? [];
  return noted === etag && !(Math.abs(dateMs - Number(thenMs)) < 2000);
}

const noValidators: Validators = {};

function wellFormed(value: string | undefined, form: RegExp): string | undefined {
  return value !== undefined && value.length <= validatorCharactersMax && form.test(value) ? value : undefined;
}

/** Whether a word of the tag is the time of the answer, in decimal, hexadecimal or base 36, in seconds or parts of one. */
function namesTime(etag: string, dateMs: number): boolean {
  const words =
    etag
      .slice(0, timeCharactersMax)
      .toLowerCase()
      .match(/[0-9a-z]{6,20}/g) ?? [];
  return words.some((word) =>
    [10, 16, 36].some((base) => {
      const number = Number.parseInt(word, base);
      return [1e3, 1, 1e-3, 1e-6].some((unitMs) => Math.abs(number * unitMs - dateMs) < 3000);
    }),
  );
}

/** Times stand in short tags; long ones are sums. */
const timeCharactersMax = 100;
