/**
 * Takes what comes back for a shard by the queue, until it is stopped. A queue that has no leader is tried again and again: nobody
 * waits for it, as probes and results go from hand to hand meanwhile (by-hand.ts).
 */
import { type JsMsg, jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Clock } from 'revisit/ports';
import { consumers, pullMs, streams } from './streams.ts';

/** Between two tries. */
const restMs = 250;

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
      for await (const message of messages) {
        message.ack();
        arrived(message);
      }
    } catch {
      // Nobody leads the stream or its consumer.
    }
    await clock.sleep(restMs, ended);
  }
}
