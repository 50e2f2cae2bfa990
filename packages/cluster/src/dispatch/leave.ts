/**
 * Leave to begin. Before somebody asks a site for a probe, they ask whoever holds the site's shard, who lets each probe begin
 * once. The queue cannot promise that: servers that have lost their leader hand out again, as if for the first time, what
 * somebody has or has answered, and hand out late what its coordinator has given up.
 *
 *   yes    nobody else has begun it, and nobody else will
 *   no     somebody else has, or nobody waits for it any more: its message is of no use
 *   back   another coordinator let it go out, and nobody knows who has begun it: it is to be handed back unlooked
 *
 * On the same way robots say every two seconds that they are there.
 */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { NatsConnection, Subscription } from '@nats-io/transport-node';
import type { Clock, Probe } from 'revisit/ports';
import { shardOf, subjects } from './streams.ts';

export type Leave = 'yes' | 'no' | 'back';
const leaves: readonly string[] = ['yes', 'no', 'back'] satisfies Leave[];

/** Several processes may share a key and so a name; who each is beside it. */
export const self = `${hostname()}-${process.pid}`;
/** Machines may be called the same, and so may their processes. */
const unmistakable = `${self}-${randomBytes(6).toString('hex')}`;

/** An answer that takes longer is of no use: whoever gives it counts on a look that begins at once. */
const answerMsMax = 1_000;
/** Between two tries while nobody answers: the servers are away, or the shard is between two holders. */
const restMs = 250;
/** Longer than a shard is nobody's. */
const askMsMax = 20_000;

export interface Beginner {
  readonly connection: NatsConnection;
  readonly clock: Clock;
  readonly name: string;
}

/** Asks until somebody answers; what nobody answers for is to be handed back. */
export async function askLeave(
  { connection, clock, name }: Beginner,
  { id, site }: Pick<Probe, 'id' | 'site'>,
): Promise<Leave> {
  const untilMs = clock.nowMs() + askMsMax;
  while (clock.nowMs() < untilMs && !connection.isClosed()) {
    try {
      const asked = { timeout: answerMsMax };
      const answer = await connection.request(subjects.begin(shardOf(site), name), `${unmistakable} ${id}`, asked);
      const said = answer.string();
      if (leaves.includes(said)) return said as Leave;
    } catch {
      // Nobody holds the shard, or the servers are away.
    }
    await clock.sleep(restMs);
  }
  return 'back';
}

/** A probe that went out, as far as its beginning goes. */
export interface Beginnable {
  /** Who alone may begin it; undefined for any robot. */
  readonly observer: string | undefined;
  /** It went out from a holder of the shard before this one. */
  readonly rejoined: boolean;
  begunBy: string | undefined;
}

/** That somebody is there, whether or not it has work; heard by whoever holds the first shard. */
export function sayThere({ connection, name }: Pick<Beginner, 'connection' | 'name'>): void {
  // What is said to a link that is away would be said late, in one breath.
  if (connection.getServer() !== '' && !connection.isClosed()) connection.publish(subjects.begin(0, name), self);
}

/**
 * Answers for the shard until the subscription ends; `there` hears who asks, or says that it is there. One that may have lost the
 * shard without knowing says nothing: it knows nothing of what its new holder lets out.
 */
export function hearBeginners(
  connection: NatsConnection,
  shard: number,
  openOf: (id: string) => Beginnable | undefined,
  there: (name: string, process: string) => void,
  surelyHolds: () => boolean,
): Subscription {
  return connection.subscribe(subjects.begin(shard, '*'), {
    callback: (error, message) => {
      if (error) return;
      const [process = '', id = ''] = message.string().split(' ');
      const name = message.subject.split('.').at(-1)!;
      if (id === '') return there(name, process);
      if (surelyHolds()) message.respond(leaveOf(openOf(id), name, process));
    },
  });
}

function leaveOf(open: Beginnable | undefined, name: string, process: string): Leave {
  if (open?.rejoined) return 'back';
  if (!open || (open.observer !== undefined && open.observer !== name)) return 'no';
  // Who asks again has not heard the answer.
  const who = `${name} ${process}`;
  open.begunBy ??= who;
  return open.begunBy === who ? 'yes' : 'no';
}
