/** Detection begins as answers come; what has begun is of use while the page is as it was then. */
import type { Entry } from './collection.ts';
import type { Detected } from './loop-parts.ts';
import type { PageState } from './values/look.ts';
import type { Observation } from './values/observation.ts';
import type { Page } from './values/page.ts';

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
}

export const nothingBegun: Queued['begun'] = [];

export const isSettled = (detected: Begun['detected']): detected is Detected => !(detected instanceof Promise);

/** What has begun, if the page is still as it was then. */
export const stillOf = ({ page, state }: Entry, begun: Begun | undefined): Begun | undefined =>
  begun && begun.page === page && begun.state === state ? begun : undefined;
