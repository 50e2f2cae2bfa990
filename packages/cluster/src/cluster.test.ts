import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { locate } from '../../../house/provision.ts';
import { link } from './dispatch/link.ts';
import { Rounds, faults } from './trial/rounds.ts';

/** Rounds beyond one of each fault; `npm run soak cluster` takes them by the hundred. */
const more = 7;

describe.skipIf(locate('nats-server') === undefined)('a cluster of real processes', () => {
  let rounds: Rounds;
  beforeAll(async () => {
    rounds = await Rounds.start(1);
  });
  afterAll(() => rounds?.end());

  test('lets nobody in without a key, as it is deployed', async () => {
    const sentence = expect.stringContaining('the servers ask for a key');
    expect(await link({ nats: rounds.nats }, 'stranger')).toMatchObject({ kind: 'failed', sentence });
  });

  test.for(faults)('%s: every page is seen again, in time, and the work is shared evenly', async (fault, { skip }) => {
    if (!rounds.canSuffer(fault)) skip('this machine makes no network namespaces');
    expect(await rounds.round(fault)).toMatchObject({ fault, inTime: true });
  });

  test.each(Array.from({ length: more }, (_, i) => i + 1))('and again, with whatever comes (%i)', async () => {
    expect(await rounds.round()).toMatchObject({ inTime: true });
  });

  test('nothing was lost, told twice or rushed', async () => {
    expect(await rounds.wrong()).toEqual([]);
  });
});
