/**
 * Detection beside the loop. Most answers are byte for byte what they were and are known by their fingerprint at once; one
 * that is not costs a millisecond and more of parsing and comparing, in which no other answer could be taken. When several of
 * those come together, a thread of its own reads them while the loop goes on. A single one now and then is read in place: a
 * daemon that looks ten times a minute needs no thread. Large bodies are always read beside it, one at a time (`large-bodies.ts`).
 * Where the store is a file, the thread reads earlier versions from there by itself: finding and unpacking them took the loop as
 * long as ten looks without news.
 *
 * The thread is started when it is first worth it and ends with the process. If it dies, what it had is read in place.
 */
import type { Worker } from 'node:worker_threads';
import { asideWorker, questionOf } from './aside-thread.ts';
import type { AsideAnswer, AsideDetected, AsideInput, AsideQuestion } from './aside-worker.ts';
import { isLarge } from './begun.ts';
import { detect, type DetectInput, recognised } from '../detect/detect.ts';
import { LargeBodies } from './large-bodies.ts';

/** From so many changed bodies at once the thread is worth starting (a tenth of a second and thirty megabytes). */
const startAt = 4;
/**
 * How long, or how many, questions wait for others to go with: to wake a thread for each took the loop longer than an answer without
 * news does. Short against any request over a network.
 */
const gatherMs = 20;
const gatherMax = 32;

interface Asked {
  readonly input: DetectInput;
  readonly answer: (detected: Promise<AsideDetected> | AsideDetected) => void;
}

export class Aside {
  /** The database that the thread reads from; without it, texts go along with what is asked. */
  readonly #file: string | undefined;
  readonly #large: LargeBodies;
  #worker: Worker | undefined;
  readonly #asked = new Map<number, Asked>();
  #number = 0;
  /** Changed bodies that came and are not answered. */
  #open = 0;
  /** They go out in one message. */
  #outgoing: AsideQuestion[] = [];
  /** Until they do. */
  #gathering: NodeJS.Timeout | undefined;
  #reading = false;

  constructor(file?: string) {
    this.#file = file;
    this.#large = new LargeBodies(file);
  }

  detect(input: AsideInput): AsideDetected | Promise<AsideDetected> {
    const { select, options, body, previous, wanted } = input;
    const known = previous && recognised(select, options, body, previous.state);
    if (known && wanted?.reveals !== 'always') return known;
    return isLarge(body) ? this.#large.detect(input) : (known ?? this.#changed(input));
  }

  async #changed(input: DetectInput): Promise<AsideDetected> {
    this.#open++;
    try {
      if (!this.#worker && this.#open < startAt) {
        // A turn of the loop shows whether more come with it.
        await new Promise((resolve) => setImmediate(resolve));
        if (this.#open < startAt) return await detect(input);
      }
      return await this.#ask(input);
    } finally {
      this.#open--;
    }
  }

  async #ask(input: DetectInput): Promise<AsideDetected> {
    const number = this.#number++;
    const question = await questionOf(number, input, this.#file);
    return new Promise((answer) => {
      this.#asked.set(number, { input, answer });
      this.#outgoing.push(question);
      this.#sendSoon();
    });
  }

  /** What comes while the thread reads others goes when it is done with them. */
  #sendSoon(): void {
    if (this.#reading || this.#outgoing.length === 0) return;
    if (this.#outgoing.length >= gatherMax) this.#send();
    else this.#gathering ??= setTimeout(() => this.#send(), gatherMs);
  }

  #send(): void {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    // A thread that died meanwhile left them to this one.
    if (this.#outgoing.length === 0) return;
    this.#reading = true;
    const worker = (this.#worker ??= this.#start());
    worker.ref();
    worker.postMessage(this.#outgoing);
    this.#outgoing = [];
  }

  #start(): Worker {
    const worker = asideWorker(this.#file);
    worker.on('message', (answers: readonly AsideAnswer[]) => {
      for (const { number, detected } of answers) {
        const asked = this.#asked.get(number);
        this.#asked.delete(number);
        asked?.answer(detected ?? detect(asked.input));
      }
      this.#reading = false;
      this.#sendSoon();
      if (this.#asked.size === 0) worker.unref();
    });
    const gone = (): void => {
      if (this.#worker === worker) this.#worker = undefined;
      const left = [...this.#asked.values()];
      this.#asked.clear();
      this.#outgoing = [];
      this.#reading = false;
      for (const { input, answer } of left) answer(detect(input));
    };
    worker.on('error', gone);
    worker.on('exit', gone);
    return worker;
  }

  async close(): Promise<void> {
    await Promise.all([this.#worker?.terminate(), this.#large.close()]);
  }
}
