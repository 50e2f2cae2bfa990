/** `revisit observer`: stands near its sources, remembers, and reports what is new. */
import { join as joinPath } from 'node:path';
import type { NatsConnection } from '@nats-io/transport-node';
import { type Clock, type Locked, type Observer, lockFolder, steadyClock } from 'revisit/ports';
import { sendResult } from './dispatch/by-hand.ts';
import { Intake, type Task } from './dispatch/intake.ts';
import { type Beginner, HeldLeave, turnsElsewhere } from './dispatch/leave.ts';
import { Once, type Pieces } from './dispatch/once.ts';
import { streams, subjects, workingEveryMs } from './dispatch/streams.ts';
import { pieces } from './dispatch/wire.ts';
import { type Joining, type Parting, join, whileWelcome } from './joining.ts';
import { type Errand, unlooked, unpackErrand } from './observers/errand.ts';
import { Journal } from './observers/journal.ts';
import { beginLife } from './observers/life.ts';
import { type Judge, Lookout } from './observers/lookout.ts';
import { OnlyOne, whoAsks } from './observers/only-one.ts';
import { Pulse } from './pulse.ts';

export interface ObserverCommand extends Joining {
  readonly breadth: number;
  /** Where it keeps what it has found and not told. */
  readonly folder: string;
  /** Between two requests to one site, also over a restart. */
  readonly spacingMs: number;
  readonly observer: (clock: Clock, isDrowsy: () => boolean) => Observer;
  readonly judge: Judge;
}

const wordEveryMs = 2_000;
/** What is found within so long after the first is told with it. */
const gatherMs = 100;
/** As many pages as one word may name; the others are named when these have been asked for. */
const stirredMax = 500;
/**
 * An errand that is no older is begun without asking: its coordinator gives none up so soon. By our own clock, from our last word
 * that the coordinator had heard when it sent the errand.
 */
const freshMs = 3_000;
const patrolMsMax = 500;

export async function runObserver(command: ObserverCommand, signal: AbortSignal): Promise<Parting> {
  const clock = steadyClock;
  const joined = await join(command, 'observer', signal);
  if (joined.kind !== 'joined') return joined;
  const { connection, name } = joined;
  const held = holdName(command.folder, name);
  if (held.kind !== 'locked') {
    await connection.close();
    return held;
  }
  const only = new OnlyOne(connection, name);
  const outdone = await Promise.race([only.outdone, only.start().then(() => undefined)]);
  if (outdone !== undefined) {
    held.release();
    await connection.close();
    return { kind: 'failed', sentence: outdone };
  }
  let journal: Journal;
  try {
    journal = await Journal.open(joinPath(command.folder, `${name}.findings`));
  } catch (error) {
    held.release();
    await connection.close();
    return { kind: 'wrong', sentence: `--data ${command.folder}: ${(error as Error).message}` };
  }
  const pulse = new Pulse(clock);
  const observer = command.observer(clock, () => pulse.isDrowsy);
  const lookout = new Lookout(observer, command.judge, clock, journal, (site) =>
    turnsElsewhere({ connection, clock, name }, site),
  );
  const untold = journal.findings().length;
  command.log('info', 'observer at work', { name, ...(untold > 0 ? { untold } : {}) });
  // The one before may have asked a site a moment before it ended; it stamped the journal at every word.
  const idleMs = clock.nowMs() - (journal.aliveMs ?? -Infinity);
  await clock.sleep(Math.max(0, Math.min(command.spacingMs, command.spacingMs + wordEveryMs - idleMs)), signal);
  const life = beginLife(joinPath(command.folder, `${name}.life`));
  const post = new Post({ ...command, name, life }, connection, lookout, journal, clock);
  const unwanted = Promise.race([joined.refused, only.outdone]);
  return whileWelcome({ ...joined, refused: unwanted }, observer, signal, async (until) => {
    await Promise.all([post.take(until), post.speak(until), patrol(lookout, clock, until)]);
    post.leave();
    // What it has found and not told stays on its disk.
    await journal.close();
    held.release();
  });
}

/** The name, for this process alone; observers of several names may share a folder. */
function holdName(folder: string, name: string): Locked | Parting {
  const lock = lockFolder(joinPath(folder, `${name}.lock`));
  if (lock.kind === 'locked') return lock;
  if (lock.kind === 'failed') return { kind: 'wrong', sentence: `--data ${folder}: ${lock.sentence}` };
  const sentence = `Another observer is at work as ${name} with --data ${folder}, and two of a name would ask its sites twice as often; end that one, or give this one a name, a key and a folder of its own.`;
  return { kind: 'failed', sentence };
}

/** Looks go on whether or not anybody can be told. */
async function patrol(lookout: Lookout, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await clock.sleep(Math.min(patrolMsMax, await lookout.patrol()), signal);
}

/** Let go of a site; let go of what was found on pages that are looked at from elsewhere now; look less often at sites. */
interface Question {
  readonly shed?: string;
  readonly forget?: readonly string[];
  readonly slow?: readonly string[];
  readonly factor?: number;
}

/** With what it is called, and which process of that name it is. */
type Named = ObserverCommand & { readonly name: string; readonly life: string };

/** What goes between the observer and its coordinators. */
class Post {
  readonly #command: Named;
  readonly #connection: NatsConnection;
  readonly #lookout: Lookout;
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #once = new Once();

  constructor(command: Named, connection: NatsConnection, lookout: Lookout, journal: Journal, clock: Clock) {
    this.#command = command;
    this.#connection = connection;
    this.#lookout = lookout;
    this.#journal = journal;
    this.#clock = clock;
  }

  /** Errands, until the signal; what has begun is finished. */
  take(signal: AbortSignal): Promise<void> {
    const intake = new Intake({
      ...this.#self,
      kind: 'errands',
      breadth: this.#command.breadth,
      stream: streams.errands,
      consumer: this.#command.name,
      work: (task) => this.#handle(task),
      // The servers are away, or no coordinator has heard of us yet.
      trouble: () => {},
    });
    return intake.run(signal);
  }

  get #self(): Beginner {
    return { connection: this.#connection, clock: this.#clock, name: this.#command.name };
  }

  async #handle(task: Task): Promise<void> {
    const errand = unpackErrand(task.data);
    if (!errand) return task.done();
    // Whether it was answered is asked for in vain: it will be.
    if (task.byHand && this.#once.isUnderWay(errand.probe.id)) return;
    const alive = setInterval(() => task.working(), workingEveryMs);
    try {
      const { probe } = errand;
      const answer = await this.#once.answer(probe.id, () => this.#answer(errand, task.again));
      const send = (all: Pieces) => this.#once.bring(probe.id, sendResult(this.#self, probe, all, task.byHand));
      if (!answer || (await send(answer))) task.done();
      else this.#command.log('warn', 'a report could not be sent', { probe: probe.id });
    } finally {
      clearInterval(alive);
    }
  }

  /** Undefined where nothing is to be said: its coordinator does not wait for it any more. */
  async #answer(errand: Errand, again: boolean): Promise<Pieces | undefined> {
    const { probe, mandate } = errand;
    const handBack = (): Pieces => pieces(unlooked(errand, this.#clock.nowMs()));
    // One that the process before this had may have been looked at; nobody knows when.
    if (again && !this.#lookout.knows(errand)) return handBack();
    // While a mandate is fresh nobody else can have been given the site; what was only to be tried, others may have by now.
    const isFresh = mandate.forMs > 0 && this.#clock.nowMs() - mandate.sinceMs <= freshMs;
    const leave = new HeldLeave(this.#self, probe);
    const said = isFresh ? 'yes' : await leave.begin();
    if (said === 'no') return undefined;
    if (said === 'back') return handBack();
    // Within a mandate it may go on by itself.
    const mayAsk = mandate.forMs === 0 ? leave.mayAsk : undefined;
    const answer = await this.#lookout.answer(errand, mayAsk);
    return leave.isOver ? handBack() : pieces(answer ?? new Uint8Array());
  }

  /** Says every two seconds that it is there, and what it has found as soon as it has; and answers questions. */
  async speak(signal: AbortSignal): Promise<void> {
    const ears = this.#connection.subscribe(subjects.ask(this.#command.name), {
      callback: (error, message) => {
        // Who is there is said elsewhere.
        if (error || whoAsks(message.string()) !== undefined) return;
        void this.#reply(message.json<Question>()).then((answer) => message.respond(JSON.stringify(answer)));
      },
    });
    let found = new AbortController();
    this.#lookout.onFound = () => found.abort('found');
    while (!signal.aborted) {
      found = new AbortController();
      await this.#journal.alive(this.#clock.nowMs()).catch(() => {});
      this.#say();
      await this.#clock.sleep(wordEveryMs, AbortSignal.any([signal, found.signal]));
      if (found.signal.aborted) await this.#clock.sleep(gatherMs, signal);
    }
    ears.unsubscribe();
  }

  #say(more: { readonly leaves?: true } = {}): void {
    const stirred = this.#lookout.stirred(stirredMax);
    const { life } = this.#command;
    const word = { atMs: this.#clock.nowMs(), life, ...this.#lookout.counts(), stirred, ...more };
    // What was said to a link that is away would be said late, in one breath.
    if (this.#connection.getServer() !== '' && !this.#connection.isClosed())
      this.#connection.publish(subjects.word(this.#command.name), JSON.stringify(word));
  }

  /** Nobody looks from here any more, and nothing waits here to be told: its sites may be looked at from elsewhere at once. */
  leave(): void {
    if (!this.#lookout.hasUntold) this.#say({ leaves: true });
  }

  async #reply(question: Question): Promise<unknown> {
    if (question.forget) await this.#lookout.forget(question.forget);
    if (question.slow && question.factor! > 0 && question.factor! < 1) {
      this.#lookout.slow(question.slow, question.factor!);
      return { slowed: true };
    }
    if (question.shed === undefined) return {};
    const agoMs = await this.#lookout.shed(question.shed);
    return agoMs === 'untold' ? { untold: true } : { agoMs };
  }
}
