import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { receiverConnector } from './receiver-connector.ts';
import { createSend } from './tell/send.ts';
import { subscriptionNamed } from './simulation/telling-in-trouble.ts';

const message = { id: 'd', subscription: { id: 's' }, title: 't', text: 'x', url: 'https://a.example/', changes: [] };

async function receiver(answer: { status: number; location?: string }) {
  const heard: string[] = [];
  const server = createServer((request, response) => {
    heard.push(request.url ?? '');
    const { status, location } = answer;
    response.writeHead(status, location === undefined ? {} : { location }).end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void (server.closeAllConnections(), server.close()));
  return { port: (server.address() as AddressInfo).port, heard };
}

function sendTo(url: string, names: Readonly<Record<string, string>> = {}, allowNetwork: readonly string[] = []) {
  const resolve = async (name: string) => [{ address: names[name]!, family: 4 as const }];
  const connect = receiverConnector(allowNetwork, resolve);
  const send = createSend({ allowCommands: false, userAgent: 'test', connect });
  const deliver = { kind: 'webhook', url } as const;
  return send({ ...subscriptionNamed('hook', { deliver }), id: 's', createdAtMs: 0 }, message, 0);
}

test('a receiver beside the daemon is told, and its redirects lead nowhere', async () => {
  const target = await receiver({ status: 200 });
  const taken = await sendTo(`http://hook.example:${target.port}/a`, { 'hook.example': '127.0.0.1' });
  expect(taken).toEqual({ kind: 'taken' });
  for (const status of [301, 302, 303, 307, 308]) {
    const moved = await receiver({ status, location: `http://127.0.0.1:${target.port}/b` });
    expect(await sendTo(`http://127.0.0.1:${moved.port}/`)).toMatchObject({ fault: { code: 'receiver-refused' } });
    expect(moved.heard).toEqual(['/']);
  }
  expect(target.heard).toEqual(['/a']);
});

test.each([
  ['http://169.254.169.254/latest/meta-data', '169.254.169.254'],
  ['http://[fd00:ec2::254]/', 'fd00:ec2::254'],
  ['http://[::ffff:169.254.169.254]/', '::ffff:a9fe:a9fe'],
  ['http://name.example/', '169.254.169.254'],
  ['http://name.example/', '100.100.100.200'],
  ['http://name.example/', '169.254.1.2'],
  ['http://name.example/', '0.0.0.0'],
  ['http://name.example/', '224.0.0.1'],
])('nobody is told at %s (%s)', async (url, address) => {
  const names = { 'name.example': address };
  expect(await sendTo(url, names)).toMatchObject({
    kind: 'refused',
    fault: { code: 'receiver-unreached', sentence: expect.stringContaining('address') },
  });
});

test('where a cloud keeps its credentials is refused whatever is allowed', async () => {
  expect(await sendTo('http://169.254.169.254/', {}, ['169.254.0.0/16'])).toMatchObject({
    fault: { sentence: expect.stringContaining('metadata') },
  });
});
