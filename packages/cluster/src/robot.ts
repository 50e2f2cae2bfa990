/**
 * A robot: takes probes, looks, sends back what came. It keeps nothing beyond that, so it may join and leave at any time; politeness is
 * decided by whoever sent the probe and enforced again by the robot's own observer.
 *
 * What becomes of a probe here:
 *   new           looked at when its coordinator says that nobody else has begun it; while that takes, the server hears now
 *                 and then that somebody is at it
 *   begun         by another, whatever the server says: held for that one, and let go of when nobody waits for it any more
 *   left          by another that began it and fell silent: when that one looked nobody knows, so it is handed back unlooked and
 *                 its coordinator asks again when the site's spacing from now has passed
 *   looked at     its result is kept here, in the place of a look, until the queue has it or what follows from it is kept
 *   ours before   its result is sent again, without a look
 *   slept over    this process was stopped while it had the probe: handed back likewise
 *   cut off       its leave ended between two requests of the look and could not be had again: the rest is not asked for, and it is handed
 *                 back likewise when there is a link again
 */
import type { NatsConnection } from '@nats-io/transport-node';
import type { Clock, Observer, Probe } from 'revisit/ports';
import { sendResult } from './dispatch/by-hand.ts';
import { Intake, type Task } from './dispatch/intake.ts';
import { HeldLeave, sayThere } from './dispatch/leave.ts';
import { Once, type Pieces } from './dispatch/once.ts';
import { consumers, streams, workingEveryMs } from './dispatch/streams.ts';
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

const noProbes =
  'no probes can be had: the NATS servers are away or without JetStream, or no coordinator has been there yet; it is tried again';

export class Robot {
  readonly #options: RobotOptions;
  readonly #intake: Intake;
  readonly #once = new Once();

  constructor(options: RobotOptions) {
    this.#options = options;
    const { connection, clock, name, breadth, log } = options;
    this.#intake = new Intake({
      connection,
      clock,
      name,
      kind: 'probes',
      breadth,
      stream: streams.probes,
      consumer: consumers.robots,
      work: (task) => this.#handle(task),
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

  async #handle(task: Task): Promise<void> {
    const { log } = this.#options;
    const probe = unpackProbe(task.data);
    if (!probe) {
      log('warn', 'a message that is no probe was refused');
      task.done();
      return;
    }
    // Whether it was answered is asked for in vain: it will be.
    if (task.byHand && this.#once.isUnderWay(probe.id)) return;
    const alive = setInterval(() => task.working(), workingEveryMs);
    try {
      const pieces = await this.#answer(probe);
      const send = (all: Pieces) => this.#once.bring(probe.id, sendResult(this.#options, probe, all, task.byHand));
      if (!pieces || (await send(pieces))) task.done();
      else log('warn', 'a result could not be sent', { probe: probe.id });
    } finally {
      clearInterval(alive);
    }
  }

  /** Undefined where nothing is to be said. */
  #answer(probe: Probe): Promise<Pieces | undefined> {
    return this.#once.answer(probe.id, async () =>
      this.#options.pulse.isDrowsy ? this.#handBack(probe) : this.#look(probe),
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
    const observation = await observer.observe(probe, undefined, leave.mayAsk);
    if (leave.isOver || pulse.sleptSince(sinceMs)) return this.#handBack(probe);
    // Whoever finds pages from this one must know which of them nobody may visit.
    const robots = probe.discovers ? observer.robotsOf?.(new URL(probe.url).origin).rules : undefined;
    return packObservation(robots ? { ...observation, robots } : observation);
  }
}
