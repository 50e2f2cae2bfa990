/** A look at a hostile server, with a healthy one looked at all the while; for tests. */
import { expect } from 'vitest';
import type { Outcome } from '../../values/observation.ts';
import type { WebObserver } from '../observe.ts';
import { bombBytes, shortLimits } from './hostile.ts';
import { probeOf } from './loopback.ts';

/** What a case may take beyond its limits on a loaded machine. */
const slackMs = 5_000;
/** What bodies and buffers take, which is where a hostile server's bytes go; the server's own are part of it. */
const memoryBytes = (): number => process.memoryUsage().external;

/** With `shortLimits`: within their time and memory, or it fails. */
export async function lookBeside(healthyUrl: string, url: string, using: WebObserver): Promise<Outcome> {
  const begunMs = performance.now();
  const heldBytes = memoryBytes();
  let peakBytes = heldBytes;
  let done = false;
  const hostile = using.observe(probeOf(url)).finally(() => (done = true));
  do {
    const { outcome } = await using.observe(probeOf(healthyUrl));
    expect(outcome).toMatchObject({ kind: 'fetched', status: 200 });
    await new Promise((resolve) => setTimeout(resolve, 20));
    peakBytes = Math.max(peakBytes, memoryBytes());
  } while (!done);
  const { outcome } = await hostile;
  expect(peakBytes - heldBytes).toBeLessThan(bombBytes / 2);
  expect(performance.now() - begunMs).toBeLessThan(shortLimits.totalMs * 2 + slackMs);
  return outcome;
}

export const codeOf = (outcome: Outcome): string => ('fault' in outcome ? outcome.fault.code : outcome.kind);
