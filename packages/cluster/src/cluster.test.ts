import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { locate } from '../../../house/provision.ts';
import { Rounds, type FaultKind } from './trial/rounds.ts';

/** Each once, worst first; `npm run soak` takes them at random by the hundred. */
const faults: readonly FaultKind[] = [
  'coordinator-killed',
  'robot-killed',
  'nats-killed',
  'postgres-restarted',
  'coordinator-frozen',
];

describe.skipIf(locate('nats-server') === undefined)('a cluster of real processes', () => {
  let rounds: Rounds;
  beforeAll(async () => {
    rounds = await Rounds.start(1);
  });
  afterAll(() => rounds.end());

  test.each(faults)('%s: every page is seen again', async (fault) => {
    expect(await rounds.round(fault)).toMatchObject({ fault });
  });

  test('nothing was lost, told twice or rushed', async () => {
    expect(await rounds.wrong()).toEqual([]);
  });
});
