/** The one way to the daemon: typed calls, its clock, and the stream of changes. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type Calls, type Change, createClient } from '../../daemon/src/api/client.ts';

export type {
  Change,
  Difference,
  Fault,
  Look,
  OutlineNode,
  Page,
  Subscription,
  Token,
  Version,
} from '../../daemon/src/api/client.ts';
export type Answer<Name extends keyof Calls> = Calls[Name]['answer'];

export class Problem extends Error {
  readonly code: string;
  readonly status: number;

  constructor(status: number, code: string, sentence: string) {
    super(sentence);
    this.status = status;
    this.code = code;
  }
}

const listeners = new Set<() => void>();
/** Called when the daemon wants a token. */
export function onLoginNeeded(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Relative to the page, so that it works under any path. */
export const urlOf = (path: string): string => `.${path}`;

export const ask = createClient(({ method, path, header, body }) =>
  send(path, {
    method,
    ...(body === undefined
      ? { headers: header }
      : { body: JSON.stringify(body), headers: { ...header, 'content-type': 'application/json' } }),
  }),
);

/** What the dashboard saves back whole. */
const isTagged = /^\/api\/pages\/[^/?]+$/;
const tags = new Map<string, string>();
/** Under what tag a thing was last read or saved, for saving it only if nobody else did since. */
export const tagOf = (path: string): string | undefined => tags.get(path);

/** A file as it is, to where one is expected. */
export const sendFile = (path: string, file: Blob, type: string): Promise<unknown> =>
  send(path, { method: 'PUT', body: file, headers: { 'content-type': type } });

async function send(path: string, request: RequestInit): Promise<unknown> {
  let answer: Response;
  try {
    answer = await fetch(urlOf(path), request);
  } catch {
    throw new Problem(0, 'unreachable', 'The daemon does not answer.');
  }
  if (answer.status === 204) return undefined;
  const isJson = answer.headers.get('content-type')?.includes('json') ?? false;
  const content: unknown = isJson ? await answer.json() : await answer.text();
  const tag = answer.headers.get('etag');
  if (answer.ok && tag && isTagged.test(path)) tags.set(path, tag);
  if (answer.ok) return content;
  const { title, detail } = (isJson ? content : {}) as { title?: string; detail?: string };
  if (answer.status === 401) for (const listener of listeners) listener();
  throw new Problem(answer.status, title ?? 'unknown', detail ?? `The daemon answered ${answer.status}.`);
}

export interface Asked<Value> {
  readonly value: Value | undefined;
  readonly problem: Problem | undefined;
  readonly reload: () => void;
}

/** Asks when something in `on` changes, and again every so often; what was known stays until the answer comes. */
export function useAsk<Value>(work: () => Promise<Value>, on: readonly unknown[], everyMs?: number): Asked<Value> {
  const [value, setValue] = useState<Value>();
  const [problem, setProblem] = useState<Problem>();
  const [round, setRound] = useState(0);
  const current = useRef(0);
  /** Of which question on answers still count: one that takes longer than the time between two is no reason to show nothing. */
  const oldest = useRef(0);
  const forgetOld = (): void => void (oldest.current = current.current + 1);
  useEffect(forgetOld, on);
  useEffect(() => {
    const mine = ++current.current;
    work().then(
      (answer) => {
        if (mine < oldest.current) return;
        oldest.current = mine;
        setValue(() => answer);
        setProblem(undefined);
      },
      (error: unknown) => {
        if (mine >= oldest.current) setProblem(error as Problem);
      },
    );
  }, [...on, round]);
  const again = useCallback(() => setRound((n) => n + 1), []);
  const reload = useCallback(() => (forgetOld(), again()), []);
  useEffect(() => {
    if (everyMs === undefined) return;
    const timer = setInterval(() => {
      if (!document.hidden) again();
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs, again]);
  return { value, problem, reload };
}

/** The daemon's time as against ours: a demonstration lives faster. */
let clock = { theirs: Date.now(), ours: Date.now(), speed: 1 };

export function setClock(theirs: number): void {
  const ours = Date.now();
  const passed = ours - clock.ours;
  const speed = passed > 1_000 && passed < 60_000 ? (theirs - clock.theirs) / passed : clock.speed;
  clock = { theirs, ours, speed: speed > 1.5 ? speed : 1 };
}

export const now = (): number => clock.theirs + (Date.now() - clock.ours) * clock.speed;

/** The time, again every second, for texts such as "2 min ago". */
export function useNow(): number {
  const [time, setTime] = useState(now);
  useEffect(() => {
    const timer = setInterval(() => setTime(now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return time;
}

/** Calls back for every change from now on; the browser resumes by itself after a loss. */
export function useStream(onChange: (change: Change) => void): void {
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(() => {
    const stream = new EventSource(urlOf('/api/changes/stream'));
    stream.addEventListener('change', (event) => latest.current(JSON.parse(event.data as string) as Change));
    return () => stream.close();
  }, []);
}
