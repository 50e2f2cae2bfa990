/** `revisit robot`: joins a cluster and fetches until it is told to leave. */
import { connect } from '@nats-io/transport-node';
import { type Clock, type Observer, systemClock } from 'revisit/ports';
import { ensureStreams } from './dispatch/streams.ts';
import { Robot, type RobotOptions } from './robot.ts';

export interface RobotCommand {
  readonly nats: string;
  readonly breadth: number;
  readonly spacingMs: number;
  readonly observer: (clock: Clock) => Observer;
  readonly log: RobotOptions['log'];
}

/** Says what is wrong, or nothing when it left in peace. */
export async function runRobot(command: RobotCommand, signal: AbortSignal): Promise<string | undefined> {
  let connection;
  try {
    connection = await connect({ servers: command.nats.split(','), maxReconnectAttempts: -1, name: 'revisit robot' });
    await ensureStreams(connection);
  } catch (error) {
    return `--nats ${command.nats}: cannot be used (${(error as Error).message})`;
  }
  const clock = systemClock;
  const observer = command.observer(clock);
  const { breadth, spacingMs, log } = command;
  log('info', 'robot at work', { breadth });
  await new Robot({ connection, observer, clock, breadth, spacingMs, log }).run(signal);
  await observer.close();
  await connection.drain();
  return undefined;
}
