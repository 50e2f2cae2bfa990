/** How a command ends: 0 done, 1 the work failed, 2 the call or its input is wrong. The sentence goes to stderr. */
export interface CommandOutcome {
  readonly code: 0 | 1 | 2;
  readonly sentence?: string;
}

export const done: CommandOutcome = { code: 0 };
export const failed = (sentence: string): CommandOutcome => ({ code: 1, sentence });
export const wrong = (sentence: string): CommandOutcome => ({ code: 2, sentence });

/** Results go to stdout; a reader that closes early (head, less) ends the command quietly. */
export function print(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

/** "1 page", "2 pages": the plural with s, unless another is given. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}
