/**
 * Readers' consumers of the stream of changes, made, described and removed for them by a coordinator. Whoever may ask JetStream itself for a
 * consumer says in it where the server is to send the messages, and no right on subjects can hold that back. So a reader's client
 * asks as it would ask JetStream (`consumer add`), and its account makes of that a question to the coordinators under the reader's name.
 *
 * A reader has one consumer, called as its key is, from which it pulls; all that it may say of it is listed below.
 */
import { type Msg, type NatsConnection, nanos } from '@nats-io/transport-node';
import { changesMaxAgeMs, streams, subjects } from './streams.ts';

/** Where a reader begins, at which pace it is given messages, and when they come again. */
const sayable = [
  'description',
  'deliver_policy',
  'opt_start_seq',
  'opt_start_time',
  'ack_policy',
  'ack_wait',
  'max_deliver',
  'backoff',
  'filter_subject',
  'replay_policy',
  'max_waiting',
  'max_ack_pending',
  'max_batch',
  'max_expires',
  'max_bytes',
  'inactive_threshold',
] as const;
/** Many times what clients say. */
const askedBytesMax = 16_384;
/** Clients wait for five seconds. */
const answerMsMax = 4_000;
/** What is asked of JetStream for it. */
const calls = { create: 'DURABLE.CREATE', info: 'INFO', delete: 'DELETE' } as const;

type Wish = Readonly<Record<string, unknown>>;

/** Answers until the function that it returns is called; each question is answered by one coordinator. */
export function serveReaders(connection: NatsConnection): () => void {
  const ears = connection.subscribe(subjects.reader('*', '>'), {
    queue: 'coordinators',
    callback: (error, message) => {
      if (error || !message.reply) return;
      // Nothing can be said on a connection that was closed meanwhile; who asked asks again.
      answer(connection, message)
        .then((said) => message.respond(said))
        .catch(() => {});
    },
  });
  return () => ears.unsubscribe();
}

async function answer(connection: NatsConnection, { subject, data }: Msg): Promise<Uint8Array | string> {
  const [, , name, what] = subject.split('.') as [string, string, string, keyof typeof calls];
  if (!Object.hasOwn(calls, what)) return refusal(404, 10_003, 'readers make, see and remove their consumer');
  const words = what === 'create' ? creation(name, data) : { asks: '' };
  if ('refused' in words) return words.refused;
  try {
    const api = `$JS.API.CONSUMER.${calls[what]}.${streams.changes}.${name}`;
    return (await connection.request(api, words.asks, { timeout: answerMsMax })).data;
  } catch {
    return refusal(503, 10_008, 'JetStream does not answer; try again');
  }
}

/** The request for a consumer as JetStream is asked, in our own words. */
function creation(name: string, data: Uint8Array): { readonly asks: string } | { readonly refused: string } {
  const refused = (code: number, sentence: string) => ({ refused: refusal(400, code, sentence) });
  const wish = data.length <= askedBytesMax ? wishIn(Buffer.from(data).toString()) : undefined;
  if (!wish) return refused(10_003, 'a request for a consumer is expected');
  if ((wish['durable_name'] || wish['name']) !== name)
    return refused(10_017, `the consumer of this reader is called ${name}, as its key is`);
  if (wish['deliver_subject']) return refused(10_003, 'readers pull: changes are sent to no deliver subject');
  return { asks: JSON.stringify({ stream_name: streams.changes, config: consumerOf(name, wish) }) };
}

function wishIn(text: string): Wish | undefined {
  try {
    const { config } = JSON.parse(text) as { readonly config?: unknown };
    return typeof config === 'object' && config !== null ? (config as Wish) : undefined;
  } catch {
    return undefined;
  }
}

/** Whoever has not pulled for as long as the stream keeps changes has nothing to go on from. */
function consumerOf(name: string, wish: Wish): Wish {
  const said = sayable.filter((key) => wish[key]).map((key) => [key, wish[key]] as const);
  return { inactive_threshold: nanos(changesMaxAgeMs), ...Object.fromEntries(said), durable_name: name };
}

/** As JetStream refuses; clients show the sentence. */
const refusal = (code: number, err_code: number, description: string): string =>
  JSON.stringify({ error: { code, err_code, description } });
