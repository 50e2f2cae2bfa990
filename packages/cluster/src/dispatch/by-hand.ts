/**
 * From hand to hand, while the queues do not move. Servers that have lost one of theirs choose new leaders of streams and
 * consumers, which takes ten seconds and at times a minute; plain messages go through all the while. So whoever takes work
 * asks the coordinators for it as well, every second and more often when the queue hands on nothing, and gets what the queue
 * has not taken, or has had for long, and what it has begun itself and is not known to have answered: the result may have gone
 * down with a server. It brings a result that the queue does not take, or may have lost, to the holder of its shard, and keeps it, in the
 * place of one look of those that it has room for, until that one says that what follows from it is kept or the queue has it after all:
 *
 *   brought   the holder has it in memory, and would take it along if it were lost now; nothing is said
 *   kept      said by the holder, once it is so, or where the look has ended: the result is let go of
 *   unsaid    nobody holds the shard, or keeping takes its time: the queue is tried, and then whoever holds the shard by now
 *
 * A probe that goes both ways is looked at once all the same: leave to begin is asked for whichever way it came (leave.ts).
 */
import { jetstream } from '@nats-io/jetstream';
import { type Msg, type MsgHdrs, type NatsConnection, type Subscription, headers } from '@nats-io/transport-node';
import type { Clock, Probe } from 'revisit/ports';
import { type Beginnable, type Beginner, answer, self, taken, takenMsMax, unmistakable, whoIs } from './leave.ts';
import type { Pieces } from './once.ts';
import { type HandedKind, shardOf, subjects } from './streams.ts';

/** How long answers are waited for. */
const answersMs = 250;
/** How long the queue may take a result, before whoever holds its shard is tried again: both within the time in which a new holder hands nothing back. */
const queuedMsMax = 1_500;
/** What one asks for at once: enough for hundreds of looks a second. */
const roomMax = 64;
/** Between two tries to send a result. */
const restMs = 250;
/** A result that cannot be sent for so long is of no use: its page has been looked at again. */
const sendMsMax = 10 * 60_000;
/** What the queue has not taken by then goes by hand. */
const untakenMsMin = 500;
/** What the queue has and nobody has begun by then goes by hand. */
const unbegunMsMin = 1_500;
/** What somebody has begun and not answered by then is asked for by hand; and so often. */
const unansweredMsMin = 2_500;
/** What was handed to somebody who has not begun it is handed to the next. */
const handedMsMin = 1_000;

/** Asks every coordinator for work of the kind; each piece of it is given to `take`. */
export async function askByHand(
  { connection, name, kind }: Pick<Beginner, 'connection' | 'name'> & { readonly kind: HandedKind },
  room: number,
  take: (data: Uint8Array) => void,
): Promise<void> {
  // What is said to a link that is away would be said late, in one breath.
  if (connection.getServer() === '' || connection.isClosed()) return;
  let left = Math.max(0, Math.min(roomMax, room));
  try {
    const asked = `${unmistakable} ${left}`;
    const within = { strategy: 'timer', maxWait: answersMs } as const;
    for await (const { data } of await connection.requestMany(subjects.hand(kind, name), asked, within))
      if (left-- > 0) take(data);
  } catch {
    // No coordinator is there.
  }
}

/** What can be handed on, as far as that goes. */
export interface Handable extends Beginnable {
  readonly startedAtMs: number;
  /** Where the queue has it. */
  readonly sequence: number | undefined;
  /** As it went out; nothing before it is known to whom. */
  readonly message: Uint8Array | undefined;
  /** When it was last handed to somebody; never, at first. */
  handedMs: number;
}

/** Whether it is to be handed to the process of this name that asks for it. */
function isStuck(open: Handable, kind: HandedKind, name: string, process: string, nowMs: number): boolean {
  if (open.message === undefined || open.observer !== (kind === 'errands' ? name : undefined)) return false;
  if (open.begunBy !== undefined)
    return open.begunBy === whoIs(name, process) && nowMs - Math.max(open.leftMs, open.handedMs) >= unansweredMsMin;
  // Of what another coordinator let out, nobody knows who has begun it.
  if (open.rejoined) return false;
  if (nowMs - open.handedMs < handedMsMin) return false;
  return nowMs - open.startedAtMs >= (open.sequence === undefined ? untakenMsMin : unbegunMsMin);
}

/** Hears who asks for work until the subscription ends, and hands it what is stuck of `opens`; `there` hears who is alive. */
export function handOn(
  connection: NatsConnection,
  clock: Pick<Clock, 'nowMs'>,
  opens: () => Iterable<Handable>,
  there: (name: string, process: string) => void,
): Subscription {
  return connection.subscribe(subjects.hand('*', '*'), {
    callback: (error, message) => {
      if (error) return;
      const [process = '', room = '0'] = message.string().split(' ');
      // Of what its key allows.
      const [kind, name] = message.subject.split('.').slice(-2) as [HandedKind, string];
      there(name, process);
      let left = Math.min(roomMax, Number(room) || 0);
      const nowMs = clock.nowMs();
      for (const open of opens()) {
        if (left <= 0) return;
        if (!isStuck(open, kind, name, process, nowMs)) continue;
        open.handedMs = nowMs;
        left--;
        answer(message, open.message!);
      }
    },
  });
}

/**
 * Until the queue has the whole result or the holder of the shard has kept what follows from it; false when that would help nobody any
 * more. What came by hand goes by hand if it can.
 */
export async function sendResult(
  { connection, clock, name }: Beginner,
  { id, site }: Pick<Probe, 'id' | 'site'>,
  pieces: Pieces,
  byHand: boolean,
): Promise<boolean> {
  const stream = jetstream(connection);
  const shard = shardOf(site);
  const queue = ({ about, piece, place }: Sent): Promise<boolean> =>
    stream
      .publish(subjects.observation(shard, name), piece, {
        headers: about,
        msgID: `${id}/${name}/${place}`,
        timeout: queuedMsMax,
      })
      .then(
        () => true,
        () => false,
      );
  const hand = ({ about, piece }: Sent): Promise<boolean> =>
    connection
      .request(subjects.begin(shard, name), piece, { headers: about, timeout: takenMsMax })
      .then(isTaken, () => false);
  const untilMs = clock.nowMs() + sendMsMax;
  let left = sentAs(id, pieces);
  for (;;) {
    for (const way of byHand ? [hand, queue] : [queue, hand]) {
      // All at once: of a result that has come in part nothing is kept.
      const arrived = await Promise.all(left.map(way));
      left = left.filter((_, i) => !arrived[i]);
      if (left.length === 0) return true;
    }
    if (clock.nowMs() >= untilMs || connection.isClosed()) return false;
    await clock.sleep(restMs);
  }
}

/** A piece of a result, and what is said about it. */
interface Sent {
  readonly about: MsgHdrs;
  readonly piece: Uint8Array;
  readonly place: number;
}

function sentAs(id: string, pieces: Pieces): readonly Sent[] {
  return pieces.map((piece, place) => {
    const about = headers();
    about.set('probe', id);
    about.set('process', self);
    if (pieces.length > 1) {
      about.set('piece', String(place));
      about.set('pieces', String(pieces.length));
    }
    return { about, piece, place };
  });
}

const isTaken = (said: Msg): boolean => said.string() === taken;
