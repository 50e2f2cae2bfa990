/** The thread that reads changed bodies beside the loop: it answers questions in order, those that came together together. */
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

async function answer({ number, input, previous }: AsideQuestion): Promise<AsideAnswer> {
  const known = previous && {
    ...previous,
    last: () => previous.last,
    told: () => ('told' in previous ? previous.told : previous.last),
  };
  try {
    return { number, detected: await detect({ ...input, ...(known ? { previous: known } : {}) }) };
  } catch {
    return { number };
  }
}

parentPort!.on('message', (questions: readonly AsideQuestion[]) => {
  turn = turn.then(async () => {
    const answers: AsideAnswer[] = [];
    for (const question of questions) answers.push(await answer(question));
    parentPort!.postMessage(answers);
  });
});
