/** Rounds of trouble by the hundred, each with a fault drawn from the seed; ends at the first thing that does not hold. */
import { locate } from '../../../../house/provision.ts';
import { Rounds, hasKeys } from './rounds.ts';

/** A round that takes so long is stuck. */
const stuckMs = 120_000;

export async function soakCluster(words: readonly string[]): Promise<number> {
  const isRestless = words.includes('restless');
  const [count = 200, seed = 1] = words.filter((word) => word !== 'restless').map(Number);
  if (!Number.isInteger(count) || count < 1 || !Number.isInteger(seed)) {
    process.stderr.write('soak cluster: ROUNDS and SEED are whole numbers, such as npm run soak cluster 200 1\n');
    return 2;
  }
  if (locate('nats-server') === undefined) {
    process.stderr.write('soak cluster: nats-server is missing; install it or set REVISIT_NATS_SERVER to its path\n');
    return 1;
  }
  process.stdout.write(hasKeys(seed) ? 'with keys: the seed is odd\n' : 'without keys: the seed is even\n');
  const rounds = await Rounds.start(seed, isRestless);
  try {
    return await soak(rounds, count);
  } catch (error) {
    process.stdout.write(`NOT HELD ${(error as Error).message}\n`);
    return 1;
  } finally {
    await rounds.end();
  }
}

async function soak(rounds: Rounds, count: number): Promise<number> {
  if (!rounds.canSuffer('cable-pulled'))
    process.stdout.write('no cable is pulled: this machine makes no network namespaces\n');
  const slow: string[] = [];
  const recovered: number[] = [];
  for (let n = 1; n <= count; n++) {
    const fault = rounds.draw();
    const stuck = new Promise<never>((_, reject) => {
      setTimeout(() => reject(new Error(`round ${n} is stuck: ${fault}`)), stuckMs).unref();
    });
    const { recoveredMs, slowness, inTime } = await Promise.race([rounds.round(fault), stuck]);
    const line = `round ${n}: ${fault}, recovered in ${(recoveredMs / 1000).toFixed(1)} s (slowness ${slowness.toFixed(1)})`;
    process.stdout.write(`${line}\n`);
    if (!inTime) slow.push(line);
    recovered.push(recoveredMs / 1000);
  }
  const tally = await rounds.tally();
  const wrong = [
    ...(await rounds.wrong()),
    ...(tally?.wrong ?? []),
    ...(tally?.lost ?? []).map((what) => `lost: ${what}`),
  ];
  if (tally)
    process.stdout.write(
      `${tally.editions} editions, ${tally.served} of them served to somebody who lived, ${tally.lost.length} lost\n`,
    );
  for (const sentence of [...slow, ...wrong]) process.stdout.write(`NOT HELD ${sentence}\n`);
  recovered.sort((a, b) => a - b);
  const at = (share: number): string => `${recovered[Math.ceil(share * count) - 1]!.toFixed(1)} s`;
  process.stdout.write(`recovered: half within ${at(0.5)}, nine in ten within ${at(0.9)}, all within ${at(1)}\n`);
  const { count: looks, peak } = rounds.looks;
  process.stdout.write(`looks: ${looks}; in the busiest ten seconds ${peak.toFixed(2)} of the budget\n`);
  process.stdout.write(`${count} rounds: ${wrong.length + slow.length} things did not hold\n`);
  return wrong.length + slow.length === 0 ? 0 : 1;
}
