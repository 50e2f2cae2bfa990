/** The thread that reads changed bodies beside the loop: it answers questions in order, those that came together together. */
import { parentPort, workerData } from 'node:worker_threads';
import { detect, type Detected, type DetectInput, type Previous } from './detect/detect.ts';
import { openSqlite, type SqliteStore } from './store/sqlite.ts';

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

/** Texts that are read together, before the first of their pages: no more at once, as a text may have megabytes. */
const textsMax = 32;

type Texts = Pick<SqliteStore, 'versionText' | 'versionTexts'>;

let opened: Texts | undefined;

function store(): Texts {
  if (opened) return opened;
  const opening = openSqlite((workerData as { file: string }).file);
  if (opening.kind === 'failed') throw new Error(opening.sentence);
  return (opened = opening.store);
}

/** The last version of each question's page, by the question's number; without those that cannot be read now. */
function lastTexts(questions: readonly AsideQuestion[]): ReadonlyMap<number, string | undefined> {
  const wanted = questions.flatMap(({ number: question, previous }) =>
    previous?.versions ? [{ question, pageId: previous.versions.pageId, number: previous.versions.last }] : [],
  );
  if (wanted.length === 0) return new Map();
  try {
    const texts = store().versionTexts(wanted);
    return new Map(wanted.map(({ question }, n) => [question, texts[n]]));
  } catch {
    return new Map();
  }
}

function knownOf(previous: AsidePrevious, lasts: ReadonlyMap<number, string | undefined>, number: number): Previous {
  const { state, lookedAtMs } = previous;
  if (!previous.versions) {
    const { last, told } = previous;
    return { state, lookedAtMs, last: () => last, ...('told' in previous ? { told: () => told } : {}) };
  }
  const { pageId, last, told } = previous.versions;
  const text = (version: number) => store().versionText(pageId, version);
  const lastText = () => (lasts.has(number) ? lasts.get(number) : text(last));
  return { state, lookedAtMs, last: lastText, ...(told === undefined ? {} : { told: () => text(told) }) };
}

async function answer(
  { number, input, previous }: AsideQuestion,
  lasts: ReadonlyMap<number, string | undefined>,
): Promise<AsideAnswer> {
  try {
    const known = previous ? { previous: knownOf(previous, lasts, number) } : {};
    return { number, detected: await detect({ ...input, ...known }) };
  } catch {
    return { number };
  }
}

parentPort!.on('message', (questions: readonly AsideQuestion[]) => {
  turn = turn.then(async () => {
    const answers: AsideAnswer[] = [];
    for (let from = 0; from < questions.length; from += textsMax) {
      const together = questions.slice(from, from + textsMax);
      const lasts = lastTexts(together);
      for (const question of together) answers.push(await answer(question, lasts));
    }
    parentPort!.postMessage(answers);
  });
});
