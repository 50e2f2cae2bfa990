/**
 * Results that the queue keeps until what follows from them is kept: a coordinator that is killed in between has the next one hear them
 * again, as what a look saw may be gone by the next look.
 *
 * A result is held from its answer on and let go of when its probe has ended in the store; one that comes again meanwhile, because keeping
 * took longer than the queue waits, is held with it.
 */

/** What came by the queue; what came by hand has nothing to let go of. */
export interface Queued {
  ack?(): void;
  nak?(millis?: number): void;
}

/** Nothing takes so long to keep: what nobody has ended by then is not held any longer. */
const keepingMsMax = 60_000;

interface Held {
  readonly probeId: string;
  readonly shard: number;
  readonly sinceMs: number;
  messages: Queued[];
}

export class Unkept {
  /** By their ids on their way, oldest first. */
  readonly #held = new Map<string, Held>();
  readonly #ways = new Map<string, string>();

  /** The probe with this id on its way is answered by these messages. */
  hold(id: string, probeId: string, shard: number, messages: readonly Queued[], nowMs: number): void {
    this.#held.set(id, { probeId, shard, sinceMs: nowMs, messages: [...messages] });
    this.#ways.set(probeId, id);
    for (const [old, { sinceMs }] of this.#held) {
      if (nowMs - sinceMs < keepingMsMax) break;
      this.#end(old);
    }
  }

  /** Whether the message belongs to what is being kept; it is held with it then. */
  again(id: string, message: Queued): boolean {
    const held = this.#held.get(id);
    held?.messages.push(message);
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
      for (const message of held.messages) message.nak?.();
      held.messages = [];
      this.#end(id);
    }
  }

  #end(id: string): void {
    const held = this.#held.get(id);
    if (!held) return;
    for (const message of held.messages) message.ack?.();
    this.#held.delete(id);
    this.#ways.delete(held.probeId);
  }
}
