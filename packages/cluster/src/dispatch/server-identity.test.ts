import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { PeerCertificate } from 'node:tls';
import type { Server } from '@nats-io/transport-node';
import { describe, expect, onTestFinished, test } from 'vitest';
import { locate } from '../../../../house/provision.ts';
import { eventually, freshFolder } from '../../../daemon/src/trial/command.ts';
import { startNatsServers } from '../trial/nats-servers.ts';
import { link } from './link.ts';
import { ServerIdentity } from './server-identity.ts';

test('it is the server that is connected to now that must be the one of the certificate', () => {
  const identity = new ServerIdentity();
  const dials = (hostname: string, tlsName = ''): void =>
    void identity.dials([{ hostname, tlsName }] as unknown as readonly Server[], null);
  const takes = (subjectaltname: string): boolean =>
    // As the client asks for an address: with the name that is taken where none is told.
    identity.tls.checkServerIdentity('localhost', { subject: {}, subjectaltname } as PeerCertificate) === undefined;
  dials('10.0.0.1');
  expect([takes('IP Address:10.0.0.1'), takes('IP Address:10.0.0.2'), takes('DNS:localhost')]).toEqual([
    true,
    false,
    false,
  ]);
  dials('10.0.0.2');
  expect([takes('IP Address:10.0.0.1'), takes('IP Address:10.0.0.2')]).toEqual([false, true]);
  dials('fd00::2');
  expect([takes('IP Address:FD00:0:0:0:0:0:0:2'), takes('IP Address:FD00:0:0:0:0:0:0:3')]).toEqual([true, false]);
  dials('10.0.0.3', 'nats.example');
  expect([takes('DNS:nats.example'), takes('IP Address:10.0.0.3'), takes('DNS:other.example')]).toEqual([
    true,
    true,
    false,
  ]);
});

/** Three servers, each of which shows a certificate for this alone, and signs it itself. */
async function secretServers(subjectAltName: string) {
  const folder = freshFolder();
  const [cert, key] = [join(folder, 'server.pem'), join(folder, 'server.key')];
  const words = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const names = ['-subj', '/CN=nats', '-addext', `subjectAltName=${subjectAltName}`];
  spawnSync('openssl', [...words, '-keyout', key, '-out', cert, ...names]);
  const servers = await startNatsServers(`tls { cert_file: "${cert}", key_file: "${key}" }`);
  onTestFinished(() => servers.end());
  return { servers, ca: cert, one: servers.url.split(',')[0]!.replace('nats:', 'tls:') };
}

/** Connects to the one, and is at another when that is killed. */
async function goesOver(nats: string, { servers, ca }: Awaited<ReturnType<typeof secretServers>>): Promise<void> {
  const linked = await link({ nats, natsCa: ca }, 'robot r1');
  if (linked.kind === 'failed') throw new Error(linked.sentence);
  const { connection } = linked;
  const portOf = (server: string): string | undefined => server.split(':').at(-1);
  await servers.kill();
  await eventually(async () => {
    const there = connection.getServer();
    return there !== '' && portOf(there) !== portOf(nats) && (await connection.flush().then(() => true));
  });
  await connection.close();
  await servers.start();
}

const openssl = spawnSync('openssl', ['version']).status === 0;

describe.skipIf(locate('nats-server') === undefined || !openssl)('servers that show a certificate', () => {
  const named = (server: string): string => server.replace('127.0.0.1', 'localhost');

  test('for their address are known by it, also those that one of them tells of, and not by a name', async () => {
    const secret = await secretServers('IP:127.0.0.1');
    await goesOver(secret.one, secret);
    expect(await link({ nats: named(secret.one), natsCa: secret.ca }, 'robot r1')).toMatchObject({
      kind: 'failed',
      sentence: expect.stringContaining("Host: localhost. is not cert's CN: nats"),
    });
  });

  test('for a name are known by it, also those that one of them tells of, and not by an address', async () => {
    const secret = await secretServers('DNS:localhost');
    await goesOver(named(secret.one), secret);
    expect(await link({ nats: secret.one, natsCa: secret.ca }, 'robot r1')).toMatchObject({
      kind: 'failed',
      sentence: expect.stringContaining("IP: 127.0.0.1 is not in the cert's list"),
    });
  });
});
