/** A daemon killed with SIGKILL again and again, a receiver that fails, hangs and answers late; `npm run soak` does it dozens of times. */
import { expect, test } from 'vitest';
import { killAgainAndAgain } from './trial/killed-daemon.ts';

const kills = 8;

test(
  `killed ${kills} times: no change lost, none told under two ids, in order per page`,
  { timeout: 240_000 },
  async () => {
    const report = await killAgainAndAgain(kills, 11);
    expect(report.wrong).toEqual([]);
    expect(report.changes).toBeGreaterThan(0);
    expect(report.messages).toBeGreaterThanOrEqual(report.changes);
  },
);
