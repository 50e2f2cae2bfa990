/**
 * robots.txt at the wire (RFC 9309). Fetched once for each origin, through the site's own gate, kept at most a day.
 *
 *   2xx              its rules hold
 *   4xx but 429      there are none: everything is allowed
 *   5xx, no answer   nothing is allowed until it can be read; a copy that was read before holds on
 *   after 30 days of that without a copy, it counts as not being there
 */
import type { Clock } from '../values/clock.ts';
import type { ClockSetByMs, RobotsUnderstood } from '../values/observation.ts';
import { fault, ofOurSettings } from '../values/fault.ts';
import { siteOf } from '../values/url.ts';
import type { Answer, Ask, Headers, Visit } from './ask.ts';
import { headerOf } from './ask.ts';
import type { RobotsRules } from './robots-text.ts';
import { everythingAllowed, isAllowed, parseRobots } from './robots-text.ts';
import { withRedirects } from './redirects.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** RFC 9309, 2.4: a copy should not be used for longer. */
const keepMsMax = dayMs;
/** However short a lifetime the server states, robots.txt is not to double the number of requests. */
const keepMsMin = hourMs;
const unreachableMsMax = 30 * dayMs;
const retryMsMin = 60_000;
/** A site that was down for days is seen within hours of its return. */
const retryMsMax = 6 * hourMs;
/** Origins and rules remembered: about 100 bytes a rule, so 50 MB at the worst. */
const originsMax = 20_000;
const rulesMax = 500_000;
/** Against so many, thousands of links of a page are held at once; longer files are heard when the page is asked for. */
const rulesWeighed = 2_000;
/** More than a person reads. */
const rulesShown = 200;

export interface RobotsOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly productToken: string;
  readonly redirectsMax: number;
  readonly chainMs: number;
  readonly bytesMax: number;
  /** Something was learned that whoever follows this process need not ask for again. */
  readonly wasRead: () => void;
}

/** What is known of one origin. `rules` undefined: never read; `trouble` says why it could not be read, now or at all. */
interface Known {
  readonly rules: RobotsRules | undefined;
  readonly trouble?: Answer;
  readonly untilMs: number;
  readonly attempts: number;
  readonly unreachableSinceMs?: number;
  /** When it was read, where it asks for a Crawl-delay: by the spacing at which that was done, nobody would know. */
  readonly readMs?: number;
}

/** What is known of an origin, as it is kept over a restart. */
export type SavedRobots = readonly [origin: string, known: Known];

export class RobotsMemory {
  readonly #known = new Map<string, Known>();
  #rules = 0;
  /** Grows with everything learned, so that whoever keeps it knows when there is something to keep. */
  revision = 0;

  /** All that still holds: a file that was read, or the trouble there was in reading it. */
  save(nowMs: number, clockSetByMs: ClockSetByMs): SavedRobots[] {
    const held = [...this.#known].filter(([, { untilMs, attempts }]) => untilMs > nowMs || attempts > 0);
    return held.map(([origin, known]) => [origin, setBy(known, -clockSetByMs)]);
  }

  restore(saved: readonly SavedRobots[], nowMs: number, clockSetByMs: ClockSetByMs): void {
    for (const [origin, kept] of saved) {
      if (kept.trouble && isOurs(kept.trouble)) continue;
      const known = setBy(kept, clockSetByMs);
      // No copy holds for longer than a new one would, whatever the clock said when it was read.
      this.set(origin, { ...known, untilMs: Math.min(known.untilMs, nowMs + keepMsMax) });
    }
  }

  /** What origins ask for by Crawl-delay, as far as they were read, and when that was. */
  *crawlDelays(): IterableIterator<{ readonly origin: string; readonly delayMs: number; readonly readMs: number }> {
    for (const [origin, { rules, readMs = -Infinity }] of this.#known) {
      if (rules?.crawlDelayMs !== undefined) yield { origin, delayMs: rules.crawlDelayMs, readMs };
    }
  }

  get(origin: string): Known | undefined {
    return this.#known.get(origin);
  }

  set(origin: string, known: Known): void {
    this.revision++;
    this.#forget(origin);
    this.#known.set(origin, known);
    this.#rules += known.rules?.rules.length ?? 0;
    while (this.#known.size > originsMax || (this.#rules > rulesMax && this.#known.size > 1)) {
      this.#forget(this.#known.keys().next().value!);
    }
  }

  /** Sitemaps that an origin's robots.txt names, as far as it was read. */
  sitemapsOf(origin: string): readonly string[] {
    return this.#known.get(origin)?.rules?.sitemaps ?? [];
  }

  /** Whether the URL may be visited, as far as that was read and is told quickly. */
  allows({ origin, pathname, search }: URL): boolean | undefined {
    const rules = this.#known.get(origin)?.rules;
    return rules && rules.rules.length <= rulesWeighed ? isAllowed(rules, pathname + search) : undefined;
  }

  /** Crawl-delay of an origin, as far as it was read. */
  crawlDelayMsOf(origin: string): number | undefined {
    return this.#known.get(origin)?.rules?.crawlDelayMs;
  }

  /** The rules that hold for us, as far as they were read, longest first as they are weighed. */
  understood(origin: string): Pick<RobotsUnderstood, 'state' | 'rules'> {
    const known = this.#known.get(origin);
    if (!known) return { state: 'unread' };
    if (!known.rules) return { state: 'unreachable' };
    const longest = [...known.rules.rules].sort((a, b) => b.length - a.length).slice(0, rulesShown);
    const rules = longest.map(({ allow, pieces, anchored }) => ({
      allow,
      path: `${pieces.join('*')}${anchored ? '$' : ''}`,
    }));
    return { state: 'read', rules };
  }

  #forget(origin: string): void {
    const old = this.#known.get(origin);
    if (!old) return;
    this.#rules -= old.rules?.rules.length ?? 0;
    this.#known.delete(origin);
  }
}

/** Whether an answer says nothing of the site: the operator may have changed what it says since. */
const isOurs = (answer: Answer): boolean =>
  answer.kind === 'failed' && (ofOurSettings.has(answer.fault.code) || isStopped(answer));

const isStopped = (answer: Answer): boolean => answer.kind !== 'answered' && answer.fault.code === 'stopped';

const setBy = ({ unreachableSinceMs, readMs, ...known }: Known, byMs: number): Known => ({
  ...known,
  untilMs: known.untilMs + byMs,
  ...(readMs === undefined ? {} : { readMs: readMs + byMs }),
  ...(unreachableSinceMs === undefined ? {} : { unreachableSinceMs: unreachableSinceMs + byMs }),
});

export function withRobots(memory: RobotsMemory, options: RobotsOptions, inner: Visit): Visit {
  const { clock } = options;
  const reading = new Map<string, Promise<Known>>();

  const read = (origin: string, { meter, patienceMs, mayAsk, noted }: Ask): Promise<Known> => {
    const already = reading.get(origin);
    if (already) return already;
    const crawlDelayMs = memory.crawlDelayMsOf(origin);
    const ask: Ask = {
      url: new URL('/robots.txt', origin),
      headers: { accept: 'text/plain,*/*;q=0.5', 'accept-encoding': 'identity' },
      purpose: 'robots',
      ...(crawlDelayMs === undefined ? {} : { crawlDelayMs }),
      meter,
      patienceMs,
      mayAsk,
      noted,
    };
    let at = ask.url;
    const follow = withRedirects(options, (hop) => {
      at = hop.url;
      return inner(hop);
    });
    const promise = follow(ask)
      .then((answer) => {
        const old = memory.get(origin);
        // The site's gate keeps it back, or our own settings, as they will keep back the page: nothing was learned of the site.
        // Where the site led elsewhere it has answered: unless that is kept, every page asks it again.
        const isLed = at.hostname !== ask.url.hostname && !isStopped(answer);
        if (!isLed && (answer.kind === 'refused' || isOurs(answer)))
          return old?.rules
            ? { ...old, trouble: answer }
            : { rules: undefined, trouble: answer, untilMs: 0, attempts: 0 };
        const known =
          answer.kind === 'refused'
            ? putOff(answer, old, clock.nowMs())
            : judge(answer, old, { from: ask.url, at }, clock.nowMs(), options);
        memory.set(origin, known);
        options.wasRead();
        return known;
      })
      .finally(() => reading.delete(origin));
    reading.set(origin, promise);
    return promise;
  };

  const judged = (known: Known, ask: Ask): Answer | Promise<Answer> => {
    if (!known.rules) return known.trouble!;
    const path = ask.url.pathname + ask.url.search;
    if (!isAllowed(known.rules, path)) {
      const why = fault('robots-disallowed', `${ask.url.host} asks robots not to visit ${path.slice(0, 200)}`);
      // Where the site turned the reading of its robots.txt away, it is to be left alone all the same.
      const { siteClosed } = known.trouble?.kind === 'refused' ? known.trouble : {};
      const closed = siteClosed ? { siteClosed } : {};
      return { kind: 'refused', fault: why, untilMs: known.untilMs, ...closed, bytesReceived: 0 };
    }
    const { crawlDelayMs } = known.rules;
    if (crawlDelayMs === undefined) return inner(ask);
    return inner({ ...ask, crawlDelayMs }).then((answer) =>
      answer.kind === 'answered' ? { ...answer, crawlDelayMs } : answer,
    );
  };

  return (ask) => {
    const { origin } = ask.url;
    const known = memory.get(origin);
    if (!known || known.untilMs <= clock.nowMs()) return read(origin, ask).then((fresh) => judged(fresh, ask));
    const answer = judged(known, ask);
    return answer instanceof Promise ? answer : Promise.resolve(answer);
  };
}

type Refused = Extract<Answer, { kind: 'refused' }>;

/** The site that it redirects to is left alone for now: until that may be asked, this one is not either. */
function putOff(answer: Refused, old: Known | undefined, nowMs: number): Known {
  const untilMs = Math.min(answer.untilMs ?? nowMs, nowMs + keepMsMax);
  return { rules: undefined, attempts: 0, ...old, trouble: answer, untilMs };
}

/** Where it was asked for, and where that led. */
interface Way {
  readonly from: URL;
  readonly at: URL;
}

function judge(
  answer: Exclude<Answer, Refused>,
  old: Known | undefined,
  way: Way,
  nowMs: number,
  options: RobotsOptions,
): Known {
  if (answer.kind === 'answered' && answer.status >= 200 && answer.status < 300) {
    const text = readable(answer.body, options.bytesMax);
    const rules = parseRobots(text, options.productToken);
    const read = { rules, untilMs: nowMs + lifetimeMs(answer.headers), attempts: 0 };
    return rules.crawlDelayMs === undefined ? read : { ...read, readMs: answer.answeredAtMs };
  }
  // 3xx that leads nowhere counts as not being there, as 4xx does.
  const missing =
    (answer.kind === 'answered' && answer.status < 500) ||
    (answer.kind === 'failed' && (answer.fault.code === 'redirect-loop' || answer.fault.code === 'redirect-refused'));
  if (missing) return { rules: everythingAllowed, untilMs: nowMs + keepMsMax, attempts: 0 };

  const attempts = (old?.attempts ?? 0) + 1;
  const unreachableSinceMs = old?.unreachableSinceMs ?? nowMs;
  const waitMs = Math.min(retryMsMax, retryMsMin * 2 ** Math.min(20, attempts - 1)) * (0.5 + options.random());
  const untilMs = nowMs + waitMs;
  const state = { untilMs, attempts, unreachableSinceMs };
  if (nowMs - unreachableSinceMs > unreachableMsMax) return { ...state, rules: everythingAllowed };
  if (old?.rules) return { ...state, rules: old.rules };
  return { ...state, rules: undefined, trouble: trouble(answer, way, untilMs) };
}

/** Of a file that is too long, the lines that are whole: half a pattern would forbid more than the whole one. */
function readable(body: Uint8Array, bytesMax: number): string {
  const text = new TextDecoder().decode(body.subarray(0, bytesMax));
  return body.length <= bytesMax ? text : text.slice(0, Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1);
}

/** Faults of an answer: the page's own may be as it should. What keeps robots.txt from being asked for keeps the page so too. */
const ofTheAnswer = new Set([
  'encoding-broken',
  'encoding-refused',
  'body-truncated',
  'body-too-large',
  'headers-too-large',
  'first-byte-timeout',
  'total-timeout',
  'answer-malformed',
  'connection-lost',
]);

function trouble(answer: Exclude<Answer, Refused>, { from, at }: Way, untilMs: number): Answer {
  const refused = (sentence: string): Refused => ({
    kind: 'refused',
    fault: fault('robots-unreachable', `${sentence}, which means that nothing may be visited for now`),
    untilMs,
    bytesReceived: 0,
  });
  if (answer.kind === 'answered') {
    const closed = refused(`${answer.url.host} answers ${answer.status} for robots.txt`);
    return { ...closed, siteClosed: { site: siteOf(answer.url.hostname), untilMs } };
  }
  const isLed = at.hostname !== from.hostname;
  const file = `robots.txt of ${from.host}${isLed ? ` redirects to ${at.host} and` : ''}`;
  const { code, sentence } = answer.fault;
  // How such an address is opened is not said: it is the site that names it, and what stands there is no rule of the site's.
  if (code === 'address-refused') return refused(`${file} cannot be read there, as that is no public address`);
  const why = isLed || ofTheAnswer.has(code) ? fault(code, `${file} cannot be read: ${sentence}`) : answer.fault;
  return { ...answer, fault: why, untilMs, bytesReceived: 0 };
}

function lifetimeMs(headers: Headers): number {
  const seconds = /(?:^|[,\s])max-age=(\d+)/i.exec(headerOf(headers, 'cache-control') ?? '')?.[1];
  return seconds === undefined ? keepMsMax : Math.min(keepMsMax, Math.max(keepMsMin, Number(seconds) * 1000));
}
