import type { Fault } from './fault.ts';
import type { WatchedPage } from './look.ts';
import type { Probe, Validators } from './probe.ts';

/** What came back from one probe, and how long it took. */
export interface Observation {
  readonly probe: Probe;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly outcome: Outcome;
  /** Where the answer came from after redirects, when that is not the probe's URL. */
  readonly finalUrl?: string;
  /** Where the page has moved for good (301 and 308 all the way). */
  readonly movedTo?: string;
  /** Bytes over the wire, both ways, as far as known. */
  readonly bytesReceived: number;
  /** Requests that went out for it: robots.txt and each redirect count. 0 when politeness kept it back. */
  readonly requests: number;
  /** What the site asks for by robots.txt (Crawl-delay), where that is known. */
  readonly crawlDelayMs?: number;
  /** Sitemaps that robots.txt names, where the probe asks for them and there are any. */
  readonly sitemaps?: readonly string[];
  /** What robots.txt of the probe's origin says, from one who looks elsewhere, where the probe asks for it: the rules that decide first. */
  readonly robots?: RobotsUnderstood['rules'];
  /** From asking to the first byte of the last answer: what the site's speed looks like from here. */
  readonly latencyMs?: number;
  /** Whoever looked stays there for so long, looks on by itself and tells of changes: nobody need ask before. */
  readonly watchedForMs?: number;
  /** Looks since the last that was told of, before this one, that found nothing new. */
  readonly unchangedLooks?: number;
  /** How long after it was made an observer told of the look: it was without its link, or had more to tell. */
  readonly toldAfterMs?: number;
  /** What the observer that tells of it calls it: however often and with whichever probe that comes, it is one finding. */
  readonly finding?: string;
  /** It was made before others looked at the page and told of after that. */
  readonly overtaken?: Overtaking;
  /** How long its requests waited for their turn at the wire. */
  readonly heldMs?: number;
  /** Where the site stands, as far as that was seen. */
  readonly server?: SiteServer;
}

export interface Overtaking {
  /** Whether more of the kind is to be told. */
  readonly more: boolean;
  /** The observer that saw it while it was only tried at the site: it is told where no version of the page is like it, and says who saw it. */
  readonly triedFrom?: string;
  /** Nobody vouches for whoever saw it, or for when: it is told only where the page has changed again after it, by our own looks, and no version of it is like it. */
  readonly doubted?: true;
  /** It may have been seen by so much earlier than is said: for so long its message may have been under way. */
  readonly earlierMs?: number;
}

/**
 * When the look was made. What somebody says of the past is believed as far as it fits: not before the page was there, nor
 * before its last look, as looks are told of in their order.
 */
export function lookedAtMs({ startedAtMs, toldAfterMs }: Observation, { page, state }: WatchedPage): number {
  if (toldAfterMs === undefined) return startedAtMs;
  const earliestMs = Math.max(page.addedAtMs, (state.lastLookMs ?? -Infinity) + 1);
  return Math.round(Math.min(startedAtMs, Math.max(earliestMs, startedAtMs - toldAfterMs)));
}

/** The address at which a site was reached, where others may stand as well, and how requests to all of them are spaced. */
export interface SiteServer {
  readonly address: string;
  readonly spacingMs: number;
  readonly connections: number;
  readonly cap?: { readonly count: number; readonly periodMs: number };
}

export type Outcome =
  | {
      readonly kind: 'fetched';
      readonly status: number;
      readonly body: Uint8Array;
      /** Media type in lower case without parameters, such as text/html. */
      readonly mediaType: string | undefined;
      /** The charset parameter of the Content-Type header, if any; the body may say otherwise. */
      readonly charset: string | undefined;
      readonly validators: Validators;
      /** HTTP caching lifetime in seconds, if stated. */
      readonly maxAgeSeconds?: number;
      /** The hub that tells of changes (WebSub), if one is named. */
      readonly hub?: Hub;
    }
  | { readonly kind: 'not-modified'; readonly maxAgeSeconds?: number }
  | { readonly kind: 'gone'; readonly status: number }
  /** Not sent, or turned away: politeness, robots.txt, an address we do not visit, 429 or 503, no place in the browser for now. */
  | {
      readonly kind: 'refused';
      readonly fault: Fault;
      /** When this page may come again, if that is known. */
      readonly untilMs?: number;
      /** When its site may be asked again, if the whole site is meant. */
      readonly siteUntilMs?: number;
      /** The site that the page leads to, where that one is meant and not its own. */
      readonly elsewhere?: SiteClosed;
      /** Whoever looked may not visit it, and another may. */
      readonly onlyHere?: true;
    }
  /** `untilMs`: before then, nothing is asked for, as its robots.txt cannot be read. */
  | { readonly kind: 'failed'; readonly fault: Fault; readonly untilMs?: number };

export interface SiteClosed {
  readonly site: string;
  readonly untilMs: number;
}

export interface Hub {
  readonly hub: string;
  /** What the hub knows the page as. */
  readonly topic: string;
}

export interface RobotsUnderstood {
  readonly crawlDelayMs: number | undefined;
  readonly sitemaps: readonly string[];
  /**
   * `unread` until somebody had to know; `unreachable` means that nothing may be visited; `elsewhere` that robots read it by
   * themselves, and tell of it only how the site wants to be spaced.
   */
  readonly state?: 'unread' | 'unreachable' | 'read' | 'elsewhere';
  readonly rules?: readonly { readonly allow: boolean; readonly path: string }[];
}

/**
 * How far the clock was set, by all that was ever noticed. What politeness keeps over restarts is kept by the time it would be had
 * nobody set it, and so means the same whatever is set between two processes.
 */
export type ClockSetByMs = number;

/** When requests went out to sites that have a cap or are widely spaced, over restarts. */
export interface CapBook {
  /**
   * A request is about to go out; with it, these are the last ones, as many as the cap counts and at least one. False where that could not be kept: then
   * it must not go out, since a process that follows would not know of it.
   */
  counted(site: string, startsMs: readonly number[]): true | Promise<boolean>;
  /** Nothing is on its way to the site any more: these are the last requests, as its server saw them. */
  seen(site: string, seenMs: readonly number[]): void;
  /** What earlier processes asked of the site. */
  recall(site: string): Promise<readonly number[]>;
  /** A robots.txt was read, which whoever follows need not read again. */
  robotsRead(): void;
}

/** A site that is spaced by more is one of those: for less, a process that follows waits rather than know. */
export const unnotedSpacingMsMax = 5_000;

/**
 * Leave to ask, where somebody else gives it. It is heard before each request of a look, when its turn has come, with the site that is to
 * be asked: where it says no, the look ends there, refused, and where it says later, that site is left alone for now. `isCurrent` tells at once
 * whether it has ended since, as it may have while a connection was made.
 */
export type MayAsk = ((site?: string) => Promise<boolean | 'later'>) & { readonly isCurrent?: () => boolean };

/** Whoever carries probes out: the real web, a simulated one, a robot elsewhere. It answers every probe and never throws. */
export interface Observer {
  observe(probe: Probe, signal?: AbortSignal, mayAsk?: MayAsk): Promise<Observation>;
  /** Probes outlive the process that sent them: given the same probe again, the answer to the first comes. */
  readonly outlives?: boolean;
  /** What politeness knows of a site, where the observer keeps it itself. */
  standing?(site: string): { readonly closedUntilMs: number; readonly failures: number } | undefined;
  /** Who cannot be reached and may be looking at the site: it is asked by nobody else until then. */
  awaited?(site: string): { readonly why: string; readonly untilMs: number } | undefined;
  /** An origin's robots.txt as it was understood, where the observer reads it itself. */
  robotsOf?(origin: string): RobotsUnderstood;
  /** Whether robots.txt allows the URL, as far as it was read and is not too long to be asked for many URLs at once. */
  allows?(url: string): boolean | undefined;
  /**
   * What politeness has learned and a restart must not forget; undefined while that is what was saved last, or, where only what
   * cannot wait is wanted, while no robots.txt was read since and no site has recovered.
   */
  save?(ifPressing?: boolean): Uint8Array | undefined;
  /** Takes it up again, if anything was saved; answers the Crawl-delay of each site that asks for one. */
  restore?(saved: Uint8Array | undefined, clockSetByMs: ClockSetByMs): ReadonlyMap<string, number>;
  /** Requests to sites that have a cap or are widely spaced are counted there, so that a restart knows of them. */
  countIn?(book: CapBook): void;
  /** The site is to be left alone until then, by what an earlier process heard. */
  leaveAlone?(closed: SiteClosed): void;
  /** Until then an earlier process asked, and nobody knows all whom: a redirect or a shared server may have led to anybody. */
  askedUntil?(atMs: number): void;
  /** Sends a form, guarded and polite as every request; answers the status, or undefined when there was no answer. */
  submit?(url: string, form: Readonly<Record<string, string>>): Promise<number | undefined>;
  close(): Promise<void>;
}
