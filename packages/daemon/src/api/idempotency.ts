/**
 * A changing request with an `Idempotency-Key` is carried out once, whichever process on the store it reaches and over restarts:
 * the same key again within a day gets the first answer. A key is
 *
 *   claimed    by the request that came first; whoever else comes with it is told to wait. One whose process was lost is free
 *              again after a while
 *   answered   and the answer is kept
 *   free       after a day, or when the answer was a failure of ours
 */
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Drawers } from '../store/drawers.ts';
import type { Store } from '../store/port.ts';
import type { Clock } from '../values/clock.ts';
import { problem, unavailable } from './problem.ts';

interface Answer {
  readonly status: number;
  readonly type: string | undefined;
  /** Undefined where it is shown once, such as a token's secret: that stays in the memory of the process that showed it. */
  readonly payload?: string;
}

interface Claim {
  readonly key: string;
  readonly fingerprint: string;
  readonly atMs: number;
  readonly answer?: Answer;
}

const keepMs = 86_400_000;
/** No request takes so long. */
const claimMsMax = 600_000;
const drawers = 256;
/** Some ten thousand in all; the oldest go first. */
const claimsInDrawerMax = 64;
const keyCharactersMax = 200;
/** Larger answers are not kept: the request can be asked for again. */
const payloadCharactersMax = 32 * 1024;
/** As many as there can be tokens. */
const secretsMax = 1_000;

type ClaimsStore = Pick<Store, 'recall' | 'revise'>;

class Claims {
  readonly #drawers: Drawers<Claim>;
  readonly #clock: Clock;

  constructor(store: ClaimsStore, clock: Clock) {
    this.#drawers = new Drawers(store, 'idempotency', drawers);
    this.#clock = clock;
  }

  #open<Value>(key: string, edit: (claims: readonly Claim[]) => { after?: readonly Claim[]; value: Value }) {
    const nowMs = this.#clock.nowMs();
    return this.#drawers.edit(this.#drawers.drawerOf(key), (all) => {
      const { after, value } = edit(all.filter(({ atMs, answer }) => nowMs - atMs < (answer ? keepMs : claimMsMax)));
      return after ? { after: after.slice(-claimsInDrawerMax), value } : { value };
    });
  }

  /** Claims the key; or who has claimed it before. */
  claim(key: string, fingerprint: string) {
    return this.#open<Claim | undefined>(key, (claims) => {
      const known = claims.find((claim) => claim.key === key);
      return known
        ? { value: known }
        : { after: [...claims, { key, fingerprint, atMs: this.#clock.nowMs() }], value: undefined };
    });
  }

  /** Without an answer the key is free again. */
  settle(key: string, answer: Answer | undefined) {
    return this.#open(key, (claims) => ({
      after: claims.flatMap((claim) => (claim.key !== key ? [claim] : answer ? [{ ...claim, answer }] : [])),
      value: undefined,
    }));
  }
}

function keyOf(request: FastifyRequest): string | undefined {
  const key = request.headers['idempotency-key'];
  return typeof key === 'string' && request.method !== 'GET' ? `${request.caller?.id ?? ''}\n${key}` : undefined;
}

function replay(reply: FastifyReply, { status, type }: Answer, payload: string | undefined): FastifyReply {
  if (payload === undefined)
    return problem(
      reply,
      409,
      'idempotency-secret',
      'The request was carried out, and its answer held a secret that is shown once, by another process or before a restart.',
    );
  return reply
    .code(status)
    .header('idempotent-replay', 'true')
    .type(type ?? 'application/json')
    .send(payload);
}

/** What can be given to whoever comes again; a failure on our side may be tried again under the same key. */
function answerOf(reply: FastifyReply, payload: unknown): (Answer & { readonly payload: string }) | undefined {
  const text = payload ?? '';
  if (reply.statusCode >= 500 || reply.statusCode === 409) return undefined;
  if (typeof text !== 'string' || text.length > payloadCharactersMax) return undefined;
  return { status: reply.statusCode, type: reply.getHeader('content-type') as string | undefined, payload: text };
}

export function idempotency(app: FastifyInstance, store: ClaimsStore, clock: Clock): void {
  const claims = new Claims(store, clock);
  const claimed = new WeakMap<FastifyRequest, string>();
  const secrets = new Map<string, string>();

  app.addHook('preHandler', async (request, reply) => {
    const key = keyOf(request);
    if (key === undefined) return;
    if (key.length > keyCharactersMax + 64)
      return problem(reply, 400, 'bad-request', `Idempotency-Key: is longer than ${keyCharactersMax} characters`);
    const asked = `${request.method} ${request.url}\n${JSON.stringify(request.body) ?? ''}`;
    const fingerprint = createHash('sha256').update(asked).digest('base64');
    const kept = await claims.claim(key, fingerprint);
    if (kept.kind === 'failed') return unavailable(reply, kept.fault);
    const known = kept.value;
    if (!known) {
      claimed.set(request, key);
      return;
    }
    if (known.fingerprint !== fingerprint)
      return problem(reply, 422, 'idempotency-mismatch', 'This Idempotency-Key was used for another request.');
    if (known.answer) return replay(reply, known.answer, known.answer.payload ?? secrets.get(key));
    const sentence = 'The first request with this Idempotency-Key is still under way.';
    return problem(reply, 409, 'idempotency-busy', sentence);
  });

  app.addHook('onSend', async (request, reply, payload) => {
    const key = claimed.get(request);
    if (key === undefined) return payload;
    claimed.delete(request);
    const answer = answerOf(reply, payload);
    const isSecret = answer && reply.getHeader('cache-control') === 'no-store';
    if (isSecret) {
      secrets.set(key, answer.payload);
      if (secrets.size > secretsMax) secrets.delete(secrets.keys().next().value!);
    }
    // What cannot be kept now is claimed for a while, and then free.
    await claims.settle(key, isSecret ? { status: answer.status, type: answer.type } : answer);
    return payload;
  });
}
