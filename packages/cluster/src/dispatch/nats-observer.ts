/**
 * The coordinator's side of dispatch: probes go out to whichever robot is free, observations come back for the shards that
 * are held. A probe is kept by the server until a robot has answered it; a robot that dies is replaced by another.
 *
 * What comes back for a probe that nobody here waits for (its coordinator died) is acknowledged and dropped: the probe
 * is still in the store's list of unfinished ones, so its pages are due again.
 */
import { type ConsumerMessages, type JetStreamClient, type JetStreamManager, jetstream } from '@nats-io/jetstream';
import { type NatsConnection, headers } from '@nats-io/transport-node';
import type { Clock, Observation, Observer, Probe } from 'revisit/ports';
import { consumers, shardOf, streams, subjects } from './streams.ts';
import { packProbe, unpackObservation } from './wire.ts';

/** Longer than any robot may take for one look with all its redirects, and two deaths of robots in between. */
const answerMsMax = 180_000;

interface Awaited {
  readonly probe: Probe;
  readonly startedAtMs: number;
  readonly answer: (observation: Observation) => void;
}

export class NatsObserver implements Observer {
  readonly #connection: NatsConnection;
  readonly #manager: JetStreamManager;
  readonly #stream: JetStreamClient;
  readonly #clock: Clock;
  readonly #awaited = new Map<string, Awaited>();
  readonly #pieces = new Map<string, (Uint8Array | undefined)[]>();
  readonly #listening = new Map<number, ConsumerMessages>();

  constructor(connection: NatsConnection, manager: JetStreamManager, clock: Clock) {
    this.#connection = connection;
    this.#manager = manager;
    this.#stream = jetstream(connection);
    this.#clock = clock;
  }

  /** From now on this process takes what comes back for the shard. */
  async listen(shard: number): Promise<void> {
    if (this.#listening.has(shard)) return;
    await this.#takeBack(shard);
    const consumer = await this.#stream.consumers.get(streams.observations, consumers.shard(shard));
    const messages = await consumer.consume({ max_messages: 256 });
    this.#listening.set(shard, messages);
    void this.#take(messages);
  }

  /**
   * Probes of an earlier holder that no robot has taken must not go out beside ours. One by one: purging a subject makes
   * server 2.9 forget messages of other subjects that the robots have yet to get.
   */
  async #takeBack(shard: number): Promise<void> {
    for (;;) {
      const message = await this.#manager.streams
        .getMessage(streams.probes, { last_by_subj: subjects.probe(shard) })
        .catch(() => null);
      if (!message) return;
      await this.#manager.streams.deleteMessage(streams.probes, message.seq).catch(() => false);
    }
  }

  silence(shard: number): void {
    this.#listening.get(shard)?.stop();
    this.#listening.delete(shard);
  }

  async #take(messages: ConsumerMessages): Promise<void> {
    for await (const message of messages) {
      const id = message.headers?.get('probe') ?? '';
      const count = Number(message.headers?.get('pieces') ?? '1');
      const place = Number(message.headers?.get('piece') ?? '0');
      message.ack();
      const awaited = this.#awaited.get(id);
      if (!awaited || !(count >= 1 && count <= 1_000) || !(place >= 0 && place < count)) continue;
      const pieces = this.#pieces.get(id) ?? Array.from<undefined>({ length: count });
      pieces[place] = message.data;
      if (pieces.some((piece) => piece === undefined)) {
        this.#pieces.set(id, pieces);
        continue;
      }
      this.#pieces.delete(id);
      const observation = unpackObservation(pieces as Uint8Array[]);
      // The probe is ours and not what the robot says it was: a robot answers for what it was asked, nothing else.
      if (observation && observation.probe.id === id) awaited.answer(this.#byOurClock(observation, awaited));
    }
  }

  /** A robot's clock may be minutes off: how long a look took is believed, when it was is not. */
  #byOurClock(observation: Observation, { probe, startedAtMs }: Awaited): Observation {
    const endedAtMs = this.#clock.nowMs();
    const took = Math.max(0, observation.endedAtMs - observation.startedAtMs);
    return { ...observation, probe, startedAtMs: Math.max(startedAtMs, endedAtMs - took), endedAtMs };
  }

  async observe(probe: Probe): Promise<Observation> {
    const startedAtMs = this.#clock.nowMs();
    const answered = new Promise<Observation>((answer) => this.#awaited.set(probe.id, { probe, startedAtMs, answer }));
    const tooLate = new AbortController();
    try {
      await this.#stream.publish(subjects.probe(shardOf(probe.site)), packProbe(probe), { msgID: probe.id });
    } catch (error) {
      this.#awaited.delete(probe.id);
      return this.#lost(probe, startedAtMs, `The probe could not be handed to a robot (${(error as Error).message}).`);
    }
    const late = this.#clock
      .sleep(answerMsMax, tooLate.signal)
      .then(() => this.#lost(probe, startedAtMs, 'No robot answered for the probe.'));
    const observation = await Promise.race([answered, late]);
    tooLate.abort('answered');
    this.#awaited.delete(probe.id);
    this.#pieces.delete(probe.id);
    return observation;
  }

  #lost(probe: Probe, startedAtMs: number, sentence: string): Observation {
    return {
      probe,
      startedAtMs,
      endedAtMs: this.#clock.nowMs(),
      outcome: { kind: 'failed', fault: { code: 'robot-lost', sentence } },
      bytesReceived: 0,
      requests: 0,
    };
  }

  /** Words between coordinators that are worth hearing and no loss when missed. */
  notice(kind: string, ids: readonly string[]): void {
    const words = headers();
    words.set('kind', kind);
    this.#connection.publish(subjects.notice, JSON.stringify(ids), { headers: words });
  }

  close(): Promise<void> {
    for (const shard of this.#listening.keys()) this.silence(shard);
    return Promise.resolve();
  }
}
