import { createHmac } from 'node:crypto';
import Fastify from 'fastify';
import { random } from '@revisit/core';
import { expect, test } from 'vitest';
import { websubRoutes } from './api/websub.ts';
import { Collection, type Entry } from './collection/collection.ts';
import { hubOf } from './observe/hubs.ts';
import { VirtualClock } from './simulation/virtual-clock.ts';
import { freshState } from './store/rows.ts';
import { openSqlite } from './store/sqlite.ts';
import { WebSub } from './websub.ts';

const startMs = Date.UTC(2026, 0, 5);
const hourMs = 3_600_000;
const hub = { hub: 'https://hub.example/', topic: 'https://a.example/feed' };

function pageAt(lastSeenMs: number, id = 'p1'): Entry {
  const page = {
    id,
    url: 'https://a.example/feed',
    site: 'a.example',
    select: { kind: 'text' },
    tags: [],
  } as const;
  const entry = new Collection().add({
    page: { ...page, weight: 1, paused: false, options: {}, addedAtMs: 0 },
    state: freshState,
  });
  entry.state = { ...freshState, status: 'present', version: 1, looks: 1, lastLookMs: lastSeenMs, lastSeenMs };
  return entry;
}

function world(status = 202) {
  const opened = openSqlite(':memory:');
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  const clock = new VirtualClock(startMs);
  const sent: Record<string, string>[] = [];
  let secrets = 0;
  const make = () =>
    new WebSub({
      clock,
      random: random(1),
      secret: () => `secret-${secrets++}`,
      publicUrl: 'https://me.example',
      submit: async (url, form) => {
        sent.push({ url, ...form });
        return status;
      },
      store: opened.store,
      log: () => {},
    });
  /** The last part of the callback that the hub was given. */
  const token = (at = 0) => sent[at]!['hub.callback']!.split('/').at(-1)!;
  return { clock, store: opened.store, sent, token, make, websub: make() };
}

const confirm = {
  'hub.mode': 'subscribe',
  'hub.topic': hub.topic,
  'hub.challenge': 'c1',
  'hub.lease_seconds': '86400',
};
const sign = (secret: string, body: string, method = 'sha256') =>
  `${method}=${createHmac(method, secret).update(body).digest('hex')}`;

test('hubs are found in headers, feeds and pages', () => {
  const url = 'https://a.example/feed';
  const none = Buffer.from('<p>nothing</p>');
  const header = '<https://hub.example/>; rel="hub", <https://a.example/self>; rel=self';
  expect(hubOf(header, none, url)).toEqual({ hub: 'https://hub.example/', topic: 'https://a.example/self' });
  const atom = Buffer.from('<feed><link rel="hub" href="/hub?a=1&amp;b=2"/><atom:link href="x" rel="self"/></feed>');
  expect(hubOf(undefined, atom, url)).toEqual({ hub: 'https://a.example/hub?a=1&b=2', topic: 'https://a.example/x' });
  const plain = Buffer.from("<link href='https://hub.example/' rel='hub'>");
  expect(hubOf(undefined, plain, url)).toEqual({ hub: 'https://hub.example/', topic: url });
  expect(hubOf('<javascript:alert(1)>; rel=hub', none, url)).toBeUndefined();
  expect(hubOf(undefined, none, url)).toBeUndefined();
});

test('a hub is asked once, must show that it was asked, and its signed notices make us look', async () => {
  const { sent, token: given, websub } = world();
  const noticed: string[] = [];
  websub.noticed = async (id) => noticed.push(id) > 0;
  await websub.found(pageAt(startMs), hub);
  await websub.found(pageAt(startMs), hub);
  expect(sent).toEqual([
    {
      url: 'https://hub.example/',
      'hub.mode': 'subscribe',
      'hub.topic': hub.topic,
      'hub.callback': expect.stringMatching(/^https:\/\/me\.example\/websub\/[0-9a-z]{1,2}-secret-0$/),
      'hub.secret': 'secret-1',
      'hub.lease_seconds': '604800',
    },
  ]);
  const app = Fastify();
  websubRoutes(app, websub);
  const call = (query: Record<string, string>, token = given()) =>
    app.inject({ method: 'GET', url: `/websub/${token}`, query });
  const notice = (body: string, signature?: string, token = given()) =>
    app.inject({
      method: 'POST',
      url: `/websub/${token}`,
      body,
      headers: { 'content-type': 'application/atom+xml', ...(signature ? { 'x-hub-signature': signature } : {}) },
    });
  expect((await notice('news', sign('secret-1', 'news'))).statusCode).toBe(410);
  expect((await call({ ...confirm, 'hub.topic': 'https://other.example/' })).statusCode).toBe(404);
  expect((await call(confirm, 'guess')).statusCode).toBe(404);
  const confirmed = await call(confirm);
  expect([confirmed.statusCode, confirmed.body]).toEqual([200, 'c1']);
  expect(websub.active).toBe(1);
  for (const signature of [undefined, sign('wrong', 'news'), sign('secret-1', 'other'), 'md5=00', 'sha256='])
    expect((await notice('news', signature)).statusCode).toBe(202);
  expect(noticed).toEqual([]);
  expect((await notice('news', sign('secret-1', 'news'))).statusCode).toBe(202);
  expect((await notice('news', sign('secret-1', 'news', 'sha1'))).statusCode).toBe(202);
  expect(noticed).toEqual(['p1', 'p1']);
  // A word that cannot be kept is not taken: the hub comes again.
  websub.noticed = async () => false;
  expect((await notice('news', sign('secret-1', 'news'))).statusCode).toBe(503);
  await app.close();
});

test('waits are lengthened only where notices have proven complete', async () => {
  const { clock, token, websub } = world();
  const entry = pageAt(startMs);
  await websub.found(entry, hub);
  await websub.verify(token(), confirm);
  const nowMs = clock.nowMs() + hourMs;
  const waits = () => Math.max(...Array.from({ length: 40 }, () => websub.until(entry, nowMs)));
  expect(waits()).toBe(nowMs);
  for (let change = 0; change < 8; change++) {
    await websub.receive(token(), sign('secret-1', 'x'), Buffer.from('x'));
    websub.looked(entry, clock.nowMs() - 1, true);
  }
  // The last notice has not been followed by a look yet.
  expect(waits()).toBe(nowMs);
  await clock.runUntil(startMs + 1000);
  entry.state = { ...entry.state, lastSeenMs: clock.nowMs() };
  expect(waits()).toBe(clock.nowMs() + 86_400_000);
  // Of what comes after the lease nobody tells.
  const endedMs = startMs + 86_400_000;
  expect(Math.max(...Array.from({ length: 40 }, () => websub.until(entry, endedMs)))).toBe(endedMs);
  websub.looked(entry, clock.nowMs(), true);
  expect(waits()).toBe(nowMs);
});

test('leases are renewed before they end and come over a restart; a hub that refuses is left alone for a day', async () => {
  const { clock, sent, token, websub, make } = world();
  await websub.found(pageAt(startMs), hub);
  await websub.verify(token(), confirm);
  const later = make();
  await later.load();
  expect(later.active).toBe(1);
  await later.renew();
  expect(sent).toHaveLength(1);
  await clock.runUntil(startMs + 13 * hourMs);
  await later.renew();
  expect(sent).toHaveLength(2);
  expect(token(1)).toBe(token(0));
  later.watches = () => false;
  await later.renew();
  expect(later.active).toBe(0);

  const refusing = world(403);
  await refusing.websub.found(pageAt(startMs), hub);
  await refusing.clock.runUntil(startMs + 23 * hourMs);
  await refusing.websub.renew();
  expect(refusing.sent).toHaveLength(1);
  await refusing.clock.runUntil(startMs + 25 * hourMs);
  await refusing.websub.renew();
  expect(refusing.sent).toHaveLength(2);
});

test.each([
  ['31,000 years', '1000000000000', 29.5 * 24 * hourMs + hourMs / 2],
  ['two minutes', '120', 100_000],
])('a lease of %s is renewed in time, and no lease is believed for more than a month', async (_name, lease, atMs) => {
  const { clock, sent, token, websub } = world();
  await websub.found(pageAt(startMs), hub);
  await websub.verify(token(), { ...confirm, 'hub.lease_seconds': lease });
  const stop = new AbortController();
  const running = websub.run(stop.signal);
  await clock.runUntil(startMs + atMs);
  expect(sent).toHaveLength(2);
  // A hub that does not call back is asked again every hour at most.
  const askedBefore = sent.length;
  await clock.runUntil(clock.nowMs() + 10 * hourMs);
  expect(sent.length).toBeGreaterThan(askedBefore);
  expect(sent.length - askedBefore).toBeLessThanOrEqual(11);
  stop.abort();
  await clock.runUntil(Infinity, running);
});

test('a hub that tells of news where there is none is heard once an hour, and again when it has told the truth', async () => {
  const { clock, token, websub } = world();
  const entry = pageAt(startMs);
  let looks = 0;
  websub.noticed = async () => ++looks > 0;
  await websub.found(entry, hub);
  await websub.verify(token(), confirm);
  const notice = async (changed: boolean) => {
    const before = looks;
    const sinceMs = clock.nowMs();
    await clock.runUntil(sinceMs + 1000);
    await websub.receive(token(), sign('secret-1', 'x'), Buffer.from('x'));
    if (looks > before) websub.looked(entry, sinceMs, changed);
  };
  for (let n = 0; n < 100; n++) await notice(false);
  expect(looks).toBe(8);
  await clock.runUntil(clock.nowMs() + hourMs);
  await notice(true);
  expect(looks).toBe(9);
  for (let n = 0; n < 3; n++) {
    await clock.runUntil(clock.nowMs() + hourMs);
    await notice(true);
  }
  // Four right and eight in vain: most of what it says is no longer idle.
  for (let n = 0; n < 3; n++) await notice(true);
  expect(looks).toBe(15);
});

test('of many subscriptions one is kept and found without the others; a token that nobody gave out asks nobody', async () => {
  const { store, sent, token, websub, make } = world();
  const sizes: number[] = [];
  const kept = { revise: store.revise.bind(store), recall: store.recall.bind(store) };
  store.revise = (key, edit) =>
    kept.revise(key, (before) => {
      const made = edit(before);
      sizes.push(made.after?.length ?? 0);
      return made;
    });
  for (let n = 0; n < 300; n++) await websub.found(pageAt(startMs, `p${n}`), { ...hub, topic: `${hub.topic}/${n}` });
  expect(sent).toHaveLength(300);
  const later = make();
  let read: string[] = [];
  store.recall = (key) => {
    read.push(key);
    return kept.recall(key);
  };
  const asked: string[] = [];
  later.others = {
    verify: async (name) => (asked.push(name), undefined),
    hear: async (name) => (asked.push(name), false),
  };
  for (const guess of ['guess', '1-guess', 'zz-guess', '..', '']) {
    read = [];
    expect([await later.verify(guess, confirm), await later.receive(guess, undefined, Buffer.of())]).toEqual([
      undefined,
      'nobody asked',
    ]);
    expect(read.length).toBeLessThanOrEqual(2);
  }
  expect(asked).toEqual([]);
  read = [];
  expect(await later.verify(token(299), { ...confirm, 'hub.topic': `${hub.topic}/299` })).toBe('c1');
  expect(read).toHaveLength(1);
  // A tenth of all that is kept at most.
  const all = await Promise.all(Array.from({ length: 64 }, (_, drawer) => kept.recall(`websub:${drawer}`)));
  const sum = all.reduce((bytes, drawer) => bytes + (drawer?.length ?? 0), 0);
  expect(sum).toBeGreaterThan(300 * 100);
  expect(Math.max(...sizes)).toBeLessThan(sum / 10);
  await later.load();
  expect(later.active).toBe(1);
});
