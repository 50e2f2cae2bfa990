/**
 * The thread that reads changed bodies beside the loop, or the process that reads large ones: it answers questions in order, those that came
 * together together.
 */
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { detect, type Detected, type DetectInput, type Previous } from '../detect/detect.ts';
import { type DifferenceInWords, inWords, shownDifference } from '../detect/shown.ts';
import type { AlsoWanted } from '../loop-parts.ts';
import { reveal, type Revealed } from '../observe/discover/reveal.ts';
import { openSqlite, type SqliteStore } from '../store/sqlite.ts';
import type { ChangedTexts } from '../tell/match.ts';

/** What is known of the page, with every text that detection may ask for, or with where those are. */
export type AsidePrevious = Pick<Previous, 'state' | 'lookedAtMs'> &
  (
    | { readonly versions: NonNullable<Previous['versions']> }
    /** `told` where that is another one. */
    | { readonly versions?: undefined; readonly last: string | undefined; readonly told?: string | undefined }
  );

/** `words`: also what came and went, for those who ask for it. */
export interface AsideInput extends DetectInput {
  readonly wanted?: (AlsoWanted & { readonly words?: boolean | undefined }) | undefined;
}

/** With what was wanted beside. */
export interface AsideDetected extends Detected {
  readonly revealed?: Revealed;
  readonly words?: ChangedTexts;
}

export interface AsideQuestion {
  readonly number: number;
  readonly input: Omit<AsideInput, 'previous'>;
  readonly previous?: AsidePrevious;
}

/** What differs between two versions of a page, both in the store. */
export interface WordsQuestion {
  readonly pageId: string;
  readonly from: number;
  readonly to: number;
  readonly format: Parameters<typeof shownDifference>[2];
  readonly detectState: string | undefined;
}

/** Without words where one of the versions, or the difference, cannot be read. */
export interface WordsAnswer {
  readonly words: DifferenceInWords | undefined;
}

export type AsideAnswer =
  | { readonly number: number; readonly detected: AsideDetected }
  /** Nobody could answer here; whoever asked does it himself. */
  | { readonly number: number; readonly detected?: undefined };

let turn: Promise<void> = Promise.resolve();

/** Texts that are read together, before the first of their pages: no more at once, as a text may have megabytes. */
const textsMax = 32;

type Texts = Pick<SqliteStore, 'versionText' | 'versionTexts'>;

let opened: Texts | undefined;

function store(): Texts {
  if (opened) return opened;
  const opening = openSqlite(isMainThread ? process.argv[2]! : (workerData as { file: string }).file);
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
    const { wanted, ...read } = input;
    const known = previous ? knownOf(previous, lasts, number) : undefined;
    const detected = await detect({ ...read, ...(known ? { previous: known } : {}) });
    const { detection } = detected;
    const isNews = detection.kind === 'first' || detection.kind === 'changed';
    const reveals = wanted?.reveals === 'always' || (wanted?.reveals === 'news' && isNews);
    const revealed = reveals ? { revealed: reveal(read, read.url, wanted?.as) } : {};
    const words = wanted?.words && known ? await wordsOf(detected, known) : undefined;
    return { number, detected: { ...detected, ...revealed, ...(words ? { words } : {}) } };
  } catch {
    return { number };
  }
}

/** Against the version that the verdict names as the one before. */
async function wordsOf(
  { detection, state }: Detected,
  { last, told = last }: Previous,
): Promise<ChangedTexts | undefined> {
  if (detection.kind !== 'changed') return undefined;
  const { projection, since } = detection;
  const from = await (since === 'last' ? last : told)();
  const { added, removed } = inWords(shownDifference(from ?? '', projection.text, projection.format, state));
  return { added, removed };
}

function wordsBetween({ pageId, from, to, format, detectState }: WordsQuestion): DifferenceInWords | undefined {
  try {
    const [old, next] = store().versionTexts([from, to].map((number) => ({ pageId, number })));
    return old === undefined || next === undefined
      ? undefined
      : inWords(shownDifference(old, next, format, detectState));
  } catch {
    return undefined;
  }
}

function taken(questions: readonly AsideQuestion[] | WordsQuestion): void {
  turn = turn.then(async () => {
    if ('pageId' in questions) return give({ words: wordsBetween(questions) });
    const answers: AsideAnswer[] = [];
    for (let from = 0; from < questions.length; from += textsMax) {
      const together = questions.slice(from, from + textsMax);
      const lasts = lastTexts(together);
      for (const question of together) answers.push(await answer(question, lasts));
    }
    give(answers);
  });
}

function give(answered: readonly AsideAnswer[] | WordsAnswer): void {
  if (parentPort) parentPort.postMessage(answered);
  else process.send!(answered);
}

(parentPort ?? process).on('message', taken);
