/** Other processes on the same store, each of which looks after a part of the pages and alone knows what is planned for it. */
import type { Fault } from './fault.ts';
import type { WatchedPage } from './look.ts';

/** What one asks the others: by a name that all of them know, with plain values. */
export interface Question {
  readonly kind: string;
  readonly given: unknown;
}

export interface Answers {
  readonly answers: readonly unknown[];
  /** How many of the others did not answer in time. */
  readonly missing: number;
}

/** Of pages that somebody wants to be looked at, those that there are; or why that could not be kept. */
export type Wished =
  | { readonly kind: 'kept'; readonly value: readonly string[] }
  | { readonly kind: 'failed'; readonly fault: Fault };

export interface Elsewhere {
  /** Pages that the others look after. */
  pages(): AsyncIterable<readonly WatchedPage[]>;
  /**
   * Somebody wants these pages to be looked at: kept until they are, whoever looks after them then. Said before anybody is asked
   * to look.
   */
  wish(ids: readonly string[], hurried: boolean): Promise<Wished>;
  /** Whoever looks after these pages looks as soon as politeness allows. */
  probeNow(ids: readonly string[]): void;
  /** They are waited for as long as somebody before a screen waits, or for as long as is said. */
  ask(question: Question, patienceMs?: number): Promise<Answers>;
  /** Who answers here what the others ask; undefined is no answer. */
  answerWith(answer: (question: Question) => Promise<unknown>): void;
}
