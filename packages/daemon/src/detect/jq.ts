/**
 * jq filters can loop for ever and take all memory, so they run in a thread of their own with a limit on both. The thread
 * is started at the first filter, answers in order, ends with the process and is replaced when it had to be ended.
 */
import { Worker } from 'node:worker_threads';
import type { JqAnswer, JqQuestion } from './jq-worker.ts';

/** A filter over a few megabytes of JSON takes tens of milliseconds. */
export const jqMsMax = 2_000;
/** Starting the thread compiles a megabyte of WebAssembly on a busy machine. */
const startMsMax = 20_000;
const memoryMiBMax = 256;

let worker: Worker | undefined;
let turn: Promise<unknown> = Promise.resolve();

function started(): Promise<Worker> {
  if (worker) return Promise.resolve(worker);
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const fresh = new Worker(new URL(`./jq-worker.${extension}`, import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: memoryMiBMax },
    stderr: true,
    stdout: true,
  });
  worker = fresh;
  fresh.unref();
  return Promise.resolve(fresh);
}

function ask(question: JqQuestion, msMax: number): Promise<JqAnswer> {
  return started().then(
    (thread) =>
      new Promise<JqAnswer>((resolve) => {
        const end = (answer: JqAnswer, discard: boolean) => {
          clearTimeout(timer);
          thread.off('message', answered).off('error', failed).off('exit', ended).unref();
          if (discard) {
            worker = undefined;
            void thread.terminate();
          }
          resolve(answer);
        };
        const answered = (answer: JqAnswer) => end(answer, false);
        const failed = (error: Error) => end({ wrong: error.message }, true);
        const ended = () => end({ wrong: 'it was ended' }, true);
        const timer = setTimeout(() => end({ wrong: `it did not end within ${msMax / 1000} s` }, true), msMax);
        thread.on('message', answered).on('error', failed).on('exit', ended).ref();
        thread.postMessage(question);
      }),
  );
}

/** The outputs of a filter as lines of compact JSON, names in order. */
export function jq(text: string, filter: string, msMax = jqMsMax): Promise<JqAnswer> {
  const answer = turn.then(async () => {
    const warm = worker ?? (await ask({ text: 'null', filter: '.' }, startMsMax).then(() => worker));
    return warm ? ask({ text, filter }, msMax) : { wrong: 'jq could not be started' };
  });
  turn = answer;
  return answer;
}
