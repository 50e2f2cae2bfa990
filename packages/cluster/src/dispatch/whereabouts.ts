/** Where a message is in its queue. */
import type { JetStreamManager, StoredMsg } from '@nats-io/jetstream';

const isOf = ({ header }: StoredMsg, id: string): boolean => header.get('Nats-Msg-Id') === id;

/** What waits there under the subject, oldest first. */
export async function* waitingAt(
  manager: JetStreamManager,
  stream: string,
  subject: string,
): AsyncGenerator<StoredMsg, void> {
  for (let from = 1; ;) {
    // The first of this subject from there on; the client's types know only of single ones.
    const next = { seq: from, next_by_subj: subject };
    const message = await manager.streams.getMessage(stream, next);
    if (!message) return;
    yield message;
    from = message.seq + 1;
  }
}

/** Where the message of this id waits, if it does. */
export async function waitsAt(
  manager: JetStreamManager,
  stream: string,
  subject: string,
  id: string,
): Promise<number | undefined> {
  for await (const message of waitingAt(manager, stream, subject)) if (isOf(message, id)) return message.seq;
  return undefined;
}

/** Whether it is where it was put: a server that lost its disk counts from one again. */
export async function isThere(
  manager: JetStreamManager,
  stream: string,
  sequence: number,
  id: string,
): Promise<boolean> {
  const message = await manager.streams.getMessage(stream, { seq: sequence });
  return message !== null && isOf(message, id);
}
