/**
 * Redirects, each hop a request of its own: it asks robots.txt, waits for its site's turn and is connected through the
 * address guard like any other. Headers given for a page go to that page's origin and nowhere else.
 */
import { isUtf8 } from 'node:buffer';
import { fault } from '../values/fault.ts';
import type { Answer, Ask, Visit } from './ask.ts';
import { headerOf } from './ask.ts';

const redirect = new Set([301, 302, 303, 307, 308]);
const permanent = new Set([301, 308]);
/** Within one chain; some sites set a cookie and send the visitor round until it comes back. */
const cookiesMax = 20;

export function withRedirects(redirectsMax: number, inner: Visit): Visit {
  // Nothing is made ready for hops before there is one: hardly any page has them.
  return async (ask) => {
    const answer = await inner(ask);
    return answer.kind === 'answered' && redirect.has(answer.status) ? onward(ask, answer) : answer;
  };

  async function onward(ask: Ask, first: Answer): Promise<Answer> {
    let current = ask;
    let bytesReceived = 0;
    let lasting = true;
    const cookies = new Map<string, string>();
    for (let hop = 0; ; hop++) {
      const answer = hop === 0 ? first : await inner(current);
      bytesReceived += answer.bytesReceived;
      if (answer.kind !== 'answered' || !redirect.has(answer.status)) {
        return conclude(answer, bytesReceived, hop > 0 && lasting ? current.url.href : undefined);
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
      const next = URL.parse(location, current.url.href);
      if (!next || (next.protocol !== 'http:' && next.protocol !== 'https:')) {
        return failed('redirect-refused', `${ask.url.host} redirects to something that is not http or https`);
      }
      lasting &&= permanent.has(answer.status);
      if (next.origin === current.url.origin) gather(cookies, answer);
      else cookies.clear();
      current = follow(ask, next, cookies);
    }
  }
}

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

function follow(first: Ask, next: URL, cookies: ReadonlyMap<string, string>): Ask {
  next.hash = '';
  next.username = '';
  next.password = '';
  const headers: Record<string, string> = next.origin === first.url.origin ? { ...first.headers } : {};
  if (cookies.size > 0) {
    const own = headers['cookie'];
    const set = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    headers['cookie'] = own === undefined ? set : `${own}; ${set}`;
  }
  return { ...first, url: next, headers };
}

function gather(cookies: Map<string, string>, answer: Extract<Answer, { kind: 'answered' }>): void {
  const lines = answer.headers['set-cookie'] ?? [];
  for (const line of Array.isArray(lines) ? lines : [lines]) {
    const [, name, value] = /^\s*([^=;\s]+)=([^;]*)/.exec(line) ?? [];
    if (name !== undefined && value !== undefined && cookies.size < cookiesMax) cookies.set(name, value.trim());
  }
}
