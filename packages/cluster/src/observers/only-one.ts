/**
 * One observer of a name: two would each ask as often as one may. Whoever starts, and whoever has its link again, asks whether
 * another is there under its name. Both sides then judge alike which of the two stays, by what each has said of itself:
 *
 *   starting   gives way to one that is at work
 *   at work    nobody of its name answered when it started
 *
 * Between two that are alike their ids decide, which are drawn at random.
 */
import { randomBytes } from 'node:crypto';
import type { NatsConnection } from '@nats-io/transport-node';
import { self } from '../dispatch/leave.ts';
import { subjects } from '../dispatch/streams.ts';

/** A round trip round the world, on a busy machine. */
const answerMsMax = 1_500;

interface Standing {
  readonly who: string;
  readonly starting: boolean;
}

export class OnlyOne {
  readonly #connection: NatsConnection;
  readonly #name: string;
  /** Machines may be called the same, and so may their processes. */
  readonly #who = `${self}-${randomBytes(6).toString('hex')}`;
  #starting = true;
  #giveWay: (sentence: string) => void = () => {};
  /** Resolves with a sentence when this one is to end, because another of its name stays; else never. */
  readonly outdone = new Promise<string>((resolve) => (this.#giveWay = resolve));

  /** Says from now on that it is there. */
  constructor(connection: NatsConnection, name: string) {
    this.#connection = connection;
    this.#name = name;
    connection.subscribe(subjects.ask(name), {
      callback: (error, message) => {
        const other = error ? undefined : whoAsks(message.string());
        if (!other || other.who === this.#who) return;
        message.respond(JSON.stringify(this.#standing()));
        this.#meet(other);
      },
    });
    void this.#askAgain();
  }

  #standing(): Standing {
    return { who: this.#who, starting: this.#starting };
  }

  #meet(other: Standing): void {
    const staysBefore = other.starting === this.#starting ? other.who > this.#who : this.#starting;
    if (!staysBefore) return;
    this.#giveWay(
      `Another observer is at work as ${this.#name} (${other.who}), and two of a name would ask its sites twice as often; end that one, or give this one a name and a key of its own.`,
    );
  }

  /** The other may have come while this one had no link. */
  async #askAgain(): Promise<void> {
    for await (const { type } of this.#connection.status()) if (type === 'reconnect') await this.#ask();
  }

  /** Asks once; whoever is there afterwards is at work. */
  async start(): Promise<void> {
    await this.#ask();
    this.#starting = false;
  }

  async #ask(): Promise<void> {
    const wanted = { strategy: 'timer', maxWait: answerMsMax } as const;
    try {
      const question = JSON.stringify(this.#standing());
      for await (const message of await this.#connection.requestMany(subjects.ask(this.#name), question, wanted)) {
        const other = whoAsks(message.string());
        if (other) this.#meet(other);
      }
    } catch {
      // The servers are away, and nobody can be asked: that is done when they are back.
    }
  }
}

/** Who of the name asks, or says, who is there; undefined where it is about something else. */
export function whoAsks(text: string): Standing | undefined {
  try {
    const { who, starting } = JSON.parse(text) as Partial<Standing>;
    return typeof who === 'string' ? { who, starting: starting === true } : undefined;
  } catch {
    return undefined;
  }
}
