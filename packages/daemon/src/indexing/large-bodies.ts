/**
 * Large bodies, read beside the loop and one at a time: the tree of a page takes fifty times the memory of its text, and one of
 * twenty megabytes took the loop fifteen seconds, in which nobody else was answered.
 *
 * States: idle ──body──► reading, the others in line ──answer──► reading the next, or idle. The thread is ended with the last of
 * the line, and its memory with it. One that dies of memory or takes too long has met a page that nobody can read.
 */
import type { Worker } from 'node:worker_threads';
import { asideWorker, questionOf } from './aside-thread.ts';
import type { AsideAnswer, AsideDetected, AsideInput, WordsQuestion } from './aside-worker.ts';
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
  #worker: Worker | undefined;
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
    return this.#inTurn(() => this.#ask<DifferenceInWords | undefined>(question));
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
    const answers = await this.#ask<readonly AsideAnswer[]>([question], [question.input.body.buffer as ArrayBuffer]);
    if (answers) return answers[0]!.detected ?? detect(input);
    await this.#end();
    return unread(input, unreadFault(input));
  }

  /** Undefined where the thread died of it, or took too long. */
  #ask<Answer>(question: unknown, given: ArrayBuffer[] = []): Promise<Answer | undefined> {
    const worker = (this.#worker ??= asideWorker(this.#file, {
      maxOldGenerationSizeMb: this.#limits.heapMegabytesMax,
    }));
    return new Promise<Answer | undefined>((resolve) => {
      const late = setTimeout(() => resolve(undefined), this.#limits.readMsMax);
      const end = (answer?: Answer): void => {
        clearTimeout(late);
        for (const name of ['message', 'error', 'exit']) worker.removeAllListeners(name);
        // Whatever it says later, nobody asked for it any more.
        worker.on('error', () => {});
        resolve(answer);
      };
      worker.on('message', end);
      worker.on('error', () => end());
      worker.on('exit', () => end());
      worker.postMessage(question, given);
    });
  }

  #left(): Promise<void> | undefined {
    this.#waiting--;
    return this.#waiting === 0 ? this.#end() : undefined;
  }

  async #end(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
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
