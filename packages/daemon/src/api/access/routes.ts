import { Type } from '@sinclair/typebox';
import { timeText } from '../bodies.ts';
import { type Api, Nothing, operation } from '../operation.ts';
import { problem, unavailable } from '../problem.ts';
import { Nullable, OneOf, TokenBody, idParams, scopes } from '../schemas.ts';
import { type AccessBook, type Token, tokensMax } from './book.ts';
import { cookieOf, ownOrigin, sessionCookie } from './guard.ts';

const tokenBody = ({ id, name, scope, createdAtMs }: Token) => ({ id, name, scope, createdAt: timeText(createdAtMs) });

export function accessRoutes(app: Api, book: AccessBook): void {
  tokenRoutes(app, book);
  sessionRoutes(app, book);
  feedRoutes(app, book);
}

function tokenRoutes(app: Api, book: AccessBook): void {
  const admin = { scope: 'admin' } as const;
  const list = operation({
    tag: 'access',
    summary: 'The tokens, without their secrets',
    answers: { 200: Type.Object({ tokens: Type.Array(TokenBody) }) },
  });
  app.get('/api/tokens', { schema: list, config: admin }, async () => ({
    tokens: (await book.tokens()).map(tokenBody),
  }));

  const add = operation({
    tag: 'access',
    summary: 'Make a token; its secret is shown this once',
    body: Type.Object(
      { name: Type.String({ minLength: 1, maxLength: 100 }), scope: OneOf(scopes) },
      { additionalProperties: false },
    ),
    answers: { 201: Type.Intersect([TokenBody, Type.Object({ secret: Type.String() })]) },
  });
  app.post('/api/tokens', { schema: add, config: admin }, async (request, reply) => {
    if ((await book.tokens()).length >= tokensMax)
      return problem(reply, 409, 'tokens-full', `There are ${tokensMax} tokens already; revoke some first.`);
    const kept = await book.add(request.body.name, request.body.scope);
    if (kept.kind === 'failed') return unavailable(reply, kept.fault);
    return reply
      .code(201)
      .header('cache-control', 'no-store')
      .send({ ...tokenBody(kept.value.token), secret: kept.value.secret });
  });

  const revoke = operation({
    tag: 'access',
    summary: 'Revoke a token and end its sessions',
    params: idParams,
    answers: { 204: Nothing },
  });
  app.delete('/api/tokens/:id', { schema: revoke, config: admin }, async (request, reply) => {
    const kept = await book.revoke(request.params.id);
    if (kept.kind === 'failed') return unavailable(reply, kept.fault);
    return kept.value
      ? reply.code(204).send()
      : problem(reply, 404, 'token-missing', `No token has the id ${request.params.id}.`);
  });
}

function sessionRoutes(app: Api, book: AccessBook): void {
  const who = operation({
    tag: 'access',
    summary: 'Who is asking, and what they may do',
    answers: { 200: Type.Object({ name: Type.String(), scope: OneOf(scopes), via: Type.String() }) },
  });
  app.get('/api/session', { schema: who }, async (request) => {
    const { name, scope, via } = request.caller!;
    return { name, scope, via };
  });

  const login = operation({
    tag: 'access',
    summary: 'Trade a token for a session of the dashboard',
    body: Type.Object({ token: Type.String({ minLength: 1, maxLength: 200 }) }, { additionalProperties: false }),
    answers: { 200: Type.Object({ name: Type.String(), scope: OneOf(scopes) }) },
  });
  app.post('/api/session', { schema: login, config: { scope: 'open' } }, async (request, reply) => {
    if (!ownOrigin(request, false))
      return problem(reply, 403, 'origin-refused', `The page ${request.headers.origin} is not this dashboard.`);
    const token = await book.verify(request.body.token);
    if (!token)
      return problem(reply, 401, 'token-unknown', 'The token is not known; "revisit token add NAME" makes one.');
    const kept = await book.openSession(token);
    if (kept.kind === 'failed') return unavailable(reply, kept.fault);
    const isSecure = request.protocol === 'https' || request.headers['x-forwarded-proto'] === 'https';
    const cookie = `${sessionCookie}=${kept.value.secret}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${kept.value.seconds}${isSecure ? '; Secure' : ''}`;
    return reply.header('set-cookie', cookie).send({ name: token.name, scope: token.scope });
  });

  const logout = operation({ tag: 'access', summary: 'End the session', answers: { 204: Nothing } });
  app.delete('/api/session', { schema: logout, config: { scope: 'read' } }, async (request, reply) => {
    const secret = cookieOf(request, sessionCookie);
    if (secret !== undefined) await book.closeSession(secret);
    return reply
      .header('set-cookie', `${sessionCookie}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0`)
      .code(204)
      .send();
  });
}

function feedRoutes(app: Api, book: AccessBook): void {
  const address = operation({
    tag: 'access',
    summary: 'The secret addresses of the feeds, for readers that cannot send a token',
    querystring: Type.Object({ page: Type.Optional(Type.String({ maxLength: 64 })) }),
    answers: { 200: Type.Object({ changes: Type.String(), page: Nullable(Type.String()) }) },
  });
  app.get('/api/feeds', { schema: address }, async (request) => {
    const secret = async (path: string): Promise<string> => `${path}?key=${await book.feedKey(path)}`;
    const { page } = request.query;
    return {
      changes: await secret('/feeds/changes.atom'),
      page: page === undefined ? null : await secret(`/feeds/pages/${encodeURIComponent(page)}.atom`),
    };
  });

  const renew = operation({
    tag: 'access',
    summary: 'Make all feed addresses given out so far stop working',
    answers: { 204: Nothing },
  });
  app.post('/api/feeds/renew', { schema: renew, config: { scope: 'admin' } }, async (_request, reply) => {
    const kept = await book.newFeedSecret();
    return kept.kind === 'failed' ? unavailable(reply, kept.fault) : reply.code(204).send();
  });
}
