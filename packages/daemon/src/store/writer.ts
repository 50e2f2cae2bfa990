/**
 * A thread that writes beside the loop. What a look writes takes a quarter of its time and waits for the disk; under load
 * that time is better spent on the next answers. A daemon that looks ten times a minute needs no thread, so it is started
 * when many looks first come together, and writes everything that looks write from then on.
 *
 * States: idle ──looks──► writing (one message is out; what comes meanwhile gathers) ──answer──► idle, or writing again with
 * all that gathered, in one transaction. Nothing is answered before its transaction is on the disk as any other would be.
 * A thread that fails ends the process, as the same fault in this thread would: what was under way is due again.
 */
import { Worker } from 'node:worker_threads';
import type { Change } from '../values/change.ts';
import type { LookRows } from './look-rows.ts';
import type { Kept } from './port.ts';

/** So many looks in one transaction make the thread worth its start (a tenth of a second and ten megabytes). */
export const writerWorthIt = 16;

export type WriterQuestion =
  | { readonly kind: 'write'; readonly batches: readonly LookRows[] }
  /** Closes the database and ends the thread. */
  | { readonly kind: 'close' };

/** The changes of each batch, or why none of it was written. */
export type WriterAnswer = Kept<readonly (readonly Change[])[]>;

interface Asked {
  readonly rows: LookRows;
  readonly answer: (kept: Kept<readonly Change[]>) => void;
}

export class Writer {
  readonly #worker: Worker;
  #writing: readonly Asked[] = [];
  #gathered: Asked[] = [];
  #idle: () => void = () => {};

  constructor(file: string) {
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    this.#worker = new Worker(new URL(`./writer-worker.${extension}`, import.meta.url), { workerData: { file } });
    this.#worker.unref();
    this.#worker.on('message', (kept: WriterAnswer) => this.#answered(kept));
    this.#worker.on('error', (error) => {
      throw error;
    });
  }

  write(rows: LookRows): Promise<Kept<readonly Change[]>> {
    return new Promise((answer) => {
      this.#gathered.push({ rows, answer });
      if (this.#writing.length === 0) this.#send();
    });
  }

  #send(): void {
    this.#writing = this.#gathered;
    this.#gathered = [];
    this.#worker.ref();
    this.#post({ kind: 'write', batches: this.#writing.map(({ rows }) => rows) });
  }

  #post(question: WriterQuestion): void {
    this.#worker.postMessage(question);
  }

  #answered(kept: WriterAnswer): void {
    const written = this.#writing;
    this.#writing = [];
    if (this.#gathered.length > 0) this.#send();
    else this.#worker.unref();
    if (this.#writing.length === 0) this.#idle();
    for (const [n, { answer }] of written.entries())
      answer(kept.kind === 'kept' ? { kind: 'kept', value: kept.value[n]! } : kept);
  }

  /** What was asked for before is written first. */
  async close(): Promise<void> {
    while (this.#writing.length > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
    this.#worker.ref();
    const gone = new Promise((resolve) => this.#worker.once('exit', resolve));
    this.#post({ kind: 'close' });
    await gone;
  }
}
