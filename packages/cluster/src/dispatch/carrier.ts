/**
 * The coordinator's side of dispatch: probes go out to whichever robot is free, observations come back for the shards that
 * are held. What happens to a probe:
 *
 *   open      its message is being handed to the server, again and again until the server has it, or to whoever takes it by
 *             hand (by-hand.ts); the server takes each id once, so a coordinator that takes over hands out the same probe without a second look. One that waits for longer
 *             than the server remembers ids, because no robot came, is looked for where it waits
 *   kept      the server has the message and gives it to robots until one has answered
 *   missing   the message is gone and no answer has come: it may be on its way
 *   ended     answered; or missing for too long, or let out by the holder before and unheard of, handed back to the loop unlooked; or its
 *             shard was given up
 *
 * An answer stays in the queue, or with whoever brought it by hand, until what follows from it is kept (unkept.ts). What comes back for a
 * probe that is not open is dropped once the shard's probes are known, by one that surely holds it: the look has ended, or whoever needs it asks for it again. Of one that
 * was believed to be lost it is a look all the same (`onLate`): what it saw may be gone by the next. An answer names
 * its probe by the id under which it went out, which only those know who were given it.
 */
import { type JetStreamClient, jetstream } from '@nats-io/jetstream';
import { type MsgHdrs, type NatsConnection, type Subscription } from '@nats-io/transport-node';
import type { Clock, Observation, Observer, Probe, RobotReport } from 'revisit/ports';
import { Alive } from './alive.ts';
import { type Handable, handOn } from './by-hand.ts';
import { CrewBook } from './crew-book.ts';
import { hearResults, readUnheard } from './hearing.ts';
import { hearBeginners, leaveMs, whoIs } from './leave.ts';
import { sayNotice } from './notice.ts';
import { RobotsHeard } from './robots-heard.ts';
import type { Seal } from './seal.ts';
import { sameWithinMs, shardOf, silenceMsMax, streams, subjects, usualLeaseMs } from './streams.ts';
import { type Queued, Unkept } from './unkept.ts';
import { isThere, waitsAt } from './whereabouts.ts';
import { packErrand } from '../observers/errand.ts';
import type { Fleet } from '../observers/fleet.ts';
import { Reach } from './reach.ts';
import { afterLeave, byOwnNetworks, handedBack, inOurTime, packProbe, unpackObservation } from './wire.ts';

/** How long the server may take to say that it has a message before it is sent again. */
const publishMsMax = 2_000;
/** Between two tries while the server is away. */
const restMs = 250;
/** How often open probes are looked after, and from which age on: most are answered before. */
const watchEveryMs = 1_000;
const watchFromMs = 1_500;
/** From the message's end to the arrival of the answer that was sent before it: a round trip, on a busy machine. */
const missingMsMax = 2_000;
/** Questions about single messages at once. */
const watchedMax = 64;
/** More answers never come late. */
const lostMax = 10_000;
/** Longer than any look takes: whoever has the probe and only says that it is at it is waited for no longer. */
const heldMsMax = 10 * 60_000;
/** Whoever was let look by the holder before has asked to go on, or brought what it saw, by then. */
const unclaimedMsMax = leaveMs + 1_000;
/** For how long the server surely knows an id again. */
const rememberedMs = sameWithinMs / 2;

interface Result extends Queued {
  readonly headers?: MsgHdrs | undefined;
  readonly subject: string;
  readonly data: Uint8Array;
}

interface Open extends Handable {
  readonly probe: Probe;
  /** Its id on its way. */
  readonly sealed: string;
  readonly shard: number;
  readonly startedAtMs: number;
  readonly answer: (observation: Observation) => void;
  /** Who alone may answer it; undefined for any robot. */
  observer: string | undefined;
  sequence: number | undefined;
  message: Uint8Array | undefined;
  missingSinceMs: number | undefined;
  /** Of its answer, as far as they have come. */
  pieces: (Uint8Array | undefined)[];
  readonly messages: Map<string, Queued>;
}

/** By which way a piece of a result came, and which it is. */
const wayOf = ({ subject }: Pick<Result, 'subject'>, place: number): string => `${subject.split('.')[1]} ${place}`;

export class Carrier implements Observer {
  readonly outlives = true;
  readonly #connection: NatsConnection;
  readonly #stream: JetStreamClient;
  readonly #clock: Clock;
  readonly #seal: Seal;
  readonly #leaseMs: number | undefined;
  /** By their ids on their way. */
  readonly #open = new Map<string, Open>();
  /** Handed back as lost, oldest first; their answers may come after all. */
  readonly #lost = new Map<string, Open>();
  readonly #listening = new Map<number, () => void>();
  /** Of shards for which looks are let begin, and whether each is surely held. */
  readonly #admitting = new Map<number, { readonly ears: Subscription; readonly surelyHolds: () => boolean }>();
  readonly #closed = new AbortController();
  readonly #crew = new CrewBook();
  readonly #alive = new Alive();
  readonly #hands: Subscription;
  /** A look has come of which nobody waits for the answer any more; answers whether it is to be kept all the same. */
  onLate: (observation: Observation) => boolean = () => false;
  /** Gives the next turn at a site to one that was led there, in so many milliseconds; nobody has one until the loop runs. */
  turn: (site: string) => Promise<number | undefined> = () => Promise.resolve(undefined);
  /** Who knows which sites are observed from elsewhere; nobody's until the loop runs. */
  fleet: Fleet | undefined;
  readonly #reach: Reach;
  readonly #robotsHeard = new RobotsHeard();
  readonly #unkept = new Unkept();

  constructor(connection: NatsConnection, clock: Clock, seal: Seal, replicas = 1, leaseMs?: number) {
    this.#seal = seal;
    this.#reach = new Reach(connection, clock, replicas, leaseMs);
    this.#leaseMs = leaseMs;
    this.#connection = connection;
    this.#stream = jetstream(connection);
    this.#clock = clock;
    void this.#watch();
    this.#hands = handOn(
      connection,
      clock,
      () => this.#open.values(),
      (name, process) => {
        this.#alive.heard(whoIs(name, process), clock.nowMs());
        // Whoever takes work by hand can be reached, whatever becomes of the queue.
        this.#reach.reached();
      },
    );
  }

  /** Whether probes go out. */
  get linked(): boolean {
    return this.#reach.linked;
  }

  robots(): readonly RobotReport[] {
    return this.#crew.reports(this.#clock.nowMs(), this.#leaseMs);
  }

  /** From now on this process takes what comes back for the shard. */
  listen(shard: number): void {
    if (this.#listening.has(shard)) return;
    const stop = hearResults(this.#connection, this.#clock, shard, (message) => this.#arrived(message));
    this.#listening.set(shard, stop);
  }

  /** From now on this process says which looks of the shard may begin; what is open by now went out from another. */
  admit(shard: number, surelyHolds: () => boolean = () => true): void {
    if (this.#admitting.has(shard)) return;
    const ears = hearBeginners(this.#connection, shard, {
      openOf: (id) => this.#open.get(id),
      there: (name, process) => this.#crew.there(name, process, this.#clock.nowMs()),
      surelyHolds,
      clock: this.#clock,
      begun: (who) => this.#alive.heard(who, this.#clock.nowMs()),
      isSilent: (who) => this.#isSilent(who),
      turn: (site) => this.turn(site),
      result: (result) => this.#arrived(result),
    });
    this.#admitting.set(shard, { ears, surelyHolds });
  }

  /** The shard is somebody else's: what is open of it ends here, and goes on there. */
  silence(shard: number): void {
    this.#listening.get(shard)?.();
    this.#listening.delete(shard);
    this.#admitting.get(shard)?.ears.unsubscribe();
    this.#admitting.delete(shard);
    for (const open of this.#open.values()) if (open.shard === shard) this.#handBack(open, 'Its shard was given up.');
    for (const [sealed, open] of this.#lost) if (open.shard === shard) this.#lost.delete(sealed);
    this.#unkept.leave(shard);
  }

  /** All that follows from these probes is kept, or nothing does. */
  ended(probeIds: readonly string[]): void {
    this.#unkept.ended(probeIds);
  }

  /** A piece of an answer, by the queue or by hand. */
  #arrived(message: Result): void {
    const id = message.headers?.get('probe') ?? '';
    const count = Number(message.headers?.get('pieces') || '1');
    const place = Number(message.headers?.get('piece') || '0');
    const open = this.#open.get(id) ?? this.#lost.get(id);
    if (!open) return this.#drop(id, place, message);
    if (!(count >= 1 && count <= 1_000) || !(place >= 0 && place < count)) return message.ack?.();
    // Another robot's answer to the same probe may have another number of them.
    if (open.pieces.length !== count) open.pieces = Array.from<undefined>({ length: count });
    open.pieces[place] = message.data;
    // One that is only read there again has nothing to let go of.
    if (message.ack) open.messages.set(wayOf(message, place), message);
    open.missingSinceMs = undefined;
    if (open.pieces.includes(undefined)) return;
    // Only the observer that was asked may answer an errand; its name in the subject is what its key allows.
    const from = message.subject.split('.').at(-1)!;
    if (open.observer !== undefined && from !== open.observer) return;
    const observation = this.#read(open, open.pieces as Uint8Array[], from);
    if (open.observer === undefined && observation)
      this.#crew.heard(from, message.headers?.get('process') ?? '', observation, this.#clock.nowMs());
  }

  /** Of a shard whose probes are not known yet it may be awaited; of one that was lost without a word, by its new holder. */
  #drop(id: string, place: number, message: Result): void {
    if (this.#unkept.again(id, wayOf(message, place), message)) return;
    if (this.#admitting.get(Number(message.subject.split('.')[2]))?.surelyHolds()) message.ack?.();
    else message.nak?.(restMs);
  }

  #read(open: Open, pieces: readonly Uint8Array[], from: string): Observation | undefined {
    const { probe, observer } = open;
    const said = observer === undefined ? unpackObservation(pieces) : this.#report(observer, pieces, probe);
    if (!said) {
      this.#handBack(open, 'The answer could not be read.');
      return undefined;
    }
    const whose = `${observer === undefined ? 'Robot' : 'Observer'} ${from}`;
    const observation = inOurTime(byOwnNetworks(said, whose), probe, open.startedAtMs, this.#clock.nowMs());
    if (observer === undefined) {
      this.#robotsHeard.heard(observation);
      this.fleet?.fromHome(observation);
    }
    if (this.#lost.delete(open.sealed)) this.#hold(open, this.onLate(observation));
    else this.#end(open, observation);
    return observation;
  }

  /** Until what follows is kept, if anything does. */
  #hold(open: Open, follows: boolean): void {
    if (follows) this.#unkept.hold(open.sealed, open.probe.id, open.shard, open.messages, this.#clock.nowMs());
    else for (const message of open.messages.values()) message.ack?.();
    open.messages.clear();
  }

  readonly awaited = (site: string) => this.fleet?.awaited(site);

  allows(url: string): boolean | undefined {
    return this.#robotsHeard.allows(url);
  }

  #report(observer: string, pieces: readonly Uint8Array[], probe: Probe): Observation | undefined {
    const bytes = Buffer.concat(pieces);
    if (bytes.length > 0) return this.fleet?.read(observer, bytes, probe);
    this.fleet?.unknown(probe);
    return undefined;
  }

  observe(probe: Probe): Promise<Observation> {
    return new Promise((answer) => {
      const shard = shardOf(probe.site);
      const startedAtMs = this.#clock.nowMs();
      const rejoined = !this.#admitting.has(shard);
      const open: Open = {
        probe,
        sealed: this.#seal(probe.id),
        shard,
        startedAtMs,
        answer,
        rejoined,
        begunBy: undefined,
        leftMs: rejoined ? startedAtMs : -Infinity,
        observer: undefined,
        sequence: undefined,
        message: undefined,
        handedMs: -Infinity,
        missingSinceMs: undefined,
        pieces: [],
        messages: new Map(),
      };
      this.#open.set(open.sealed, open);
      void this.#handOut(open);
    });
  }

  #isOpen(open: Open): boolean {
    return this.#open.get(open.sealed) === open;
  }

  #end(open: Open, observation: Observation): void {
    if (!this.#isOpen(open)) return;
    this.#open.delete(open.sealed);
    if (open.observer !== undefined) this.fleet?.ended(open.probe.site);
    // Of a look that is for somebody's eyes only nothing is kept.
    this.#hold(open, open.probe.pageIds.length > 0);
    open.answer(afterLeave(observation, open.leftMs + leaveMs));
  }

  #handBack(open: Open, sentence: string): void {
    this.#end(open, handedBack(open.probe, this.#clock.nowMs(), sentence));
  }

  /** Until the server says that it has the message. */
  async #handOut(open: Open): Promise<void> {
    const { probe, shard } = open;
    const route = await this.fleet?.route(probe);
    if (!this.#isOpen(open)) {
      if (route) this.fleet?.ended(probe.site);
      return;
    }
    open.observer = route?.observer;
    const subject = route ? subjects.errand(route.observer) : subjects.probe(shard);
    const carried = { ...probe, id: open.sealed };
    open.message = route ? packErrand({ ...route.errand, probe: carried }) : packProbe(carried);
    if (route) this.fleet?.sent(route.observer, open.message.length);
    const stream = route ? streams.errands : streams.probes;
    // What was begun, whichever way it came there, is with somebody.
    while (this.#isOpen(open) && open.begunBy === undefined && !this.#closed.signal.aborted) {
      try {
        if (this.#clock.nowMs() - probe.atMs >= rememberedMs) {
          open.sequence = await waitsAt(await this.#reach.managing(), stream, subject, probe.id);
          if (open.sequence !== undefined) return;
        }
        const told = await this.#stream.publish(subject, open.message, {
          msgID: probe.id,
          timeout: publishMsMax,
        });
        open.sequence = told.seq;
        this.#reach.reached();
        return;
      } catch {
        await this.#reach.away();
        await this.#clock.sleep(restMs, this.#closed.signal);
      }
    }
  }

  /** Looks after probes that take long: whoever was to answer one may have been lost with it. */
  async #watch(): Promise<void> {
    while (!this.#closed.signal.aborted) {
      await this.#clock.sleep(watchEveryMs, this.#closed.signal);
      void this.#reach.tryAgain();
      const nowMs = this.#clock.nowMs();
      for (const open of this.#open.values()) if (open.sequence === undefined) this.#miss(open);
      const old = [...this.#open.values()].filter(
        (open) => open.sequence !== undefined && nowMs - open.startedAtMs >= watchFromMs,
      );
      const begun = new Set(old.filter(({ begunBy }) => begunBy !== undefined).map(({ shard }) => shard));
      await readUnheard(
        () => this.#reach.managing(),
        begun,
        (result) => this.#arrived(result),
      );
      await Promise.all(old.slice(0, watchedMax).map((open) => this.#lookAfter(open)));
    }
  }

  #isSilent(who: string): boolean {
    return this.#alive.isSilent(who, this.#clock.nowMs(), silenceMsMax(this.#leaseMs ?? usualLeaseMs));
  }

  /**
   * What was begun by hand is in no queue: when whoever began it falls silent, nobody else will have it. What the holder before let out and
   * the queue says nothing about is nobody's as far as anybody knows, and no hand takes it.
   */
  #miss(open: Open): void {
    const isNobodys =
      open.begunBy === undefined
        ? open.rejoined && this.#clock.nowMs() - open.startedAtMs >= unclaimedMsMax
        : open.sequence === undefined && this.#isSilent(open.begunBy);
    if (!isNobodys) return;
    this.#handBack(open, 'The robot that had the probe was lost.');
    if (open.observer === undefined) this.#lose(open);
  }

  async #lookAfter(open: Open): Promise<void> {
    const stream = open.observer === undefined ? streams.probes : streams.errands;
    let there: boolean;
    try {
      there = await isThere(await this.#reach.managing(), stream, open.sequence!, open.probe.id);
    } catch {
      return this.#miss(open);
    }
    if (there && open.observer !== undefined) await this.#takeBack(open, open.observer);
    else if (there && this.#clock.nowMs() - open.startedAtMs >= heldMsMax)
      await this.#withdraw(open, stream, 'No robot has answered in minutes.');
    if (there) {
      open.missingSinceMs = undefined;
      // The next round looks after others first.
      if (!this.#isOpen(open)) return;
      this.#open.delete(open.sealed);
      this.#open.set(open.sealed, open);
      return;
    }
    const nowMs = this.#clock.nowMs();
    open.missingSinceMs ??= nowMs;
    if (nowMs - open.missingSinceMs < missingMsMax) return;
    this.#handBack(open, 'The robot that had the probe was lost.');
    // An observer tells of what it has found until it is known to have arrived.
    if (open.observer === undefined) this.#lose(open);
  }

  #lose(open: Open): void {
    this.#lost.set(open.sealed, open);
    if (this.#lost.size > lostMax) this.#lost.delete(this.#lost.keys().next().value!);
  }

  /** An errand whose observer is away, with all its mandates at an end: nobody will look any more. */
  async #takeBack(open: Open, observer: string): Promise<void> {
    const lostAtMs = this.fleet?.lostAtMs(observer, open.probe.site) ?? -Infinity;
    if (lostAtMs > this.#clock.nowMs()) return;
    await this.#withdraw(open, streams.errands, `The observer ${observer} was lost.`);
  }

  async #withdraw(open: Open, stream: string, sentence: string): Promise<void> {
    const { streams: kept } = await this.#reach.managing();
    await kept.deleteMessage(stream, open.sequence!).catch(() => false);
    this.#handBack(open, sentence);
  }

  notice(kind: string, ids: readonly string[]): void {
    sayNotice(this.#connection, kind, ids);
  }

  close(): Promise<void> {
    this.#closed.abort('closed');
    this.#hands.unsubscribe();
    for (const shard of this.#listening.keys()) this.silence(shard);
    return Promise.resolve();
  }
}
