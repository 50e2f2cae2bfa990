/**
 * What goes over NATS, and where:
 *
 *   revisit.probe.SHARD        work queue: looks to be made, taken by any robot
 *   revisit.observation.SHARD.NAME  work queue: what came back from whom, taken by whoever holds the shard
 *   revisit.errand.OBSERVER    work queue: looks and mandates for one observer, answered like probes
 *   revisit.word.OBSERVER      unkept: an observer is there, and what it has found
 *   revisit.ask.OBSERVER       unkept: questions to an observer
 *   revisit.begin.SHARD.NAME   unkept: whether a look may begin, asked by who has its probe of who holds the shard;
 *                              without a probe, that a robot is there; a result that the queue does not take
 *   revisit.hand.KIND.NAME     unkept: who is alive, and takes by hand the probes or errands that the queues do not hand on
 *   revisit.change.SHARD       the log of changes, for anyone who may read it
 *   revisit.reader.NAME.WHAT   unkept: a reader wants its consumer of the changes made, described or removed
 *   revisit.notice             unkept words between coordinators: a page was edited, a change was kept
 *   revisit.part               questions between coordinators, each of which answers for its part
 *
 * A site belongs to one shard for ever, so whoever holds a shard decides alone about its sites' politeness.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AckPolicy,
  DiscardPolicy,
  RetentionPolicy,
  StorageType,
  jetstreamManager,
  type JetStreamManager,
} from '@nats-io/jetstream';
import { type NatsConnection, nanos } from '@nats-io/transport-node';

/** What goes by hand where the queues do not move. */
export type HandedKind = 'probes' | 'errands';

/** More shards than coordinators anyone will run, few enough that each is worth a consumer. */
export const shardCount = 16;

export const allShards: readonly number[] = Array.from({ length: shardCount }, (_, shard) => shard);

/** FNV-1a: the same everywhere, and even over names that differ little. */
export function shardOf(site: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < site.length; i++) hash = Math.imul(hash ^ site.charCodeAt(i), 0x01000193) >>> 0;
  return ((hash ^ (hash >>> 16)) >>> 0) % shardCount;
}

export const streams = {
  probes: 'REVISIT_PROBES',
  observations: 'REVISIT_OBSERVATIONS',
  errands: 'REVISIT_ERRANDS',
  changes: 'REVISIT_CHANGES',
} as const;

export const subjects = {
  probe: (shard: number) => `revisit.probe.${shard}`,
  observation: (shard: number | '*', name: string) => `revisit.observation.${shard}.${name}`,
  begin: (shard: number | '*', name: string) => `revisit.begin.${shard}.${name}`,
  hand: (kind: HandedKind | '*', name: string) => `revisit.hand.${kind}.${name}`,
  change: (shard: number | '>') => `revisit.change.${shard}`,
  reader: (name: string, what: string) => `revisit.reader.${name}.${what}`,
  notice: 'revisit.notice',
  part: 'revisit.part',
  errand: (observer: string) => `revisit.errand.${observer}`,
  word: (observer: string) => `revisit.word.${observer}`,
  ask: (observer: string) => `revisit.ask.${observer}`,
} as const;

export const consumers = { robots: 'robots', shard: (shard: number) => `shard-${shard}` } as const;

/** A robot that says nothing for a little longer than a lease is taken for dead, and its probe goes to another. */
const silenceOfLease = 9 / 8;
export const usualLeaseMs = 4_000;
export const silenceMsMax = (leaseMs: number): number => leaseMs * silenceOfLease;
/** How often a robot says that it is at a probe: several times within the shortest lease. */
export const workingEveryMs = 400;
/** How long one request for messages stands: one that was lost with a connection is made again as soon. */
export const pullMs = 2_000;
/** Within this time the same message is taken once, however often it is sent. */
export const sameWithinMs = 10 * 60_000;
/** Results that nobody fetched for a day are of no use: their pages have been looked at again. */
const resultsMaxAgeMs = 24 * 3_600_000;
/** How long a reader of the stream of changes may be away; the log itself is kept for ever. */
export const changesMaxAgeMs = 30 * 24 * 3_600_000;

/** A stream that another process makes is there within so many milliseconds, tried so often, or it is not being made. */
const beingMadeMs = 100;
const beingMadeTries = 20;

async function ensureStream(
  manager: JetStreamManager,
  name: string,
  subject: string,
  retention: RetentionPolicy,
  maxAgeMs: number,
  replicas: number,
): Promise<void> {
  const config = {
    name,
    subjects: [subject],
    retention,
    storage: StorageType.File,
    discard: DiscardPolicy.Old,
    num_replicas: replicas,
    max_age: nanos(maxAgeMs),
    duplicate_window: nanos(Math.min(sameWithinMs, maxAgeMs)),
  };
  const isThere = (): Promise<boolean> =>
    manager.streams.info(name).then(
      () => true,
      () => false,
    );
  if (await isThere()) return;
  try {
    await manager.streams.add(config);
  } catch (error) {
    // Another process makes it in the same moment: to the server its subjects are in the way before it is there.
    for (let tries = 0; tries < beingMadeTries; tries++) {
      if (await isThere()) return;
      await sleep(beingMadeMs);
    }
    throw error;
  }
}

export const ensureChanges = (manager: JetStreamManager, replicas: number): Promise<void> =>
  ensureStream(manager, streams.changes, 'revisit.change.*', RetentionPolicy.Limits, changesMaxAgeMs, replicas);

/** Brings streams and consumers into being, kept by so many servers each; several processes may do so at once. */
export async function ensureStreams(
  connection: NatsConnection,
  replicas = 1,
  leaseMs = usualLeaseMs,
): Promise<JetStreamManager> {
  const manager = await jetstreamManager(connection);
  await ensureStream(manager, streams.probes, 'revisit.probe.*', RetentionPolicy.Workqueue, resultsMaxAgeMs, replicas);
  await ensureStream(
    manager,
    streams.observations,
    'revisit.observation.*.*',
    RetentionPolicy.Workqueue,
    resultsMaxAgeMs,
    replicas,
  );
  await ensureStream(
    manager,
    streams.errands,
    'revisit.errand.*',
    RetentionPolicy.Workqueue,
    resultsMaxAgeMs,
    replicas,
  );
  await ensureChanges(manager, replicas);
  await manager.consumers.add(streams.probes, {
    durable_name: consumers.robots,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(silenceMsMax(leaseMs)),
    max_ack_pending: 20_000,
  });
  for (let shard = 0; shard < shardCount; shard++) {
    await manager.consumers.add(streams.observations, {
      durable_name: consumers.shard(shard),
      filter_subject: subjects.observation(shard, '*'),
      ack_policy: AckPolicy.Explicit,
      // What a coordinator has not kept by then it is given again, or whoever has its shard.
      ack_wait: nanos(leaseMs / 2),
      max_ack_pending: 20_000,
    });
  }
  return manager;
}

/** Brings into being what an observer of this name pulls its errands from. */
export async function ensureErrands(
  connection: NatsConnection,
  observer: string,
  leaseMs = usualLeaseMs,
): Promise<void> {
  const manager = await jetstreamManager(connection);
  await manager.consumers.add(streams.errands, {
    durable_name: observer,
    filter_subject: subjects.errand(observer),
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(silenceMsMax(leaseMs)),
    max_ack_pending: 20_000,
  });
}
