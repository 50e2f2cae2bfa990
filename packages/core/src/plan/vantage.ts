/**
 * From where to observe (Brewington §2.5 and §2.6): fetch documents from home (A), or send an observer to another machine
 * (C) near them (B) that reports only what changed, compressed.
 *
 *   direct   t₁ = k·Σ_d (2·L_AB + N_AB·S_d)                                                                    (41)
 *   remote   t₂ = (L_AC + N_AC·S_A + startup) + k·Σ_d [(2·L_CB + N_CB·S_d) + γ_d·(L_AC + N_AC·η_d·S_d)]         (42)
 *
 * L latency in seconds, N seconds per byte, S bytes, γ the share of observations that find a change, η what compression
 * leaves. Both are linear in the number k of rounds, so the remote side wins from some k on or never: the break-even is
 * start ⁄ (direct − remote a round). Without latencies and startup this is the condition (43).
 *
 * A batch (§2.6) shares the sending of one observer, which grows by the state it carries for each document. An observer
 * that is already somewhere should move when what it saves over the observations left exceeds the trip. Cost: O(documents)
 * a vantage point.
 */

export interface Link {
  readonly latency: number;
  readonly secondsPerByte: number;
}

export interface VantageDocument {
  readonly bytes: number;
  /** The share of observations that find a change (γ). */
  readonly changedShare: number;
  /** What compression leaves of a changed document (η). */
  readonly compression: number;
}

export interface VantagePoint {
  /** From home to the vantage point. */
  readonly fromHome: Link;
  /** From the vantage point to the documents. */
  readonly toDocuments: Link;
  readonly startup: number;
}

export interface Observer {
  /** The program itself. */
  readonly bytes: number;
  /** What it carries for each document (fingerprints and instructions). */
  readonly bytesPerDocument: number;
}

export interface VantageTimes {
  /** Paid once, when the observer is sent. */
  readonly start: number;
  /** Paid each time all documents are observed. */
  readonly round: number;
}

/** Observing from home, one round: (41) with k = 1. */
export function directRound(link: Link, documents: readonly VantageDocument[]): number {
  return documents.reduce((sum, document) => sum + 2 * link.latency + link.secondsPerByte * document.bytes, 0);
}

/** Observing from a vantage point: the two parts of (42). */
export function remoteTimes(
  point: VantagePoint,
  observer: Observer,
  documents: readonly VantageDocument[],
): VantageTimes {
  const { fromHome, toDocuments } = point;
  const observerBytes = observer.bytes + observer.bytesPerDocument * documents.length;
  const start = fromHome.latency + fromHome.secondsPerByte * observerBytes + point.startup;
  let round = 0;
  for (const { bytes, changedShare, compression } of documents) {
    round += 2 * toDocuments.latency + toDocuments.secondsPerByte * bytes;
    round += changedShare * (fromHome.latency + fromHome.secondsPerByte * compression * bytes);
  }
  return { start, round };
}

/** The least whole number of rounds from which the remote side takes strictly less time; undefined when none does. */
export function breakEven(directRound: number, remote: VantageTimes): number | undefined {
  const saving = directRound - remote.round;
  if (!(saving > 0)) return undefined;
  const rounds = Math.max(1, Math.floor(remote.start / saving) + 1);
  return Number.isFinite(rounds) ? rounds : undefined;
}

export interface VantageChoice {
  /** The index of the point to observe from; undefined for home, which also wins ties. */
  readonly point: number | undefined;
  readonly time: number;
  readonly direct: number;
  /** The time from each point. */
  readonly remote: readonly number[];
}

/** Home or one of several vantage points, for a given number of rounds. */
export function chooseVantage(
  home: Link,
  points: readonly VantagePoint[],
  observer: Observer,
  documents: readonly VantageDocument[],
  rounds: number,
): VantageChoice {
  const direct = rounds * directRound(home, documents);
  const remote = points.map((point) => {
    const { start, round } = remoteTimes(point, observer, documents);
    return start + rounds * round;
  });
  let best: number | undefined;
  let time = direct;
  remote.forEach((candidate, i) => {
    if (candidate < time) [best, time] = [i, candidate];
  });
  return { point: best, time, direct, remote };
}

export interface Move {
  readonly move: boolean;
  /** Rounds that must still be ahead for the move to pay; undefined when it never does. */
  readonly breakEven: number | undefined;
  /** Time saved by moving now over the rounds that are left; negative when moving loses. */
  readonly saves: number;
}

/**
 * Whether an observer at one point should go to another with so many rounds left. `trip` is the link between the two; on
 * the way it carries only the state of documents it still watches (its "diet").
 */
export function moveObserver(
  from: VantagePoint,
  to: VantagePoint,
  trip: Link,
  observer: Observer,
  documents: readonly VantageDocument[],
  roundsLeft: number,
): Move {
  const bytes = observer.bytes + observer.bytesPerDocument * documents.length;
  const start = trip.latency + trip.secondsPerByte * bytes + to.startup;
  const stay = remoteTimes(from, observer, documents).round;
  const gone = remoteTimes(to, observer, documents).round;
  const saves = roundsLeft * (stay - gone) - start;
  return { move: saves > 0, breakEven: breakEven(stay, { start, round: gone }), saves };
}

/**
 * Which documents an observer should take along (§2.6): those whose own saving over the rounds exceeds what carrying
 * their state costs; undefined when the batch as a whole does not pay for sending the observer.
 */
export function batchForObserver(
  home: Link,
  point: VantagePoint,
  observer: Observer,
  documents: readonly VantageDocument[],
  rounds: number,
): { readonly documents: readonly number[]; readonly saves: number } | undefined {
  const carrying = point.fromHome.secondsPerByte * observer.bytesPerDocument;
  const chosen: number[] = [];
  let saves = -remoteTimes(point, observer, []).start;
  documents.forEach((document, d) => {
    const saving = rounds * (directRound(home, [document]) - remoteTimes(point, observer, [document]).round) - carrying;
    if (saving <= 0) return;
    chosen.push(d);
    saves += saving;
  });
  return saves > 0 ? { documents: chosen, saves } : undefined;
}
