/**
 * jq filters can loop for ever and take all memory, so they run in a process of their own with a limit on both. It is started
 * at the first filter, answers in order, ends with this one and is replaced when it had to be ended.
 */
import type { ChildProcess } from 'node:child_process';
import { answerOf, endApart, isGone, startApart } from './apart.ts';
import type { JqAnswer, JqQuestion } from './jq-worker.ts';

/** A filter over a few megabytes of JSON takes tens of milliseconds. */
export const jqMsMax = 2_000;
/** Starting compiles a megabyte of WebAssembly on a busy machine. */
const startMsMax = 20_000;
const limits = { heapMegabytesMax: 256, wasmMegabytesMax: 512 };

let running: ChildProcess | undefined;
let turn: Promise<unknown> = Promise.resolve();

function started(): ChildProcess | undefined {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return startApart(new URL(`./jq-worker.${extension}`, import.meta.url), limits);
}

async function ask(question: JqQuestion, msMax: number): Promise<JqAnswer> {
  const process = (running ??= started());
  if (!process) return { wrong: 'it could not be started' };
  process.ref();
  process.channel?.ref();
  const answer = (await answerOf(process, question, msMax)) as JqAnswer | undefined;
  process.unref();
  process.channel?.unref();
  if (answer) return answer;
  const died = isGone(process);
  running = undefined;
  await endApart(process);
  return { wrong: died ? 'it took more memory than a filter may' : `it did not end within ${msMax / 1000} s` };
}

/** The outputs of a filter as lines of compact JSON, names in order. */
export function jq(text: string, filter: string, msMax = jqMsMax): Promise<JqAnswer> {
  const answer = turn.then(async () => {
    // It may have been ended between two filters, by whoever looks after the machine.
    if (running && isGone(running)) running = undefined;
    if (!running) await ask({ text: 'null', filter: '.' }, startMsMax);
    return running ? ask({ text, filter }, msMax) : { wrong: 'it could not be started' };
  });
  turn = answer;
  return answer;
}
