/** One process's connection to the NATS servers of its cluster, which it keeps for as long as it lives. */
import { readFileSync } from 'node:fs';
import {
  AuthorizationError,
  type ConnectionOptions,
  type NatsConnection,
  connect,
  nkeyAuthenticator,
} from '@nats-io/transport-node';
import { steadyClock } from 'revisit/ports';
import { certificatesIn } from '../access/certificate-file.ts';
import { inboxOf } from '../access/grants.ts';
import { type HeldKey, readKey } from '../access/key-file.ts';
import { strangerAmong } from './greeting.ts';
import { ServerIdentity } from './server-identity.ts';

/** A link that was cut without a word is noticed after three of these, and tried again at this pace. */
const pingEveryMs = 2_000;
const reconnectEveryMs = 500;
const leaveMsMax = 2_000;
const connectMsMax = 5_000;
/**
 * Tries before the first connection, beside one for each given address: after so many the key was taken back since it was tried,
 * and the client would go on among the servers that it is told of, without a pause.
 */
const strayTriesMax = 10;
/** Servers that are told one after the other of keys need no longer; whoever starts the process again lets it try again. */
const refusedMsMax = 5_000;

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
  | { readonly kind: 'linked'; readonly connection: NatsConnection; readonly key: HeldKey | undefined }
  | {
      readonly kind: 'failed';
      readonly sentence: string;
      /** The call was right, and no server answered. */
      readonly away?: true;
    };

/** What the client knows; one without any is a name or an address. */
const schemes: readonly string[] = ['nats', 'tls'];
const schemeOf = (server: string): string => /^(.*):\/\//.exec(server)?.[1] ?? 'nats';
/** An IPv6 address alone may stand without brackets. */
function isAddress(server: string): boolean {
  const rest = server.replace(/^.*:\/\//, '');
  return schemes.includes(schemeOf(server)) && (URL.canParse(`http://${rest}`) || URL.canParse(`http://[${rest}]`));
}

/** Once the signal is there no try begins any more; one that has begun ends by itself within seconds. */
export async function link(options: LinkOptions, name: string, signal?: AbortSignal): Promise<Linked> {
  const { nats, natsKey, natsCa } = options;
  const failed = (sentence: string) => ({ kind: 'failed' as const, sentence });
  const unread = (option: string, file: string, error: unknown): Linked =>
    failed(`--${option} ${file}: cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)})`);
  const servers = nats.split(',');
  const strange = servers.find((server) => !isAddress(server));
  if (strange !== undefined)
    return failed(
      `--nats ${strange || nats}: an address such as nats://127.0.0.1:4222 or tls://nats.example:4222 is expected`,
    );
  const [secret, ...others] = new Set(servers.map((server) => schemeOf(server) === 'tls'));
  if (others.length > 0) return failed(`--nats ${nats}: all of the addresses or none of them begin with tls://`);
  let key: HeldKey | undefined;
  if (natsKey !== undefined) {
    try {
      key = readKey(readFileSync(natsKey, 'utf8'));
    } catch (error) {
      return unread('nats-key', natsKey, error);
    }
    if (!key) return failed(`--nats-key ${natsKey}: it holds no key as "revisit access" makes them`);
  }
  let ca: string | undefined;
  try {
    ca = natsCa === undefined ? undefined : readFileSync(natsCa, 'utf8');
  } catch (error) {
    return unread('nats-ca', natsCa!, error);
  }
  if (ca !== undefined && certificatesIn(ca).length === 0)
    return failed(`--nats-ca ${natsCa}: it holds no certificates; a file of them in PEM is expected`);
  const stranger = await strangerAmong(servers, connectMsMax, signal);
  if (stranger !== undefined) {
    const seconds = connectMsMax / 1000;
    const sentence = `--nats ${stranger}: nobody there speaks NATS, whose servers greet whoever connects: within ${seconds} s none did`;
    return { ...failed(sentence), away: true };
  }
  const identity = new ServerIdentity();
  const known = {
    name: `revisit ${name}`,
    timeout: connectMsMax,
    ...(key ? { authenticator: nkeyAuthenticator(key.seed), inboxPrefix: inboxOf(key.publicKey) } : {}),
    // The client itself makes nothing of the scheme, and would go on in plain text where a server offers no more.
    ...(secret || ca !== undefined ? { tls: { ...identity.tls, ...(ca === undefined ? {} : { ca }) } } : {}),
    reconnectToServer: identity.dials,
  };
  const pace = pacing();
  let [tries, opened] = [0, false];
  try {
    await tryEach(servers, known, signal);
    const connection = await connect({
      servers,
      ...known,
      maxReconnectAttempts: -1,
      // Two refusals in a row would end it for good, without a word, also where the key was away for a moment only.
      ignoreAuthErrorAbort: true,
      ...pace,
      reconnectToServer: (pool, info) => {
        if (!opened && (signal?.aborted || ++tries > servers.length + strayTriesMax))
          throw new Error('nobody lets us in');
        pace.reconnectToServer();
        return identity.dials(pool, info);
      },
      pingInterval: pingEveryMs,
      maxPingOut: 2,
    });
    opened = true;
    return { kind: 'linked', connection, key };
  } catch (error) {
    if (!(error instanceof AuthorizationError)) {
      const { message } = error as Error;
      const hint =
        natsCa === undefined && /certificate/i.test(message)
          ? '; where the system does not know who signed for the servers, --nats-ca names a file with that certificate'
          : '';
      return { ...failed(`--nats ${nats} cannot be used (${message})${hint}`), away: true };
    }
    return failed(natsKey === undefined ? `--nats ${nats}: the servers ask for a key (--nats-key)` : refused(options));
  }
}

/**
 * One by one, until one lets us in: among several that refuse, the client would go round for ever without a word. So it would with
 * one address of several servers, as each that refuses tells of the others.
 */
async function tryEach(
  servers: readonly string[],
  known: ConnectionOptions,
  signal: AbortSignal | undefined,
): Promise<void> {
  let failure: unknown;
  for (const server of servers) {
    signal?.throwIfAborted();
    try {
      const connection = await connect({ ...known, servers: server, reconnect: false, ignoreClusterUpdates: true });
      return await connection.close();
    } catch (error) {
      // That a key is refused says more than that a server is away.
      if (!(failure instanceof AuthorizationError)) failure = error;
    }
  }
  throw failure;
}

const refused = ({ nats, natsKey }: LinkOptions): string =>
  `--nats-key ${natsKey}: the servers at ${nats} refuse this key; it was taken back, or they have not read of it yet`;

/** Says so at once, and ends with a sentence when it has lasted for so long that somebody means it; never while the key is good. */
export async function keyRefused(
  connection: NatsConnection,
  options: LinkOptions,
  log: (level: 'warn', message: string) => void,
): Promise<string> {
  let sinceMs: number | undefined;
  for await (const status of connection.status()) {
    if (status.type === 'reconnect') sinceMs = undefined;
    if (status.type !== 'error' || !(status.error instanceof AuthorizationError)) continue;
    if (sinceMs === undefined) log('warn', refused(options));
    sinceMs ??= steadyClock.nowMs();
    if (steadyClock.nowMs() - sinceMs >= refusedMsMax) return refused(options);
  }
  // The connection was closed by ourselves.
  return new Promise(() => {});
}
