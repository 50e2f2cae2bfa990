import { describe, expect, onTestFinished, test } from 'vitest';
import { locate } from '../../../../house/provision.ts';
import { revisit } from '../../../daemon/src/trial/command.ts';
import { startNats } from '../trial/nats-server.ts';
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

test.each(['127.0.0.1:1', 'localhost:1', '[::1]:1', 'nats://::1', 'tls://me:secret@127.0.0.1:1'])(
  'what is one is tried: %s',
  async (nats) => expect(await link({ nats }, 'robot r1')).toMatchObject({ kind: 'failed', away: true }),
);
