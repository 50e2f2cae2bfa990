/** The manual page, in the form that man(1) reads. */
import type { CommandOutline } from './outline.ts';

/** A dot or an apostrophe at the beginning of a line would be an order, and a bare hyphen might be broken or turned. */
const roff = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1');

function optionText({ flags, description, default: value }: CommandOutline['options'][number]): string {
  const said = value === undefined || description.includes('default') ? '' : ` (default: ${value})`;
  return `.TP\n.B ${roff(flags)}\n${roff(description + said)}`;
}

function commandText(command: CommandOutline, prefix: string): string {
  const parts = [
    `.SS ${roff(`${prefix} ${command.name} ${command.usage}`.trim())}`,
    roff(command.description),
    ...command.options.filter((option) => option.long !== '--help').map(optionText),
    ...(command.example === undefined ? [] : ['.PP\nExample:\n.PP\n.RS\n.nf', roff(command.example), '.fi\n.RE']),
    ...command.commands
      .filter((one) => one.name !== 'help')
      .map((one) => commandText(one, `${prefix} ${command.name}`)),
  ];
  return parts.join('\n');
}

export function manualPage(program: CommandOutline, version: string): string {
  return `${[
    `.TH REVISIT 1 "" "revisit ${version}" "User Commands"`,
    '.SH NAME',
    `revisit \\- ${roff(program.description.replace(/\.$/, '').replace(/^[A-Z]/, (letter) => letter.toLowerCase()))}`,
    '.SH SYNOPSIS\n.B revisit\n.I COMMAND\n[options]',
    '.SH DESCRIPTION',
    roff(
      'You name pages, feeds or JSON endpoints, how much you care, and how many requests you may make. Revisit learns when each tends to change, looks at the moments that are worth a request, tells you what changed, keeps every version, and can prove how good its plan is.',
    ),
    '.PP',
    roff('Results go to standard output, everything else to standard error.'),
    '.SH COMMANDS',
    ...program.commands
      .filter((command) => command.name !== 'help')
      .map((command) => commandText(command, program.name)),
    '.SH EXIT STATUS',
    '.TP\n.B 0\nDone.\n.TP\n.B 1\nThe work failed.\n.TP\n.B 2\nThe call or its input is wrong; one sentence says what is allowed.',
    '.SH FILES',
    '.TP\n.I revisit.yaml\nThe configuration, read from the working folder where none is named.\n.TP\n.I ./revisit\\-data\nThe folder that holds all state.',
  ].join('\n')}\n`;
}
