/**
 * The log of changes as a stream, for whoever follows it over NATS. Whoever holds the first shard copies the log from where it was left; the
 * place is in the store. What the stream has is looked at now and then: it may have been deleted, or its servers may have lost
 * their disks, and then it is filled again from the log, from behind its last message on, or where it is new with as much as it keeps.
 * One that was purged stays so, and has what is found from then on: its servers would take nothing again whose id they remember.
 *
 * Invariant: messages stand in the order of the log, each once under the id of its change: each goes only behind the one before it, and
 * the server takes an id once within ten minutes.
 */
import {
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  JetStreamApiCodes,
  JetStreamApiError,
} from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Change, Clock } from 'revisit/ports';
import type { PostgresStore } from '../store/postgres.ts';
import { changesMaxAgeMs, ensureChanges, shardOf, streams, subjects } from './streams.ts';

/** How many changes go to the stream before the place is remembered. */
const publishBatch = 200;
/** How often it is seen to that the stream has what it should. */
const compareEveryMs = 3_000;
/** Where the place is in the store. */
const placeKey = 'published';

export interface ChangeStreamParts {
  readonly connection: NatsConnection;
  readonly store: Pick<PostgresStore, 'changes' | 'changesSince' | 'recall' | 'remember'>;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** How many servers keep each message. */
  readonly replicas: number;
  readonly log: (level: 'warn', message: string, fields?: Record<string, unknown>) => void;
}

export class ChangeStream {
  readonly #parts: ChangeStreamParts;
  readonly #stream: JetStreamClient;
  #manager: JetStreamManager | undefined;
  #comparedMs = -Infinity;
  /** The place up to which the log has nothing that is young enough for the stream. */
  #nothingBefore = 0;

  constructor(parts: ChangeStreamParts) {
    this.#parts = parts;
    this.#stream = jetstream(parts.connection);
  }

  /** Copies what is new. Fails while the servers are away: the place is remembered, and the next call goes on from there. */
  async copy(): Promise<void> {
    const { clock } = this.#parts;
    try {
      if (clock.nowMs() - this.#comparedMs >= compareEveryMs) await this.#compare();
      await this.#publishNew();
    } catch (error) {
      this.#comparedMs = -Infinity;
      throw error;
    }
  }

  async #place(): Promise<number> {
    return Number(Buffer.from((await this.#parts.store.recall(placeKey)) ?? Buffer.from('0')).toString());
  }

  async #goOnFrom(place: number): Promise<void> {
    await this.#parts.store.remember(placeKey, Buffer.from(String(place)));
  }

  async #publishNew(): Promise<void> {
    for (;;) {
      const changes = await this.#parts.store.changes({ after: await this.#place(), limit: publishBatch });
      if (changes.length === 0) return;
      // All at once, each only behind the one before it: where one is refused so are those after it, and all come again.
      await Promise.all(
        changes.map((change, i) =>
          this.#stream.publish(subjects.change(shardOf(change.site)), JSON.stringify(change), {
            msgID: change.id,
            ...(i > 0 ? { expect: { lastMsgID: changes[i - 1]!.id } } : {}),
          }),
        ),
      );
      await this.#goOnFrom(changes.at(-1)!.sequence);
    }
  }

  async #compare(): Promise<void> {
    // Before the stream is looked at: another coordinator may be copying as well, and would seem to have lost what it adds meanwhile.
    const place = await this.#place();
    const reached = await this.#reached(place);
    this.#comparedMs = this.#parts.clock.nowMs();
    if (reached === undefined || reached === place) return;
    if (reached < place) {
      const lost = 'the stream of changes had lost some of them: it is filled again from the log';
      this.#parts.log('warn', lost, { from: reached + 1, to: place });
    }
    await this.#goOnFrom(reached);
  }

  /** Up to which place of the log the stream has it; undefined where nothing is known against the place that is remembered. */
  async #reached(place: number): Promise<number | undefined> {
    const { connection, store, replicas } = this.#parts;
    this.#manager ??= await jetstreamManager(connection, { checkAPI: false });
    const last = await lastOf(this.#manager).catch(async (error: unknown) => {
      if (!(error instanceof JetStreamApiError) || error.code !== JetStreamApiCodes.StreamNotFound) throw error;
      await ensureChanges(this.#manager!, replicas);
      return 'new' as const;
    });
    if (last === 'new') return this.#beforeKept(place);
    // Of another database, or no change at all: nothing can be told from it.
    const [same] = last ? await store.changes({ after: last.sequence - 1, limit: 1 }) : [];
    return same && same.id === last?.id ? last.sequence : undefined;
  }

  /** Before the first change that the stream would have kept. */
  async #beforeKept(place: number): Promise<number | undefined> {
    if (place === this.#nothingBefore) return undefined;
    const { clock, store } = this.#parts;
    const first = await store.changesSince(clock.nowMs() - changesMaxAgeMs);
    if (first !== undefined && first <= place) return first - 1;
    this.#nothingBefore = place;
    return undefined;
  }
}

/** Of a stream that has had nothing yet, that it is new; what somebody has purged, or has grown old there, is to be gone. */
async function lastOf({
  streams: kept,
}: JetStreamManager): Promise<Pick<Change, 'sequence' | 'id'> | 'new' | undefined> {
  const { state } = await kept.info(streams.changes);
  if (state.last_seq === 0) return 'new';
  if (state.messages === 0) return undefined;
  const message = await kept.getMessage(streams.changes, { seq: state.last_seq });
  try {
    const { sequence, id } = message?.json<Partial<Change>>() ?? {};
    return typeof sequence === 'number' && typeof id === 'string' ? { sequence, id } : undefined;
  } catch {
    return undefined;
  }
}
