/** What an answer means for the page. */
import { STATUS_CODES } from 'node:http';
import { fault } from '../values/fault.ts';
import type { Outcome } from '../values/observation.ts';
import type { Probe, Validators } from '../values/probe.ts';
import type { Answer, Headers } from './ask.ts';
import { headerOf } from './ask.ts';
import { validatorsOf } from './conditional.ts';
import { hubOf } from './hubs.ts';

/** `sent` are the probe's validators with the URL that issued them: they went there and nowhere else. */
export function outcomeOf(answer: Answer, probe: Probe, sent: Validators): Outcome {
  if (answer.kind === 'refused') {
    const { bytesReceived: _bytes, siteClosed, ...refused } = answer;
    if (!siteClosed) return refused;
    const own = siteClosed.site === probe.site;
    return { ...refused, ...(own ? { siteUntilMs: siteClosed.untilMs } : { elsewhere: siteClosed }) };
  }
  if (answer.kind === 'failed') {
    const { fault, untilMs } = answer;
    if (fault.code === 'address-refused') return { kind: 'refused', fault };
    return { kind: 'failed', fault, ...(untilMs === undefined ? {} : { untilMs }) };
  }
  const { status } = answer;
  const maxAgeSeconds = lifetimeSeconds(answer.headers);
  const lifetime = maxAgeSeconds === undefined ? nothingSaid : { maxAgeSeconds };
  if (status === 304 && isConditional(answer.url, sent)) return { kind: 'not-modified', ...lifetime };
  if (status === 404 || status === 410) return { kind: 'gone', status };
  if (status < 200 || status >= 300 || status === 206)
    return { kind: 'failed', fault: statusFault(status, answer.url) };
  const type = headerOf(answer.headers, 'content-type');
  const issuer = answer.url.href === (probe.movedFrom ?? probe.url) ? undefined : answer.url.href;
  const hub = hubOf(headerOf(answer.headers, 'link'), answer.body, answer.url.href);
  const fetched = {
    kind: 'fetched' as const,
    status,
    body: answer.body,
    mediaType: mediaTypeOf(type),
    charset: charsetOf(type),
    validators: validatorsOf(answer.headers, issuer, probe.validators),
  };
  if (maxAgeSeconds === undefined && !hub) return fetched;
  return { ...fetched, ...lifetime, ...(hub ? { hub } : {}) };
}

const nothingSaid = {};

/** Whoever was asked without a condition and says that it holds has said nothing of the page. */
const isConditional = ({ href }: URL, { etag, lastModified, url }: Validators): boolean =>
  url === href && (etag !== undefined || lastModified !== undefined);

function statusFault(status: number, url: URL) {
  const words = `${url.host} answers ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd();
  if (status === 401 || status === 403 || status === 407 || status === 451) return fault('forbidden', words);
  if (status >= 500) return fault('server-error', words);
  return fault('status-unexpected', words);
}

export function mediaTypeOf(contentType: string | undefined): string | undefined {
  return /^\s*([\w!#$&^.+-]+\/[\w!#$&^.+-]+)/.exec(contentType ?? '')?.[1]?.toLowerCase();
}

export function charsetOf(contentType: string | undefined): string | undefined {
  return /;\s*charset\s*=\s*"?([^\s";,]+)/i.exec(contentType ?? '')?.[1]?.toLowerCase();
}

/** RFC 9111: how long the answer may be used without asking, as its server states. */
export function lifetimeSeconds(headers: Headers): number | undefined {
  const control = headerOf(headers, 'cache-control');
  if (control !== undefined) {
    if (/(?:^|[,\s])no-(?:store|cache)(?:$|[,\s=])/i.test(control)) return 0;
    const seconds = /(?:^|[,\s])max-age="?(\d+)/i.exec(control)?.[1];
    if (seconds !== undefined) return Number(seconds);
  }
  const expires = headerOf(headers, 'expires');
  if (expires === undefined) return undefined;
  const lifetimeMs = Date.parse(expires) - Date.parse(headerOf(headers, 'date') ?? '');
  return Number.isNaN(lifetimeMs) ? 0 : Math.max(0, lifetimeMs / 1000);
}
