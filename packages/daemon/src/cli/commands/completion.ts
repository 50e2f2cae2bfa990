import type { Command } from 'commander';
import { version } from '../../version.ts';
import { completionScript, shells } from '../completions.ts';
import { manualPage } from '../manual.ts';
import { example } from '../options.ts';
import { type CommandOutcome, done, print, wrong } from '../outcome.ts';
import { type CommandOutline, outlineOf } from '../outline.ts';
import { type Runner, createProgram } from '../program.ts';

/** Every command, whichever was called: this one alone would complete nothing. */
const everything = async (): Promise<CommandOutline> => outlineOf(await createProgram(() => async () => {}));

async function completion(name: string): Promise<CommandOutcome> {
  const shell = shells.find((one) => one === name);
  if (!shell) return wrong(`shell ${name}: one of ${shells.join(', ')} is expected`);
  print(completionScript(await everything(), shell));
  return done;
}

async function manual(): Promise<CommandOutcome> {
  print(manualPage(await everything(), version));
  return done;
}

export function registerCompletion(program: Command, run: Runner): void {
  const completing = program
    .command('completion <shell>')
    .description(`a script that completes commands and options: ${shells.join(', ')}`);
  example(completing, 'source <(revisit completion bash)');
  completing.action(run(completion));
  const reading = program.command('manual').description('the manual page, as man(1) reads it');
  example(reading, 'revisit manual | man -l -');
  reading.action(run(manual));
}
