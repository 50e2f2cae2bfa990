/** Who is there of the observers: heard from, with links that are measured, and believed or not. */
import type { NatsConnection } from '@nats-io/transport-node';
import type { Clock } from 'revisit/ports';
import { subjects } from '../dispatch/streams.ts';
import { Measured } from './vantage-points.ts';

/** An observer that says nothing for so long is away; it speaks every two seconds. */
const awayMs = 7_000;
const askMsMax = 2_000;
/** How much is sent to see what a byte takes, how many times, and how often when that is known: it is the larger part of an idle link. */
const sizedBytes = 16_384;
const sizedOften = 3;
const sizeEveryMs = 10 * 60_000;
/** Strikes after which an observer is not believed, and for how long. */
const strikesMax = 3;
const disbeliefMs = 86_400_000;
export interface Word {
  /** When it was said, by the observer's clock. */
  readonly atMs: number;
  readonly places: number;
  readonly looks: number;
  readonly reports: number;
  readonly wholeBytes: number;
  readonly sentBytes: number;
  readonly stirred: readonly string[];
  /** Which process says it (life.ts). */
  readonly life?: string;
  /** It is its last: nobody looks from there any more, and nothing is untold. */
  readonly leaves?: boolean;
}

/** What came as a word, if it is one: whoever has a key can say anything. */
export function readWord(text: string): Word | undefined {
  try {
    const word = JSON.parse(text) as Word;
    const { atMs, places, looks, reports, wholeBytes, sentBytes, stirred } = word;
    const whole = [atMs, places, looks, reports, wholeBytes, sentBytes].every(Number.isFinite);
    return whole && Array.isArray(stirred) && stirred.every((id) => typeof id === 'string') ? word : undefined;
  } catch {
    return undefined;
  }
}

export interface Member {
  readonly name: string;
  /** When it was first heard of; bytes, looks and reports are counted from then on. */
  readonly sinceMs: number;
  heardMs: number;
  word: Word;
  readonly latency: Measured;
  readonly secondsPerByte: Measured;
  /** How often and when the link was last measured with a large message. */
  sized: number;
  sizedMs: number;
  strikes: number;
  disbelievedUntilMs: number;
  errandBytes: number;
  reportBytes: number;
  wholeBytes: number;
  looks: number;
  reports: number;
}

export interface RosterParts {
  readonly clock: Clock;
  readonly connection: NatsConnection;
  readonly log: (level: 'info' | 'warn', message: string, fields?: Record<string, unknown>) => void;
}

export class Roster {
  readonly #parts: RosterParts;
  readonly #members = new Map<string, Member>();

  constructor(parts: RosterParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#members.size;
  }

  all(): readonly Member[] {
    return [...this.#members.values()];
  }

  get(name: string): Member | undefined {
    return this.#members.get(name);
  }

  heard(name: string, word: Word): void {
    const heardMs = word.leaves ? -Infinity : this.#parts.clock.nowMs();
    const known = this.#members.get(name);
    if (known) Object.assign(known, { heardMs, word });
    else {
      this.#members.set(name, {
        name,
        sinceMs: this.#parts.clock.nowMs(),
        heardMs,
        word,
        latency: new Measured('delay'),
        secondsPerByte: new Measured(),
        sized: 0,
        sizedMs: -Infinity,
        strikes: 0,
        disbelievedUntilMs: -Infinity,
        errandBytes: 0,
        reportBytes: 0,
        wholeBytes: 0,
        looks: 0,
        reports: 0,
      });
      this.#parts.log('info', 'an observer is there', { observer: name });
    }
  }

  /** Measures the link to every observer that is there. */
  async measure(): Promise<void> {
    const nowMs = this.#parts.clock.nowMs();
    const there = [...this.#members.values()].filter((member) => nowMs - member.heardMs < awayMs);
    await Promise.all(there.map((member) => this.#measureOne(member)));
  }

  async #measureOne(member: Member): Promise<void> {
    const timed = async (bytes: number): Promise<number> => {
      const beganMs = performance.now();
      await this.ask(member.name, { echo: 'x'.repeat(bytes) });
      return (performance.now() - beganMs) / 1000;
    };
    try {
      const small = await timed(0);
      member.latency.learn(small / 2);
      const nowMs = this.#parts.clock.nowMs();
      if (member.sized >= sizedOften && nowMs - member.sizedMs < sizeEveryMs) return;
      member.secondsPerByte.learn(Math.max(0, (await timed(sizedBytes)) - small) / sizedBytes);
      member.sized++;
      member.sizedMs = nowMs;
    } catch {
      // It is away, which its silence will show.
    }
  }

  async ask<Answer>(name: string, words: unknown): Promise<Answer> {
    const { connection } = this.#parts;
    const answer = await connection.request(subjects.ask(name), JSON.stringify(words), { timeout: askMsMax });
    return answer.json<Answer>();
  }

  standing(member: Member): 'there' | 'away' | 'disbelieved' {
    const nowMs = this.#parts.clock.nowMs();
    if (member.disbelievedUntilMs > nowMs) return 'disbelieved';
    return nowMs - member.heardMs < awayMs ? 'there' : 'away';
  }

  isThere(name: string): boolean {
    const member = this.#members.get(name);
    return member !== undefined && this.standing(member) === 'there';
  }

  /** Whether it has said that it looks at nothing any more. */
  hasLeft(name: string): boolean {
    return this.#members.get(name)?.word.leaves === true;
  }

  strike(member: Member, why: string): undefined {
    member.strikes++;
    this.#parts.log('warn', 'an observer is not believed', { observer: member.name, why, strikes: member.strikes });
    if (member.strikes < strikesMax) return undefined;
    member.strikes = 0;
    member.disbelievedUntilMs = this.#parts.clock.nowMs() + disbeliefMs;
    return undefined;
  }
}
