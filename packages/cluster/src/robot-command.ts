/** `revisit robot`: joins a cluster and fetches until it is told to leave, or its key is taken back. */
import { type Clock, type Observer, steadyClock } from 'revisit/ports';
import { type Joining, type Parting, join, whileWelcome } from './joining.ts';
import { Pulse } from './pulse.ts';
import { Robot } from './robot.ts';

export interface RobotCommand extends Joining {
  readonly breadth: number;
  readonly observer: (clock: Clock, isDrowsy: () => boolean) => Observer;
}

export async function runRobot(command: RobotCommand, signal: AbortSignal): Promise<Parting> {
  const joined = await join(command, 'robot', signal);
  if (joined.kind !== 'joined') return joined;
  const { connection, name } = joined;
  const clock = steadyClock;
  const pulse = new Pulse(clock);
  const observer = command.observer(clock, () => pulse.isDrowsy);
  const { breadth, log } = command;
  log('info', 'robot at work', { name, breadth });
  return whileWelcome(joined, observer, signal, (until) =>
    new Robot({ connection, name, observer, clock, pulse, breadth, log }).run(until),
  );
}
