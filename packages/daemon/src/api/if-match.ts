/**
 * Changing something only if it is still what was read: `If-Match` on PATCH and on a page's DELETE. What can be set and what
 * is seen of a thing come in one body, and the latter changes all the time; so an ETag has two parts, and only the first,
 * which stands for the settings, is compared here. The whole of it serves `If-None-Match`.
 */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from '@sinclair/typebox';
import { problem } from './problem.ts';

/** For the description of a PATCH or DELETE. */
export const ifMatch = Type.Object({
  'if-match': Type.Optional(
    Type.String({ description: 'The ETag under which it was read; 412 when it was set anew since.' }),
  ),
});

const digest = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 16);

/** The part of the tag that stands for what somebody set. */
export const settingsTag = (settings: unknown): string => digest(settings);

/** The body with its tag on the answer. */
export function tagged<Body>(reply: FastifyReply, body: Body, settings: unknown = body): Body {
  void reply.header('etag', `"${settingsTag(settings)}.${digest(body)}"`);
  return body;
}

/** Whether the request names a state of the settings that is not the present one. */
export function matchesNot(request: Pick<FastifyRequest, 'headers'>, tag: string): boolean {
  const given = request.headers['if-match'];
  if (given === undefined || given.trim() === '*') return false;
  return !given.split(',').some((one) => one.trim().replace(/^W\//, '').replaceAll('"', '').split('.')[0] === tag);
}

export const changedMeanwhile = (reply: FastifyReply): FastifyReply =>
  problem(
    reply,
    412,
    'changed-meanwhile',
    'If-Match: its settings have been changed since they were read; read them again.',
  );
