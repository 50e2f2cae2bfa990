/**
 * One process's way to its store, in trouble: at times it is full and takes nothing, some writes take their time, and a
 * process that is killed meanwhile never hears whether they were kept.
 */
import { integer, type Random } from '@revisit/core';
import type { Kept, Store } from '../store/port.ts';
import type { Clock } from '../values/clock.ts';
import type { Process } from './witness.ts';

const writes = new Set<string | symbol>([
  'addPages',
  'updatePages',
  'removePages',
  'dispatched',
  'finished',
  'commit',
  'remember',
  'wish',
  'revise',
]);
/** Whoever hears that one of these failed asks for nothing until a write succeeds. */
const vital = new Set<string | symbol>(['dispatched', 'commit']);
/** How many of the writes wait, and how long at most before and after they are made. */
const slowShare = 0.05;
const slowMsMax = 400;

export interface FaultyStoreOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly process: Process;
  readonly isFull: (atMs: number) => boolean;
}

export interface FaultyStore {
  readonly store: Store;
  /** The process knows that nothing can be kept. */
  readonly knownDown: () => boolean;
}

export function faultyStore(inner: Store, options: FaultyStoreOptions): FaultyStore {
  const { clock, random, process, isFull } = options;
  let knownDown = false;
  const pause = async (): Promise<void> => {
    if (random() < slowShare) await clock.sleep(1 + integer(random, slowMsMax));
    // A killed process hears nothing any more.
    if (!process.alive) await new Promise<void>(() => {});
  };
  const write = async (name: string | symbol, work: () => Promise<Kept<unknown>>): Promise<Kept<unknown>> => {
    await pause();
    const kept: Kept<unknown> = isFull(clock.nowMs())
      ? { kind: 'failed', fault: { code: 'disk-full', sentence: 'the disk is full' } }
      : await work();
    await pause();
    if (kept.kind === 'kept') knownDown = false;
    else if (vital.has(name)) knownDown = true;
    return kept;
  };
  const store = new Proxy(inner, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      const method = value.bind(target) as (...given: unknown[]) => Promise<Kept<unknown>>;
      return writes.has(name) ? (...given: unknown[]) => write(name, () => method(...given)) : method;
    },
  });
  return { store, knownDown: () => knownDown };
}
