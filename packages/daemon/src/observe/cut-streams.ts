/**
 * Answers over HTTP/2 whose stream is reset before its end. Node reads a stream that is reset without an error, or called off, to an end
 * like any other, and the client tells the two apart by the announced length alone, which many answers lack. What does tell: where
 * the server said the end (END_STREAM), the stream is not closed yet when that is read; where it was reset, it is.
 */
import { subscribe } from 'node:diagnostics_channel';
import type { ClientHttp2Stream } from 'node:http2';

/** True while the client hears of the end of a stream that was cut. */
let cut = false;

/** Asked when an answer has ended, in the same turn: whether it was cut short. */
export const isCutStream = (): boolean => cut;

subscribe('http2.client.stream.created', (message) => {
  const { stream } = message as { readonly stream: ClientHttp2Stream };
  stream.push = (chunk: unknown, encoding?: BufferEncoding): boolean => {
    if (chunk === null) {
      // From here on it is the stream's own again.
      Reflect.deleteProperty(stream, 'push');
      // Heard before the client hears it.
      if (stream.closed) stream.prependOnceListener('end', sayCut);
    }
    return Object.getPrototypeOf(stream).push.call(stream, chunk, encoding) as boolean;
  };
});

function sayCut(): void {
  cut = true;
  queueMicrotask(() => (cut = false));
}
