/**
 * Every request passes here first. In this order:
 * - a route that is open asks for nothing;
 * - a bearer token decides by itself; a wrong one is refused, whatever else speaks for the caller;
 * - a feed's secret key opens that feed;
 * - a session's cookie counts when a changing request comes from our own page (Origin);
 * - a caller on this machine needs nothing, as long as the daemon listens on loopback only, nobody forwards the request, and
 *   the request was meant for loopback: Host and Origin are checked, so that a web page whose name was rebound to 127.0.0.1
 *   reaches nothing.
 */
import { timingSafeEqual } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { problem } from '../problem.ts';
import { RateLimiter } from '../rate-limit.ts';
import type { AccessBook, Scope } from './book.ts';

export interface Caller {
  readonly id: string;
  readonly name: string;
  readonly scope: Scope;
  readonly via: 'local' | 'token' | 'session' | 'feed';
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | undefined;
  }
}

export interface GuardOptions {
  /** Whether others than this machine can reach the daemon. */
  readonly beyondLoopback: boolean;
  /** Lets commands on this machine in, when the daemon listens beyond loopback. */
  readonly localKey?: string;
}

export const sessionCookie = 'revisit_session';
const rank: Readonly<Record<Scope, number>> = { read: 0, write: 1, admin: 2 };
const local: Caller = { id: 'local', name: 'this machine', scope: 'admin', via: 'local' };
/** Guessing 256 bits is hopeless; this only keeps the log and the processor quiet. */
const wrongTokensPerSecond = 0.5;
const wrongTokensBurst = 20;

export function isLoopback(address: string | undefined): boolean {
  if (address === undefined || !ipaddr.isValid(address)) return false;
  return ipaddr.process(address).range() === 'loopback';
}

/** A name or address, as in a Host header, that can only mean this machine. */
export function namesLoopback(host: string | undefined): boolean {
  const name = URL.parse(`http://${host ?? ''}`)?.hostname.replace(/^\[|\]$/g, '') ?? '';
  return name === 'localhost' || isLoopback(name);
}

export function cookieOf(request: FastifyRequest, name: string): string | undefined {
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}

const isSafe = (method: string): boolean => method === 'GET' || method === 'HEAD' || method === 'OPTIONS';

/** Browsers name the page that sends a changing request; it must be ours. Programs send no Origin. */
export function ownOrigin(request: FastifyRequest, required: boolean): boolean {
  const { origin, host } = request.headers;
  if (origin === undefined) return !required;
  const page = URL.parse(origin);
  // Read alike, so that a default port counts as none on both sides.
  return page !== null && page.host !== '' && page.host === URL.parse(`${page.protocol}//${host ?? ''}`)?.host;
}

const isForwarded = (request: FastifyRequest): boolean =>
  ['x-forwarded-for', 'x-forwarded-host', 'forwarded', 'x-real-ip'].some((name) => request.headers[name] !== undefined);

export function createGuard(book: AccessBook, options: GuardOptions) {
  const wrongTokens = new RateLimiter(wrongTokensPerSecond, wrongTokensBurst);

  async function bearer(request: FastifyRequest, reply: FastifyReply, secret: string): Promise<Caller | FastifyReply> {
    const { localKey } = options;
    if (localKey !== undefined && secret.length === localKey.length)
      if (timingSafeEqual(Buffer.from(secret), Buffer.from(localKey))) return local;
    const token = await book.verify(secret);
    if (token) return { id: token.id, name: token.name, scope: token.scope, via: 'token' };
    const waitSeconds = wrongTokens.take(request.ip, Date.now());
    if (waitSeconds > 0)
      return problem(
        reply.header('retry-after', String(Math.ceil(waitSeconds))),
        429,
        'too-many-requests',
        'Too many wrong tokens came from this address; try again later.',
      );
    return problem(
      reply.header('www-authenticate', 'Bearer error="invalid_token"'),
      401,
      'token-unknown',
      'The token is not known; "revisit token add NAME" makes one.',
    );
  }

  async function callerOf(request: FastifyRequest, reply: FastifyReply): Promise<Caller | FastifyReply | undefined> {
    const authorization = request.headers.authorization;
    if (authorization?.toLowerCase().startsWith('bearer '))
      return bearer(request, reply, authorization.slice('bearer '.length).trim());
    const path = request.url.split('?')[0]!;
    const key = (request.query as { key?: unknown } | undefined)?.key;
    if (path.startsWith('/feeds/') && typeof key === 'string' && (await book.opensFeed(path, key)))
      return { id: 'feed', name: 'a feed reader', scope: 'read', via: 'feed' };
    const cookie = cookieOf(request, sessionCookie);
    const token = cookie === undefined ? undefined : await book.session(cookie);
    if (token) {
      if (!isSafe(request.method) && !ownOrigin(request, true)) return refusedOrigin(request, reply);
      return { id: token.id, name: token.name, scope: token.scope, via: 'session' };
    }
    if (options.beyondLoopback || !isLoopback(request.socket.remoteAddress) || isForwarded(request)) return undefined;
    if (!namesLoopback(request.headers.host))
      return problem(
        reply,
        403,
        'host-refused',
        `The request is for "${request.headers.host ?? ''}"; without a token only 127.0.0.1, [::1] and localhost are answered.`,
      );
    if (!isSafe(request.method) && !ownOrigin(request, false)) return refusedOrigin(request, reply);
    return local;
  }

  return async function guard(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    const { config } = request.routeOptions;
    if (config.scope === 'open') return undefined;
    const caller = await callerOf(request, reply);
    if (caller === undefined)
      return problem(
        reply.header('www-authenticate', 'Bearer'),
        401,
        'token-required',
        'Beyond loopback a token is required, as "Authorization: Bearer TOKEN"; "revisit token add NAME" makes one.',
      );
    if (!('scope' in caller)) return caller;
    request.caller = caller;
    const wanted = config.scope ?? (isSafe(request.method) ? 'read' : 'write');
    if (rank[caller.scope] < rank[wanted])
      return problem(
        reply,
        403,
        'scope-missing',
        `This needs the scope ${wanted}; the token "${caller.name}" has ${caller.scope}.`,
      );
    return undefined;
  };
}

function refusedOrigin(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return problem(
    reply,
    403,
    'origin-refused',
    `The request comes from the page ${request.headers.origin ?? '(unknown)'}, which is not this dashboard.`,
  );
}
