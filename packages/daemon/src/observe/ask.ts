/** What passes between the wrappers round one request: an Ask goes in, an Answer comes out. */
import type { Fault } from '../values/fault.ts';
import type { MayAsk, SiteClosed, SiteServer } from '../values/observation.ts';
import type { Validators } from '../values/probe.ts';

export interface Ask {
  readonly url: URL;
  /** Beyond what every request carries, names in lower case. May hold credentials: never logged. */
  readonly headers: Readonly<Record<string, string>>;
  /** Sent only to the URL that issued them. */
  readonly validators?: Validators;
  /** A page, a part of a rendered page, or the site's robots.txt. */
  readonly purpose: 'page' | 'part' | 'robots' | 'form';
  /** Sent as a form (POST), where there is one. */
  readonly form?: Readonly<Record<string, string>>;
  /** What robots.txt asks for beyond the operator's spacing. */
  readonly crawlDelayMs?: number;
  /** Longest wait in the site's line, where that is not the usual; a site that is closed is waited for no longer than usual. */
  readonly patienceMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Whether it may go out still, now that its turn has come. */
  readonly mayAsk?: MayAsk | undefined;
  /** Requests for it are noted as they go out, however its site is spaced: whoever dispatched it has told the next process so. */
  readonly noted?: true | undefined;
  /** Counts what goes out for this ask, over all its hops. */
  readonly meter?: Meter | undefined;
}

export interface Meter {
  requests: number;
  /** When the last of them went out. */
  lastAtMs: number;
  /** How long they took, each from asking to the last byte. */
  wireMs: number;
  /** How long they waited for their turn, and how many do now. */
  heldMs: number;
  waiting: number;
  /** Where the sites that were asked stand, as far as that was seen. */
  servers: Map<string, SiteServer> | undefined;
}

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

export type Answer =
  | {
      readonly kind: 'answered';
      readonly url: URL;
      readonly status: number;
      readonly headers: Headers;
      /** Decompressed. */
      readonly body: Uint8Array;
      readonly bytesReceived: number;
      readonly askedAtMs: number;
      /** When the first byte came. */
      readonly answeredAtMs: number;
      /** Where the page has moved for good, when every redirect on the way was permanent. */
      readonly movedTo?: string;
      readonly crawlDelayMs?: number | undefined;
    }
  /** Not sent, or turned away for now. */
  | {
      readonly kind: 'refused';
      readonly fault: Fault;
      readonly untilMs?: number;
      /** Set when a whole site is meant: that of the URL, or of where it redirects to. */
      readonly siteClosed?: SiteClosed;
      readonly bytesReceived: number;
    }
  | {
      readonly kind: 'failed';
      readonly fault: Fault;
      /** When it is tried again, where nothing is asked for before. */
      readonly untilMs?: number;
      readonly bytesReceived: number;
    };

export type Answered = Extract<Answer, { kind: 'answered' }>;

/** One way to the web, or a wrapper round another. */
export type Visit = (ask: Ask) => Promise<Answer>;

/**
 * The user agent of a request: where the operator gave a page or site one, that, followed by our own, so that whoever reads a server's
 * log always sees who asks and whom to write to.
 */
export function agentFor(headers: Ask['headers'], ownAgent: string): string {
  const given = headers['user-agent']?.trim();
  return given === undefined || given === '' ? ownAgent : `${given} ${ownAgent}`;
}

/** Of a header that may stand in several lines, all of it, as one list (RFC 9110, 5.3). */
export function listOf(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

export function headerOf(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
