/**
 * Processes for work that may take all the memory it is given. A thread with a limit of its own is no guard: where one step of
 * it (a long array joined, a string of a hundred megabytes made) wants more than is left, V8 ends the whole process.
 */
import { type ChildProcess, fork, type Serializable } from 'node:child_process';

export interface ApartLimits {
  readonly heapMegabytesMax: number;
  /** Memory of WebAssembly, which is not part of the heap. */
  readonly wasmMegabytesMax?: number;
}

/** It ends by itself when the process that started it does. Undefined where the machine has no room for another. */
export function startApart(
  module: URL,
  { heapMegabytesMax, wasmMegabytesMax }: ApartLimits,
  args: readonly string[] = [],
): ChildProcess | undefined {
  try {
    const process = fork(module, args, {
      execArgv: [
        `--max-old-space-size=${heapMegabytesMax}`,
        ...(wasmMegabytesMax === undefined ? [] : [`--wasm-max-mem-pages=${wasmMegabytesMax * 16}`]),
      ],
      serialization: 'advanced',
      // What V8 writes when it runs out of memory is nobody's news: who asked says what became of the question.
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    // Where it could not be started, or has ended, the question it cannot take tells.
    process.on('error', () => {});
    return process;
  } catch {
    return undefined;
  }
}

/** Undefined where there is none, or it died of the question, or took longer than `msMax`: then it may answer yet, and is to be ended. */
export async function answerOf(
  process: ChildProcess | undefined,
  question: Serializable,
  msMax: number,
): Promise<unknown> {
  if (!process) return undefined;
  return new Promise((resolve) => {
    const end = (answer?: unknown): void => {
      clearTimeout(late);
      process.off('message', end).off('exit', gone);
      resolve(answer);
    };
    const gone = (): void => end();
    const late = setTimeout(gone, msMax);
    process.on('message', end).on('exit', gone);
    process.send(question, (error) => error && gone());
  });
}

/** A process that never came to be is gone. */
export const isGone = ({ pid, exitCode, signalCode }: ChildProcess): boolean =>
  pid === undefined || exitCode !== null || signalCode !== null;

/** Resolves when it is gone. */
export async function endApart(process: ChildProcess | undefined): Promise<void> {
  if (!process || isGone(process)) return;
  const gone = new Promise((resolve) => process.once('exit', resolve));
  process.kill('SIGKILL');
  await gone;
}
