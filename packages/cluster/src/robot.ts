/**
 * A robot: takes probes, looks, sends back what came. It keeps nothing, so it may join and leave at any time; politeness is
 * decided by whoever sent the probe and enforced again by the robot's own observer.
 *
 * A probe that another robot had before (that one died, or was cut off) is looked at again only where the time since then
 * covers the site's spacing; otherwise it is handed back unlooked, and its coordinator sends it again in its own time.
 */
import { type ConsumerMessages, type JsMsg, jetstream } from '@nats-io/jetstream';
import { type NatsConnection, headers } from '@nats-io/transport-node';
import type { Clock, Observation, Observer, Probe } from 'revisit/ports';
import { consumers, robotSilenceMs, shardOf, streams, subjects } from './dispatch/streams.ts';
import { packObservation, unpackProbe } from './dispatch/wire.ts';

export interface RobotOptions {
  readonly connection: NatsConnection;
  readonly observer: Observer;
  readonly clock: Clock;
  /** Looks under way at once. */
  readonly breadth: number;
  /** The spacing that this robot keeps at every site at least. */
  readonly spacingMs: number;
  readonly log: (level: 'info' | 'warn', message: string, fields?: Record<string, unknown>) => void;
}

export interface RobotCounts {
  readonly looked: number;
  readonly handedBack: number;
  readonly underWay: number;
}

export class Robot {
  readonly #options: RobotOptions;
  #underWay = 0;
  #looked = 0;
  #handedBack = 0;
  #freed: () => void = () => {};

  constructor(options: RobotOptions) {
    this.#options = options;
  }

  counts(): RobotCounts {
    return { looked: this.#looked, handedBack: this.#handedBack, underWay: this.#underWay };
  }

  /** Works until the signal, then finishes what it has begun. */
  async run(signal: AbortSignal): Promise<void> {
    const { connection, breadth } = this.#options;
    const consumer = await jetstream(connection).consumers.get(streams.probes, consumers.robots);
    // No more is taken than is looked at: what waits, waits where every robot can take it.
    const messages = await consumer.consume({ max_messages: breadth });
    signal.addEventListener('abort', () => messages.stop(), { once: true });
    if (signal.aborted) messages.stop();
    await this.#take(messages, breadth);
    while (this.#underWay > 0) await new Promise<void>((resolve) => (this.#freed = resolve));
  }

  async #take(messages: ConsumerMessages, breadth: number): Promise<void> {
    for await (const message of messages) {
      while (this.#underWay >= breadth) await new Promise<void>((resolve) => (this.#freed = resolve));
      this.#underWay++;
      void this.#handle(message).finally(() => {
        this.#underWay--;
        this.#freed();
      });
    }
  }

  async #handle(message: JsMsg): Promise<void> {
    const { observer, clock, spacingMs, log } = this.#options;
    const probe = unpackProbe(message.data);
    if (!probe) {
      log('warn', 'a message that is no probe was refused', { subject: message.subject });
      message.term();
      return;
    }
    const alive = setInterval(() => message.working(), robotSilenceMs / 3);
    try {
      const tooSoon = message.info.deliveryCount > 1 && spacingMs > robotSilenceMs;
      const observation = tooSoon ? handedBack(probe, clock.nowMs()) : await observer.observe(probe);
      if (tooSoon) this.#handedBack++;
      else this.#looked++;
      await this.#send(observation);
      message.ack();
    } catch (error) {
      // The result could not be sent: another robot gets the probe when this one has been silent for long enough.
      log('warn', 'a result could not be sent', { error: (error as Error).message, probe: probe.id });
    } finally {
      clearInterval(alive);
    }
  }

  async #send(observation: Observation): Promise<void> {
    const stream = jetstream(this.#options.connection);
    const { probe } = observation;
    const pieces = packObservation(observation);
    for (const [place, piece] of pieces.entries()) {
      const about = headers();
      about.set('probe', probe.id);
      about.set('piece', String(place));
      about.set('pieces', String(pieces.length));
      await stream.publish(subjects.observation(shardOf(probe.site)), piece, {
        headers: about,
        msgID: `${probe.id}/${place}`,
      });
    }
  }
}

function handedBack(probe: Probe, nowMs: number): Observation {
  return {
    probe,
    startedAtMs: nowMs,
    endedAtMs: nowMs,
    outcome: { kind: 'failed', fault: { code: 'robot-lost', sentence: 'The robot that had the probe was lost.' } },
    bytesReceived: 0,
    requests: 0,
  };
}
