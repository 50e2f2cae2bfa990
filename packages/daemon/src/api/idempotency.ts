/**
 * A changing request with an `Idempotency-Key` is carried out once: the same key again, within a day and this process, gets
 * the first answer. Restarts forget the keys; adding a page is idempotent by itself, so the contract's calls stay safe.
 */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { problem } from './problem.ts';

interface Answer {
  readonly fingerprint: string;
  readonly atMs: number;
  done?: { readonly status: number; readonly type: string | undefined; readonly payload: string };
}

const keepMs = 86_400_000;
/** A few hundred bytes each. */
const keysMax = 10_000;
const keyCharactersMax = 200;
/** Larger answers are not kept: the request can be asked for again. */
const payloadCharactersMax = 256 * 1024;

export function idempotency(app: FastifyInstance, nowMs: () => number): void {
  const answers = new Map<string, Answer>();
  const keyOf = (request: {
    headers: Record<string, unknown>;
    caller?: { id: string } | undefined;
    method: string;
  }) => {
    const key = request.headers['idempotency-key'];
    return typeof key === 'string' && request.method !== 'GET' ? `${request.caller?.id ?? ''}\n${key}` : undefined;
  };

  app.addHook('preHandler', async (request, reply) => {
    const key = keyOf(request);
    if (key === undefined) return;
    if (key.length > keyCharactersMax + 64)
      return problem(reply, 400, 'bad-request', `Idempotency-Key: is longer than ${keyCharactersMax} characters`);
    const fingerprint = createHash('sha256')
      .update(`${request.method} ${request.url}\n${JSON.stringify(request.body) ?? ''}`)
      .digest('base64');
    const known = answers.get(key);
    if (known && nowMs() - known.atMs < keepMs) {
      if (known.fingerprint !== fingerprint)
        return problem(reply, 422, 'idempotency-mismatch', 'This Idempotency-Key was used for another request.');
      if (!known.done)
        return problem(
          reply,
          409,
          'idempotency-busy',
          'The first request with this Idempotency-Key is still under way.',
        );
      const { status, type, payload } = known.done;
      return reply
        .code(status)
        .header('idempotent-replay', 'true')
        .type(type ?? 'application/json')
        .send(payload);
    }
    answers.set(key, { fingerprint, atMs: nowMs() });
    if (answers.size > keysMax) answers.delete(answers.keys().next().value!);
  });

  app.addHook('onSend', async (request, reply, payload) => {
    const key = keyOf(request);
    const answer = key === undefined ? undefined : answers.get(key);
    if (!answer || answer.done || reply.getHeader('idempotent-replay') !== undefined) return payload;
    const keepable = payload === undefined || payload === null || typeof payload === 'string';
    // A failure on our side may be tried again under the same key.
    if (
      reply.statusCode >= 500 ||
      reply.statusCode === 409 ||
      !keepable ||
      (payload as string)?.length > payloadCharactersMax
    )
      answers.delete(key!);
    else
      answer.done = {
        status: reply.statusCode,
        type: reply.getHeader('content-type') as string | undefined,
        payload: (payload as string | undefined | null) ?? '',
      };
    return payload;
  });
}
