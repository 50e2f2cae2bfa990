/** `revisit robot`: joins a cluster and fetches until it is told to leave. */
import { type Clock, type Observer, steadyClock } from 'revisit/ports';
import { type LinkOptions, link, unlink } from './dispatch/link.ts';
import { Robot, type RobotOptions } from './robot.ts';

export interface RobotCommand extends LinkOptions {
  /** Under which it writes its results. */
  readonly name: string;
  readonly breadth: number;
  readonly observer: (clock: Clock) => Observer;
  readonly log: RobotOptions['log'];
}

/** Says what is wrong, or nothing when it left in peace. */
export async function runRobot(command: RobotCommand, signal: AbortSignal): Promise<string | undefined> {
  const linked = await link(command, `robot ${command.name}`);
  if (linked.kind === 'failed') return `--nats ${linked.sentence}`;
  const { connection } = linked;
  const clock = steadyClock;
  const observer = command.observer(clock);
  const { breadth, log, name } = command;
  log('info', 'robot at work', { breadth });
  await new Robot({ connection, name, observer, clock, breadth, log }).run(signal);
  await observer.close();
  await unlink(connection);
  return undefined;
}
