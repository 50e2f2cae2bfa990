import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseFeed } from 'feedsmith';
import { buildConnector } from 'undici';
import { expect, test } from 'vitest';
import type { Change } from '../values/change.ts';
import type { Deliver, Subscription, SubscriptionSettings } from '../values/subscription.ts';
import { requestFor } from './channels.ts';
import { atomFeed, jsonFeed } from './feeds.ts';
import { messageOf } from './message.ts';
import { createSend } from './send.ts';
import { inputOf, readSubscription, shownDeliver } from './subscription-input.ts';
import { fill, templateWrong, type Entry } from './template.ts';
import { plannedFor } from './when.ts';

const change: Change = {
  sequence: 7,
  id: 'c7',
  pageId: 'p1',
  url: 'https://example.com/a?b&c',
  site: 'example.com',
  title: 'A <b>page</b> & "more" \u0000',
  tags: ['x'],
  kind: 'changed',
  atMs: Date.UTC(2026, 10, 15, 8),
  fromVersion: 1,
  toVersion: 2,
  count: 1,
  summary: 'ten → twelve',
};
const entry: Entry = { change, added: 'twelve', removed: 'ten', difference: '- ten\n+ twelve' };
const base: SubscriptionSettings = {
  match: '',
  deliver: { kind: 'slack', url: 'https://x.example/' },
  zone: 'UTC',
  paused: false,
};
const subscription = (more: Partial<SubscriptionSettings>): Subscription => ({
  ...base,
  id: 's1',
  createdAtMs: 0,
  ...more,
});
const at = (text: string) => Date.parse(text);

test('when: at once, in bursts, by the hour, at given times, after quiet hours', () => {
  const now = at('2026-11-15T21:30:00Z');
  expect(plannedFor(subscription({}), now)).toEqual({ subscriptionId: 's1', dueMs: now });
  expect(plannedFor(subscription({ burstSeconds: 60 }), now)).toMatchObject({ dueMs: now + 60_000, bundle: 'burst' });
  expect(plannedFor(subscription({ digest: { kind: 'hourly' } }), now).dueMs).toBe(at('2026-11-15T22:00:00Z'));
  const daily = subscription({ digest: { kind: 'daily', at: ['08:00', '18:00'] }, zone: 'Europe/Vienna' });
  expect(plannedFor(daily, now).dueMs).toBe(at('2026-11-16T07:00:00Z'));
  expect(plannedFor(daily, at('2026-11-16T07:00:00Z')).dueMs).toBe(at('2026-11-16T17:00:00Z'));
  const quiet = subscription({ quiet: { from: '22:00', until: '07:00' }, zone: 'Europe/Vienna' });
  expect(plannedFor(quiet, now)).toEqual({
    subscriptionId: 's1',
    dueMs: at('2026-11-16T06:00:00Z'),
    bundle: `quiet ${at('2026-11-16T06:00:00Z')}`,
  });
  expect(plannedFor(quiet, at('2026-11-16T06:00:00Z')).bundle).toBeUndefined();
});

test('when: a time that the change of clocks skips comes after the gap, one that comes twice counts once', () => {
  const daily = subscription({ digest: { kind: 'daily', at: ['02:30'] }, zone: 'Europe/Vienna' });
  expect(plannedFor(daily, at('2026-03-28T20:00:00Z')).dueMs).toBe(at('2026-03-29T01:30:00Z'));
  const folded = plannedFor(daily, at('2026-10-24T20:00:00Z')).dueMs;
  expect(folded).toBe(at('2026-10-25T00:30:00Z'));
  expect(plannedFor(daily, folded).dueMs).toBe(at('2026-10-26T01:30:00Z'));
});

test('templates say what is wrong with them and repeat for every change', () => {
  expect(templateWrong('{title} {nothing}')).toContain('{nothing} is not known');
  expect(templateWrong('{each}{title}')).toContain('pairs');
  expect(templateWrong('{end}{each}')).toContain('pairs');
  const second = { ...entry, change: { ...change, title: 'Second {count}', summary: 'x' } };
  expect(
    fill('{changes}: {each}[{title}|{summary}]{end} {{braces}', [
      { ...entry, change: { ...change, title: 'First' } },
      second,
    ]),
  ).toBe('2: [First|ten → twelve][Second {count}|x] {braces}');
});

const delivery = {
  id: 'd1',
  subscriptionId: 's1',
  status: 'due',
  sequences: [7],
  dueMs: 0,
  attempts: 0,
  plannedAtMs: 0,
} as const;

test('a message is the same at every try, and its signature can be checked', () => {
  const deliver: Deliver = {
    kind: 'webhook',
    url: 'https://x.example/hook',
    secret: 'open sesame',
    headers: { 'x-team': 'a' },
  };
  const message = messageOf(
    delivery,
    subscription({ deliver, name: 'Prices', template: { title: '{site}: {summary}' } }),
    [entry],
  );
  expect(message.title).toBe('example.com: ten → twelve');
  const request = requestFor(deliver, message, 1_700_000_000_000)!;
  expect(request.headers).toMatchObject({
    'revisit-delivery': 'd1',
    'x-team': 'a',
    'content-type': 'application/json',
  });
  const expected = createHmac('sha256', 'open sesame').update(`1700000000.${request.body}`).digest('hex');
  expect(request.headers['revisit-signature']).toBe(`t=1700000000,v1=${expected}`);
  expect(JSON.parse(request.body)).toMatchObject({
    id: 'd1',
    subscription: { id: 's1', name: 'Prices' },
    changes: [{ id: 'c7', cursor: '7', added: 'twelve', removed: 'ten' }],
  });
  expect(requestFor(deliver, message, 1_700_000_100_000)!.body).toBe(request.body);
});

test('each service gets its own form, within its limits', () => {
  const message = {
    ...messageOf(delivery, subscription({}), [entry]),
    text: '<x> & @everyone '.repeat(1000),
    title: 'Größe',
  };
  const body = (deliver: Deliver) => JSON.parse(requestFor(deliver, message, 0)!.body) as Record<string, unknown>;
  expect(String(body({ kind: 'slack', url: 'https://s/' })['text'])).toMatch(/^\*Größe\*\n&lt;x&gt; &amp;/);
  expect(String(body({ kind: 'discord', url: 'https://d/' })['content']).length).toBe(2000);
  expect(body({ kind: 'discord', url: 'https://d/' })['allowed_mentions']).toEqual({ parse: [] });
  const telegram = requestFor({ kind: 'telegram', token: 't:1', chat: '5' }, message, 0)!;
  expect(telegram.url).toBe('https://api.telegram.org/bott:1/sendMessage');
  const matrix = requestFor(
    { kind: 'matrix', url: 'https://m.example', room: '!r:m.example', token: 'k' },
    message,
    0,
  )!;
  expect([matrix.method, matrix.url]).toEqual([
    'PUT',
    'https://m.example/_matrix/client/v3/rooms/!r%3Am.example/send/m.room.message/d1',
  ]);
  const ntfy = requestFor({ kind: 'ntfy', url: 'https://ntfy.example/t', priority: 4, token: 'k' }, message, 0)!;
  expect(ntfy.headers).toMatchObject({ title: '=?UTF-8?B?R3LDtsOfZQ==?=', priority: '4', authorization: 'Bearer k' });
});

test('over the wire: taken, refused with a time, gone, unreachable, and commands', async () => {
  const answers = [200, 500, 429, 410];
  const heard: { body: string; headers: Record<string, unknown> }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      heard.push({ body, headers: request.headers });
      response.writeHead(answers.shift()!, { 'retry-after': '120' }).end('thanks');
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const send = createSend({ allowCommands: true, userAgent: 'revisit/test', connect: buildConnector({}) });
  const to = (deliver: Deliver) => {
    const who = subscription({ deliver, name: 'Hook' });
    return send(who, messageOf(delivery, who, [entry]), 0);
  };
  expect(await to({ kind: 'webhook', url })).toEqual({ kind: 'taken' });
  expect(heard[0]!.headers).toMatchObject({ 'user-agent': 'revisit/test', 'revisit-delivery': 'd1' });
  expect(await to({ kind: 'webhook', url })).toMatchObject({
    kind: 'refused',
    fault: { code: 'receiver-refused', sentence: 'The receiver Hook answered 500.' },
  });
  expect(await to({ kind: 'webhook', url })).toMatchObject({ retryAfterMs: 120_000 });
  expect(await to({ kind: 'webhook', url })).toMatchObject({ forever: true, fault: { code: 'receiver-gone' } });
  await new Promise<void>((done) => void (server.closeAllConnections(), server.close(() => done())));
  expect(await to({ kind: 'webhook', url })).toMatchObject({ kind: 'refused', fault: { code: 'receiver-unreached' } });
  expect(await to({ kind: 'command', command: ['sh', '-c', 'grep -q c7 && test "$REVISIT_DELIVERY" = d1'] })).toEqual({
    kind: 'taken',
  });
  expect(await to({ kind: 'command', command: ['sh', '-c', 'echo no >&2; exit 3'] })).toMatchObject({
    fault: { code: 'command-failed', sentence: 'sh ended with 3: no.' },
  });
  expect(await to({ kind: 'command', command: ['/does/not/exist'] })).toMatchObject({
    fault: { code: 'command-failed' },
  });
  expect(await to({ kind: 'email', to: 'a@b.example' })).toMatchObject({ fault: { code: 'mail-not-set' } });
  const careful = createSend({ allowCommands: false, userAgent: 'x', connect: buildConnector({}) });
  const who = subscription({ deliver: { kind: 'command', command: ['true'] } });
  expect(await careful(who, messageOf(delivery, who, [entry]), 0)).toMatchObject({
    fault: { code: 'command-not-allowed' },
  });
});

test('feeds are well formed whatever a page is called', () => {
  const head = { title: 'Changes <&>', selfUrl: 'http://h/feeds/changes.atom', homeUrl: 'http://h' };
  const { format, feed } = parseFeed(atomFeed(head, [change])) as {
    format: string;
    feed: { entries: { id: string; title: { value: string } }[] };
  };
  expect([format, feed.entries[0]!.id]).toEqual(['atom', 'urn:revisit:change:c7']);
  expect(feed.entries[0]!.title.value).toContain('& "more"');
  expect(atomFeed(head, [])).toContain('<updated>1970-');
  expect(jsonFeed(head, [change])).toMatchObject({ items: [{ id: 'urn:revisit:change:c7', url: change.url }] });
});

test('subscriptions are read field by field, read back the same, and show no secrets', () => {
  const read = (input: unknown) => {
    const result = readSubscription(input);
    return result.kind === 'read' ? result.settings : result.sentence;
  };
  const whole = {
    name: 'n',
    match: 'tag = a',
    deliver: { kind: 'webhook', url: 'https://x/', secret: 's' },
    digest: ['08:00', '18:00'],
    quiet: '22:00-07:00',
    burstSeconds: 5,
    zone: 'Europe/Vienna',
    template: { title: '{title}' },
    paused: false,
  };
  const settings = read(whole) as SubscriptionSettings;
  expect(inputOf(settings)).toEqual(whole);
  expect(shownDeliver(settings.deliver, true)).toEqual({ kind: 'webhook', url: 'https://x/', secret: '(kept)' });
  expect(read({ deliver: 'https://x.example/' })).toMatchObject({
    deliver: { kind: 'webhook' },
    match: '',
    zone: 'UTC',
  });
  expect(read({ deliver: 'mailto:a@b.example' })).toMatchObject({ deliver: { kind: 'email', to: 'a@b.example' } });
  for (const [input, words] of [
    [{}, 'deliver.kind: nothing'],
    [{ deliver: 'ftp://x' }, 'deliver: "ftp://x"'],
    [{ deliver: { kind: 'pigeon' } }, 'webhook, email'],
    [{ deliver: { kind: 'email', to: 'nobody' } }, 'deliver.to: "nobody"'],
    [{ deliver: { kind: 'ntfy', url: 'https://n/', priority: 9 } }, 'deliver.priority: 9'],
    [{ deliver: { kind: 'webhook', url: 'https://n/', extra: 1 } }, 'deliver.extra: 1'],
    [{ deliver: { kind: 'command', command: [] } }, 'deliver.command: []'],
    [{ deliver: 'https://x/', match: 'tag =' }, 'match: at character 6'],
    [{ deliver: 'https://x/', digest: '25:00' }, 'digest: "25:00"'],
    [{ deliver: 'https://x/', quiet: '7' }, 'quiet: "7"'],
    [{ deliver: 'https://x/', zone: 'Mars/Base' }, 'zone: "Mars/Base"'],
    [{ deliver: 'https://x/', burstSeconds: -1 }, 'burstSeconds: -1'],
    [{ deliver: 'https://x/', template: { title: '{what}' } }, 'template.title'],
    [{ deliver: 'https://x/', colour: 'red' }, 'colour: "red"'],
    [7, 'subscription: 7'],
  ] as const)
    expect(read(input)).toContain(words);
});
