/**
 * Commands speak the API: to the daemon that runs on the data folder, or, where none runs, to the same routes in this
 * process with the folder held for as long as the command takes.
 */
import { existsSync } from 'node:fs';
import { type Ask, createClient } from '../api/client.ts';
import { openFolder } from '../folder.ts';
import { type CommandOutcome, failed, wrong } from './outcome.ts';

export interface Answer {
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
  ask(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<Answer>;
  close(): Promise<void>;
}

class Refused extends Error {
  readonly answer: Answer;

  constructor(answer: Answer) {
    super(answer.text);
    this.answer = answer;
  }
}

function typed(ask: Client['ask']): Ask {
  return createClient(async ({ method, path, body }) => {
    const answer = await ask(method as 'GET', path, body);
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

export function remote(url: string, key: string | undefined): Client {
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const ask: Client['ask'] = async (method, path, body) => {
    const { request } = await import('undici');
    const answer = await request(`${url}${path}`, {
      method,
      // A sweep answers when it is over, however long politeness makes it take.
      headersTimeout: 0,
      bodyTimeout: 0,
      headers: { ...authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, text, body: parsed(text, answer.headers['content-type']) };
  };
  return { url, ask, call: typed(ask), close: () => Promise.resolve() };
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
  const opened = openFolder(folder);
  if (opened.kind === 'held')
    return opened.url ? { client: remote(opened.url, opened.key) } : { outcome: failed(opened.sentence) };
  if (opened.kind === 'failed') return { outcome: failed(opened.sentence) };
  // Most calls go to a running daemon; only without one does this process need the routes themselves.
  const [{ createApi }, { Desk }, { createLog }, { systemClock }] = await Promise.all([
    import('../api/server.ts'),
    import('../desk.ts'),
    import('../log.ts'),
    import('../values/clock.ts'),
  ]);
  const app = createApi(new Desk(opened.store, systemClock, createLog('warn')));
  const ask: Client['ask'] = async (method, path, body) => {
    const answer = await app.inject({
      method,
      url: path,
      ...(body === undefined ? {} : { payload: body as object }),
    });
    return { status: answer.statusCode, text: answer.body, body: parsed(answer.body, answer.headers['content-type']) };
  };
  const client: Client = {
    url: undefined,
    ask,
    call: typed(ask),
    close: async () => {
      await app.close();
      await opened.close();
    },
  };
  return { client };
}

/** The sentence of a problem document, with the exit code that fits: 2 when the call was wrong, 1 when the work failed. */
export function problemOutcome(answer: Answer): CommandOutcome {
  const detail = (answer.body as { detail?: unknown } | undefined)?.detail;
  const sentence = typeof detail === 'string' ? detail : `The daemon answered ${answer.status}.`;
  return answer.status >= 500 ? failed(sentence) : wrong(sentence);
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
