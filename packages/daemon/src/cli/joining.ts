/** What robots and observers have in common on the command line: how they reach a cluster, and how they look. */
import type { Command } from 'commander';
import { random } from '@revisit/core';
import type { Clock } from '../values/clock.ts';
import { userAgentOf } from '../version.ts';
import { noContact } from './options.ts';
import { type CommandOutcome, done, failed, note, wrong } from './outcome.ts';

export interface JoinOptions {
  /** Always to be given; checked here, as the parser would name it before any option that there is not. */
  readonly nats?: string;
  readonly natsKey?: string;
  readonly natsCa?: string;
  readonly name?: string;
  readonly breadth: string;
  readonly spacing: string;
  readonly allowNetwork?: readonly string[];
  readonly contact?: string;
  readonly chromium?: string;
  readonly logLevel: string;
}

export function joinOptions(command: Command, words: { name: string; breadth: string; who: string }): Command {
  return command
    .option('--nats <servers>', 'NATS servers of the cluster, such as nats://127.0.0.1:4222')
    .option('--name <name>', words.name)
    .option('--nats-key <file>', 'its key, as "revisit access" makes it')
    .option('--nats-ca <file>', 'certificates of the NATS servers, where the system does not know them')
    .option('--breadth <number>', words.breadth, '64')
    .option('--spacing <duration>', `least time between two requests of this ${words.who} to one site`, '2s')
    .option('--allow-network <cidr...>', 'private networks that may be visited')
    .option('--contact <text>', 'how site owners reach you; part of the user agent')
    .option('--chromium <file>', 'the browser for pages that are rendered, where it is in no usual place')
    .option('--log-level <level>', 'debug, info, warn, error or silent', 'info');
}

async function joiningOf(options: JoinOptions, nats: string, usualName: string, breadth: number, spacingMs: number) {
  // Here and not above, so that help comes without them.
  const [{ createLog }, { createObserver }] = await Promise.all([import('../log.ts'), import('../observe/observe.ts')]);
  return {
    nats,
    natsKey: options.natsKey,
    natsCa: options.natsCa,
    name: options.name,
    usualName,
    breadth,
    spacingMs,
    log: createLog(options.logLevel),
    // Asked for when it has joined: whoever called wrongly is told that alone.
    observer: (clock: Clock, isDrowsy: () => boolean) => {
      if (options.contact === undefined) note(noContact);
      return createObserver({
        clock,
        random: random(Math.floor(Math.random() * 2 ** 52)),
        userAgent: userAgentOf(options.contact),
        allowNetworks: options.allowNetwork ?? [],
        spacingMs,
        chromium: options.chromium,
        isDrowsy,
      });
    },
  };
}

/** How taking part ended: told to leave, asked wrongly, or unable to go on. */
interface Parting {
  readonly kind: 'left' | 'wrong' | 'failed';
  readonly sentence?: string;
}

/** Reads the options and takes part until a signal. */
export async function join(
  options: JoinOptions,
  usualName: string,
  take: (joining: Awaited<ReturnType<typeof joiningOf>>, signal: AbortSignal) => Promise<Parting>,
): Promise<CommandOutcome> {
  const { nats } = options;
  if (nats === undefined)
    return wrong('--nats is missing: the NATS servers of the cluster, such as nats://127.0.0.1:4222');
  const breadth = Number(options.breadth);
  if (!Number.isInteger(breadth) || breadth < 1 || breadth > 10_000)
    return wrong(`--breadth ${options.breadth}: a whole number from 1 to 10000 is expected`);
  const { spacing, allowNetwork, logLevel, contact } = options;
  const { settle } = await import('../config/config.ts');
  const given = {
    ...(allowNetwork === undefined ? {} : { allowNetwork }),
    ...(contact === undefined ? {} : { contact }),
  };
  const read = settle({}, { spacing, logLevel, ...given });
  if (read.kind === 'wrong') return wrong(read.sentence);
  const { spacingMs } = read.value;
  const name = options.name ?? usualName;
  if (!/^[a-z0-9][a-z0-9-]{0,39}$/.test(name))
    return wrong(`--name ${name}: up to 40 small letters, digits and hyphens are expected`);
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
  const { kind, sentence = '' } = await take(
    await joiningOf(options, nats, usualName, breadth, spacingMs),
    stop.signal,
  );
  return kind === 'left' ? done : kind === 'wrong' ? wrong(sentence) : failed(sentence);
}
