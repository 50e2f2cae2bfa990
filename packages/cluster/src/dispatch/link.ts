/** One process's connection to the NATS servers of its cluster, which it keeps for as long as it lives. */
import { type NatsConnection, connect } from '@nats-io/transport-node';

/** A link that was cut without a word is noticed after three of these, and tried again at this pace. */
const pingEveryMs = 2_000;
const reconnectEveryMs = 500;

export type Linked =
  | { readonly kind: 'linked'; readonly connection: NatsConnection }
  | { readonly kind: 'failed'; readonly sentence: string };

export async function link(servers: string, name: string): Promise<Linked> {
  try {
    const connection = await connect({
      servers: servers.split(','),
      name: `revisit ${name}`,
      maxReconnectAttempts: -1,
      reconnectTimeWait: reconnectEveryMs,
      reconnectJitter: reconnectEveryMs / 2,
      pingInterval: pingEveryMs,
      maxPingOut: 2,
      timeout: 5_000,
    });
    return { kind: 'linked', connection };
  } catch (error) {
    return { kind: 'failed', sentence: `${servers} cannot be used (${(error as Error).message})` };
  }
}
