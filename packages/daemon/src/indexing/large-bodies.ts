/**
 * Large bodies, read beside the loop and one at a time: the tree of a page takes fifty times the memory of its text, and one of
 * twenty megabytes took the loop fifteen seconds, in which nobody else was answered.
 *
 * States: idle ──body──► reading, the others in line ──answer──► reading the next, or idle. The process is ended with the last of
 * the line, and its memory with it. One that dies of memory or takes too long has met a page that nobody can read.
 */
import type { ChildProcess } from 'node:child_process';
import { answerOf, endApart, startApart } from '../detect/apart.ts';
import { asideModule, questionOf } from './aside-thread.ts';
import type {
  AsideAnswer,
  AsideDetected,
  AsideInput,
  AsideQuestion,
  WordsAnswer,
  WordsQuestion,
} from './aside-worker.ts';
import { detect, type DetectInput, unread } from '../detect/detect.ts';
import type { DifferenceInWords } from '../detect/shown.ts';
import { fault } from '../values/fault.ts';

/** What reading one page may take: twenty megabytes of paragraphs take half of it. A page of nothing but tags would take all there is. */
const heapMegabytesMax = 1536;
/** Twenty megabytes take fifteen seconds; a busy machine may take some times as long. */
const readMsMax = 120_000;

export interface LargeBodiesLimits {
  readonly heapMegabytesMax: number;
  readonly readMsMax: number;
}

export class LargeBodies {
  readonly #file: string | undefined;
  readonly #limits: LargeBodiesLimits;
  #process: ChildProcess | undefined;
  #line: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #closed = false;

  constructor(file: string | undefined, limits: LargeBodiesLimits = { heapMegabytesMax, readMsMax }) {
    this.#file = file;
    this.#limits = limits;
  }

  detect(input: AsideInput): Promise<AsideDetected> {
    return this.#inTurn(() => this.#read(input));
  }

  /** What differs between two large versions; undefined where one of them, or the difference, cannot be read. */
  words(question: WordsQuestion): Promise<DifferenceInWords | undefined> {
    return this.#inTurn(async () => (await this.#ask<WordsAnswer>(question))?.words);
  }

  #inTurn<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    this.#waiting++;
    const turn = this.#line.then(work);
    this.#line = turn.finally(() => this.#left()).catch(() => {});
    return turn;
  }

  async #read(input: AsideInput): Promise<AsideDetected> {
    // Nobody waits for a loop that ends: what is read of it is not kept.
    if (this.#closed) return unread(input, unreadFault(input));
    const question = await questionOf(0, input, this.#file);
    const answers = await this.#ask<readonly AsideAnswer[]>([question]);
    if (answers) return answers[0]!.detected ?? detect(input);
    return unread(input, unreadFault(input));
  }

  /** Undefined where the process died of it, or took too long and was ended. */
  async #ask<Answer>(question: readonly AsideQuestion[] | WordsQuestion): Promise<Answer | undefined> {
    const { heapMegabytesMax, readMsMax } = this.#limits;
    const process = (this.#process ??= startApart(asideModule, { heapMegabytesMax }, this.#file ? [this.#file] : []));
    const answer = await answerOf(process, question, readMsMax);
    if (answer === undefined) await this.#end();
    return answer as Answer | undefined;
  }

  #left(): Promise<void> | undefined {
    this.#waiting--;
    return this.#waiting === 0 ? this.#end() : undefined;
  }

  async #end(): Promise<void> {
    const process = this.#process;
    this.#process = undefined;
    await endApart(process);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#end();
  }
}

function unreadFault({ body, url }: DetectInput) {
  const size = `${(body.length / 1e6).toFixed(1)} MB`;
  return fault(
    'body-too-large',
    `${URL.parse(url)?.host ?? url}: reading ${size} took more memory or time than one page may`,
  );
}
