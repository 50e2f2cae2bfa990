/**
 * Redirects, each hop a request of its own: it asks robots.txt, waits for its site's turn and is connected through the
 * address guard like any other. Headers given for a page go to that page's origin and nowhere else.
 */
import { isUtf8 } from 'node:buffer';
import { fault } from '../values/fault.ts';
import type { Answer, Answered, Ask, Visit } from './ask.ts';
import { headerOf } from './ask.ts';
import type { Limits } from './limits.ts';

const redirect = new Set([301, 302, 303, 307, 308]);
const permanent = new Set([301, 308]);
/** Within one chain; some sites set a cookie and send the visitor round until it comes back. */
const cookiesMax = 20;

export function withRedirects(limits: Pick<Limits, 'redirectsMax' | 'chainMs'>, inner: Visit): Visit {
  const { redirectsMax, chainMs } = limits;
  // Nothing is made ready for hops before there is one: hardly any page has them.
  return async (ask) => {
    const answer = await inner(ask);
    return answer.kind === 'answered' && redirect.has(answer.status) ? onward(ask, answer) : answer;
  };

  async function onward(ask: Ask, first: Answer): Promise<Answer> {
    let current = ask;
    let bytesReceived = 0;
    let lasting = true;
    const cookies = new Map<string, Cookie>();
    let lines: readonly string[] = [];
    // The same once more, in the same words, is answered as it was.
    const seen = new Set([wordsOf(ask)]);
    for (let hop = 0; ; hop++) {
      const answer = hop === 0 ? first : await inner(current);
      bytesReceived += answer.bytesReceived;
      if (answer.kind !== 'answered' || !redirect.has(answer.status)) {
        const whole = lines.length > 0 ? withCookies(answer, lines) : answer;
        return conclude(whole, bytesReceived, hop > 0 && lasting ? current.url.href : undefined);
      }
      const location = asUtf8(headerOf(answer.headers, 'location'));
      // Without a place to go it is an answer like any other.
      if (location === undefined) return conclude(answer, bytesReceived, undefined);
      const failed = (code: string, sentence: string): Answer => ({
        kind: 'failed',
        fault: fault(code, sentence),
        bytesReceived,
      });
      if (hop >= redirectsMax) {
        return failed('redirect-loop', `${ask.url.host} redirects more than ${redirectsMax} times`);
      }
      // The parts of a page that is shown are many, and the browser has a limit for them all.
      if (ask.purpose !== 'part' && (ask.meter?.wireMs ?? 0) > chainMs) {
        return failed(
          'total-timeout',
          `${ask.url.host} redirects on and on, and its answers have taken more than ${chainMs} ms`,
        );
      }
      const next = URL.parse(location, current.url.href);
      if (!next || (next.protocol !== 'http:' && next.protocol !== 'https:')) {
        return failed('redirect-refused', `${ask.url.host} redirects to something that is not http or https`);
      }
      lasting &&= permanent.has(answer.status);
      if (next.origin === current.url.origin) {
        gather(cookies, answer, current.url);
        lines = [...lines, ...setBy(answer)].slice(-cookiesMax);
      } else {
        cookies.clear();
        lines = [];
      }
      current = follow(ask, next, cookies);
      const words = wordsOf(current);
      if (seen.has(words)) return failed('redirect-loop', `${ask.url.host} redirects in a circle`);
      seen.add(words);
    }
  }
}

const wordsOf = ({ url, headers }: Ask): string => `${url.href}\n${headers['cookie'] ?? ''}`;

/** Headers come byte by byte; a server that writes more than ASCII into an address means UTF-8, as browsers take it. */
function asUtf8(text: string | undefined): string | undefined {
  if (text === undefined || !/[\x80-\xff]/.test(text) || /[^\0-\xff]/.test(text)) return text;
  const bytes = Buffer.from(text, 'latin1');
  return isUtf8(bytes) ? bytes.toString() : text;
}

function conclude(answer: Answer, bytesReceived: number, movedTo: string | undefined): Answer {
  if (answer.kind === 'answered' && movedTo !== undefined) return { ...answer, bytesReceived, movedTo };
  return answer.bytesReceived === bytesReceived ? answer : { ...answer, bytesReceived };
}

function follow(first: Ask, next: URL, cookies: ReadonlyMap<string, Cookie>): Ask {
  next.hash = '';
  next.username = '';
  next.password = '';
  const headers: Record<string, string> = next.origin === first.url.origin ? { ...first.headers } : {};
  const fitting = [...cookies.values()].filter(({ path }) => isUnder(next.pathname, path));
  if (fitting.length > 0) {
    const own = headers['cookie'];
    const set = fitting.map(({ name, value }) => `${name}=${value}`).join('; ');
    headers['cookie'] = own === undefined ? set : `${own}; ${set}`;
  }
  return { ...first, url: next, headers };
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
}

function setBy({ headers }: Answered): readonly string[] {
  const lines = headers['set-cookie'] ?? [];
  return Array.isArray(lines) ? lines : [lines];
}

/** Whoever keeps cookies, as a browser does, hears of those that were set on the way. */
function withCookies(answer: Answer, lines: readonly string[]): Answer {
  if (answer.kind !== 'answered') return answer;
  return { ...answer, headers: { ...answer.headers, 'set-cookie': [...lines, ...setBy(answer)] } };
}

/** As RFC 6265 has it, within one origin: a cookie is for what is under its path, and one that is over by now is taken back. */
function gather(cookies: Map<string, Cookie>, answer: Answered, from: URL): void {
  for (const line of setBy(answer)) {
    const [, name, value] = /^\s*([^=;\s]+)=([^;]*)/.exec(line) ?? [];
    if (name === undefined || value === undefined) continue;
    const given = attributeOf(line, 'path');
    const path = given?.startsWith('/') ? given : from.pathname.slice(0, from.pathname.lastIndexOf('/')) || '/';
    const key = `${name};${path}`;
    cookies.delete(key);
    if (!isOver(line, answer.answeredAtMs) && cookies.size < cookiesMax)
      cookies.set(key, { name, value: value.trim(), path });
  }
}

function attributeOf(line: string, name: string): string | undefined {
  return new RegExp(`;\\s*${name}\\s*=\\s*([^;]*)`, 'i').exec(line)?.[1]?.trim();
}

function isOver(line: string, nowMs: number): boolean {
  const seconds = attributeOf(line, 'max-age');
  if (seconds !== undefined && /^-?\d+$/.test(seconds)) return Number(seconds) <= 0;
  return Date.parse(attributeOf(line, 'expires') ?? '') <= nowMs;
}

function isUnder(pathname: string, path: string): boolean {
  return pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`);
}
