/** Detection begins as answers come; what has begun is of use while the page is as it was then. */
import type { Entry } from '../collection/collection.ts';
import { isPacked } from '../detect/sitemap.ts';
import type { Detected } from '../loop-parts.ts';
import type { PageState } from '../values/look.ts';
import type { Observation } from '../values/observation.ts';
import type { Page } from '../values/page.ts';

/** A detection that began as the answer came, and the page as it was then. */
export interface Begun {
  readonly page: Page;
  readonly state: PageState;
  readonly second: boolean;
  readonly detected: Detected | Promise<Detected>;
}

/** An answer with what has begun of it: for each of its pages, where there is a body to read. */
export interface Queued {
  readonly observation: Observation;
  readonly begun: readonly (Begun | undefined)[];
  /** While its large body is read, which takes seconds: what came after it does not wait. */
  isRead?: Promise<void> | undefined;
}

export const nothingBegun: Queued['begun'] = [];

export const isSettled = (detected: Begun['detected']): detected is Detected => !(detected instanceof Promise);

/** What has begun, if the page is still as it was then. */
export const stillOf = ({ page, state }: Entry, begun: Begun | undefined): Begun | undefined =>
  begun && begun.page === page && begun.state === state ? begun : undefined;

/** Larger ones take tens of milliseconds and more to read, up to many seconds: always in a thread beside the loop. */
const largeBytes = 256 * 2 ** 10;

/** A packed body, such as a sitemap's, may be a thousand times as large as it looks. */
export const isLarge = (body: Uint8Array): boolean => body.length > largeBytes || isPacked(body);

/** Large bodies that wait to be read, one at a time, all in memory: a site of nothing else is answered faster than it is read. */
export const unreadBytesMax = 128 * 2 ** 20;

/** The answer waits for its large body to be read, and `then` is called when it has been; false where it is already. */
export function holdUntilRead(queued: Queued, then: () => void): boolean {
  const unread = queued.begun.flatMap((begun) => (begun && !isSettled(begun.detected) ? [begun.detected] : []));
  if (unread.length === 0) return false;
  queued.isRead = Promise.allSettled(unread).then(() => {
    queued.isRead = undefined;
    then();
  });
  return true;
}

/**
 * The next answers, at most so many and of each page one, oldest first: what a look found is in the store before another is held
 * against it.
 */
export function nextBatch(queue: readonly Queued[], most: number): readonly Queued[] {
  const pages = new Set<string>();
  const batch: Queued[] = [];
  for (const queued of queue) {
    if (batch.length === most) break;
    const { pageIds } = queued.observation.probe;
    const waits = queued.isRead !== undefined || pageIds.some((id) => pages.has(id));
    for (const id of pageIds) pages.add(id);
    if (!waits) batch.push(queued);
  }
  return batch;
}

/** The queue without what was taken from it. */
export function without(queue: Queued[], batch: readonly Queued[]): Queued[] {
  // Nearly always its beginning.
  if (batch.length > 0 && queue[batch.length - 1] === batch.at(-1)) return queue.slice(batch.length);
  const taken = new Set(batch);
  return queue.filter((queued) => !taken.has(queued));
}
