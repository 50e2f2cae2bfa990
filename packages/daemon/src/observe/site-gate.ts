/**
 * The wire's own politeness: whatever the plan says, a site is asked one request at a time, spaced, within its cap, outside
 * its quiet hours, and not while it wants to be left alone. Names that share a server share its gate as well.
 *
 * A request that can start soon waits its turn here, first come first served; one that cannot is refused with the time at
 * which to come back.
 */
import type { Clock } from '../values/clock.ts';
import { fault } from '../values/fault.ts';
import { type CapBook, type SiteClosed, type SiteServer, unnotedSpacingMsMax } from '../values/observation.ts';
import { siteOf } from '../values/url.ts';
import type { Answer, Ask, Visit } from './ask.ts';
import type { SiteRules } from './gate.ts';
import { Gate } from './gate.ts';
import { retryAfterMs } from './retry-after.ts';

export interface SiteGateOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly rulesOf: (site: string) => SiteRules;
  /** The address a host is reached at, for names that share one; undefined where it is not known, at once where it never is. */
  readonly addressOf: (
    hostname: string,
  ) => Promise<{ readonly address: string; readonly rules: SiteRules } | undefined> | undefined;
  /** Longest wait in line; a plan that is right needs a spacing or two. */
  readonly patienceMs: number;
}

/** In line at one site; more are told when to come back. */
const lineMax = 1000;
/** A disk that is full is not asked again at once. */
const putOffMsMin = 1_000;
/** Over how long the pages of a site that closed come back. */
const spreadMsMax = 3_600_000;
/** Gates kept before idle ones are forgotten; about 200 bytes each. */
const gatesBeforeSweep = 10_000;

/** What a site is known to want, for the plan. */
export interface SiteStanding {
  readonly site: string;
  readonly nextStartMs: number;
  readonly closedUntilMs: number;
  readonly failures: number;
}

interface Line {
  readonly gate: Gate;
  readonly rules: SiteRules;
  readonly waiting: Turn[];
  pumping: boolean;
  /** Where requests are noted: settled once what earlier processes asked for is counted. */
  recalled?: Promise<void>;
}

interface Turn {
  readonly go: (went: boolean) => void;
  readonly ask: Ask;
  readonly untilMs: number;
}

/** A turn elsewhere is half a minute away at most; whoever has none by then comes again. */
const laterMsMax = 40_000;
const laterPollMs = 100;

export class SiteGates {
  readonly #options: SiteGateOptions;
  readonly #lines = new Map<string, Line>();
  readonly #closing = new AbortController();
  #sweepAt = gatesBeforeSweep;
  #book: CapBook | undefined;
  #askedUntilMs = -Infinity;
  /** How often a site that kept failing answered again. */
  recoveries = 0;

  constructor(options: SiteGateOptions) {
    this.#options = options;
  }

  askedUntil(atMs: number): void {
    this.#askedUntilMs = Math.max(this.#askedUntilMs, atMs);
  }

  countIn(book: CapBook): void {
    this.#book = book;
  }

  /** A request is about to go out; false where the next process must know of it and it could not be noted. */
  noted(key: string, { gate, rules }: Line, ask: Ask, spacingMs: number): true | Promise<boolean> {
    if (!isNoted(rules, ask, spacingMs) || !this.#book) return true;
    const nowMs = this.#options.clock.nowMs();
    const count = rules.cap?.count ?? 1;
    return this.#book.counted(key, [...gate.lastStarts(nowMs, count), nowMs].slice(-count));
  }

  /** A request was seen, and counts from then on, for the next process as well where that must know of it. */
  left(key: string, { gate, rules }: Line, ask: Ask, seenMs: number, spacingMs: number): void {
    gate.leave(seenMs, spacingMs, rules);
    if (!this.#book || !isNoted(rules, ask, spacingMs) || gate.out > 0 || gate.entering) return;
    this.#book.seen(key, rules.cap ? gate.lastStarts(seenMs, rules.cap.count) : [gate.lastMs]);
  }

  robotsRead(): void {
    this.#book?.robotsRead();
  }

  begin({ gate }: Line, spacingMs: number): void {
    gate.begin(this.#options.clock.nowMs(), spacingMs);
  }

  /** Entered and not begun: somebody else's turn, and this one comes again a little later. */
  putOff(line: Line, ask: Ask, spacingMs: number): Answer {
    const againMs = this.#options.clock.nowMs() + Math.max(putOffMsMin, spacingMs);
    return this.#refuse(line, ask, againMs, againMs, spacingMs);
  }

  /** Requests that went out before a restart are counted before the first of this process. */
  #recalled(key: string, line: Line, spacingMs: number): Promise<void> {
    line.recalled ??= (this.#book?.recall(key) ?? Promise.resolve([])).then((startsMs) => {
      for (const atMs of startsMs) line.gate.recall(atMs, spacingMs, line.rules);
    });
    return line.recalled;
  }

  leaveAlone({ site, untilMs }: SiteClosed): void {
    this.line(site).gate.close(untilMs);
  }

  /** The site was asked before a restart, and not again until then. */
  restUntil(site: string, atMs: number): void {
    this.line(site).gate.restUntil(atMs);
  }

  /** What was known before a restart. */
  restore(standing: SiteStanding): void {
    const { gate } = this.line(standing.site);
    gate.restUntil(standing.nextStartMs);
    gate.closedUntilMs = standing.closedUntilMs;
    gate.failures = standing.failures;
  }

  /** Sites that are closed or in doubt: all that a restart must not forget. */
  troubled(nowMs: number): SiteStanding[] {
    const found: SiteStanding[] = [];
    for (const [site, { gate }] of this.#lines) {
      if (gate.failures > 0 || gate.closedUntilMs > nowMs) found.push(this.standing(site)!);
    }
    return found;
  }

  standing(site: string): SiteStanding | undefined {
    const gate = this.#lines.get(site)?.gate;
    if (!gate) return undefined;
    const { nextStartMs, closedUntilMs, failures } = gate;
    return { site, nextStartMs, closedUntilMs, failures };
  }

  /** Nobody waits any longer; whoever stands in line is refused. */
  close(): void {
    this.#closing.abort('closed');
    for (const line of this.#lines.values()) this.pump(line);
  }

  get size(): number {
    return this.#lines.size;
  }

  line(key: string, rules?: SiteRules): Line {
    const known = this.#lines.get(key);
    if (known) return known;
    if (this.#lines.size >= this.#sweepAt) this.#sweep();
    const line: Line = { gate: new Gate(), rules: rules ?? this.#options.rulesOf(key), waiting: [], pumping: false };
    this.#lines.set(key, line);
    return line;
  }

  #sweep(): void {
    const nowMs = this.#options.clock.nowMs();
    for (const [key, line] of this.#lines) {
      if (line.waiting.length === 0 && !line.pumping && line.gate.isIdle(nowMs, line.rules)) this.#lines.delete(key);
    }
    // Twice what is really in use, so that sweeping costs a constant per gate made.
    this.#sweepAt = Math.max(gatesBeforeSweep, 2 * this.#lines.size);
  }

  /** Waits for the turn; true when it came, at once where nobody has to wait, a refusal otherwise. */
  enter(key: string, line: Line, ask: Ask, spacingMs: number): true | Promise<true | Answer> {
    // Whoever asks for a longer spacing than the one before, as with a Crawl-delay just read, waits that long since it.
    // One that an earlier process may have asked a moment ago is not asked for its spacing; where that is long, when it was asked is noted.
    const unsureMs = Math.min(unnotedSpacingMsMax, spacingMs);
    line.gate.restUntil(Math.max(line.gate.lastMs + spacingMs, this.#askedUntilMs + unsureMs));
    if (!isNoted(line.rules, ask, spacingMs)) return this.#enter(line, ask, spacingMs);
    return this.#recalled(key, line, spacingMs).then(() => this.#enter(line, ask, spacingMs));
  }

  #enter(line: Line, ask: Ask, spacingMs: number): true | Promise<true | Answer> {
    const { gate, rules } = line;
    const nowMs = this.#options.clock.nowMs();
    const earliestMs = gate.earliestMs(nowMs, rules);
    if (line.waiting.length === 0 && earliestMs <= nowMs && !gate.isFull(rules)) {
      gate.enter();
      return true;
    }
    return this.#stand(line, ask, spacingMs, nowMs, earliestMs);
  }

  async #stand(line: Line, ask: Ask, spacingMs: number, nowMs: number, earliestMs: number): Promise<true | Answer> {
    const { clock } = this.#options;
    const { gate, rules } = line;
    const expectedMs = earliestMs + line.waiting.length * spacingMs;
    const patienceMs = Math.max(this.#options.patienceMs, ask.patienceMs ?? 0);
    const isClosed = earliestMs > nowMs + this.#options.patienceMs;
    if (isClosed || expectedMs > nowMs + patienceMs || line.waiting.length >= lineMax) {
      return this.#refuse(line, ask, earliestMs, expectedMs, spacingMs);
    }
    const untilMs = nowMs + 2 * patienceMs;
    if (ask.meter) ask.meter.waiting++;
    const went = await new Promise<boolean>((go) => {
      line.waiting.push({ go, ask, untilMs });
      this.pump(line);
    });
    if (ask.meter) {
      ask.meter.heldMs += clock.nowMs() - nowMs;
      ask.meter.waiting--;
    }
    if (went) return true;
    const againMs = gate.earliestMs(clock.nowMs(), rules);
    return this.#refuse(line, ask, againMs, againMs, spacingMs);
  }

  #refuse(line: Line, ask: Ask, openMs: number, expectedMs: number, spacingMs: number): Answer {
    const { gate, rules } = line;
    const closed = gate.closedUntilMs > this.#options.clock.nowMs();
    const untilMs = gate.promise(closed ? openMs : expectedMs, spacingMs, spreadMsMax, this.#options.random());
    const quiet = rules.quietUntilMs?.(untilMs);
    const host = ask.url.host;
    const why = closed
      ? fault('site-closed', `${host} asked to be left alone or keeps failing; it is asked again later`)
      : fault('site-busy', `${host} is not asked more often than its spacing, cap and hours allow`);
    return {
      kind: 'refused',
      fault: why,
      untilMs: quiet ?? untilMs,
      siteClosed: { site: siteOf(ask.url.hostname), untilMs: openMs },
      bytesReceived: 0,
    };
  }

  /** Lets in whoever may go now, and sleeps until the next may; one sleeper for each line. */
  pump(line: Line): void {
    if (line.pumping || line.waiting.length === 0) return;
    const { clock } = this.#options;
    while (line.waiting.length > 0 && !line.gate.isFull(line.rules)) {
      const nowMs = clock.nowMs();
      const turn = line.waiting[0]!;
      const atMs = line.gate.earliestMs(nowMs, line.rules);
      if (this.#closing.signal.aborted || turn.ask.signal?.aborted || atMs > turn.untilMs) {
        line.waiting.shift();
        turn.go(false);
      } else if (atMs <= nowMs) {
        line.waiting.shift();
        line.gate.enter();
        turn.go(true);
      } else {
        line.pumping = true;
        void clock.sleep(atMs - nowMs, this.#closing.signal).then(() => {
          line.pumping = false;
          this.pump(line);
        });
        return;
      }
    }
  }
}

export function withSiteGate(gates: SiteGates, options: SiteGateOptions, inner: Visit): Visit {
  const { clock } = options;
  return (ask) => (ask.mayAsk ? inTurn(ask) : (visit(ask) as Promise<Answer>));

  /** Where others give leave, and its turn there is yet to come, it waits without keeping the gate from those who have theirs. */
  async function inTurn(ask: Ask): Promise<Answer> {
    for (const untilMs = clock.nowMs() + laterMsMax; ;) {
      const answer = await visit(ask);
      if (answer !== 'later') return answer;
      if (clock.nowMs() >= untilMs) {
        const own = gates.line(siteOf(ask.url.hostname));
        return gates.putOff(own, ask, Math.max(own.rules.spacingMs, ask.crawlDelayMs ?? 0));
      }
      await clock.sleep(laterPollMs);
    }
  }

  async function visit(ask: Ask): Promise<Answer | 'later'> {
    const host = ask.url.hostname;
    const site = siteOf(host);
    const own = gates.line(site);
    const spacingMs = Math.max(own.rules.spacingMs, ask.crawlDelayMs ?? 0);
    // Most gates are open when somebody comes: what need not wait costs no turn of the queue of promises.
    const entering = gates.enter(site, own, ask, spacingMs);
    const entered = entering === true || (await entering);
    if (entered !== true) return entered;
    const finding = options.addressOf(host);
    const place = finding && (await finding);
    if (place && ask.meter) (ask.meter.servers ??= new Map()).set(site, serverAt(place.address, place.rules));
    const shared = place && place.address !== site ? gates.line(place.address, place.rules) : undefined;
    if (place && shared) {
      const sharedEntered = await gates.enter(place.address, shared, ask, shared.rules.spacingMs);
      if (sharedEntered !== true) {
        own.gate.turnBack();
        gates.pump(own);
        return sharedEntered;
      }
    }
    const turnBack = (): void => {
      for (const line of [own, shared]) {
        line?.gate.turnBack();
        if (line) gates.pump(line);
      }
    };
    const leave = ask.mayAsk ? await ask.mayAsk(site) : true;
    if (leave !== true) {
      turnBack();
      return leave === 'later' ? leave : withdrawn(site, clock.nowMs());
    }
    const sharedNoted = place && shared && gates.noted(place.address, shared, ask, shared.rules.spacingMs);
    const noting = bothNoted(gates.noted(site, own, ask, spacingMs), sharedNoted);
    const noted = noting === true || (await noting);
    // While it waited, for its server's turn or for the note, quiet hours may have begun.
    const quiet = isQuiet(own, clock.nowMs()) || (shared !== undefined && isQuiet(shared, clock.nowMs()));
    if (!noted || quiet) {
      turnBack();
      return gates.putOff(own, ask, spacingMs);
    }
    if (shared) {
      gates.begin(shared, shared.rules.spacingMs);
      gates.pump(shared);
    }
    gates.begin(own, spacingMs);
    if (own.rules.connections > 1) gates.pump(own);
    if (ask.meter) ask.meter.lastAtMs = clock.nowMs();
    const answer = await inner(ask);
    const wentOut = answer.kind !== 'failed' || answer.fault.code !== 'address-refused';
    if (ask.meter && wentOut) ask.meter.requests++;
    const seenMs = answer.kind === 'answered' ? answer.answeredAtMs : clock.nowMs();
    gates.left(site, own, ask, seenMs, spacingMs);
    const wasFailing = own.gate.keepsFailing;
    const judged = judge(own.gate, ask, answer, spacingMs, clock.nowMs(), options.random());
    if (wasFailing && !own.gate.keepsFailing) gates.recoveries++;
    if (place && shared) {
      gates.left(place.address, shared, ask, seenMs, shared.rules.spacingMs);
      gates.pump(shared);
    }
    gates.pump(own);
    return judged;
  }
}

/** Nothing is known of the site by that: whoever else has a turn there may ask it. */
function withdrawn(site: string, nowMs: number): Answer {
  const why = fault('stopped', 'the look was ended before it was done');
  return { kind: 'refused', fault: why, untilMs: nowMs, siteClosed: { site, untilMs: nowMs }, bytesReceived: 0 };
}

/** Whether the next process must know when the site was asked: by the spacing alone it would not keep from asking too soon. */
const isNoted = ({ cap }: SiteRules, { noted }: Ask, spacingMs: number): boolean =>
  noted === true || cap !== undefined || spacingMs > unnotedSpacingMsMax;

const isQuiet = ({ rules }: Line, nowMs: number): boolean => rules.quietUntilMs?.(nowMs) !== undefined;

type Noted = true | Promise<boolean>;

/** At once where neither has to be waited for, which is nearly always. */
function bothNoted(own: Noted, shared: Noted = true): Noted {
  return own === true && shared === true ? true : Promise.all([own, shared]).then((all) => all.every(Boolean));
}

function serverAt(address: string, { spacingMs, connections, cap }: SiteRules): SiteServer {
  return { address, spacingMs, connections, ...(cap ? { cap } : {}) };
}

/** Faults that say nothing of the site's health. */
const notTheSite = new Set([
  'stopped',
  'address-refused',
  'body-too-large',
  'encoding-refused',
  'encoding-broken',
  'body-truncated',
  'proxy-failed',
]);

function judge(gate: Gate, ask: Ask, answer: Answer, spacingMs: number, nowMs: number, random: number): Answer {
  if (answer.kind === 'refused') return answer;
  if (answer.kind === 'failed') {
    if (!notTheSite.has(answer.fault.code)) gate.failed(nowMs, random);
    return answer;
  }
  if (answer.status === 429 || answer.status === 503) {
    gate.turnedAway(nowMs, retryAfterMs(answer.headers, nowMs), random);
    return {
      kind: 'refused',
      fault: fault('turned-away', `${answer.url.host} answers ${answer.status} and is left alone for a while`),
      untilMs: gate.promise(gate.closedUntilMs, spacingMs, spreadMsMax, random),
      siteClosed: { site: siteOf(ask.url.hostname), untilMs: gate.closedUntilMs },
      bytesReceived: answer.bytesReceived,
    };
  }
  // An error for robots.txt alone has a meaning of its own, which is no trouble of the site.
  if (answer.status < 500) gate.succeeded();
  else if (ask.purpose !== 'robots') gate.failed(nowMs, random);
  return answer;
}
