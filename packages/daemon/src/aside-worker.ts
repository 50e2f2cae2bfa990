/** The thread that reads changed bodies beside the loop: it answers questions in order, those that came together together. */
import { parentPort, workerData } from 'node:worker_threads';
import { detect, type Detected, type DetectInput, type Previous } from './detect/detect.ts';
import type { Store } from './store/port.ts';
import { openSqlite } from './store/sqlite.ts';

/** What is known of the page, with every text that detection may ask for, or with where those are. */
export type AsidePrevious = Pick<Previous, 'state' | 'lookedAtMs'> &
  (
    | { readonly versions: NonNullable<Previous['versions']> }
    /** `told` where that is another one. */
    | { readonly versions?: undefined; readonly last: string | undefined; readonly told?: string | undefined }
  );

export interface AsideQuestion {
  readonly number: number;
  readonly input: Omit<DetectInput, 'previous'>;
  readonly previous?: AsidePrevious;
}

export type AsideAnswer =
  | { readonly number: number; readonly detected: Detected }
  /** Nobody could answer here; whoever asked does it himself. */
  | { readonly number: number; readonly detected?: undefined };

let turn: Promise<void> = Promise.resolve();

let opened: Pick<Store, 'versionText'> | undefined;

function store(): Pick<Store, 'versionText'> {
  if (opened) return opened;
  const opening = openSqlite((workerData as { file: string }).file);
  if (opening.kind === 'failed') throw new Error(opening.sentence);
  return (opened = opening.store);
}

function knownOf(previous: AsidePrevious): Previous {
  const { state, lookedAtMs } = previous;
  if (!previous.versions) {
    const { last, told } = previous;
    return { state, lookedAtMs, last: () => last, ...('told' in previous ? { told: () => told } : {}) };
  }
  const { pageId, last, told } = previous.versions;
  const text = (version: number) => store().versionText(pageId, version);
  return { state, lookedAtMs, last: () => text(last), ...(told === undefined ? {} : { told: () => text(told) }) };
}

async function answer({ number, input, previous }: AsideQuestion): Promise<AsideAnswer> {
  try {
    return { number, detected: await detect({ ...input, ...(previous ? { previous: knownOf(previous) } : {}) }) };
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
