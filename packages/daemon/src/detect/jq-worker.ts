/** The process that runs jq: it answers one question at a time and may be ended in the middle of any. */
import jqReady from 'jq-web';

export interface JqQuestion {
  readonly text: string;
  readonly filter: string;
}
export type JqAnswer = { readonly output: string } | { readonly wrong: string };

const jq = await jqReady;
process.on('message', ({ text, filter }: JqQuestion) => {
  let answer: JqAnswer;
  try {
    answer = { output: jq.raw(text, filter, ['-c', '-S']) };
  } catch (error) {
    // It ran out of WebAssembly's memory, and answers nothing sensible after that.
    if (error instanceof WebAssembly.RuntimeError) process.exit(1);
    answer = { wrong: error instanceof Error ? error.message : String(error) };
  }
  process.send!(answer);
});
