import type { Command } from 'commander';
import type { Runner } from '../program.ts';
import { type JoinOptions, join, joinOptions } from '../joining.ts';
import { example } from '../options.ts';
import type { CommandOutcome } from '../outcome.ts';

function robot(options: JoinOptions): Promise<CommandOutcome> {
  return join(options, `robot-${process.pid}`, async (joining, signal) => {
    const { runRobot } = await import('@revisit/cluster');
    return runRobot(joining, signal);
  });
}

export function registerRobot(program: Command, run: Runner): void {
  const command = joinOptions(
    program.command('robot').description('fetch for a cluster: join, look, send back, leave at any time'),
    {
      name: 'under which it writes its results (default: the name that its key was made for)',
      breadth: 'looks under way at once',
      who: 'robot',
    },
  );
  example(command, 'revisit robot --nats nats://127.0.0.1:4222');
  command.action(run(robot));
}
