/** Whether a coordinator's probes reach anybody, by the queue or by hand; and the streams, which come back where they were lost. */
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Clock } from 'revisit/ports';
import { ensureStreams, streams } from './streams.ts';

/** Servers that take turns are no trouble; for how long nothing is taken before it is one. */
const awayMsMin = 2_000;
/** Streams are looked for again no more often than this. */
const mendEveryMs = 5_000;

export class Reach {
  readonly #connection: NatsConnection;
  readonly #clock: Clock;
  readonly #replicas: number;
  readonly #leaseMs: number | undefined;
  #manager: JetStreamManager | undefined;
  #mendedMs = -Infinity;
  /** Since when the connection is broken or nothing is taken. */
  #awaySinceMs: number | undefined;
  #trying = false;

  constructor(connection: NatsConnection, clock: Clock, replicas: number, leaseMs: number | undefined) {
    this.#connection = connection;
    this.#clock = clock;
    this.#replicas = replicas;
    this.#leaseMs = leaseMs;
    void this.#hear();
  }

  get linked(): boolean {
    return this.#awaySinceMs === undefined || this.#clock.nowMs() - this.#awaySinceMs < awayMsMin;
  }

  /** Somebody takes what is handed out. */
  reached(): void {
    this.#awaySinceMs = undefined;
  }

  /** Nobody took it. A server that came back without its streams gets them again. */
  async away(): Promise<void> {
    this.#awaySinceMs ??= this.#clock.nowMs();
    if (this.#connection.isClosed() || this.#clock.nowMs() - this.#mendedMs < mendEveryMs) return;
    this.#mendedMs = this.#clock.nowMs();
    await ensureStreams(this.#connection, this.#replicas, this.#leaseMs).catch(() => {});
  }

  /** Whoever has given up its shards sends nothing, and would never see that it could. */
  async tryAgain(): Promise<void> {
    if (this.#awaySinceMs === undefined || this.#trying) return;
    this.#trying = true;
    try {
      await (await this.managing()).streams.info(streams.probes);
      this.reached();
    } catch {
      await this.away();
    } finally {
      this.#trying = false;
    }
  }

  async managing(): Promise<JetStreamManager> {
    this.#manager ??= await jetstreamManager(this.#connection, { checkAPI: false });
    return this.#manager;
  }

  async #hear(): Promise<void> {
    for await (const { type } of this.#connection.status()) {
      if (type === 'disconnect') this.#awaySinceMs ??= this.#clock.nowMs();
      if (type === 'reconnect') this.reached();
    }
  }
}
