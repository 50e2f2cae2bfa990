/**
 * A robot: takes probes, looks, sends back what came. It keeps nothing, so it may join and leave at any time; politeness is
 * decided by whoever sent the probe and enforced again by the robot's own observer.
 *
 * What becomes of a probe here:
 *   new           looked at when its coordinator says that nobody else has begun it; while that takes, the server hears now
 *                 and then that somebody is at it
 *   begun         by another, or nobody waits for it any more, whatever the server says: let go of without a word
 *   come before   another robot had it and fell silent: when that one looked nobody knows, so it is handed back unlooked and
 *                 its coordinator asks again when the site's spacing from now has passed
 *   ours before   its result is sent again, without a look
 *   slept over    this process was stopped while it had the probe: handed back likewise
 *   cut off       its leave ended between two requests of the look and could not be had again: the rest is not asked for, and it is handed
 *                 back likewise when there is a link again
 */
import { type JsMsg, jetstream } from '@nats-io/jetstream';
import { type NatsConnection, headers } from '@nats-io/transport-node';
import type { Clock, Observer, Probe } from 'revisit/ports';
import { Intake } from './dispatch/intake.ts';
import { HeldLeave, sayThere, self } from './dispatch/leave.ts';
import { Once, type Pieces } from './dispatch/once.ts';
import { consumers, pullMs, shardOf, streams, subjects, workingEveryMs } from './dispatch/streams.ts';
import { handedBack, packObservation, unpackProbe } from './dispatch/wire.ts';
import type { Pulse } from './pulse.ts';

export interface RobotOptions {
  readonly connection: NatsConnection;
  /** Under which it writes its results. */
  readonly name: string;
  readonly observer: Observer;
  readonly clock: Clock;
  readonly pulse: Pulse;
  /** Looks under way at once. */
  readonly breadth: number;
  readonly log: (level: 'info' | 'warn', message: string, fields?: Record<string, unknown>) => void;
}

/** Often enough that several are heard within two leases. */
const sayEveryMs = 2_000;
/** Between two tries to send a result while the servers are away. */
const restMs = 500;
/** A result that cannot be sent for so long is of no use: its page has been looked at again. */
const sendMsMax = 10 * 60_000;

const noProbes =
  'no probes can be had: the NATS servers are away or without JetStream, or no coordinator has been there yet; it is tried again';

export class Robot {
  readonly #options: RobotOptions;
  readonly #intake: Intake;
  readonly #once = new Once();

  constructor(options: RobotOptions) {
    this.#options = options;
    const { connection, clock, breadth, log } = options;
    this.#intake = new Intake({
      connection,
      clock,
      breadth,
      stream: streams.probes,
      consumer: consumers.robots,
      work: (message) => this.#handle(message),
      trouble: (error) => log('warn', noProbes, { error: error.message }),
      mended: () => log('info', 'probes come again'),
    });
  }

  /** Works until the signal, then finishes what it has begun. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#intake.run(signal), this.#say(signal)]);
  }

  async #say(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      sayThere(this.#options);
      await this.#options.clock.sleep(sayEveryMs, signal);
    }
  }

  async #handle(message: JsMsg): Promise<void> {
    const { log } = this.#options;
    const probe = unpackProbe(message.data);
    if (!probe) {
      log('warn', 'a message that is no probe was refused', { subject: message.subject });
      message.term();
      return;
    }
    const alive = setInterval(() => message.working(), workingEveryMs);
    try {
      const pieces = await this.#answer(probe, message.info.deliveryCount > 1);
      if (!pieces || (await this.#send(probe, pieces))) message.ack();
      else log('warn', 'a result could not be sent', { probe: probe.id });
    } finally {
      clearInterval(alive);
    }
  }

  /** Undefined where nothing is to be said. */
  #answer(probe: Probe, again: boolean): Promise<Pieces | undefined> {
    return this.#once.answer(probe.id, async () =>
      again || this.#options.pulse.isDrowsy ? this.#handBack(probe) : this.#look(probe),
    );
  }

  #handBack(probe: Probe): Pieces {
    return packObservation(
      handedBack(probe, this.#options.clock.nowMs(), 'The robot that had the probe was lost, or stood still.'),
    );
  }

  async #look(probe: Probe): Promise<Pieces | undefined> {
    const { clock, observer, pulse } = this.#options;
    const sinceMs = clock.nowMs();
    const leave = new HeldLeave(this.#options, probe);
    const said = await leave.begin();
    if (said === 'no') return undefined;
    if (said === 'back' || pulse.sleptSince(sinceMs)) return this.#handBack(probe);
    const observation = await observer.observe(probe, undefined, () => leave.holds());
    return leave.isOver || pulse.sleptSince(sinceMs) ? this.#handBack(probe) : packObservation(observation);
  }

  /** Until the server has it all; false when that would help nobody any more. */
  async #send(probe: Probe, pieces: Pieces): Promise<boolean> {
    const { connection, clock, name } = this.#options;
    const stream = jetstream(connection);
    const subject = subjects.observation(shardOf(probe.site), name);
    const untilMs = clock.nowMs() + sendMsMax;
    for (const [place, piece] of pieces.entries()) {
      const about = headers();
      about.set('probe', probe.id);
      about.set('process', self);
      about.set('piece', String(place));
      about.set('pieces', String(pieces.length));
      for (;;) {
        try {
          await stream.publish(subject, piece, { headers: about, msgID: `${probe.id}/${place}`, timeout: pullMs });
          break;
        } catch {
          if (clock.nowMs() >= untilMs || connection.isClosed()) return false;
          await clock.sleep(restMs);
        }
      }
    }
    return true;
  }
}
