/**
 * Commands speak the API: to the daemon that runs on the data folder, or, where none runs, to the same routes in this
 * process with the folder held for as long as the command takes.
 */
import { existsSync } from 'node:fs';
import { type Ask, createClient } from '../api/client.ts';
import { type CommandOutcome, counted, failed, note, wrong } from './outcome.ts';

interface Answer {
  readonly status: number;
  readonly text: string;
  /** Parsed JSON; undefined when the answer is none. */
  readonly body: unknown;
}

export interface Client {
  /** Where the daemon answers, undefined when this process works on the folder itself. */
  readonly url: string | undefined;
  /** A call as the API describes it. What is refused ends the command with the sentence of the refusal. */
  readonly call: Ask;
  close(): Promise<void>;
}

export class Refused extends Error {
  readonly answer: Answer;

  constructor(answer: Answer) {
    super(problemOutcome(answer).sentence);
    this.answer = answer;
  }
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';
type Send = (method: Method, path: string, body?: unknown) => Promise<Answer>;

function typed(send: Send): Ask {
  return createClient(async ({ method, path, body }) => {
    const answer = await send(method as Method, path, body);
    if (answer.status >= 400) throw new Refused(answer);
    return answer.body ?? answer.text;
  });
}

/** A version of a page may read like JSON and is text all the same: what it is, its media type says. */
function parsed(text: string, mediaType: unknown): unknown {
  if (!String(mediaType).includes('json')) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whoever waits for longer before a terminal wonders why. */
const wonderMs = 3_000;

export function remote(url: string, key: string | undefined, wonderAfterMs = wonderMs): Client {
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const send: Send = async (method, path, body) => {
    const { request } = await import('undici');
    const wondering = setTimeout(() => {
      void request(`${url}/healthz`).then(
        ({ statusCode }) =>
          statusCode === 503 && note('The daemon cannot reach its store now; this waits until it can.'),
        () => {},
      );
    }, wonderAfterMs);
    const answer = await request(`${url}${path}`, {
      method,
      // A sweep answers when it is over, however long politeness makes it take.
      headersTimeout: 0,
      bodyTimeout: 0,
      headers: { ...authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).finally(() => clearTimeout(wondering));
    const text = await answer.body.text();
    return { status: answer.statusCode, text, body: parsed(text, answer.headers['content-type']) };
  };
  return { url, call: typed(send), close: () => Promise.resolve() };
}

export const noFolder = (folder: string): string =>
  `--data ${folder}: there is no such folder; "revisit add URL" makes one, or name another with --data`;

/** `creates`: whether the command may bring the folder into being; reading one that is not there is a mistake. */
export async function openClient(
  folder: string,
  creates: boolean,
): Promise<{ client: Client } | { outcome: CommandOutcome }> {
  if (!creates && !existsSync(folder)) {
    return { outcome: wrong(noFolder(folder)) };
  }
  const { openFolder } = await import('../folder.ts');
  const opened = openFolder(folder);
  if (opened.kind === 'held')
    return opened.url ? { client: remote(opened.url, opened.key) } : { outcome: failed(opened.sentence) };
  if (opened.kind === 'failed') return { outcome: failed(opened.sentence) };
  // Most calls go to a running daemon; only without one does this process need the routes themselves.
  const [{ createApi }, { Desk }, { createLog }, { systemClock }, { takeBack }] = await Promise.all([
    import('../api/server.ts'),
    import('../desk.ts'),
    import('../log.ts'),
    import('../values/clock.ts'),
    import('../unfinished-import.ts'),
  ]);
  const desk = new Desk(opened.store, systemClock, createLog('warn'));
  const undone = await takeBack(desk);
  if (undone > 0) note(`an import that was cut off is taken back: ${counted(undone, 'page')} removed`);
  const app = createApi(desk);
  const send: Send = async (method, path, body) => {
    const answer = await app.inject({
      method,
      url: path,
      ...(body === undefined ? {} : { payload: body as object }),
    });
    return { status: answer.statusCode, text: answer.body, body: parsed(answer.body, answer.headers['content-type']) };
  };
  const client: Client = {
    url: undefined,
    call: typed(send),
    close: async () => {
      await app.close();
      await opened.close();
    },
  };
  return { client };
}

/** The sentence of a problem document, with the exit code that fits: 2 when the call was wrong, 1 when the work failed. */
function problemOutcome(answer: Answer): CommandOutcome {
  const detail = (answer.body as { detail?: unknown } | undefined)?.detail;
  const sentence = typeof detail === 'string' ? detail : `The daemon answered ${answer.status}.`;
  return answer.status >= 500 ? failed(sentence) : wrong(sentence);
}

/** What was asked for, undefined where it is not there. */
export async function unlessMissing<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Refused && error.answer.status === 404) return undefined;
    throw error;
  }
}

/** What came of the work, or how the command ends because a call of it was refused. */
export async function endedByRefusal<T>(work: () => Promise<T>): Promise<T | CommandOutcome> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refused) return problemOutcome(error.answer);
    throw error;
  }
}

/** Opens, works, closes, whatever happens. */
export async function withClient(
  options: { readonly data: string; readonly creates?: boolean },
  work: (client: Client) => Promise<CommandOutcome>,
): Promise<CommandOutcome> {
  const opened = await openClient(options.data, options.creates ?? false);
  if ('outcome' in opened) return opened.outcome;
  try {
    return await endedByRefusal(() => work(opened.client));
  } finally {
    await opened.client.close();
  }
}
