/** Letters against a mail server on a real socket that refuses, stalls and encrypts. */
import { buildConnector } from 'undici';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { good as cert, key } from '../observe/test/certificates.ts';
import type { Subscription } from '../values/subscription.ts';
import { mailServer as addressOf } from './mail.ts';
import type { Message } from './message.ts';
import { createSend } from './send.ts';
import { mailServer } from './test/mail-server.ts';

let server: Awaited<ReturnType<typeof mailServer>>;
beforeEach(async () => {
  server = await mailServer();
});
afterEach(() => server.close());

const message: Message = {
  id: 'd1',
  subscription: { id: 's1' },
  title: 'Preis gefällt 😀\nneu',
  text: 'one\n.two\n..three\nwith ümlaut',
  url: 'https://example.com/',
  changes: [],
};
const letter = (to: string): Subscription => ({
  id: 's1',
  createdAtMs: 0,
  match: '',
  zone: 'UTC',
  paused: false,
  deliver: { kind: 'email', to },
});

function sender(user = '', query = '') {
  const smtp = `smtp://${user}127.0.0.1:${server.port}/${query}`;
  const send = createSend({
    smtp,
    mailFrom: 'watch@example.com',
    allowCommands: false,
    userAgent: 'test',
    connect: buildConnector({}),
  });
  return (to = 'reader@example.com') => send(letter(to), message, 0);
}

const refusal = (words: string) => ({
  kind: 'refused',
  fault: { code: 'mail-refused', sentence: expect.stringContaining(words) as string },
});

test('a letter arrives with its id, its subject and every line', async () => {
  expect(await sender()()).toEqual({ kind: 'taken' });
  const [taken] = server.letters;
  expect(taken!.to).toEqual(['reader@example.com']);
  expect(taken!.data).toContain('Message-ID: <d1@revisit>');
  expect(taken!.data).toMatch(/^Subject: =\?UTF-8\?/m);
  expect(taken!.data).toContain('From: watch@example.com');
  expect(Buffer.from(/\n\n([\s\S]+)$/.exec(taken!.data)![1]!, 'latin1').toString()).toContain('.two');
});

test.each([
  ['CONNECT', '421 too busy', '421'],
  ['MAIL', '451 come back later', '451'],
  ['RCPT', '450 mailbox busy', '450'],
  ['RCPT', '550 nobody of that name', '550'],
  ['DATA', '554 no', '554'],
  ['.', '452 no room', '452'],
] as const)('%s answered with %s is no delivery, and the next try may succeed', async (command, answer, words) => {
  const send = sender();
  server.manner.answers[command] = answer;
  expect(await send()).toMatchObject(refusal(words));
  expect(server.letters).toEqual([]);
  delete server.manner.answers[command];
  expect(await send()).toEqual({ kind: 'taken' });
});

test.each(['CONNECT', 'MAIL', '.'])('a server that falls silent at %s is given up', async (command) => {
  server.manner.silentFrom = command;
  expect(await sender('', '?greetingTimeout=150&socketTimeout=150')()).toMatchObject(refusal('imeout'));
});

test('one of two readers is refused: the other gets it once, whatever comes after', async () => {
  const send = sender();
  server.manner.unknown = ['b@example.com'];
  expect(await send('A <a@example.com>, b@example.com')).toMatchObject(refusal('refused b@example.com'));
  expect(await send('A <a@example.com>, b@example.com')).toMatchObject(refusal('b@example.com'));
  server.manner.unknown = [];
  expect(await send('A <a@example.com>, b@example.com')).toEqual({ kind: 'taken' });
  expect(server.letters.map(({ to }) => to)).toEqual([['a@example.com'], ['b@example.com']]);
});

test('where encryption is offered it is used; where it is refused nothing goes out in the clear', async () => {
  server.manner.tls = { key, cert };
  const send = sender('user:secret@', '?tls.rejectUnauthorized=false');
  server.manner.answers.STARTTLS = '454 not now';
  expect(await send()).toMatchObject(refusal(''));
  expect(server.commands.filter((line) => /AUTH|MAIL/.test(line))).toEqual([]);
  delete server.manner.answers.STARTTLS;
  expect(await send()).toEqual({ kind: 'taken' });
  expect(server.letters).toMatchObject([{ encrypted: true, user: 'user' }]);
});

test('a server without encryption gets no letter where encryption is required', async () => {
  expect(await sender('', '?requireTLS=true')()).toMatchObject(refusal(''));
  expect(server.letters).toEqual([]);
  expect(addressOf('smtp://user:secret@mail.example.org')).toContain('requireTLS=true');
  expect(addressOf('smtp://user:secret@localhost:2525')).not.toContain('requireTLS');
  expect(addressOf('smtp://user:secret@mail.example.org/?requireTLS=false')).not.toContain('requireTLS=true');
  expect(addressOf('smtps://user:secret@mail.example.org')).not.toContain('requireTLS');
});
