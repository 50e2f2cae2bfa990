/** The thread that runs jq: it answers one question at a time and may be ended in the middle of any. */
import { parentPort } from 'node:worker_threads';
import jqReady from 'jq-web';

export interface JqQuestion {
  readonly text: string;
  readonly filter: string;
}
export type JqAnswer = { readonly output: string } | { readonly wrong: string };

const jq = await jqReady;
parentPort!.on('message', ({ text, filter }: JqQuestion) => {
  let answer: JqAnswer;
  try {
    answer = { output: jq.raw(text, filter, ['-c', '-S']) };
  } catch (error) {
    answer = { wrong: error instanceof Error ? error.message : String(error) };
  }
  parentPort!.postMessage(answer);
});
