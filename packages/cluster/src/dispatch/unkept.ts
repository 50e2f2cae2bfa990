/**
 * Results that the queue, or whoever brought them by hand, keeps until what follows from them is kept: a coordinator that is killed in
 * between has the next one hear them again, as what a look saw may be gone by the next look.
 *
 * A result is held from its answer on and let go of when its probe has ended in the store; one that comes again meanwhile, because keeping
 * took longer than it is waited for, is held with it, in place of the same piece that came before by the same way.
 */

/** What lets go of a message; one that was only read in the queue has nothing. */
export interface Queued {
  ack?(): void;
  nak?(millis?: number): void;
}

/** By their ways and places. */
export type Messages = ReadonlyMap<string, Queued>;

/** As long as whoever has a result would send it: by then its page has been looked at again, or PostgreSQL is away for good. */
const keepingMsMax = 10 * 60_000;

interface Held {
  readonly probeId: string;
  readonly shard: number;
  readonly sinceMs: number;
  readonly messages: Map<string, Queued>;
}

export class Unkept {
  /** By their ids on their way, oldest first. */
  readonly #held = new Map<string, Held>();
  readonly #ways = new Map<string, string>();

  /** The probe with this id on its way is answered by these messages. */
  hold(id: string, probeId: string, shard: number, messages: Messages, nowMs: number): void {
    this.#held.set(id, { probeId, shard, sinceMs: nowMs, messages: new Map(messages) });
    this.#ways.set(probeId, id);
    for (const [old, { sinceMs }] of this.#held) {
      if (nowMs - sinceMs < keepingMsMax) break;
      this.#end(old);
    }
  }

  /** Whether the message belongs to what is being kept; it is held with it then. */
  again(id: string, way: string, message: Queued): boolean {
    const held = this.#held.get(id);
    // One that is only read there again has nothing to let go of.
    if (message.ack) held?.messages.set(way, message);
    return held !== undefined;
  }

  ended(probeIds: readonly string[]): void {
    for (const probeId of probeIds) {
      const id = this.#ways.get(probeId);
      if (id !== undefined) this.#end(id);
    }
  }

  /** Somebody else has the shard now: whatever was not kept by then is theirs. */
  leave(shard: number): void {
    for (const [id, held] of this.#held) {
      if (held.shard !== shard) continue;
      for (const message of held.messages.values()) message.nak?.();
      held.messages.clear();
      this.#end(id);
    }
  }

  #end(id: string): void {
    const held = this.#held.get(id);
    if (!held) return;
    for (const message of held.messages.values()) message.ack?.();
    this.#held.delete(id);
    this.#ways.delete(held.probeId);
  }
}
