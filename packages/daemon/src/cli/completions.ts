/** Completion scripts for three shells: commands after `revisit`, options after a command, files elsewhere. */
import type { CommandOutline } from './outline.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

interface Word {
  readonly name: string;
  readonly description: string;
  readonly options: CommandOutline['options'];
  readonly below: readonly string[];
}

const wordsOf = (program: CommandOutline): readonly Word[] =>
  program.commands
    .filter((command) => command.name !== 'help')
    .map(({ name, description, options, commands }) => ({
      name,
      description,
      options,
      below: commands.map((one) => one.name).filter((one) => one !== 'help'),
    }));

const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

function bash(words: readonly Word[]): string {
  const cases = words.map(
    ({ name, options, below }) =>
      `    ${name}) words="${[...below, ...options.map((option) => option.long)].join(' ')}" ;;`,
  );
  return `# bash completion for revisit: source this file, or put it into the folder of completions.
_revisit() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${words.map((word) => word.name).join(' ')} --help --version" -- "$current"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _revisit revisit
`;
}

/** In zsh a colon ends the word and begins its description. */
const zshPair = (name: string, description: string): string =>
  quote(`${name}:${description.replaceAll(':', String.raw`\:`)}`);

function zsh(words: readonly Word[]): string {
  const cases = words.map(({ name, options, below }) => {
    const commands =
      below.length > 0
        ? `      commands=(${below.map((one) => quote(one)).join(' ')}); _describe command commands\n`
        : '';
    const list = options.map((option) =>
      quote(
        `${option.long}[${option.description.replace(/[[\]:]/g, String.raw`\$&`)}]${option.takesValue ? ':value:_files' : ''}`,
      ),
    );
    return `    ${name})\n${commands}      _arguments ${list.join(' ')} '*:file:_files' ;;`;
  });
  return `#compdef revisit
_revisit() {
  local -a commands
  if (( CURRENT == 2 )); then
    commands=(${words.map((word) => zshPair(word.name, word.description)).join('\n      ')})
    _describe command commands
    return
  fi
  local command="\${words[2]}"
  shift words; (( CURRENT-- ))
  case "$command" in
${cases.join('\n')}
  esac
}
compdef _revisit revisit
`;
}

function fish(words: readonly Word[]): string {
  const lines = words.flatMap(({ name, description, options, below }) => [
    `complete -c revisit -n __fish_use_subcommand -a ${name} -d ${quote(description)}`,
    ...below.map((one) => `complete -c revisit -n '__fish_seen_subcommand_from ${name}' -a ${one}`),
    ...options.map(
      (option) =>
        `complete -c revisit -n '__fish_seen_subcommand_from ${name}' -l ${option.long.replace(/^--/, '')}${option.takesValue ? ' -r' : ''} -d ${quote(option.description)}`,
    ),
  ]);
  return `# fish completion for revisit\n${lines.join('\n')}\n`;
}

export function completionScript(program: CommandOutline, shell: Shell): string {
  const words = wordsOf(program);
  return { bash, zsh, fish }[shell](words);
}
