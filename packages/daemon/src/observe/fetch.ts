/**
 * One request, one answer, within limits: the innermost part. Knows connections, bytes and time; nothing of politeness,
 * redirects or pages. Uses the client's dispatch interface, since streams cost more than the rest of an unchanged probe.
 */
import type { Dispatcher } from 'undici';
import { fault } from '../values/fault.ts';
import type { Clock } from '../values/clock.ts';
import type { MayAsk } from '../values/observation.ts';
import type { Answer, Ask, Headers, Visit } from './ask.ts';
import { agentFor, headerOf, listOf } from './ask.ts';
import { dispatchWith } from './connecting.ts';
import { isCutStream } from './cut-streams.ts';
import { acceptEncoding, decompress, decompressStart } from './decompress.ts';
import { explain, LimitReached } from './explain.ts';
import type { Limits } from './limits.ts';

export interface FetchOptions {
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly userAgent: string;
  /** Whether this process has just been stopped for so long that others may ask in its place. */
  readonly isDrowsy?: (() => boolean) | undefined;
}

const acceptPages = 'text/html,application/xhtml+xml,application/xml;q=0.9,application/json;q=0.9,*/*;q=0.8';

export function createFetch(options: FetchOptions): Visit {
  const fixed = { 'user-agent': options.userAgent, accept: acceptPages, 'accept-encoding': acceptEncoding };
  const given = (headers: Ask['headers']) => ({
    ...fixed,
    ...headers,
    'user-agent': agentFor(headers, options.userAgent),
  });
  return (ask) => {
    if (ask.signal?.aborted || options.isDrowsy?.()) return Promise.resolve(stopped);
    const headers = isEmpty(ask.headers) ? fixed : given(ask.headers);
    return ask.mayAsk ? withLeave(options, ask, headers, ask.mayAsk) : exchange(options, ask, headers);
  };
}

/** A request that found its leave ended when its connection was there is tried again with a new one, so often at most. */
const connectionsMax = 3;

async function withLeave(
  options: FetchOptions,
  ask: Ask,
  headers: Record<string, string>,
  mayAsk: MayAsk,
): Promise<Raw> {
  for (let n = 0; n < connectionsMax; n++) {
    const raw = await exchange(options, ask, headers);
    if (raw !== unleft) return raw;
    if (!(await mayAsk())) break;
  }
  return stopped;
}

/** At once where it came as it is. */
function unpacked(raw: Raw, { purpose }: Ask, limits: Limits): Raw | Promise<Raw> {
  const encoding = raw.kind === 'failed' ? undefined : listOf(raw.headers, 'content-encoding');
  if (raw.kind === 'failed' || encoding === undefined || raw.body.length === 0) return raw;
  return decompress(raw.body, encoding, limits).then(async (body) => {
    if (body.kind === 'body') return { ...raw, body: body.body };
    if (saysAll(raw.status)) return { ...raw, body: noBody };
    // Of a robots.txt what is beyond its limit is ignored, and what comes before that counts where it is all there.
    const start = purpose === 'robots' ? await decompressStart(raw.body, encoding, limits.robotsBytesMax) : undefined;
    return start ? { ...raw, body: start } : { kind: 'failed', fault: body.fault, bytesReceived: raw.bytesReceived };
  });
}

/** Whether status and headers say what is to be known: that it is elsewhere, gone, or not to be asked for now. */
const saysAll = (status: number): boolean => status >= 300;
/** Without these an answer is all that it would be, but for its body. */
const bodyFaults = new Set([
  'connection-lost',
  'body-truncated',
  'body-too-large',
  'total-timeout',
  'answer-malformed',
]);
const noBody = new Uint8Array(0);

type Raw = Extract<Answer, { kind: 'answered' | 'failed' }>;

const stopped: Raw = {
  kind: 'failed',
  fault: { code: 'stopped', sentence: 'the look was ended before it was done' },
  bytesReceived: 0,
};

/** The leave to ask had ended when the connection was there: nothing went out. */
const unleft: Raw = { ...stopped };

function exchange(options: FetchOptions, ask: Ask, headers: Record<string, string>): Promise<Raw> {
  return new Promise((resolve) => {
    const handler = new Exchange(options, ask, (raw) => resolve(unpacked(raw, ask, options.limits)));
    const { origin, pathname, search } = ask.url;
    const path = search === '' ? pathname : pathname + search;
    try {
      const { form } = ask;
      const request = form
        ? { origin, path, headers, method: 'POST' as const, body: new URLSearchParams(form).toString() }
        : { origin, path, headers, method: 'GET' as const };
      dispatchWith(ask.mayAsk, () => options.dispatcher.dispatch(request, handler));
    } catch (error) {
      handler.onResponseError(undefined, error as Error);
    }
  });
}

function isEmpty(headers: Ask['headers']): boolean {
  for (const _name in headers) return false;
  return true;
}

function bytesOf(headers: Headers): number {
  let bytes = 0;
  for (const name in headers) {
    const value = headers[name]!;
    bytes += name.length;
    if (typeof value === 'string') bytes += value.length;
    else for (const each of value) bytes += each.length;
  }
  return bytes;
}

/** Waiting for the first byte; reading; done. Done is final, whatever the connection says later. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #options: FetchOptions;
  readonly #ask: Ask;
  readonly #resolve: (answer: Raw) => void;
  // A field, as a function that is assigned is made to last: it would keep the whole exchange until all memory is gone through.
  readonly #stop = (): void => this.#end(new LimitReached('stopped', 'the look was ended before it was done'));
  // The wire's own time, which stays real when the daemon's clock runs fast.
  readonly #begunMs = performance.now();
  #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #done = false;
  #status = 0;
  #headers: Headers = {};
  #askedAtMs = 0;
  #answeredAtMs = 0;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(options: FetchOptions, ask: Ask, resolve: (answer: Raw) => void) {
    this.#options = options;
    this.#ask = ask;
    this.#resolve = resolve;
    this.#timer = setTimeout(() => this.#late(), Math.min(options.limits.firstByteMs, options.limits.totalMs));
    ask.signal?.addEventListener('abort', this.#stop, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    const isAgain = this.#controller !== undefined;
    this.#controller = controller;
    // Over HTTP/2 the client asks once more by itself where a stream was refused or the server is about to close: nobody gave leave for that.
    if (isAgain && !this.#done)
      return this.#end(Object.assign(new Error('refused by the server'), { code: 'ECONNRESET' }));
    this.#askedAtMs = this.#options.clock.nowMs();
    // From here on it is the wire's: the last moment at which it can be kept from going out.
    if (this.#options.isDrowsy?.()) this.#stop();
    else if (!this.#done && this.#ask.mayAsk?.isCurrent?.() === false) this.#settle(unleft);
    if (this.#done) controller.abort(new Error('ended before it was sent'));
  }

  onResponseStart(_controller: unknown, status: number, headers: Headers): void {
    if (status < 200 || this.#done) return;
    this.#status = status;
    this.#headers = headers;
    this.#answeredAtMs = this.#options.clock.nowMs();
    const { wireBytesMax, headerBytesMax } = this.#options.limits;
    // The client sees to it for HTTP/1 alone.
    if (bytesOf(headers) > headerBytesMax) {
      const sentence = `${this.#ask.url.host}: the headers of the answer are more than ${headerBytesMax} bytes`;
      return this.#end(new LimitReached('headers-too-large', sentence));
    }
    const announced = Number(headerOf(headers, 'content-length'));
    if (announced > wireBytesMax && this.#ask.purpose !== 'robots') this.#end(this.#tooLarge(`${announced} bytes`));
  }

  /** One timer serves both limits: most answers are whole before the first of them has passed. */
  #late(): void {
    const { host } = this.#ask.url;
    const { firstByteMs, totalMs } = this.#options.limits;
    const begun = this.#status !== 0;
    const leftMs = (begun ? totalMs : firstByteMs) - (performance.now() - this.#begunMs);
    // Timers may fire a moment early.
    if (leftMs > 1) this.#timer = setTimeout(() => this.#late(), Math.ceil(leftMs));
    else if (begun)
      this.#end(new LimitReached('total-timeout', `${host}: the answer was not complete within ${totalMs} ms`));
    else
      this.#end(new LimitReached('first-byte-timeout', `${host}: the answer did not begin within ${firstByteMs} ms`));
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    if (this.#done) return;
    this.#bytes += chunk.length;
    this.#chunks.push(chunk);
    const { wireBytesMax, robotsBytesMax } = this.#options.limits;
    if (this.#ask.purpose === 'robots') {
      // RFC 9309 lets us ignore the rest of a robots.txt, and not the part before it.
      if (this.#bytes > robotsBytesMax) this.#finish();
    } else if (this.#bytes > wireBytesMax) {
      this.#end(this.#tooLarge(`more than ${wireBytesMax} bytes`));
    }
  }

  onResponseEnd(): void {
    if (this.#done) return;
    if (isCutStream()) this.#end(Object.assign(new Error('the stream was reset'), { code: 'ECONNRESET' }));
    else this.#finish();
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#end(error);
  }

  #tooLarge(size: string): LimitReached {
    const { wireBytesMax } = this.#options.limits;
    return new LimitReached(
      'body-too-large',
      `${this.#ask.url.host}: the answer has ${size}; allowed are ${wireBytesMax}`,
    );
  }

  #finish(): void {
    const complete = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    this.#answer(complete);
    if (this.#bytes > this.#options.limits.robotsBytesMax && this.#ask.purpose === 'robots') this.#abort();
  }

  #answer(body: Uint8Array): void {
    this.#settle({
      kind: 'answered',
      url: this.#ask.url,
      status: this.#status,
      headers: this.#headers,
      body,
      bytesReceived: this.#bytes,
      askedAtMs: this.#askedAtMs,
      answeredAtMs: this.#answeredAtMs,
    });
  }

  #end(error: Error): void {
    if (this.#done) return;
    const why = explain(error, this.#ask.url);
    if (saysAll(this.#status) && bodyFaults.has(why.code)) {
      this.#answer(noBody);
      return this.#abort();
    }
    // A connection lost while the body came is a page cut short, and no copy of it.
    const cut = why.code === 'connection-lost' && this.#status !== 0;
    this.#settle({
      kind: 'failed',
      fault: cut ? fault('body-truncated', `${this.#ask.url.host}: the connection ended before the answer did`) : why,
      bytesReceived: this.#bytes,
    });
    this.#abort();
  }

  #settle(answer: Raw): void {
    this.#done = true;
    const { meter } = this.#ask;
    if (meter) meter.wireMs += performance.now() - this.#begunMs;
    clearTimeout(this.#timer);
    this.#ask.signal?.removeEventListener('abort', this.#stop);
    this.#chunks = [];
    this.#resolve(answer);
  }

  #abort(): void {
    const controller = this.#controller;
    if (controller && !controller.aborted) controller.abort(new Error('ended by a limit'));
  }
}
