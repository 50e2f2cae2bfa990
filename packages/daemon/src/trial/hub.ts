/**
 * A WebSub hub (W3C) as a process of its own, for trials: takes subscriptions, verifies that they are meant, fetches what is
 * published and delivers it with a signature while the lease lasts. Prints its port.
 *
 * The path of the hub says how honest it is: `/honest`; `/mute` takes every subscription and never calls back; `/refusing`
 * answers 403; `/denying` takes it and then says no; `/mistaken` verifies another topic; `/forging` signs with a secret of its
 * own. `/short` is honest with leases of so many seconds as the first argument says, which pass as fast as the second says.
 *
 * `POST /publish` with `hub.url` tells all who subscribed to it; `GET /state` shows what it knows.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Subscriber {
  readonly kind: string;
  readonly topic: string;
  readonly callback: string;
  readonly secret: string;
  untilMs: number;
  verified: number;
  /** What its callback answered to each delivery. */
  readonly answers: number[];
}

const [shortSeconds = 600, speed = 1] = process.argv.slice(2).map(Number);
const subscribers = new Map<string, Subscriber>();
const asked: { readonly kind: string; readonly lease: string | null }[] = [];
/** Callbacks that did not answer a verification with its challenge. */
const unverified: { readonly kind: string; readonly status: number }[] = [];

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

async function verify(kind: string, form: URLSearchParams): Promise<void> {
  const topic = form.get('hub.topic')!;
  const callback = new URL(form.get('hub.callback')!);
  const challenge = randomBytes(16).toString('hex');
  const seconds = kind === 'short' ? shortSeconds : Number(form.get('hub.lease_seconds') ?? 86_400);
  callback.searchParams.set('hub.mode', kind === 'denying' ? 'denied' : 'subscribe');
  callback.searchParams.set('hub.topic', kind === 'mistaken' ? `${topic}#other` : topic);
  if (kind !== 'denying') {
    callback.searchParams.set('hub.challenge', challenge);
    callback.searchParams.set('hub.lease_seconds', String(seconds));
  }
  const answer = await fetch(callback).catch(() => undefined);
  const word = await answer?.text();
  if (!answer?.ok || word !== challenge) {
    unverified.push({ kind, status: answer?.status ?? 0 });
    return;
  }
  const key = `${topic} ${form.get('hub.callback')}`;
  const known = subscribers.get(key);
  const secret = kind === 'forging' ? 'not what was agreed' : (form.get('hub.secret') ?? '');
  subscribers.set(key, {
    kind,
    topic,
    callback: form.get('hub.callback')!,
    secret,
    untilMs: Date.now() + (1000 * seconds) / speed,
    verified: (known?.verified ?? 0) + 1,
    answers: known?.answers ?? [],
  });
}

async function publish(topic: string): Promise<void> {
  const body = Buffer.from(await (await fetch(topic)).arrayBuffer());
  for (const subscriber of subscribers.values()) {
    if (subscriber.topic !== topic || subscriber.untilMs < Date.now()) continue;
    const signature = `sha256=${createHmac('sha256', subscriber.secret).update(body).digest('hex')}`;
    const headers = { 'content-type': 'text/html', 'x-hub-signature': signature };
    const answer = await fetch(subscriber.callback, { method: 'POST', headers, body }).catch(() => undefined);
    subscriber.answers.push(answer?.status ?? 0);
  }
}

const server = createServer((request, response) => {
  const path = request.url ?? '/';
  if (request.method === 'GET') {
    const known = { asked, unverified, subscribers: [...subscribers.values()] };
    response.end(JSON.stringify(path === '/state' ? known : {}));
    return;
  }
  void textOf(request).then(async (text) => {
    const form = new URLSearchParams(text);
    if (path === '/publish') {
      await publish(form.get('hub.url')!);
      response.writeHead(204).end();
      return;
    }
    const kind = path.slice(1);
    asked.push({ kind, lease: form.get('hub.lease_seconds') });
    const sound = form.get('hub.mode') === 'subscribe' && form.has('hub.topic') && form.has('hub.callback');
    response.writeHead(!sound ? 400 : kind === 'refusing' ? 403 : 202).end();
    if (sound && kind !== 'refusing' && kind !== 'mute') await verify(kind, form);
  });
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
