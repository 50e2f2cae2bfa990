import { hostname } from 'node:os';
import type { Command } from 'commander';
import { random } from '@revisit/core';
import { durationForm, durationMs } from '../../config/units.ts';
import { userAgentOf } from '../../daemon.ts';
import { judge } from '../../eye.ts';
import { createLog } from '../../log.ts';
import { createObserver } from '../../observe/observe.ts';
import type { Runner } from '../program.ts';
import { example } from '../options.ts';
import { type CommandOutcome, done, wrong } from '../outcome.ts';

interface ObserverOptions {
  readonly nats: string;
  readonly natsKey?: string;
  readonly natsCa?: string;
  readonly name?: string;
  readonly breadth: string;
  readonly spacing: string;
  readonly allowNetwork?: readonly string[];
  readonly contact?: string;
  readonly logLevel: string;
}

async function observer(options: ObserverOptions): Promise<CommandOutcome> {
  const breadth = Number(options.breadth);
  if (!Number.isInteger(breadth) || breadth < 1 || breadth > 10_000)
    return wrong(`--breadth ${options.breadth}: a whole number from 1 to 10000 is expected`);
  const spacingMs = durationMs(options.spacing);
  if (spacingMs === undefined) return wrong(`--spacing ${options.spacing}: ${durationForm}`);
  const name =
    options.name ??
    hostname()
      .toLowerCase()
      .replaceAll(/[^a-z0-9-]/g, '-')
      .slice(0, 40);
  if (!/^[a-z0-9][a-z0-9-]{0,39}$/.test(name))
    return wrong(`--name ${name}: up to 40 small letters, digits and hyphens are expected`);
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
  const { runObserver } = await import('@revisit/cluster');
  const trouble = await runObserver(
    {
      nats: options.nats,
      natsKey: options.natsKey,
      natsCa: options.natsCa,
      name,
      breadth,
      judge,
      log: createLog(options.logLevel),
      observer: (clock) =>
        createObserver({
          clock,
          random: random(Math.floor(Math.random() * 2 ** 52)),
          userAgent: userAgentOf(options.contact),
          allowNetworks: options.allowNetwork ?? [],
          spacingMs,
        }),
    },
    stop.signal,
  );
  return trouble === undefined ? done : wrong(trouble);
}

export function registerObserver(program: Command, run: Runner): void {
  const command = program
    .command('observer')
    .description('watch for a cluster from near its sources: remember, look often, report what changed')
    .requiredOption('--nats <servers>', 'NATS servers of the cluster, such as nats://127.0.0.1:4222')
    .option('--name <name>', 'what the coordinators know it by (default: the name of this machine)')
    .option('--nats-key <file>', 'its key, as "revisit access" makes it')
    .option('--nats-ca <file>', 'certificates of the NATS servers, where the system does not know them')
    .option('--breadth <number>', 'errands under way at once', '64')
    .option('--spacing <duration>', 'least time between two requests of this observer to one site', '2s')
    .option('--allow-network <cidr...>', 'private networks that may be visited')
    .option('--contact <text>', 'how site owners reach you; part of the user agent')
    .option('--log-level <level>', 'debug, info, warn, error or silent', 'info');
  example(command, 'revisit observer --nats nats://127.0.0.1:4222 --name frankfurt');
  command.action(run(observer));
}
