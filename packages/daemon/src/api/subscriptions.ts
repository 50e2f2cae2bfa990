/** Who is told what, what is on its way to them, and what never arrived. */
import { Type } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Desk } from '../desk.ts';
import { parseExpression } from '../tell/expression.ts';
import { inputOf, readSubscription, shownDeliver } from '../tell/subscription-input.ts';
import type { Change } from '../values/change.ts';
import type { Delivery } from '../values/outbox.ts';
import type { Subscription } from '../values/subscription.ts';
import { changeBody, timeText } from './bodies.ts';
import { changedMeanwhile, ifMatch, matchesNot, settingsTag, tagged } from './if-match.ts';
import { type Api, Nothing, operation } from './operation.ts';
import { problem } from './problem.ts';
import {
  ChangeBody,
  DeliveryBody,
  FaultBody,
  Nullable,
  SubscriptionBody,
  SubscriptionChange,
  SubscriptionInput,
  deliveryStatuses,
  idParams,
  OneOf,
} from './schemas.ts';

/** How many of the last changes an expression is tried on unless said. */
const triedChanges = 200;

function subscriptionBody(subscription: Subscription, mayWrite = true): Record<string, unknown> {
  const { createdAtMs, id, ...settings } = subscription;
  const deliver = shownDeliver(subscription.deliver, mayWrite);
  return { id, ...inputOf(settings), deliver, createdAt: timeText(createdAtMs) };
}

const mayWrite = (request: FastifyRequest): boolean => request.caller !== undefined && request.caller.scope !== 'read';

function deliveryBody(delivery: Delivery): Record<string, unknown> {
  const { dueMs, plannedAtMs, firstTriedMs, settledMs, sequences, fault, ...rest } = delivery;
  return {
    ...rest,
    cursors: sequences.map(String),
    due: timeText(dueMs),
    planned: timeText(plannedAtMs),
    firstTried: firstTriedMs === undefined ? null : timeText(firstTriedMs),
    settled: settledMs === undefined ? null : timeText(settledMs),
    fault: fault ?? null,
  };
}

const onlyOrigins =
  'Tokens that may only read see of an address its origin (`https://hooks.example.org/…`) and of a command its program.';

const unknown = (reply: FastifyReply, id: string): FastifyReply =>
  problem(reply, 404, 'subscription-unknown', `No subscription has the id ${id}.`);

/** Starting programs here is for those who already can. */
function commandRefused(request: FastifyRequest, reply: FastifyReply, deliver: Subscription['deliver']) {
  return deliver.kind === 'command' && request.caller?.via !== 'local'
    ? problem(reply, 403, 'command-not-allowed', 'deliver.kind: "command" is allowed only from this machine.')
    : undefined;
}

export function subscriptionRoutes(app: Api, desk: Desk): void {
  changeSubscriptions(app, desk);
  tryRoute(app, desk);
  deliveryRoutes(app, desk);
}

function changeSubscriptions(app: Api, desk: Desk): void {
  const add = operation({
    tag: 'telling',
    summary: 'Tell somebody of changes that match',
    body: SubscriptionInput,
    answers: { 201: SubscriptionBody },
  });
  app.post('/api/subscriptions', { schema: add }, async (request, reply) => {
    const read = readSubscription(request.body);
    if (read.kind === 'wrong') return problem(reply, 400, 'subscription-wrong', read.sentence);
    const refusal = commandRefused(request, reply, read.settings.deliver);
    if (refusal) return refusal;
    const added = await desk.telling.subscribers.add(read.settings, desk.clock.nowMs());
    return reply.code(201).send(subscriptionBody(added));
  });

  const list = operation({
    tag: 'telling',
    summary: 'All subscriptions, oldest first',
    description: onlyOrigins,
    answers: { 200: Type.Object({ subscriptions: Type.Array(SubscriptionBody) }) },
  });
  app.get('/api/subscriptions', { schema: list }, async (request) => ({
    subscriptions: (await desk.store.outbox.subscriptions()).map((each) => subscriptionBody(each, mayWrite(request))),
  }));

  const one = operation({
    tag: 'telling',
    summary: 'One subscription',
    description: onlyOrigins,
    params: idParams,
    answers: { 200: SubscriptionBody },
  });
  app.get('/api/subscriptions/:id', { schema: one }, async (request, reply) => {
    const found = await byId(desk, request.params.id);
    return found ? tagged(reply, subscriptionBody(found, mayWrite(request))) : unknown(reply, request.params.id);
  });

  const test = operation({
    tag: 'telling',
    summary: 'Send it a message about the newest change now, as a test',
    params: idParams,
    answers: { 200: Type.Object({ taken: Type.Boolean(), fault: Nullable(FaultBody) }) },
  });
  app.post('/api/subscriptions/:id/test', { schema: test }, async (request, reply) => {
    const found = await byId(desk, request.params.id);
    if (!found) return unknown(reply, request.params.id);
    const refusal = commandRefused(request, reply, found.deliver);
    if (refusal) return refusal;
    const sent = await desk.telling.test(found, desk.clock.nowMs());
    return { taken: sent.kind === 'taken', fault: sent.kind === 'taken' ? null : sent.fault };
  });

  const change = operation({
    tag: 'telling',
    summary: 'Change a subscription; null takes a setting away',
    params: idParams,
    headers: ifMatch,
    body: SubscriptionChange,
    answers: { 200: SubscriptionBody },
  });
  app.patch('/api/subscriptions/:id', { schema: change }, async (request, reply) => {
    const found = await byId(desk, request.params.id);
    if (!found) return unknown(reply, request.params.id);
    if (matchesNot(request, settingsTag(subscriptionBody(found)))) return changedMeanwhile(reply);
    const { id: _id, createdAtMs: _created, ...settings } = found;
    const whole = Object.entries({ ...inputOf(settings), ...request.body }).filter(([, value]) => value !== null);
    const read = readSubscription(Object.fromEntries(whole));
    if (read.kind === 'wrong') return problem(reply, 400, 'subscription-wrong', read.sentence);
    const refusal = commandRefused(request, reply, read.settings.deliver);
    if (refusal) return refusal;
    const gone = Object.fromEntries(Object.keys(settings).map((name) => [name, undefined]));
    const updated = await desk.telling.subscribers.update(found.id, { ...gone, ...read.settings });
    desk.telling.courier.nudge();
    return updated ? subscriptionBody(updated) : unknown(reply, found.id);
  });

  const remove = operation({
    tag: 'telling',
    summary: 'Tell them no more; what still waits for them is dropped',
    params: idParams,
    answers: { 204: Nothing },
  });
  app.delete('/api/subscriptions/:id', { schema: remove }, async (request, reply) => {
    const removed = await desk.telling.subscribers.remove(request.params.id);
    return removed ? reply.code(204).send() : unknown(reply, request.params.id);
  });
}

async function byId(desk: Desk, id: string): Promise<Subscription | undefined> {
  return (await desk.store.outbox.subscriptions()).find((subscription) => subscription.id === id);
}

function tryRoute(app: Api, desk: Desk): void {
  const schema = operation({
    tag: 'telling',
    summary: 'What an expression would have matched of the last changes, before it is saved',
    body: Type.Object(
      { match: Type.String({ maxLength: 2_000 }), last: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_000 })) },
      { additionalProperties: false },
    ),
    answers: {
      200: Type.Object({
        matched: Type.Integer(),
        of: Type.Integer(),
        sentence: Type.String(),
        examples: Type.Array(ChangeBody),
      }),
    },
  });
  app.post('/api/subscriptions/try', { schema, config: { scope: 'read' } }, async (request, reply) => {
    const { match, last = triedChanges } = request.body;
    const parsed = parseExpression(match);
    if (parsed.kind === 'wrong') return problem(reply, 400, 'subscription-wrong', `match: ${parsed.sentence}`);
    const { matched, of, examples } = await desk.telling.tryOut(parsed.expression, last);
    const sentence =
      of === 0 ? 'No change was seen yet to try it on.' : `Would have matched ${matched} of the last ${of}.`;
    return { matched, of, sentence, examples: (examples as readonly Change[]).map(changeBody) };
  });
}

function deliveryRoutes(app: Api, desk: Desk): void {
  const list = operation({
    tag: 'telling',
    summary: 'Messages on their way, sent and dead, newest first',
    querystring: Type.Object({
      status: Type.Optional(OneOf(deliveryStatuses)),
      subscription: Type.Optional(Type.String({ maxLength: 64 })),
      before: Type.Optional(
        Type.String({ maxLength: 64, description: 'The id of the last one of an earlier answer.' }),
      ),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 100 })),
    }),
    answers: { 200: Type.Object({ deliveries: Type.Array(DeliveryBody) }) },
  });
  app.get('/api/deliveries', { schema: list }, async (request) => {
    const { status, subscription, before, limit = 100 } = request.query;
    const deliveries = await desk.store.outbox.deliveries({
      limit,
      ...(status === undefined ? {} : { status }),
      ...(subscription === undefined ? {} : { subscriptionId: subscription }),
      ...(before === undefined ? {} : { before }),
    });
    return { deliveries: deliveries.map(deliveryBody) };
  });

  const replay = operation({
    tag: 'telling',
    summary: 'Send a dead message again, under the same id',
    params: idParams,
    answers: { 202: Type.Object({ id: Type.String() }) },
  });
  app.post('/api/deliveries/:id/replay', { schema: replay }, async (request, reply) => {
    const { id } = request.params;
    if (!(await desk.store.outbox.replay(id, desk.clock.nowMs())))
      return problem(reply, 404, 'delivery-unknown', `No dead message has the id ${id}.`);
    desk.telling.courier.nudge();
    return reply.code(202).send({ id });
  });
}
