/**
 * An observation as bytes: what is known of it as JSON, then the body as it came, compressed together and cut into pieces
 * that fit a message. Nothing in it is ever run; a piece that does not fit the others is refused.
 */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Fault, Observation, Probe } from 'revisit/ports';

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

/** The pages that a notice names. A robot can have its probes sent to this place: what is no notice names none. */
export function unpackNotice(bytes: Uint8Array): readonly string[] {
  try {
    const ids: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [];
  } catch {
    return [];
  }
}

/** Plain values as coordinators exchange them: JSON, and numbers that are not finite. */
export function packPlain(value: unknown): Uint8Array {
  const text = JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'number' && !Number.isFinite(each) ? { unbounded: String(each) } : each,
  );
  return zstdCompressSync(Buffer.from(text));
}

/** Undefined where it is none. */
export function unpackPlain(bytes: Uint8Array): unknown {
  try {
    const text = zstdDecompressSync(bytes, { maxOutputLength: observationBytesMax }).toString('utf8');
    return JSON.parse(text, (_, each: unknown) =>
      typeof each === 'object' && each !== null && 'unbounded' in each ? Number(each.unbounded) : each,
    );
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
    if (typeof known.probe?.id !== 'string' || malformed(known) !== undefined) return undefined;
    if (known.outcome.kind !== 'fetched') return known;
    return { ...known, outcome: { ...known.outcome, body: new Uint8Array(bytes.subarray(4 + headLength)) } };
  } catch {
    return undefined;
  }
}

const isAmount = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value) && value >= 0;
const isCount = (value: unknown): boolean => isAmount(value) && Number.isSafeInteger(value);
const isText = (value: unknown): boolean => typeof value === 'string';
const orNone =
  (fits: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === undefined || fits(value);
const isAddress = orNone((value) => isText(value) && /^https?:\/\//.test(value as string));

const isRule = (rule: { readonly allow?: unknown; readonly path?: unknown } | null): boolean =>
  typeof rule?.allow === 'boolean' && isText(rule.path);

/** What is wrong with the form of what anybody with a key has said; undefined when nothing is. */
export function malformed(said: Omit<Observation, 'probe'>): string | undefined {
  const { outcome, startedAtMs, endedAtMs, bytesReceived, requests, finalUrl, movedTo, latencyMs, crawlDelayMs } = said;
  const times = [startedAtMs, endedAtMs, endedAtMs - startedAtMs];
  if (!times.every(isAmount) || ![latencyMs, crawlDelayMs].every(orNone(isAmount))) return 'a time that is none';
  if (![bytesReceived, requests].every(isCount) || !orNone(isCount)(said.unchangedLooks)) return 'a count that is none';
  if (![finalUrl, movedTo].every(isAddress)) return `an answer from ${finalUrl ?? movedTo}`;
  if (said.sitemaps !== undefined && !(Array.isArray(said.sitemaps) && said.sitemaps.every(isText)))
    return 'sitemaps that are none';
  if (said.robots !== undefined && !(Array.isArray(said.robots) && said.robots.every(isRule)))
    return 'rules that are none';
  if (said.watchedForMs !== undefined) return 'a mandate that nobody gave';
  if (said.toldAfterMs !== undefined || said.overtaken !== undefined) return 'an age that is reckoned here';
  if (said.finding !== undefined) return 'a finding that is named elsewhere';
  switch (outcome?.kind) {
    case 'fetched': {
      const { status, mediaType, charset, validators } = outcome;
      if (!(status >= 200 && status < 300)) return `status ${status}`;
      const { etag, lastModified } = validators ?? {};
      return [mediaType, charset, etag, lastModified].every(orNone(isText)) ? undefined : 'a header that is none';
    }
    case 'not-modified':
      return undefined;
    case 'gone':
      return isCount(outcome.status) ? undefined : 'a status that is none';
    case 'refused': {
      const { untilMs, siteUntilMs, elsewhere } = outcome;
      const until = [untilMs, siteUntilMs, elsewhere?.untilMs].every(orNone(isAmount));
      return until && orNone(isText)(elsewhere?.site) ? faultWrong(outcome.fault) : 'a time that is none';
    }
    case 'failed':
      return faultWrong(outcome.fault);
    default:
      return 'an outcome that is none';
  }
}

const faultWrong = (fault: Fault | undefined): string | undefined =>
  isText(fault?.code) && isText(fault?.sentence) ? undefined : 'a fault that is none';

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

/** The same where whoever began the look may ask its site until then; one that says how often it did has done so. */
export function afterLeave(observation: Observation, endsMs: number): Observation {
  const { outcome } = observation;
  if (observation.requests > 0) return observation;
  if (outcome.kind !== 'refused' || outcome.fault.code !== 'robot-lost' || endsMs <= (outcome.siteUntilMs ?? Infinity))
    return observation;
  return { ...observation, outcome: { ...outcome, siteUntilMs: endsMs } };
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
          ...(outcome.elsewhere === undefined
            ? {}
            : { elsewhere: { ...outcome.elsewhere, untilMs: outcome.elsewhere.untilMs + offMs } }),
        }
      : outcome;
  return {
    ...observation,
    outcome: shifted,
    probe,
    // Whole, as the store keeps them.
    startedAtMs: Math.round(Math.min(nowMs, Math.max(sinceMs, nowMs - tookMs))),
    endedAtMs: nowMs,
  };
}

/**
 * Which networks may be visited is set for each that looks: another may visit what this one refuses, so the page is tried again soon
 * and then less and less often, and not put off for a day at once.
 */
export function byOwnNetworks(said: Observation, whose: string): Observation {
  const { outcome } = said;
  if (outcome.kind !== 'refused' || outcome.fault.code !== 'address-refused') return said;
  const sentence = `${whose} says: ${outcome.fault.sentence}; each robot and observer needs the --allow-network of the coordinators`;
  return { ...said, outcome: { ...outcome, fault: { ...outcome.fault, sentence }, onlyHere: true } };
}
