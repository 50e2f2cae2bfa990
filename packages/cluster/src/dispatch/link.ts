/** One process's connection to the NATS servers of its cluster, which it keeps for as long as it lives. */
import { readFileSync } from 'node:fs';
import { type NatsConnection, connect, nkeyAuthenticator, nkeys } from '@nats-io/transport-node';
import { steadyClock } from 'revisit/ports';
import { inboxOf } from '../access/grants.ts';

/** A link that was cut without a word is noticed after three of these, and tried again at this pace. */
const pingEveryMs = 2_000;
const reconnectEveryMs = 500;
const leaveMsMax = 2_000;

/**
 * Between two tries, whatever somebody does to the machine's clock meanwhile: the client counts the time since its last try by
 * that clock, and would wait for minutes when it is put back by minutes.
 */
export function pacing(wall: () => number = Date.now, steady: () => number = () => steadyClock.nowMs()) {
  const off = (): number => steady() - wall();
  let offAtTry = off();
  return {
    reconnectDelayHandler: () => reconnectEveryMs * (1 + Math.random() / 2) - (off() - offAtTry),
    // Asked for before each try; the client's own choice is as good as any.
    reconnectToServer: () => {
      offAtTry = off();
      return null;
    },
  };
}

export interface LinkOptions {
  /** Servers, separated by commas. */
  readonly nats: string;
  /** The file with the seed of this process's key. */
  readonly natsKey?: string | undefined;
  /** The file with the certificates by which the servers are known, where the system does not know them. */
  readonly natsCa?: string | undefined;
}

/** Takes leave; of servers that are away, without a word. */
export async function unlink(connection: NatsConnection): Promise<void> {
  const patience = new Promise<void>((resolve) => setTimeout(resolve, leaveMsMax).unref());
  await Promise.race([connection.drain().catch(() => {}), patience]);
  await connection.close();
}

export type Linked =
  | { readonly kind: 'linked'; readonly connection: NatsConnection }
  | { readonly kind: 'failed'; readonly sentence: string };

export async function link(options: LinkOptions, name: string): Promise<Linked> {
  try {
    const seed = options.natsKey === undefined ? undefined : Buffer.from(readFileSync(options.natsKey, 'utf8').trim());
    const connection = await connect({
      servers: options.nats.split(','),
      name: `revisit ${name}`,
      maxReconnectAttempts: -1,
      // Two refusals in a row would end it for good, without a word, also where the key was away for a moment only.
      ignoreAuthErrorAbort: true,
      ...pacing(),
      pingInterval: pingEveryMs,
      maxPingOut: 2,
      timeout: 5_000,
      ...(seed
        ? { authenticator: nkeyAuthenticator(seed), inboxPrefix: inboxOf(nkeys.fromSeed(seed).getPublicKey()) }
        : {}),
      ...(options.natsCa === undefined ? {} : { tls: { caFile: options.natsCa } }),
    });
    return { kind: 'linked', connection };
  } catch (error) {
    return { kind: 'failed', sentence: `${options.nats} cannot be used (${(error as Error).message})` };
  }
}
