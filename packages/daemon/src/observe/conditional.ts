/**
 * Conditional requests with the server's own validators, sent back to the URL that issued them and never made from our
 * clock. A validator is kept only when it can tell every later edit from the copy we hold: Last-Modified counts whole
 * seconds, so a page edited again within that second keeps it. Such a one is trusted only when the server's own Date says
 * that the second was over (RFC 9110, 8.8.2.2), and an ETag made of that second is no better than it.
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

/** What may be sent back next time. `url` names the issuer when that is not the URL asked for. */
export function validatorsOf(headers: Headers, issuer: string | undefined): Validators {
  const etag = wellFormed(headerOf(headers, 'etag'), /^(W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/);
  const lastModified = wellFormed(headerOf(headers, 'last-modified'), /^[\x20-\x7e]+$/);
  if (etag === undefined && lastModified === undefined) return noValidators;
  const modifiedMs = lastModified === undefined ? Number.NaN : Date.parse(lastModified);
  const secondIsOver = Date.parse(headerOf(headers, 'date') ?? '') - modifiedMs >= 1000;
  const keepDate = lastModified !== undefined && secondIsOver;
  const keepEtag = etag !== undefined && (secondIsOver || !tellsOnlyTheSecond(etag, modifiedMs));
  return {
    ...(keepEtag ? { etag } : {}),
    ...(keepDate ? { lastModified } : {}),
    ...(issuer !== undefined && (keepEtag || keepDate) ? { url: issuer } : {}),
  };
}

const noValidators: Validators = {};

function wellFormed(value: string | undefined, form: RegExp): string | undefined {
  return value !== undefined && value.length <= validatorCharactersMax && form.test(value) ? value : undefined;
}

/** Static servers write the second of the edit into the tag, in hexadecimal or decimal. */
function tellsOnlyTheSecond(etag: string, modifiedMs: number): boolean {
  if (Number.isNaN(modifiedMs)) return false;
  const seconds = Math.floor(modifiedMs / 1000);
  const words = etag.toLowerCase().split(/[^0-9a-z]+/);
  return words.includes(seconds.toString(16)) || words.includes(String(seconds));
}
