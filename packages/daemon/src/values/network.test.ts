import { expect, test } from 'vitest';
import { judgeAddress, parseNetwork } from './network.ts';

test.each([
  '127.0.0.1',
  '127.255.0.1',
  '0.0.0.0',
  '10.1.2.3',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '224.0.0.1',
  '255.255.255.255',
  '198.18.0.1',
  '::',
  '::1',
  'fe80::1%eth0',
  'fd00:ec2::254',
  '::ffff:127.0.0.1',
  '::ffff:a9fe:a9fe',
  '64:ff9b::7f00:1',
  '2002:7f00:1::',
  'ff02::1',
  '2001:db8::1',
  'not an address',
  '',
])('%s is refused', (address) => {
  expect(judgeAddress(address, []).kind).toBe('refused');
});

test.each(['93.184.216.34', '8.8.8.8', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::808:808'])(
  '%s is public',
  (address) => {
    expect(judgeAddress(address, [])).toEqual({ kind: 'allowed', range: 'public' });
  },
);

test('what is allowed is allowed, and nothing beside it', () => {
  const parsed = ['127.0.0.0/8', '::1', '10.2.0.0/16'].map(parseNetwork);
  const networks = parsed.map((entry) => (entry.kind === 'network' ? entry.network : expect.unreachable()));
  expect(judgeAddress('127.9.9.9', networks).kind).toBe('allowed');
  expect(judgeAddress('::ffff:127.0.0.1', networks).kind).toBe('allowed');
  expect(judgeAddress('::1', networks).kind).toBe('allowed');
  expect(judgeAddress('10.2.3.4', networks).kind).toBe('allowed');
  expect(judgeAddress('10.3.0.1', networks).kind).toBe('refused');
  expect(judgeAddress('::2', networks).kind).toBe('refused');
});

test.each(['', '10.0.0.0/33', 'example.org', '10.0.0', '1.2.3.4/x'])('%j is no network', (text) => {
  expect(parseNetwork(text).kind).toBe('refused');
});
