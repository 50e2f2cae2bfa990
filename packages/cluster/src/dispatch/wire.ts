/**
 * An observation as bytes: what is known of it as JSON, then the body as it came, compressed together and cut into pieces
 * that fit a message. Nothing in it is ever run; a piece that does not fit the others is refused.
 */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Observation, Probe } from 'revisit/ports';

/** NATS takes messages of 1 MB unless it is told otherwise. */
const pieceBytesMax = 900_000;
/** More than any body that an observer lets through, so that a forged header cannot fill the memory. */
const observationBytesMax = 64 * 2 ** 20;

export function packProbe(probe: Probe): Uint8Array {
  return Buffer.from(JSON.stringify(probe));
}

export function unpackProbe(bytes: Uint8Array): Probe | undefined {
  try {
    const probe = JSON.parse(Buffer.from(bytes).toString('utf8')) as Probe;
    const whole =
      typeof probe.id === 'string' &&
      typeof probe.url === 'string' &&
      typeof probe.site === 'string' &&
      Array.isArray(probe.pageIds);
    return whole ? probe : undefined;
  } catch {
    return undefined;
  }
}

export function packObservation(observation: Observation): readonly Uint8Array[] {
  const { outcome } = observation;
  const body = outcome.kind === 'fetched' ? outcome.body : new Uint8Array();
  const known = { ...observation, outcome: outcome.kind === 'fetched' ? { ...outcome, body: undefined } : outcome };
  const head = Buffer.from(JSON.stringify(known));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(head.length);
  return pieces(zstdCompressSync(Buffer.concat([length, head, body])));
}

/** At least one, so that nothing is a message too. */
export function pieces(packed: Uint8Array): readonly Uint8Array[] {
  const cut: Uint8Array[] = [];
  for (let at = 0; at === 0 || at < packed.length; at += pieceBytesMax)
    cut.push(packed.subarray(at, at + pieceBytesMax));
  return cut;
}

export function unpackObservation(parts: readonly Uint8Array[]): Observation | undefined {
  try {
    const bytes = zstdDecompressSync(Buffer.concat(parts), { maxOutputLength: observationBytesMax });
    const headLength = bytes.readUInt32LE(0);
    const known = JSON.parse(bytes.subarray(4, 4 + headLength).toString('utf8')) as Observation;
    if (typeof known.probe?.id !== 'string' || typeof known.outcome?.kind !== 'string') return undefined;
    if (known.outcome.kind !== 'fetched') return known;
    return { ...known, outcome: { ...known.outcome, body: new Uint8Array(bytes.subarray(4 + headLength)) } };
  } catch {
    return undefined;
  }
}

/** Nobody looked: the page waits in line again, and its site is asked no sooner than its spacing from now. */
export function handedBack(probe: Probe, nowMs: number, sentence: string): Observation {
  return {
    probe,
    startedAtMs: nowMs,
    endedAtMs: nowMs,
    outcome: { kind: 'refused', fault: { code: 'robot-lost', sentence }, siteUntilMs: nowMs },
    bytesReceived: 0,
    requests: 0,
  };
}

/**
 * What a robot says, in the coordinator's time. A robot's clock may be minutes off: how long things took and will take is
 * believed, when they were is not.
 */
export function inOurTime(observation: Observation, probe: Probe, sinceMs: number, nowMs: number): Observation {
  const tookMs = Math.max(0, observation.endedAtMs - observation.startedAtMs);
  const offMs = nowMs - observation.endedAtMs;
  const { outcome } = observation;
  const shifted =
    outcome.kind === 'refused'
      ? {
          ...outcome,
          ...(outcome.untilMs === undefined ? {} : { untilMs: outcome.untilMs + offMs }),
          ...(outcome.siteUntilMs === undefined ? {} : { siteUntilMs: outcome.siteUntilMs + offMs }),
          ...(outcome.elsewhere
            ? { elsewhere: { ...outcome.elsewhere, untilMs: outcome.elsewhere.untilMs + offMs } }
            : {}),
        }
      : outcome;
  return {
    ...observation,
    outcome: shifted,
    probe,
    startedAtMs: Math.min(nowMs, Math.max(sinceMs, nowMs - tookMs)),
    endedAtMs: nowMs,
  };
}
