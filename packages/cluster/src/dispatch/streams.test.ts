import type { JetStreamManager } from '@nats-io/jetstream';
import { expect, test } from 'vitest';
import { ensureChanges } from './streams.ts';

/** A server that says that another stream has these subjects, of which it knows nothing until it has been asked so often. */
function serverOf(thereAfter: number) {
  const calls = { info: 0, add: 0 };
  const streams = {
    info: () => (++calls.info > thereAfter ? Promise.resolve({}) : Promise.reject(new Error('stream not found'))),
    add: () => {
      calls.add++;
      return Promise.reject(new Error('subjects overlap with an existing stream'));
    },
  };
  return { manager: { streams } as unknown as JetStreamManager, calls };
}

test('a stream that another process makes in the same moment is waited for', async () => {
  const { manager, calls } = serverOf(3);
  await ensureChanges(manager, 1);
  expect(calls).toEqual({ info: 4, add: 1 });
});

test('one whose subjects another stream has is said so', async () => {
  await expect(ensureChanges(serverOf(Infinity).manager, 1)).rejects.toThrow('subjects overlap');
});
