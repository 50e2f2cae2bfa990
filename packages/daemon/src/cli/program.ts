/** The `revisit` command: finds the subcommand, runs it, and turns its outcome into an exit code. */
import { Command, CommanderError } from 'commander';
import { version } from '../version.ts';
import { commands } from './commands/index.ts';
import type { CommandOutcome } from './outcome.ts';

export type Register = (program: Command, run: Runner) => void;
/** Wraps a command's work so that its outcome becomes the exit code. */
export type Runner = <Arguments extends unknown[]>(
  work: (...given: Arguments) => Promise<CommandOutcome>,
) => (...given: Arguments) => Promise<void>;

const sentenceOf = (text: string): string => text.replace(/^error: /, '').trim();

/** The command, from which the help, the manual page and the completions come too; only what `words` call is loaded. */
export async function createProgram(run: Runner, words: readonly string[] = []): Promise<Command> {
  const program = new Command('revisit')
    .description('Watches many web pages on a small budget of requests.')
    .version(version)
    // Else `show PAGE --version 3` would ask for the version of the program.
    .enablePositionalOptions()
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({ writeErr: (text) => process.stderr.write(`revisit: ${sentenceOf(text)}\n`) })
    .addHelpText('after', '\nExample:\n  revisit add https://example.org/news && revisit serve\n');
  const called = commands.filter((module) => module.names.includes(words[0] ?? ''));
  const wanted = called.length > 0 || words[0] === '--version' || words[0] === '-V' ? called : commands;
  for (const module of wanted) (await module.load())(program, run);
  // Settings made above are not inherited by commands that were added before; each needs its own.
  const settle = (command: Command): void => {
    command.exitOverride().showSuggestionAfterError(true).configureOutput(program.configureOutput());
    command.commands.forEach(settle);
  };
  program.commands.forEach(settle);
  return program;
}

export async function main(words: readonly string[]): Promise<number> {
  let outcome: CommandOutcome = { code: 0 };
  const run: Runner =
    (work) =>
    async (...given) => {
      outcome = await work(...given);
    };
  const program = await createProgram(run, words);
  if (words.length === 0) {
    program.outputHelp();
    return 0;
  }
  try {
    await program.parseAsync([...words], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : 2;
  }
  if (outcome.sentence !== undefined) process.stderr.write(`revisit: ${outcome.sentence}\n`);
  return outcome.code;
}
