/**
 * Leave to begin, and to go on. Before somebody asks a site for a probe, they ask whoever holds the site's shard, who lets each probe begin
 * once. The queue cannot promise that: servers that have lost their leader hand out again, as if for the first time, what
 * somebody has or has answered, and hand out late what its coordinator has given up.
 *
 * A look is often several requests: robots.txt, redirects, the parts of a page that is shown. A leave holds for `leaveMs`; each request that
 * comes later needs it anew, so one that is cut off in the middle of a look asks for nothing more, and whoever gives the probe up leaves the
 * site alone until the last leave has ended.
 *
 *   yes    nobody else has begun it, and nobody else will
 *   no     nobody waits for it any more: its message is of no use
 *   held   somebody else is at it: its message is kept for as long, or the look would be taken for lost, and asked for anew
 *   back   whoever began it has fallen silent, or another coordinator let it go out, and nobody knows who has begun it: it is
 *          to be handed back unlooked
 *
 * Redirects, and the parts of a page, may lead to sites of other shards, which others ask as well: each request there needs a turn of
 * whoever holds the site, who spaces them all. It is booked, and waited for with nothing held that others need.
 *
 * On the same way robots say every two seconds that they are there.
 */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import type { Clock, MayAsk, Probe } from 'revisit/ports';
import { shardOf, subjects } from './streams.ts';

export type Leave = 'yes' | 'no' | 'held' | 'back';
type Said = Exclude<Leave, 'held'>;
const leaves: readonly string[] = ['yes', 'no', 'back'] satisfies Said[];

/** Several processes may share a key and so a name; who each is beside it. */
export const self = `${hostname()}-${process.pid}`;
/** Machines may be called the same, and so may their processes. */
export const unmistakable = `${self}-${randomBytes(6).toString('hex')}`;

/** An answer that takes longer is of no use: whoever gives it counts on a look that begins at once. */
const answerMsMax = 1_000;
/** Between two tries while nobody answers: the servers are away, or the shard is between two holders. */
const restMs = 250;
/** Longer than a shard is nobody's. */
const askMsMax = 20_000;
/**
 * How long a leave holds: for whoever has it from when they asked for it, and for whoever gave it from their answer on, so that it has ended there
 * before it ends here, whatever the clocks say. Shorter than the silence that loses a robot its probes, so that sites hardly wait for it.
 */
export const leaveMs = 2_000;
/** What is asked again by one that has begun. */
const goingOn = 'on';
/** What is asked in place of a probe's id by one who was led to another site. */
const turnAt = '-';
/** A turn that was not used within this is over: others have theirs behind it. */
const turnLastsMs = 500;
/** Where none is to be had, it is asked for again no sooner: a look there takes as long. */
const turnRestMs = 500;

export interface Beginner {
  readonly connection: NatsConnection;
  readonly clock: Clock;
  readonly name: string;
}

/** The leave for one look, as whoever looks has it. */
export class HeldLeave {
  readonly #beginner: Beginner;
  readonly #probe: Pick<Probe, 'id' | 'site'>;
  #endsMs = -Infinity;
  #isOver = false;
  #renewing: Promise<void> | undefined;
  readonly #elsewhere: (site?: string) => Promise<true | 'later'>;

  constructor(beginner: Beginner, probe: Pick<Probe, 'id' | 'site'>) {
    this.#beginner = beginner;
    this.#probe = probe;
    this.#elsewhere = turnsElsewhere(beginner, probe.site);
  }

  /** Before the look: asks until somebody answers, and while another is at it; what nobody answers for is to be handed back. */
  begin(): Promise<Said> {
    return this.#ask();
  }

  /** Heard before each of its requests. Where it could not be had again once, it is over. */
  readonly mayAsk: MayAsk = Object.assign(async (site?: string) => (await this.#holds()) && this.#elsewhere(site), {
    isCurrent: () => this.#isCurrent,
  });

  get #isCurrent(): boolean {
    return !this.#isOver && this.#beginner.clock.nowMs() < this.#endsMs;
  }

  async #holds(): Promise<boolean> {
    if (!this.#isOver && !this.#isCurrent)
      await (this.#renewing ??= this.#renew().finally(() => (this.#renewing = undefined)));
    return !this.#isOver;
  }

  /** A request was kept from going out. */
  get isOver(): boolean {
    return this.#isOver;
  }

  async #renew(): Promise<void> {
    this.#isOver = (await this.#ask(goingOn)) !== 'yes';
  }

  async #ask(...more: readonly string[]): Promise<Said> {
    const { connection, clock, name } = this.#beginner;
    const { id, site } = this.#probe;
    const words = [unmistakable, id, ...more].join(' ');
    let untilMs = clock.nowMs() + askMsMax;
    while (clock.nowMs() < untilMs && !connection.isClosed()) {
      const askedMs = clock.nowMs();
      try {
        const heard = await connection.request(subjects.begin(shardOf(site), name), words, { timeout: answerMsMax });
        const said = heard.string();
        if (said === 'yes') this.#endsMs = askedMs + leaveMs;
        if (leaves.includes(said)) return said as Said;
        if (said === 'held') untilMs = clock.nowMs() + askMsMax;
      } catch {
        // Nobody holds the shard, or the servers are away.
      }
      await clock.sleep(restMs);
    }
    return 'back';
  }
}

/** For one look of whoever has leave at its own site: others are asked when it is its turn there. */
export function turnsElsewhere(beginner: Beginner, ownSite: string): (site?: string) => Promise<true | 'later'> {
  const bookedMs = new Map<string, number>();
  let restUntilMs = -Infinity;
  const { clock } = beginner;
  return async (site) => {
    if (site === undefined || site === ownSite) return true;
    const knownMs = bookedMs.get(site);
    const isOver = knownMs === undefined || clock.nowMs() > knownMs + turnLastsMs;
    if (isOver && clock.nowMs() < restUntilMs) return 'later';
    const atMs = isOver ? await bookTurn(beginner, site) : knownMs;
    bookedMs.delete(site);
    if (atMs === undefined) {
      restUntilMs = clock.nowMs() + turnRestMs;
      return 'later';
    }
    if (clock.nowMs() >= atMs) return true;
    bookedMs.set(site, atMs);
    return 'later';
  };
}

/** From when on the site may be asked; undefined where nobody says so. */
async function bookTurn({ connection, clock, name }: Beginner, site: string): Promise<number | undefined> {
  const words = [unmistakable, turnAt, site].join(' ');
  try {
    const heard = await connection.request(subjects.begin(shardOf(site), name), words, { timeout: answerMsMax });
    const waitMs = Number.parseInt(heard.string(), 10);
    return waitMs >= 0 ? clock.nowMs() + waitMs : undefined;
  } catch {
    // Nobody holds the shard, or the servers are away.
    return undefined;
  }
}

/** A probe that went out, as far as its beginning goes. */
export interface Beginnable {
  /** Who alone may begin it; undefined for any robot. */
  readonly observer: string | undefined;
  /** It went out from a holder of the shard before this one. */
  readonly rejoined: boolean;
  begunBy: string | undefined;
  /** When a leave was last given for it, here or, as far as anybody knows, by the holder before. */
  leftMs: number;
}

/** That somebody is there, whether or not it has work; heard by whoever holds the first shard. */
export function sayThere({ connection, name }: Pick<Beginner, 'connection' | 'name'>): void {
  // What is said to a link that is away would be said late, in one breath.
  if (connection.getServer() !== '' && !connection.isClosed()) connection.publish(subjects.begin(0, name), self);
}

/** Who gives leave for a shard. */
export interface LeaveGiver {
  readonly openOf: (id: string) => Beginnable | undefined;
  /** Hears who asks, or says that it is there. */
  readonly there: (name: string, process: string) => void;
  /** One that may have lost the shard without knowing says nothing: it knows nothing of what its new holder lets out. */
  readonly surelyHolds: () => boolean;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Hears who has begun something. */
  readonly begun: (who: string) => void;
  readonly isSilent: (who: string) => boolean;
  /** Gives the next turn at a site to one that was led there, in so many milliseconds. */
  readonly turn: (site: string) => Promise<number | undefined>;
  /** Takes a result that came by hand, and lets go of it as of one that came by the queue. */
  readonly result: (result: Brought) => void;
}

/** What a process is known by to whoever lets it begin. */
export const whoIs = (name: string, process: string): string => `${name} ${process}`;

/** Said of a result that came by hand, when what follows from it is kept, and not before: whoever brought it may forget it then. */
export const taken = 'taken';
/** Said where the shard was given up before that. */
const again = 'again';
/** For so long it is waited for; then the result goes another way, and nobody hears the word. */
export const takenMsMax = 1_000;

/** A result as the queue would hand it on. */
export interface Brought extends Pick<Msg, 'subject' | 'data'> {
  readonly headers: Msg['headers'] | undefined;
  ack(): void;
  nak(): void;
}

function broughtBy(message: Msg, clock: LeaveGiver['clock']): Brought {
  const cameMs = clock.nowMs();
  const say = (word: string): void => {
    if (clock.nowMs() - cameMs < takenMsMax) answer(message, word);
  };
  const { headers, subject, data } = message;
  return { headers, subject, data, ack: () => say(taken), nak: () => say(again) };
}

/** Where clients hear, and what servers put in place of it between accounts, which nobody else may name. */
const inboxes = ['_INBOX', '_R_.'];

/** To whoever asked, and nowhere else: who asks says where the answer goes, and a coordinator may write everywhere. */
export function answer(message: Msg, words: string | Uint8Array): void {
  if (inboxes.some((prefix) => message.reply?.startsWith(prefix))) message.respond(words);
}

/** Answers for the shard until the subscription ends. */
export function hearBeginners(connection: NatsConnection, shard: number, giver: LeaveGiver): Subscription {
  return connection.subscribe(subjects.begin(shard, '*'), {
    callback: (error, message) => {
      if (error) return;
      if (message.headers?.has('probe')) {
        giver.result(broughtBy(message, giver.clock));
        return;
      }
      const [process = '', id = '', more] = message.string().split(' ');
      const name = message.subject.split('.').at(-1)!;
      if (id === '') return giver.there(name, process);
      if (!giver.surelyHolds()) return;
      if (id === turnAt) {
        void giver.turn(more ?? '').then((waitMs) => answer(message, String(waitMs ?? 'none')));
        return;
      }
      const open = giver.openOf(id);
      const leave = leaveOf(open, name, process, more === goingOn, giver.isSilent);
      if (open && leave === 'yes') {
        open.leftMs = giver.clock.nowMs();
        giver.begun(whoIs(name, process));
      }
      answer(message, leave);
    },
  });
}

function leaveOf(
  open: Beginnable | undefined,
  name: string,
  process: string,
  goesOn: boolean,
  isSilent: (who: string) => boolean,
): Leave {
  // Whoever goes on was let begin by the holder before, who let nobody else.
  if (open?.rejoined && !goesOn) return 'back';
  if (!open || (open.observer !== undefined && open.observer !== name)) return 'no';
  // Who asks again has not heard the answer.
  const who = whoIs(name, process);
  open.begunBy ??= who;
  if (open.begunBy === who) return 'yes';
  if (goesOn) return 'no';
  return isSilent(open.begunBy) ? 'back' : 'held';
}
