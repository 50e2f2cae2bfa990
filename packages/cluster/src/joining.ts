/** How robots and observers come in: with a key that is theirs, under the name that it was made for. */
import { jetstream } from '@nats-io/jetstream';
import { type NatsConnection, PermissionViolationError } from '@nats-io/transport-node';
import type { Observer } from 'revisit/ports';
import { type HeldKey, notFor } from './access/key-file.ts';
import { type LinkOptions, keyRefused, link, unlink } from './dispatch/link.ts';
import { pullMs, subjects } from './dispatch/streams.ts';

export interface Joining extends LinkOptions {
  /** Under which it writes its results, where somebody asks for one; else its key says, or the usual one is taken. */
  readonly name: string | undefined;
  readonly usualName: string;
  readonly log: (level: 'info' | 'warn', message: string, fields?: Record<string, unknown>) => void;
}

export type Joined =
  | {
      readonly kind: 'joined';
      readonly connection: NatsConnection;
      readonly name: string;
      /** Resolves with a sentence when its key is taken back, and else never. */
      readonly refused: Promise<string>;
    }
  | { readonly kind: 'left' }
  | { readonly kind: 'wrong' | 'failed'; readonly sentence: string };

/** How one that joined ended: by itself in peace, or because it was asked wrongly, or because it cannot go on. */
export type Parting =
  | { readonly kind: 'left' }
  | { readonly kind: 'wrong'; readonly sentence: string }
  | { readonly kind: 'failed'; readonly sentence: string };

export async function join(joining: Joining, role: 'robot' | 'observer', signal: AbortSignal): Promise<Joined> {
  const linked = await link(joining, `${role} ${joining.name ?? joining.usualName}`, signal);
  if (signal.aborted) {
    if (linked.kind === 'linked') await linked.connection.close();
    return { kind: 'left' };
  }
  if (linked.kind === 'failed') return { kind: linked.away ? 'failed' : 'wrong', sentence: linked.sentence };
  const { connection, key } = linked;
  const name = joining.name ?? key?.madeFor?.name ?? joining.usualName;
  const sentence = misnamed(joining, role, name, key) ?? (await unwritable(joining, name, connection));
  if (sentence === undefined)
    return { kind: 'joined', connection, name, refused: keyRefused(connection, joining, joining.log) };
  await connection.close();
  return { kind: 'wrong', sentence };
}

/**
 * Works until it is told to leave. Whoever takes its key back wants no more looks from it, whatever it has been asked for, and
 * what it had is with others by now.
 */
export async function whileWelcome(
  { connection, refused }: Extract<Joined, { readonly kind: 'joined' }>,
  observer: Observer,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<Parting> {
  const stop = new AbortController();
  let parting: Parting = { kind: 'left' };
  void refused.then(async (sentence) => {
    parting = { kind: 'failed', sentence };
    await Promise.all([connection.close(), observer.close()]);
    stop.abort();
  });
  await work(AbortSignal.any([signal, stop.signal]));
  await observer.close();
  await unlink(connection);
  return parting;
}

/** What the key itself says against it. */
function misnamed(
  { natsKey }: Joining,
  role: 'robot' | 'observer',
  name: string,
  key: HeldKey | undefined,
): string | undefined {
  const { madeFor } = key ?? {};
  if (!madeFor) return undefined;
  const others = notFor(role, name, key);
  if (others !== undefined) return `--nats-key ${natsKey}: ${others}`;
  if (madeFor.name !== name)
    return `--name ${name}: the key is that of ${role} ${madeFor.name} (--nats-key ${natsKey}), and results under another name are refused; leave --name out`;
  return undefined;
}

/** What the servers say against it: a result is offered that no stream can take, so that nothing but the right to say it is tried. */
async function unwritable({ natsKey }: Joining, name: string, connection: NatsConnection): Promise<string | undefined> {
  const nowhere = { expect: { streamName: 'none' }, timeout: pullMs };
  const answer = await jetstream(connection)
    .publish(subjects.observation(0, name), '', nowhere)
    .catch((error: unknown) => error);
  if (!violates(answer)) return undefined;
  return `--name ${name}: the servers refuse results under this name with the key in --nats-key ${natsKey}; "revisit access list" says whose it is`;
}

/** Clients wrap what the server said. */
const violates = (error: unknown): boolean =>
  error instanceof PermissionViolationError || (error instanceof Error && violates(error.cause));
