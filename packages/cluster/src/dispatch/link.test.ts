import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { nkeys } from '@nats-io/transport-node';
import { describe, expect, onTestFinished, test } from 'vitest';
import { locate } from '../../../../house/provision.ts';
import * as certificates from '../../../daemon/src/observe/test/certificates.ts';
import { freshFolder, revisit } from '../../../daemon/src/trial/command.ts';
import { leash } from '../../../daemon/src/trial/leash.ts';
import { keyText } from '../access/key-file.ts';
import { startNats } from '../trial/nats-server.ts';
import { startNatsServers } from '../trial/nats-servers.ts';
import { link, pacing } from './link.ts';

test('a try comes half a second to a second after the last, whichever way the clock was put meanwhile', () => {
  let [wallMs, steadyMs] = [5_000_000, 1_000];
  const { reconnectDelayHandler, reconnectToServer } = pacing(
    () => wallMs,
    () => steadyMs,
  );
  /** As the client does: whether it tries now, by the time of its last try. */
  const tries = (lastMs: number): boolean => lastMs + reconnectDelayHandler() <= wallMs;
  for (const jumpMs of [0, -420_000, 840_000, -1]) {
    expect(reconnectToServer()).toBeNull();
    const lastMs = wallMs;
    wallMs += jumpMs;
    for (const [passedMs, due] of [
      [400, false],
      [400, true],
    ] as const) {
      wallMs += passedMs;
      steadyMs += passedMs;
      expect([jumpMs, tries(lastMs)]).toEqual([jumpMs, due]);
    }
  }
});

describe.skipIf(locate('nats-server') === undefined)('a server without TLS', () => {
  test('is not spoken to at an address that asks for TLS, alone or among others', async () => {
    const nats = await startNats();
    onTestFinished(() => nats.end());
    const secret = nats.url.replace('nats:', 'tls:');
    for (const servers of [secret, `${secret},${secret}`])
      expect(await link({ nats: servers }, 'robot r1')).toEqual({
        kind: 'failed',
        sentence: `--nats ${servers} cannot be used (server does not support 'tls')`,
        away: true,
      });
    const plain = await link({ nats: nats.url }, 'robot r1');
    if (plain.kind === 'failed') throw new Error(plain.sentence);
    await plain.connection.close();
    expect(await revisit(['robot', '--nats', secret])).toMatchObject({ code: 1, out: '' });
  });
});

describe.skipIf(locate('nats-server') === undefined)('three servers that let nobody in without a key of theirs', () => {
  test('say so to whoever knows one of them, as to whoever knows all', async () => {
    const nats = await startNatsServers(`authorization: { users: [{ nkey: ${nkeys.createUser().getPublicKey()} }] }`);
    onTestFinished(() => nats.end());
    const folder = freshFolder();
    const stranger = join(folder, 'stranger.nk');
    writeFileSync(stranger, keyText(nkeys.createUser().getSeed(), 'robot', 'r1'));
    const [one] = nats.url.split(',');
    const asks = /the servers ask for a key \(--nats-key\)\n$/;
    for (const [words, sentence] of [
      [['robot', '--nats', one!], asks],
      [['robot', '--nats', nats.url], asks],
      [['observer', '--nats', one!, '--data', folder], asks],
      [['robot', '--nats', one!, '--nats-key', stranger], /refuse this key; it was taken back, or/],
    ] as const)
      expect(await revisit(words)).toEqual({ code: 2, out: '', err: expect.stringMatching(sentence) });
  });
});

test('whoever is told to end while it connects does so within seconds', async () => {
  // It greets as NATS servers do, and says nothing else.
  const server = createServer((socket) => void socket.on('error', () => {}).write('INFO {"version":"2.9.10"}\r\n'));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const nats = Array.from({ length: 5 }, () => `nats://127.0.0.1:${(server.address() as AddressInfo).port}`).join(',');
  const bin = join(import.meta.dirname, '../../../daemon/bin/revisit.js');
  const child = leash(spawn(process.execPath, [bin, 'robot', '--nats', nats], { stdio: 'ignore' }));
  // Five greetings are heard at once, then the addresses are tried one after the other.
  let connections = 0;
  await new Promise<void>((resolve) => server.on('connection', () => ++connections === 6 && resolve()));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const beganMs = performance.now();
  expect(await ended).toBe(0);
  expect(performance.now() - beganMs).toBeLessThan(12_000);
});

test.each(['tls://127.0.0.1:1,nats://127.0.0.1:1', '127.0.0.1:1,tls://127.0.0.1:1'])(
  'a list of which only some ask for TLS is refused: %s',
  async (nats) => {
    const sentence = `--nats ${nats}: all of the addresses or none of them begin with tls://`;
    expect(await link({ nats }, 'robot r1')).toEqual({ kind: 'failed', sentence });
  },
);

test.each(['127.0.0.1:99999', 'nats://300.0.0.1', 'tls://nats.example:port', 'http://127.0.0.1:1', '127.0.0.1:1,'])(
  'what is no address is refused: %s',
  async (nats) => {
    const sentence = expect.stringMatching(/^--nats \S+: an address such as nats:/);
    expect(await link({ nats }, 'robot r1')).toEqual({ kind: 'failed', sentence });
  },
);

test('a file without certificates is none of certificates', async () => {
  const natsCa = join(freshFolder(), 'ca.pem');
  for (const text of ['root:x:0:0', '', certificates.good.replace('MIIB', 'MIIC')]) {
    writeFileSync(natsCa, text);
    const sentence = `--nats-ca ${natsCa}: it holds no certificates; a file of them in PEM is expected`;
    expect(await link({ nats: 'tls://127.0.0.1:1', natsCa }, 'robot r1')).toEqual({ kind: 'failed', sentence });
  }
  writeFileSync(natsCa, `of a test\n${certificates.authority}\n${certificates.good}\n`);
  expect(await link({ nats: 'tls://127.0.0.1:1', natsCa }, 'robot r1')).toMatchObject({ kind: 'failed', away: true });
});

test.each(['127.0.0.1:1', 'localhost:1', '[::1]:1', 'nats://::1', 'tls://me:secret@127.0.0.1:1'])(
  'what is one is tried: %s',
  async (nats) => expect(await link({ nats }, 'robot r1')).toMatchObject({ kind: 'failed', away: true }),
);

test.each(['waits to be asked, as one of HTTP does', 'says something else first', 'closes at once'])(
  'a server that %s speaks no NATS, which is said in a sentence',
  async (what) => {
    const server = createServer((socket) => {
      if (what.startsWith('says')) socket.write('220 mail.example ESMTP\r\n');
      if (what.startsWith('closes')) socket.destroy();
      socket.on('error', () => {});
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    onTestFinished(() => void server.close());
    const nats = `nats://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const ended = await revisit(['robot', '--nats', `nats://127.0.0.1:1,${nats}`]);
    expect(ended).toMatchObject({ code: 1, out: '' });
    expect(ended.err).toMatch(new RegExp(`^revisit: --nats ${nats}: nobody there speaks NATS, .*\\n$`));
  },
);
