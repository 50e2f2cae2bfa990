/** The thread that reads changed bodies beside the loop: it answers one question at a time, in order. */
import { parentPort } from 'node:worker_threads';
import { detect, type Detected, type DetectInput } from './detect.ts';

/** A detection with every text that it may ask for. */
export interface AsideQuestion {
  readonly number: number;
  readonly input: Omit<DetectInput, 'previous'>;
  readonly previous?: {
    readonly state: string;
    readonly lookedAtMs: number;
    readonly last: string | undefined;
    /** Where that is another one. */
    readonly told?: string | undefined;
  };
}

export type AsideAnswer =
  | { readonly number: number; readonly detected: Detected }
  /** Nobody could answer here; whoever asked does it himself. */
  | { readonly number: number; readonly detected?: undefined };

let turn: Promise<void> = Promise.resolve();

parentPort!.on('message', ({ number, input, previous }: AsideQuestion) => {
  const known = previous && {
    ...previous,
    last: () => previous.last,
    told: () => ('told' in previous ? previous.told : previous.last),
  };
  turn = turn
    .then(() => detect({ ...input, ...(known ? { previous: known } : {}) }))
    .then(
      (detected) => parentPort!.postMessage({ number, detected } satisfies AsideAnswer),
      () => parentPort!.postMessage({ number } satisfies AsideAnswer),
    );
});
