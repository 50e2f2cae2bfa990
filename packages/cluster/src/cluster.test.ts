import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { locate } from '../../../house/provision.ts';
import { Rounds, faults, type FaultKind } from './trial/rounds.ts';

/** Each once, worst first, then some at random; `npm run soak cluster` takes them at random by the hundred. */
const named: readonly FaultKind[] = [
  'coordinator-killed',
  'robot-killed',
  'nats-killed',
  'postgres-restarted',
  'coordinator-frozen',
  'links-cut',
  'links-slow',
  'clock-skewed',
];
/** Rounds beyond these; each takes a second or two on an idle machine. */
const more = 6;

describe.skipIf(locate('nats-server') === undefined)('a cluster of real processes', () => {
  let rounds: Rounds;
  beforeAll(async () => {
    rounds = await Rounds.start(1);
  });
  afterAll(() => rounds.end());

  test.each(named)('%s: every page is seen again', async (fault) => {
    expect(await rounds.round(fault)).toMatchObject({ fault });
  });

  test('and again, with whatever comes', async () => {
    for (let i = 0; i < more; i++) expect(faults).toContain((await rounds.round()).fault);
  });

  test('nothing was lost, told twice or rushed', async () => {
    expect(await rounds.wrong()).toEqual([]);
  });
});
