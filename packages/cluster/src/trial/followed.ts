/** The stream of changes as a reader hears it who has a key and a client of NATS, and nothing else of ours. */
import { readFileSync } from 'node:fs';
import { AckPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, nkeyAuthenticator } from '@nats-io/transport-node';

/** The log is copied once a second. */
const waitMs = 3_000;

export interface Follower {
  readonly nats: string;
  readonly name: string;
  readonly seedFile: string;
  /** Where its answers go. */
  readonly inbox: string;
}

/** The ids of changes from the first, in the order in which they come; of more than there should be, one more. */
export async function followed(follower: Follower, expected: number): Promise<readonly string[]> {
  const { nats, name, seedFile, inbox } = follower;
  const authenticator = nkeyAuthenticator(readFileSync(seedFile).subarray(0, 58));
  const connection = await connect({ servers: nats, authenticator, inboxPrefix: inbox });
  try {
    const { consumers } = await jetstreamManager(connection, { checkAPI: false });
    await consumers.add('REVISIT_CHANGES', { durable_name: name, ack_policy: AckPolicy.Explicit });
    const changes = await jetstream(connection).consumers.get('REVISIT_CHANGES', name);
    const ids: string[] = [];
    for await (const message of await changes.fetch({ max_messages: expected + 1, expires: waitMs })) {
      ids.push(message.json<{ readonly id: string }>().id);
      message.ack();
    }
    return ids;
  } finally {
    await connection.close();
  }
}
