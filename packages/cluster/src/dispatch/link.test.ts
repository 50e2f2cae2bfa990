import { expect, test } from 'vitest';
import { pacing } from './link.ts';

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
