/**
 * Questions between coordinators, each of which answers for the shards that it holds. Whoever is away does not answer, and is
 * waited for no longer than somebody before a screen waits.
 */
import { type NatsConnection, headers } from '@nats-io/transport-node';
import type { Answers, Elsewhere, Question } from 'revisit/ports';
import { subjects } from './streams.ts';
import { packPlain, unpackPlain } from './wire.ts';

const answerMsMax = 2_000;
/** NATS takes messages of 1 MB unless it is told otherwise; what is larger is not said. */
const answerBytesMax = 1_000_000;

type Answering = Parameters<Elsewhere['answerWith']>[0];

export class Asking {
  readonly #nats: NatsConnection | undefined;
  readonly #self: string;
  readonly #others: () => number;
  readonly #linked: () => boolean;
  #answer: Answering = () => Promise.resolve(undefined);

  /** `others`: how many there are. `linked`: whether they can be asked. */
  constructor(nats: NatsConnection | undefined, self: string, others: () => number, linked: () => boolean) {
    this.#linked = linked;
    this.#nats = nats;
    this.#self = self;
    this.#others = others;
  }

  answerWith(answer: Answering): void {
    this.#answer = answer;
  }

  /** Answers until the function that it returns is called. */
  hear(): () => void {
    const ears = this.#nats?.subscribe(subjects.part, {
      callback: (error, message) => {
        if (error || message.headers?.get('from') === this.#self) return;
        void this.#said(message.data).then((answer) => answer && message.respond(answer));
      },
    });
    return () => ears?.unsubscribe();
  }

  async #said(asked: Uint8Array): Promise<Uint8Array | undefined> {
    const question = unpackPlain(asked) as Partial<Question> | undefined;
    if (typeof question?.kind !== 'string') return undefined;
    try {
      const answer = packPlain({ said: await this.#answer({ kind: question.kind, given: question.given }) });
      return answer.length <= answerBytesMax ? answer : undefined;
    } catch {
      // Of another version than this one, it asks for what there is not.
      return undefined;
    }
  }

  async ask(question: Question, patienceMs = answerMsMax): Promise<Answers> {
    const others = this.#others();
    const answers: unknown[] = [];
    let heard = 0;
    if (others > 0 && this.#nats && !this.#nats.isClosed() && this.#linked()) {
      const about = headers();
      about.set('from', this.#self);
      const wanted = { strategy: 'count', maxMessages: others, maxWait: patienceMs, headers: about } as const;
      try {
        for await (const message of await this.#nats.requestMany(subjects.part, packPlain(question), wanted)) {
          const answer = unpackPlain(message.data) as { readonly said?: unknown } | undefined;
          if (!answer) continue;
          heard++;
          if (answer.said !== undefined) answers.push(answer.said);
        }
      } catch {
        // The servers are away: nobody was heard.
      }
    }
    return { answers, missing: Math.max(0, others - heard) };
  }
}
