/**
 * Takes what comes back for a shard by the queue, until it is stopped. A queue that has no leader is tried again and again: nobody
 * waits for it, as probes and results go from hand to hand meanwhile (by-hand.ts).
 */
import { type JetStreamManager, type JsMsg, jetstream } from '@nats-io/jetstream';
import type { MsgHdrs, NatsConnection } from '@nats-io/transport-node';
import type { Clock } from 'revisit/ports';
import { consumers, pullMs, streams, subjects } from './streams.ts';
import { waitingAt } from './whereabouts.ts';

/** Between two tries. */
const restMs = 250;
/** Results that are read past their queue at once. */
const unheardMax = 256;

export function hearResults(
  connection: NatsConnection,
  clock: Pick<Clock, 'sleep'>,
  shard: number,
  arrived: (message: JsMsg) => void,
): () => void {
  const ended = new AbortController();
  void hear(connection, clock, shard, arrived, ended.signal);
  return () => ended.abort('ended');
}

async function hear(
  connection: NatsConnection,
  clock: Pick<Clock, 'sleep'>,
  shard: number,
  arrived: (message: JsMsg) => void,
  ended: AbortSignal,
): Promise<void> {
  const stream = jetstream(connection);
  while (!ended.aborted && !connection.isClosed()) {
    try {
      const consumer = await stream.consumers.get(streams.observations, consumers.shard(shard));
      const messages = await consumer.consume({ max_messages: 256, expires: pullMs });
      ended.addEventListener('abort', () => messages.stop(), { once: true });
      if (ended.aborted) messages.stop();
      for await (const message of messages) arrived(message);
    } catch {
      // Nobody leads the stream or its consumer.
    }
    await clock.sleep(restMs, ended);
  }
}

/** Results that the queue has taken and does not hand on, as long as nobody leads the shard's consumer. */
export async function readUnheard(
  managing: () => Promise<JetStreamManager>,
  shards: ReadonlySet<number>,
  arrived: (result: { readonly headers: MsgHdrs; readonly subject: string; readonly data: Uint8Array }) => void,
): Promise<void> {
  for (const shard of shards) {
    try {
      let count = 0;
      for await (const { header, subject, data } of waitingAt(
        await managing(),
        streams.observations,
        subjects.observation(shard, '*'),
      )) {
        arrived({ headers: header, subject, data });
        if (++count >= unheardMax) break;
      }
    } catch {
      // The stream has no leader either: whoever has a result brings it by hand.
    }
  }
}
