/** The command as data: what the help shows, for the manual page and the completions, so that they cannot disagree. */
import type { Command } from 'commander';

export interface OptionOutline {
  readonly flags: string;
  readonly long: string;
  readonly takesValue: boolean;
  readonly description: string;
  readonly default: string | undefined;
}

export interface CommandOutline {
  readonly name: string;
  readonly usage: string;
  readonly description: string;
  readonly options: readonly OptionOutline[];
  readonly commands: readonly CommandOutline[];
  readonly example: string | undefined;
}

export function outlineOf(command: Command): CommandOutline {
  return {
    name: command.name(),
    usage: command.usage(),
    description: command.description(),
    options: command
      .createHelp()
      .visibleOptions(command)
      .map((option) => ({
        flags: option.flags,
        long: option.long ?? option.flags,
        takesValue: option.required || option.optional,
        description: option.description,
        default: typeof option.defaultValue === 'string' ? option.defaultValue : undefined,
      })),
    commands: command.commands.map(outlineOf),
    example: exampleOf(command),
  };
}

/** The example stands behind the help; it is read from there. */
function exampleOf(command: Command): string | undefined {
  let text = '';
  command.configureOutput({ writeOut: (words) => (text += words) });
  command.outputHelp();
  const at = text.lastIndexOf('\nExample:\n');
  return at < 0
    ? undefined
    : text
        .slice(at + 10)
        .replace(/^ {2}/gm, '')
        .trim();
}
