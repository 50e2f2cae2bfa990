/** What it takes to carry a probe to a robot and its answer back, without the look. */
import { connect } from '@nats-io/transport-node';
import type { Measurement } from '../../house/bench.ts';
import { Carrier } from '../../packages/cluster/src/dispatch/carrier.ts';
import { sealWith } from '../../packages/cluster/src/dispatch/seal.ts';
import { ensureStreams, shardCount } from '../../packages/cluster/src/dispatch/streams.ts';
import { Pulse } from '../../packages/cluster/src/pulse.ts';
import { Robot } from '../../packages/cluster/src/robot.ts';
import { systemClock } from '../../packages/daemon/src/values/clock.ts';
import type { Observer } from '../../packages/daemon/src/values/observation.ts';

/** Milliseconds and CPU milliseconds that dispatch takes for a probe: out, to a robot that looks at nothing, and back. */
async function dispatchCost(nats: string): Promise<{ readonly ms: number; readonly cpuMs: number }> {
  const probes = 8_000;
  const connection = await connect({ servers: nats });
  await ensureStreams(connection);
  const carrier = new Carrier(connection, systemClock, sealWith(Buffer.from('bench')));
  for (let shard = 0; shard < shardCount; shard++) {
    carrier.listen(shard);
    carrier.admit(shard);
  }
  const blind: Observer = {
    observe: (probe) =>
      Promise.resolve({
        probe,
        startedAtMs: 0,
        endedAtMs: 1,
        outcome: { kind: 'not-modified' },
        bytesReceived: 0,
        requests: 1,
      }),
    close: () => Promise.resolve(),
  };
  const stop = new AbortController();
  const name = 'bench';
  const pulse = new Pulse(systemClock);
  const about = { name, observer: blind, clock: systemClock, pulse, breadth: 256, log: () => {} };
  const working = new Robot({ connection, ...about }).run(stop.signal);
  const [beganMs, beganCpu] = [performance.now(), process.cpuUsage()];
  let next = 0;
  const sender = async (): Promise<void> => {
    while (next < probes) {
      const i = next++;
      const site = `s${i % 1_000}.example`;
      await carrier.observe({ id: `b${i}`, url: `https://${site}/`, site, pageIds: [], atMs: 0, validators: {} });
    }
  };
  await Promise.all(Array.from({ length: 256 }, sender));
  const used = process.cpuUsage(beganCpu);
  const cost = { ms: (performance.now() - beganMs) / probes, cpuMs: (used.user + used.system) / 1000 / probes };
  stop.abort();
  await working;
  await carrier.close();
  await connection.close();
  return cost;
}

export async function dispatchRows(nats: string): Promise<Measurement[]> {
  const { ms, cpuMs } = await dispatchCost(nats);
  return [
    {
      what: 'dispatch of a probe: out, taken, answered, back (both ends in one process)',
      ours: `${(1000 * ms).toFixed(0)} µs, ${(1000 * cpuMs).toFixed(0)} µs of CPU`,
      rival: '1 ms',
      holds: ms < 1,
    },
  ];
}
