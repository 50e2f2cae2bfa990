/** Looks per second with one, two and four robots, and what they cost the coordinator, against a single process. */
import type { Measurement } from '../../house/bench.ts';
import type { PostgresServer } from '../../packages/cluster/src/trial/postgres-server.ts';
import { Cluster, type Web, cpuSeconds, pause, siteMs, until } from './processes.ts';

const sites = 100;
/** What docs/scale.md multiplies from. */
const reckonedCpuMs = 2.2;
const breadth = 16;
const measuredMs = 6_000;

interface Rate {
  readonly perSecond: number;
  /** Of the coordinator, for a look. */
  readonly cpuMs: number;
  /** Of each robot, for one of its looks. */
  readonly robotCpuMs: number;
}

/** Looks at sites that take their time: with so many robots, or by a single process (none) that looks at as many sites at once as one robot. */
async function looksPerSecond(web: Web, robots: number, place: readonly string[], nats: string): Promise<Rate> {
  const width = robots === 0 ? breadth : 512;
  const settings = `robots: ${width}\nrobotsMin: ${width}\nbudget: 100000/second\nspacing: 0s\ncontact: far\n`;
  const cluster = await Cluster.start(settings, ...place);
  try {
    await cluster.add(Array.from({ length: sites }, (_, i) => `http://127.0.${1 + i}.${robots + 1}:${web.port}/small`));
    const words = ['robot', '--nats', nats, '--breadth', String(breadth), '--spacing', '0s', '--contact', 'far'];
    const running = Array.from({ length: robots }, () => cluster.run(...words));
    await until(`${robots} robots, first looks`, async () => (await cluster.kept()) >= 2 * sites);
    const cpu = (): number[] => [cluster.coordinator.process, ...running].map(cpuSeconds);
    const [before, beganMs, cpuBefore] = [await cluster.kept(), performance.now(), cpu()];
    await pause(measuredMs);
    const [after, endedMs, cpuAfter] = [await cluster.kept(), performance.now(), cpu()];
    const [coordinator, ...each] = cpuAfter.map((seconds, i) => (1000 * (seconds - cpuBefore[i]!)) / (after - before));
    return {
      perSecond: (1000 * (after - before)) / (endedMs - beganMs),
      cpuMs: coordinator!,
      robotCpuMs: each.reduce((sum, value) => sum + value, 0),
    };
  } finally {
    await cluster.end();
  }
}

export async function robotRows(
  postgres: PostgresServer,
  nats: string,
  web: Web,
  say: (line: string) => void,
): Promise<Measurement[]> {
  const alone = await looksPerSecond(web, 0, [], nats);
  const told = ({ perSecond, cpuMs, robotCpuMs }: Rate): string =>
    `${perSecond.toFixed(0)}/s, CPU ${cpuMs.toFixed(2)} ms + robots ${robotCpuMs.toFixed(2)} ms`;
  say(`a single process: ${told(alone)}`);
  const rates: Rate[] = [];
  for (const robots of [1, 2, 4]) {
    const store = await postgres.database(`rate${robots}`);
    rates.push(await looksPerSecond(web, robots, ['--store', store, '--nats', nats], nats));
    say(`${robots} robots: ${told(rates.at(-1)!)}`);
  }
  const [one, two, four] = rates as [Rate, Rate, Rate];
  const what = (robots: string): string =>
    `looks a second, ${robots} of breadth ${breadth}, sites that answer in ${siteMs} ms`;
  const row = (robots: string, rate: Rate, rival: string, least: number, than: number): Measurement => ({
    what: what(robots),
    ours: `${rate.perSecond.toFixed(0)}/s`,
    rival,
    ratio: (rate.perSecond / than).toFixed(2),
    holds: rate.perSecond >= least * than,
  });
  return [
    row('one robot', one, `${alone.perSecond.toFixed(0)}/s by one process alone`, 0.7, alone.perSecond),
    row('two robots', two, `${one.perSecond.toFixed(0)}/s with one robot`, 1.6, one.perSecond),
    row('four robots', four, `${one.perSecond.toFixed(0)}/s with one robot`, 2.5, one.perSecond),
    {
      what: 'scheduling: CPU of the coordinator for a look that a robot makes (plan, dispatch, detect, keep), against a single process, which fetches too',
      ours: `${one.cpuMs.toFixed(2)} ms; with four robots ${four.cpuMs.toFixed(2)} ms; a robot ${one.robotCpuMs.toFixed(2)} ms`,
      rival: `${alone.cpuMs.toFixed(2)} ms; docs/scale.md reckons with ${reckonedCpuMs} ms`,
      ratio: (one.cpuMs / alone.cpuMs).toFixed(2),
      holds: Math.max(one.cpuMs, four.cpuMs) <= reckonedCpuMs,
    },
  ];
}
