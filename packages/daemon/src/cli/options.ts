import type { Command } from 'commander';

/** Every command that touches a collection takes the folder in the same way. */
export function dataOption(command: Command): Command {
  return command.option('--data <folder>', 'the folder that holds all state', './revisit-data');
}

export function jsonOption(command: Command): Command {
  return command.option('--json', 'print one JSON document and nothing else');
}

export function example(command: Command, text: string): Command {
  return command.addHelpText('after', `\nExample:\n  ${text.split('\n').join('\n  ')}\n`);
}

/** Said once by whoever visits sites without one. */
export const noContact =
  'No contact is set, so owners of sites cannot reach you: give --contact you@example.org, or "contact: you@example.org" in the configuration, and every request says it.';
