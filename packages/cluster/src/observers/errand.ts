/**
 * What a coordinator and an observer say to each other.
 *
 * An errand is a probe with a mandate: look now if you have not just looked, and until the mandate ends look by yourself
 * this often. A report answers one errand: nothing new, a difference against the copy that the coordinator has, or the
 * whole where it has none. Its numbers are claims; what they stand for is checked where it can be (`plausible`).
 */
import { createHash } from 'node:crypto';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { NoisePart, Observation, Page, Probe } from 'revisit/ports';
import { handedBack, malformed } from '../dispatch/wire.ts';

export interface Mandate {
  /** Between two looks of the observer's own. */
  readonly everyMs: number;
  readonly forMs: number;
  /**
   * From when on, by the observer's clock: when it said the last word that the coordinator had heard. However long the errand
   * was on its way, the mandate ends before the coordinator believes that it has.
   */
  readonly sinceMs: number;
}

export interface ObservedPage extends Pick<Page, 'id' | 'select' | 'options'> {
  /** What is ignored on it; as it was said last where it is left out. */
  readonly noise?: readonly NoisePart[] | undefined;
}

export interface Errand {
  readonly probe: Probe;
  readonly mandate: Mandate;
  /** The fingerprint of the copy that the coordinator has; empty where it has none. */
  readonly base: string;
  /** What it found up to this one is kept: it may let go of it. */
  readonly arrived?: string;
  /**
   * Which giving of the site to the observer this is of, said with the pages; none where it is only tried. What was found under another is
   * the past, whatever anybody's clock says.
   */
  readonly given?: string;
  /** Only what was found before is asked for: another looks at the site. */
  readonly foundOnly?: true;
  /** What of the answer counts, page by page; left out where it was said before. */
  readonly pages?: readonly ObservedPage[];
}

type Known = Omit<Observation, 'probe'>;

export interface Report {
  readonly observation: Known;
  readonly what: 'same' | 'difference' | 'whole' | 'no-body';
  /** The fingerprint of the body that this report stands for. */
  readonly fingerprint: string;
  /** How long ago the look was that this reports. */
  readonly agoMs: number;
  /** Looks since the last report, how long from its last to theirs, and what a robot would have sent home for them. */
  readonly looks: number;
  readonly overMs: number;
  readonly wholeBytes: number;
  /** It is something new, which waited to be told: what it is called, and under which giving of the site it was found. */
  readonly finding?: string;
  readonly given?: string;
  /** Changes found beyond this one and not reported yet. */
  readonly more: number;
}

export interface ReceivedReport {
  readonly report: Report;
  readonly payload: Uint8Array;
}

/** What findings and givings are called. */
const nameForm = /^[\w-]{0,40}$/;
/** More than any body that an observer lets through, so that a forged frame cannot fill the memory. */
const bodyBytesMax = 64 * 2 ** 20;
const headBytesMax = 2 ** 20;

export function fingerprint(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('base64url').slice(0, 22);
}

/**
 * Words that nearly every errand and report has; most of a message that says "nothing new" is made of them. Both ends must
 * have the same, so what is here stays as it is.
 */
const usualWords = Buffer.from(
  [
    '{"observation":{"startedAtMs":17,"endedAtMs":17,"latencyMs":,"outcome":{"kind":"not-modified"},"bytesReceived":0,',
    '"outcome":{"kind":"fetched","status":200,"mediaType":"text/html","charset":"utf-8","validators":{"etag":"W/\\"",',
    '"lastModified":", GMT"}},"requests":1,"finalUrl":"https://www."},"what":"difference","what":"whole","what":"same",',
    '"fingerprint":"","agoMs":0,"looks":4,"wholeBytes":0,"more":0}',
    '{"probe":{"id":"","url":"https://www.","site":"www.","pageIds":[""],"atMs":17,"validators":{}},"mandate":{"everyMs":,',
    '"forMs":600000,"sinceMs":17},"base":"","pages":[{"id":"","select":{"kind":"text"},"options":{}}]}',
  ].join(''),
);

/** An errand's words and pages are bounded by what a message of NATS can be. */
const errandBytesMax = 8 * 2 ** 20;

export function packErrand(errand: Errand): Uint8Array {
  return zstdCompressSync(Buffer.from(JSON.stringify(errand)), { dictionary: usualWords });
}

export function unpackErrand(bytes: Uint8Array): Errand | undefined {
  try {
    const text = zstdDecompressSync(bytes, { dictionary: usualWords, maxOutputLength: errandBytesMax });
    const errand = JSON.parse(text.toString('utf8')) as Errand;
    const { probe, mandate } = errand;
    const whole =
      typeof probe?.id === 'string' &&
      typeof probe.url === 'string' &&
      typeof probe.site === 'string' &&
      Array.isArray(probe.pageIds) &&
      typeof mandate?.everyMs === 'number' &&
      typeof mandate.forMs === 'number' &&
      typeof mandate.sinceMs === 'number' &&
      typeof errand.base === 'string';
    return whole ? errand : undefined;
  } catch {
    return undefined;
  }
}

/** The body as its difference from an earlier one: mostly references into it. */
export function differenceFrom(base: Uint8Array, body: Uint8Array): Uint8Array {
  return zstdCompressSync(body, { dictionary: base, params: windowFor(base.length + body.length) });
}

/** The window must reach back over the whole earlier body. */
function windowFor(bytes: number): Record<number, number> {
  return { [constants.ZSTD_c_windowLog]: Math.min(27, Math.max(10, Math.ceil(Math.log2(bytes + 1)))) };
}

export function packReport(report: Report, payload: Uint8Array): Uint8Array {
  const head = zstdCompressSync(Buffer.from(JSON.stringify(report)), { dictionary: usualWords });
  const length = Buffer.alloc(4);
  length.writeUInt32LE(head.length);
  return Buffer.concat([length, head, payload]);
}

/** Nobody looked, as far as anybody knows: the page waits in line again. */
export function unlooked({ probe }: Errand, nowMs: number): Uint8Array {
  const { probe: _probe, ...observation } = handedBack(probe, nowMs, 'The observer that had the errand was lost.');
  const nothing = { agoMs: 0, looks: 0, overMs: 0, wholeBytes: 0, more: 0 };
  return packReport({ observation, what: 'no-body', fingerprint: '', ...nothing }, new Uint8Array());
}

export function unpackReport(bytes: Uint8Array): ReceivedReport | undefined {
  try {
    const frame = Buffer.from(bytes);
    const length = frame.readUInt32LE(0);
    const head = zstdDecompressSync(frame.subarray(4, 4 + length), {
      dictionary: usualWords,
      maxOutputLength: headBytesMax,
    });
    const report = JSON.parse(head.toString('utf8')) as Report;
    if (typeof report.observation?.outcome?.kind !== 'string' || typeof report.fingerprint !== 'string')
      return undefined;
    return { report, payload: frame.subarray(4 + length) };
  } catch {
    return undefined;
  }
}

/** The body that a report stands for; undefined where it cannot be had from it, or is not what the report says it is. */
export function bodyOf({ report, payload }: ReceivedReport, base: Uint8Array | undefined): Uint8Array | undefined {
  try {
    if (report.what === 'same') return base;
    if (report.what === 'difference' && !base) return undefined;
    const options = {
      maxOutputLength: bodyBytesMax,
      params: { [constants.ZSTD_d_windowLogMax]: 27 },
      ...(report.what === 'difference' ? { dictionary: base! } : {}),
    };
    const body = new Uint8Array(zstdDecompressSync(payload, options));
    return fingerprint(body) === report.fingerprint ? body : undefined;
  } catch {
    return undefined;
  }
}

/** What is wrong with a report on its face; undefined when nothing is. */
export function implausible({ report }: ReceivedReport): string | undefined {
  const { observation, agoMs, looks, overMs, wholeBytes, finding, given } = report;
  if (![finding, given].every((name) => name === undefined || (typeof name === 'string' && nameForm.test(name))))
    return 'a finding that is none';
  if (![agoMs, looks, overMs, wholeBytes].every((count) => Number.isFinite(count) && count >= 0))
    return 'a count that is none';
  if (Math.max(observation.requests, observation.unchangedLooks ?? 0, looks) > 1_000_000)
    return 'more looks than any mandate allows';
  if (observation.outcome.kind === 'fetched' && report.what === 'no-body') return 'an answer without a body';
  return malformed(observation);
}
