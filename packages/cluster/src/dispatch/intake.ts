/**
 * Messages of a work queue, as many at once as can be worked on: what waits, waits where others can take it. More is asked
 * for while some of it is on its way, so that no place stays free until a request has run out. What the queue does not hand on,
 * the coordinators are asked for by hand.
 */
import { type Consumer, type ConsumerInfo, type FetchMessages, type JsMsg, jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Clock } from 'revisit/ports';
import { askByHand } from './by-hand.ts';
import { type HandedKind, pullMs } from './streams.ts';

/** What is to be done, whichever way it came. */
export interface Task {
  readonly data: Uint8Array;
  /** Somebody was given it before. */
  readonly again: boolean;
  readonly byHand: boolean;
  /** Says that it is being done. */
  working(): void;
  /** Nobody else is to do it. */
  done(): void;
}

export interface IntakeParts {
  readonly connection: NatsConnection;
  readonly clock: Clock;
  /** Who asks by hand, and for what. */
  readonly name: string;
  readonly kind: HandedKind;
  readonly stream: string;
  readonly consumer: string;
  /** Messages under way at once. */
  readonly breadth: number;
  readonly work: (task: Task) => Promise<void>;
  /** No messages can be had, said once; and again they can. */
  readonly trouble: (error: Error) => void;
  readonly mended?: () => void;
}

/** Between two tries to reach the queue while the servers are away. */
const restMs = 500;
const restMsMax = 4 * restMs;
/** How often the coordinators are asked by hand, while the queue hands messages on and while it does not. */
const byHandEveryMs = 1_000;
const byHandInTroubleMs = 300;
/** How long one that leaves goes on with what it has begun; what is left then is handed back by the next. */
const leaveMsMax = 20_000;

export class Intake {
  readonly #parts: IntakeParts;
  #underWay = 0;
  /** Messages that were asked for and have not come. */
  #askedFor = 0;
  #freed: () => void = () => {};
  /** Requests in a row that failed. */
  #failures = 0;

  constructor(parts: IntakeParts) {
    this.#parts = parts;
  }

  /** Works until the signal, then finishes what it has begun. */
  async run(signal: AbortSignal): Promise<void> {
    const { connection, stream, consumer: name, breadth, clock } = this.#parts;
    // Whoever takes messages may pull and nothing else, so it asks for no more than the names.
    const names = { stream_name: stream, name, config: {} } as ConsumerInfo;
    const consumer = jetstream(connection).consumers.getConsumerFromInfo(names);
    const leave = (): void => this.#freed();
    signal.addEventListener('abort', leave, { once: true });
    void this.#takeByHand(signal);
    while (!signal.aborted) {
      const room = breadth - this.#underWay - this.#askedFor;
      if (room >= Math.min(breadth, 1 + breadth / 8)) void this.#pull(consumer, room, signal);
      else await new Promise<void>((resolve) => (this.#freed = resolve));
    }
    // Requests that stand are let run out, so that nothing is sent here in vain; without a link they never would.
    const leftMs = clock.nowMs();
    const waits = (most: number): boolean => clock.nowMs() - leftMs < most;
    while ((this.#underWay > 0 && waits(leaveMsMax)) || (this.#askedFor > 0 && waits(pullMs + restMs)))
      await Promise.race([new Promise<void>((resolve) => (this.#freed = resolve)), clock.sleep(restMs)]);
  }

  async #pull(consumer: Consumer, room: number, signal: AbortSignal): Promise<void> {
    let left = room;
    this.#askedFor += room;
    try {
      for await (const message of await consumer.fetch(pullOf(room))) {
        left--;
        this.#askedFor--;
        this.#mended();
        this.#begin(taskOf(message));
      }
      this.#mended();
    } catch (error) {
      const often = this.#failures++;
      if (often === 0) this.#parts.trouble(error as Error);
      await this.#parts.clock.sleep(Math.min(restMsMax, restMs * 2 ** often), signal);
    }
    this.#askedFor -= left;
    this.#freed();
  }

  #mended(): void {
    if (this.#failures > 0) this.#parts.mended?.();
    this.#failures = 0;
  }

  /** Places that were promised to the queue are taken as free: what it hands on meanwhile waits here for a moment. */
  async #takeByHand(signal: AbortSignal): Promise<void> {
    const { clock, breadth } = this.#parts;
    while (!signal.aborted) {
      await clock.sleep(this.#failures > 0 ? byHandInTroubleMs : byHandEveryMs, signal);
      if (signal.aborted) return;
      // Also without a free place: it says besides who is alive.
      await askByHand(this.#parts, breadth - this.#underWay, (data) => {
        if (!signal.aborted) this.#begin({ data, again: false, byHand: true, working: () => {}, done: () => {} });
      });
    }
  }

  #begin(task: Task): void {
    this.#underWay++;
    void this.#parts.work(task).finally(() => {
      this.#underWay--;
      this.#freed();
    });
  }
}

function taskOf(message: JsMsg): Task {
  const again = message.info.deliveryCount > 1;
  return { data: message.data, again, byHand: false, working: () => message.working(), done: () => message.ack() };
}

/** Bound: no more is asked about the queue than the next messages, which is all that a robot may ask. */
function pullOf(messages: number): FetchMessages {
  const options: FetchMessages & { readonly bind: boolean } = { max_messages: messages, expires: pullMs, bind: true };
  return options;
}
