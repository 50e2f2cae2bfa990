import { hostname } from 'node:os';
import type { Command } from 'commander';
import type { Runner } from '../program.ts';
import { type JoinOptions, join, joinOptions } from '../joining.ts';
import { example } from '../options.ts';
import type { CommandOutcome } from '../outcome.ts';

interface ObserverOptions extends JoinOptions {
  readonly data: string;
}

function observer(options: ObserverOptions): Promise<CommandOutcome> {
  const machine = hostname()
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-')
    .slice(0, 40);
  return join(options, machine, async (joining, signal) => {
    const { runObserver } = await import('@revisit/cluster');
    const { judge } = await import('../../eye.ts');
    return runObserver({ ...joining, folder: options.data, judge }, signal);
  });
}

export function registerObserver(program: Command, run: Runner): void {
  const command = joinOptions(
    program
      .command('observer')
      .description('watch for a cluster from near its sources: remember, look often, report what changed'),
    {
      name: 'what the coordinators know it by (default: the name that its key was made for, or of this machine)',
      breadth: 'errands under way at once',
      who: 'observer',
    },
  );
  command.option('--data <dir>', 'where it keeps what it has found and nobody has fetched yet', './revisit-observer');
  example(command, 'revisit observer --nats nats://127.0.0.1:4222 --name frankfurt');
  command.action(run(observer));
}
