/** Errors as RFC 9457 problem documents; their codes are listed in docs/faults.md. */
import type { FastifyReply } from 'fastify';
import type { Fault } from '../values/fault.ts';

export function problem(reply: FastifyReply, status: number, code: string, sentence: string): FastifyReply {
  return reply
    .code(status)
    .type('application/problem+json')
    .send(JSON.stringify({ type: `about:blank#${code}`, title: code, status, detail: sentence }));
}

/** A store that cannot keep what was asked: the request was good, so it may be tried again. */
export function unavailable(reply: FastifyReply, fault: Fault): FastifyReply {
  return problem(reply, 503, fault.code, fault.sentence);
}
