/** Other processes on the same store, each of which looks after a part of the pages and alone knows what is planned for it. */
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

export interface Elsewhere {
  /** Pages that the others look after. */
  pages(): AsyncIterable<readonly WatchedPage[]>;
  /** Whoever looks after these pages looks as soon as politeness allows. */
  probeNow(ids: readonly string[]): void;
  /** They are waited for as long as somebody before a screen waits, or for as long as is said. */
  ask(question: Question, patienceMs?: number): Promise<Answers>;
  /** Who answers here what the others ask; undefined is no answer. */
  answerWith(answer: (question: Question) => Promise<unknown>): void;
}
