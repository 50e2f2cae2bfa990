import type { Change, Projection } from './change.ts';
import type { Fault } from './fault.ts';
import type { PlannedDelivery } from './outbox.ts';
import type { Page } from './page.ts';
import type { Validators } from './probe.ts';

/**
 * The state of a page as the last looks left it:
 * - `new`: never seen; the next readable answer is its first version.
 * - `present`: our copy is of the last readable answer.
 * - `gone`: the server says it is not there (404, 410); told once, looked at further, `returned` when it comes back.
 * - `unreadable`: an answer came that is no copy of the page (nothing selected, a login, a bot wall); told once.
 * Failures and refusals leave the state as it is: they say nothing about the page, only about the look.
 */
export type PageStatus = 'new' | 'present' | 'gone' | 'unreadable';

/** What the store remembers of a page between looks, beside its settings. */
export interface PageState {
  readonly status: PageStatus;
  readonly version: number;
  /** The last version that was told, or the first. */
  readonly toldVersion: number;
  readonly hash?: string;
  readonly validators: Validators;
  readonly lastLookMs?: number;
  /** When we last knew that our copy was the page. */
  readonly lastSeenMs?: number;
  readonly lastChangeMs?: number;
  /** What went wrong at the last look, if anything did; gone with the next good look. */
  readonly fault?: Fault;
  readonly failures: number;
  readonly looks: number;
  readonly changes: number;
  readonly movedTo?: string;
  readonly seenTitle?: string;
  /** What the policy learned of the page. */
  readonly model?: Uint8Array;
  /** What detection remembers between looks (noise, what was last told). */
  readonly detectState?: string;
  /** How the page was last read for the pages that it lists (`reading.ts`); absent where it never was. */
  readonly revealed?: string;
}

/** The state of a page whose user gave it another URL: what the old one's server said of itself is nothing to the new one. */
export function atNewUrl({ movedTo: _movedTo, revealed: _revealed, ...state }: PageState): PageState {
  return { ...state, validators: {} };
}

export interface WatchedPage {
  readonly page: Page;
  readonly state: PageState;
}

/** Everything one look says about one page. It is kept whole or not at all. */
export interface Look {
  readonly pageId: string;
  readonly probeId: string;
  readonly atMs: number;
  readonly endedAtMs: number;
  readonly kind: LookKind;
  readonly bytesReceived: number;
  readonly state: PageState;
  /** The state is what it was but for its times, its number of looks and its model: most looks leave it so. */
  readonly asBefore?: true;
  /** The look that this one was compared with. Where several share a store, a look is kept only behind that one. */
  readonly after?: Pick<PageState, 'looks' | 'lastLookMs'>;
  /** The new version, when there is one. */
  readonly projection?: Projection;
  /** What its changes are known by, where that is not its probe. */
  readonly cause?: string;
  /** The entry for the log of changes, without what only the store can give it. */
  readonly change?: Omit<Change, 'sequence' | 'id'>;
  /** The page as it came, where it is kept beside the projection. */
  readonly raw?: string;
  /** Who is told of the change, and when. */
  readonly deliveries?: readonly PlannedDelivery[];
}

export type LookKind = 'first' | 'changed' | 'unchanged' | 'gone' | 'unreadable' | 'refused' | 'failed';

export const lookKinds: readonly LookKind[] = [
  'first',
  'changed',
  'unchanged',
  'gone',
  'unreadable',
  'refused',
  'failed',
];
