/** How the thread, or the process, that reads bodies beside the loop is started and asked. */
import { Worker } from 'node:worker_threads';
import type { AsideInput, AsidePrevious, AsideQuestion } from './aside-worker.ts';
import type { Previous } from '../detect/detect.ts';

export const asideModule = new URL(`./aside-worker.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);

export const asideWorker = (file: string | undefined): Worker => new Worker(asideModule, { workerData: { file } });

/** `file` is the database that the thread reads earlier versions from; without it, they go along. */
export async function questionOf(
  number: number,
  { previous, ...input }: AsideInput,
  file: string | undefined,
): Promise<AsideQuestion> {
  const known = previous && (await knownOf(previous, file));
  // What a socket read is part of a larger piece of memory, all of which would go along.
  return { number, input: { ...input, body: new Uint8Array(input.body) }, ...(known ? { previous: known } : {}) };
}

async function knownOf(previous: Previous, file: string | undefined): Promise<AsidePrevious> {
  const { state, lookedAtMs, versions, last, told } = previous;
  if (file !== undefined && versions) return { state, lookedAtMs, versions };
  return { state, lookedAtMs, last: await last(), ...(told ? { told: await told() } : {}) };
}
