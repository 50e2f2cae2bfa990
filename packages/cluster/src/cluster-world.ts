/** What `revisit serve` lives in as one coordinator of a cluster: the shared store, its clock, and the link to the robots. */
import type { NatsConnection } from '@nats-io/transport-node';
import type { Clock, Elsewhere, ObserverReport, RobotReport } from 'revisit/ports';
import { type ClusterConfig, Coordinator, type TurnedLoop } from './coordinator.ts';
import { notFor } from './access/key-file.ts';
import type { Carrier } from './dispatch/carrier.ts';
import { link } from './dispatch/link.ts';
import { sealOf } from './dispatch/seal.ts';
import { ensureStreams } from './dispatch/streams.ts';
import { serverNow } from './leases.ts';
import { connect } from './store/connection.ts';
import { PostgresStore } from './store/postgres.ts';
import { SharedClock } from './store/shared-clock.ts';

/** What `startDaemon` lives in when it is one of several. */
export interface ClusterWorld {
  readonly clock: Clock;
  readonly opening: {
    readonly kind: 'opened';
    readonly store: PostgresStore;
    readonly announce: (url: string) => void;
    close(): Promise<void>;
  };
  readonly carrier?: Carrier;
  readonly accepts: (site: string) => boolean;
  readonly observers: () => readonly ObserverReport[];
  readonly robots: () => readonly RobotReport[] | undefined;
  readonly elsewhere: Elsewhere;
  readonly linked: () => boolean;
  readonly beside: (loop: TurnedLoop, signal: AbortSignal, follow: () => Promise<void>) => Promise<void>;
}

export type Clustered =
  | { readonly kind: 'read'; readonly value: ClusterWorld }
  | { readonly kind: 'wrong'; readonly sentence: string }
  /** The call was right: a server is away. */
  | { readonly kind: 'failed'; readonly sentence: string };

export async function clusterWorld(config: ClusterConfig): Promise<Clustered> {
  const work = await connect(config.store);
  if (work.kind === 'failed') return { kind: unless(work.away), sentence: `store: ${work.sentence}` };
  // Renewing must not stand in line behind large writes, nor wait for long when the server is away.
  const leases = await connect(config.store, { connectionsMax: 1, patienceMs: config.leaseMs / 2 });
  if (leases.kind === 'failed') {
    await work.connection.close();
    return { kind: unless(leases.away), sentence: `store: ${leases.sentence}` };
  }
  const clock = new SharedClock();
  const askedAtMs = clock.ownMs();
  const [said] = await leases.connection.query<{ now: number }>(`SELECT ${serverNow} AS now`);
  clock.heard(said!.now, askedAtMs);
  const connections = { work: work.connection, leases: leases.connection };
  const ended = async (kind: 'wrong' | 'failed', sentence: string): Promise<Clustered> => {
    await Promise.all(Object.values(connections).map((connection) => connection.close()));
    return { kind, sentence };
  };
  const seal = await sealOf(new PostgresStore(work.connection));
  if (seal.kind === 'failed') return ended(unless(seal.fault.code === 'store-away'), `store: ${seal.fault.sentence}`);
  const linked = await linkWith(config, clock);
  if (linked.kind !== 'read') return ended(linked.kind, linked.sentence);
  const coordinator = new Coordinator(config, connections, linked.value, clock, seal.value);
  const { carrier } = coordinator;
  return {
    kind: 'read',
    value: {
      clock,
      opening: { kind: 'opened', store: coordinator.store, announce: () => {}, close: () => coordinator.close() },
      ...(carrier ? { carrier } : {}),
      accepts: (site) => coordinator.accepts(site),
      observers: () => coordinator.observers(),
      robots: () => coordinator.robots(),
      elsewhere: coordinator.elsewhere,
      linked: () => coordinator.linked,
      beside: (loop, signal, follow) => coordinator.run(loop, signal, follow),
    },
  };
}

const unless = (away: boolean): 'wrong' | 'failed' => (away ? 'failed' : 'wrong');

/** Servers that were just started need some seconds to agree on who leads and to know of each other; until then they answer nothing about streams, or place none. */
const electionMsMax = 30_000;
const electionPollMs = 500;
const electing = /timeout|temporarily unavailable|no responders|no suitable peers/i;
/**
 * Servers that say nothing about streams for longer are waited for no longer: those that are there are enough to hand probes from hand to hand,
 * as coordinators do that run already.
 */
const silentMsMax = 3_000;
/** Whoever needs a key for one may call it so, as the documents do. */
const usualCoordinator = 'home';

async function linkWith(
  config: ClusterConfig,
  clock: Clock,
): Promise<{ kind: 'read'; value: NatsConnection | undefined } | { kind: 'wrong' | 'failed'; sentence: string }> {
  if (config.nats === undefined) return { kind: 'read', value: undefined };
  const linked = await link({ ...config, nats: config.nats }, 'coordinator');
  if (linked.kind === 'failed') return { kind: unless(linked.away === true), sentence: linked.sentence };
  const { connection, key } = linked;
  const others = notFor('coordinator', usualCoordinator, key);
  if (others !== undefined) {
    await connection.close();
    return { kind: 'wrong', sentence: `--nats-key ${config.natsKey}: ${others}` };
  }
  const streams = () => ensureStreams(connection, config.natsReplicas, config.leaseMs);
  for (const untilMs = clock.nowMs() + electionMsMax; ;) {
    const attempt = streams();
    try {
      const over = new AbortController();
      const late = clock.sleep(silentMsMax, over.signal).then(() => 'late' as const);
      const made = await Promise.race([attempt, late]).finally(() => over.abort());
      if (made === 'late') void keepTrying(attempt, streams, connection, clock);
      return { kind: 'read', value: connection };
    } catch (error) {
      const { message } = error as Error;
      if (electing.test(message) && clock.nowMs() < untilMs) {
        await clock.sleep(electionPollMs);
        continue;
      }
      await connection.close();
      return { kind: 'wrong', sentence: `nats: ${config.nats} keeps no streams (${message})` };
    }
  }
}

/** Until the streams are there, or nobody needs them any more. */
async function keepTrying(
  first: Promise<unknown>,
  again: () => Promise<unknown>,
  connection: NatsConnection,
  clock: Clock,
): Promise<void> {
  for (let attempt = first; ; attempt = again()) {
    const isMade = await attempt.then(
      () => true,
      () => false,
    );
    if (isMade || connection.isClosed()) return;
    await clock.sleep(electionPollMs);
  }
}
