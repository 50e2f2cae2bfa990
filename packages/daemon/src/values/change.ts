import type { Fault } from './fault.ts';

/** The selected part of a page as text, the form in which it is compared, kept and shown. */
export interface Projection {
  readonly text: string;
  readonly format: 'text' | 'html' | 'json' | 'items' | 'number';
  readonly title?: string;
}

/** What comparing one observation with what was known says of one page. */
export type Detection =
  /** The first copy, or the first under new settings: kept as a version, told to nobody. */
  | { readonly kind: 'first'; readonly projection: Projection }
  /**
   * A new version. `count` is how many changes the look revealed, where items are told apart. With `quiet` the version is
   * kept and learned from, but no entry goes into the log: what was asked for telling is not (yet) met.
   */
  | {
      readonly kind: 'changed';
      readonly projection: Projection;
      readonly count: number;
      readonly summary: string;
      readonly quiet?: string;
      /** Something told before has happened again: what differs is said against the last version, not the last told one. */
      readonly since?: 'last';
    }
  /** No new version. With `late`, what was kept quietly before is to be told now: a second look has confirmed it. */
  | {
      readonly kind: 'unchanged';
      readonly late?: { readonly count: number; readonly summary: string; readonly since?: 'last' };
    }
  /**
   * The answer is no copy of the page: selector matches nothing, login page, bot wall, JSON turned into HTML. Said on the
   * page once; `again` when the last look already met the same.
   */
  | { readonly kind: 'unreadable'; readonly fault: Fault; readonly again: boolean };

export const changeKinds = ['changed', 'gone', 'returned', 'moved', 'discovered', 'trouble'] as const;

/** One entry of the log of changes: every change once, in order. */
export interface Change {
  /** Position in the log, from 1, without holes; also the cursor. */
  readonly sequence: number;
  /** Stable for ever; deliveries carry it. */
  readonly id: string;
  readonly pageId: string;
  readonly url: string;
  readonly site: string;
  readonly title?: string;
  readonly tags: readonly string[];
  readonly kind: (typeof changeKinds)[number];
  /** When we saw it, and when we had last seen the page without it. */
  readonly atMs: number;
  readonly afterMs?: number;
  /** Version numbers within the page, from 1. */
  readonly fromVersion?: number;
  readonly toVersion?: number;
  readonly count: number;
  readonly summary: string;
}

/** What a filter by kind finds an entry under: a page that moved and says something else there is told of in one, which is both. */
export function kindsOf({ kind, toVersion }: Pick<Change, 'kind' | 'toVersion'>): readonly Change['kind'][] {
  return kind === 'moved' && toVersion !== undefined ? ['moved', 'changed'] : [kind];
}
