import { readFile } from 'node:fs/promises';
import { text as textOf } from 'node:stream/consumers';
import type { Command } from 'commander';
import { solve } from '@revisit/core';
import type { Runner } from '../program.ts';
import { example } from '../options.ts';
import { type CommandOutcome, done, printJson, wrong } from '../outcome.ts';

async function solveFile(file: string): Promise<CommandOutcome> {
  let text: string;
  try {
    // As a stream: whoever writes to a pipe may be slower than this process is to start, and a read at once then fails.
    text = file === '-' ? await textOf(process.stdin) : await readFile(file, 'utf8');
  } catch (error) {
    return wrong(`${file}: cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)})`);
  }
  let problem: unknown;
  try {
    problem = JSON.parse(text);
  } catch (error) {
    return wrong(`${file}: is not JSON (${(error as Error).message})`);
  }
  const outcome = solve(problem);
  if (outcome.kind === 'refused') return wrong(outcome.sentence);
  printJson(outcome.solution);
  return done;
}

export function registerSolve(program: Command, run: Runner): void {
  const command = program
    .command('solve <file>')
    .description('one planning or estimation problem in (a JSON file, or - for stdin), one solution out')
    .option('--json', 'print JSON (it always does)');
  example(
    command,
    `echo '{"kind":"order","tasks":[{"probability":0.5,"time":2},{"probability":0.9,"time":1}]}' | revisit solve -`,
  );
  command.action(run(solveFile));
}
