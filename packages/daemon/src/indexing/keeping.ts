/** Keeps what was found, however long the store needs, and tells whoever listens: nothing is announced before it is kept. */
import type { LoopParts } from '../loop-parts.ts';
import type { Kept } from '../store/port.ts';
import type { Change } from '../values/change.ts';
import type { Fault } from '../values/fault.ts';
import type { Look } from '../values/look.ts';

/** How long to wait after the store could not keep something, doubled up to the second value. */
const storeRestMs = { first: 1_000, most: 5_000 };

export class Keeping {
  readonly #parts: Pick<LoopParts, 'clock' | 'store' | 'log'>;
  readonly #listeners = new Set<(changes: readonly Change[]) => void>();
  readonly #stopped = new AbortController();
  /** What the store is writing now. */
  #committing: readonly Look[] = [];
  /** How many wait until the store can write. */
  #waiting = 0;
  /** What is to be kept before anything is asked for. */
  #owed: (() => Promise<Kept<unknown>>) | undefined;
  /** What was last said of a store that cannot write, until it has kept something again. */
  #said: string | undefined;

  constructor(parts: Pick<LoopParts, 'clock' | 'store' | 'log'>) {
    this.#parts = parts;
  }

  /** True while the disk is full or the server is lost. */
  get down(): boolean {
    return this.#waiting > 0 || this.#owed !== undefined;
  }

  /** Nobody waits for the store any more: what it does not take now is due again. */
  stop(): void {
    this.#stopped.abort('stopped');
  }

  onKept(listener: (changes: readonly Change[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  announce(changes: readonly Change[]): void {
    for (const listener of this.#listeners) listener(changes);
  }

  /** Whether a look at the page is being written now. */
  isWriting(pageId: string): boolean {
    return this.#committing.some((look) => look.pageId === pageId);
  }

  /** Keeps trying until the store takes the looks, of those that are wanted then; false when the loop stops first. */
  async keep(looks: () => readonly Look[]): Promise<boolean> {
    const kept = await this.#tried(looks);
    if (!kept) return false;
    if (this.#said !== undefined) this.#parts.log('info', 'the store takes changes again');
    this.#said = undefined;
    if (kept.length > 0) this.announce(kept);
    return true;
  }

  async #tried(looks: () => readonly Look[]): Promise<readonly Change[] | undefined> {
    const first = await this.#commit(looks());
    if (first.kind === 'kept') return first.value;
    this.#say(first.fault);
    return this.#wait(async () => {
      const kept = await this.#commit(looks());
      return kept.kind === 'kept' ? kept.value : undefined;
    });
  }

  async #commit(looks: readonly Look[]): Promise<Kept<readonly Change[]>> {
    this.#committing = looks;
    const kept = await this.#parts.store.commit(looks);
    this.#committing = [];
    return kept;
  }

  /** At the start of a process: what whoever follows it must know, whatever this one does. */
  async keepFirst(write: () => Promise<Kept<unknown>>): Promise<void> {
    const kept = await write();
    if (kept.kind === 'kept') return;
    this.#say(kept.fault);
    this.#owed = write;
  }

  /** Tries until the store takes what could not be kept at the start, or the loop stops. */
  async settle(): Promise<void> {
    const owed = this.#owed;
    const settled = owed && (await this.#wait(async () => (await owed()).kind === 'kept' || undefined));
    if (settled) this.#owed = undefined;
  }

  /** After the store refused to write: tries again now and then until it does; false when the loop stops first. */
  async awaitStore(fault: Fault, write = () => this.#isThere()): Promise<boolean> {
    this.#say(fault);
    return (await this.#wait(async () => (await write()).kind === 'kept' || undefined)) === true;
  }

  #isThere(): Promise<Kept<undefined>> {
    return this.#parts.store.remember('alive', new Uint8Array([1]));
  }

  /** Once, however often it is met: a disk that is full for a night does not fill what is left with the news of it. */
  #say({ code, sentence }: Fault): void {
    if (this.#said !== code) this.#parts.log('error', sentence, { code });
    this.#said = code;
  }

  async #wait<Value>(ask: () => Promise<Value | undefined>): Promise<Value | undefined> {
    this.#waiting++;
    let value: Value | undefined;
    for (let rest = storeRestMs.first; value === undefined; rest = Math.min(2 * rest, storeRestMs.most)) {
      await this.#parts.clock.sleep(rest, this.#stopped.signal);
      if (this.#stopped.signal.aborted) break;
      value = await ask();
    }
    this.#waiting--;
    return value;
  }
}
