/**
 * The number of robots when indexing times follow any law: the M/G/1/K queue by its embedded chain.
 *
 *   minimise over N   C = γ·P{X = 0} + P{an arriving page finds K},   load ρ = Nλ·E[S]
 *
 * Let a_j be the chance that j pages arrive while one is indexed and ā_j that more than j do (Σ ā_j = ρ). The chain left
 * behind by departures gives, with w the renewal sequence W(z) = 1/(1 − Σ ā_j z^j) and S = w_0 + … + w_(K−2),
 *   P{X = 0} = 1/(1 + ρS),   P{loss} = (1 − (1−ρ)S)/(1 + ρS).
 * Invariant: every term of w, and of the tail v_m = 1 − (1−ρ)(w_0 + … + w_m) for ρ < 1, is a sum of positive terms, so
 * nothing cancels, and losses as small as 10⁻³⁰⁰ come out with all their digits. For exponential indexing this is
 * Proposition 1 of Talim et al.
 *
 * Cost: O(support of ā) a step, and steps only until w_(m+1)/w_m stands still (it converges geometrically, to the
 * dominant root); the rest of the sum is a geometric series, so K = 10⁶ costs what K = 1,000 does. Delicate: w overflows for
 * ρ > 1, where S → ∞ means starvation 0 and loss 1 − 1/ρ.
 *
 * The cost has one valley in every law tried (the paper proves it for exponential times only); the search therefore
 * looks at a coarse net of loads first, and where there are few numbers of robots in question it tries them all.
 */
import { type QueueShares, type RobotsPlan, type RobotsProblem, bestLoad } from './robots.ts';

export type ServiceTime =
  | { readonly kind: 'exponential' }
  | { readonly kind: 'deterministic' }
  | { readonly kind: 'erlang'; readonly stages: number }
  /** Branches of probability and rate; only the ratios of the rates count, the mean is that of the service rate. */
  | { readonly kind: 'hyperexponential'; readonly branches: readonly (readonly [probability: number, rate: number])[] }
  /** Indexing times as observed, in any unit: only their shape counts. */
  | { readonly kind: 'measured'; readonly times: readonly number[] };

/** A law of indexing times as a mixture of Erlang and constant times whose mean is 1. */
interface Part {
  readonly share: number;
  readonly mean: number;
  /** Erlang stages; Infinity for a constant time. */
  readonly stages: number;
}

export function planRobotsForService(problem: RobotsProblem, serviceTime: ServiceTime): RobotsPlan {
  const parts = partsOf(serviceTime);
  const at = (robots: number): RobotsPlan => {
    const load = (robots * problem.arrival) / problem.service;
    const shares = sharesAt(load, problem.buffer, parts);
    return { robots, load, cost: problem.starvationWeight * shares.starvation + shares.loss, ...shares };
  };
  if (problem.arrival === 0) return at(0);
  const perRobot = problem.arrival / problem.service;
  const [low, high] = valley(
    (load) => {
      const shares = sharesAt(load, problem.buffer, parts);
      return problem.starvationWeight * shares.starvation + shares.loss;
    },
    bestLoad(problem.starvationWeight, problem.buffer),
    32 * perRobot,
  );
  return bestWhole(at, Math.floor(low / perRobot), Math.ceil(high / perRobot));
}

/** Starvation and loss of the M/G/1/K queue at a load. */
export function serviceShares(load: number, buffer: number, serviceTime: ServiceTime): QueueShares {
  return sharesAt(load, buffer, partsOf(serviceTime));
}

function partsOf(law: ServiceTime): readonly Part[] {
  switch (law.kind) {
    case 'exponential':
      return [{ share: 1, mean: 1, stages: 1 }];
    case 'deterministic':
      return [{ share: 1, mean: 1, stages: Infinity }];
    case 'erlang':
      return [{ share: 1, mean: 1, stages: law.stages }];
    case 'hyperexponential': {
      const mean = law.branches.reduce((sum, [probability, rate]) => sum + probability / rate, 0);
      return law.branches.map(([share, rate]) => ({ share, mean: 1 / (rate * mean), stages: 1 }));
    }
    case 'measured': {
      const mean = law.times.reduce((sum, time) => sum + time, 0) / law.times.length;
      return law.times.map((time) => ({ share: 1 / law.times.length, mean: time / mean, stages: Infinity }));
    }
  }
}

function sharesAt(load: number, buffer: number, parts: readonly Part[]): QueueShares {
  if (load === 0) return { starvation: 1, loss: 0 };
  const arrivals = arrivalsDuringService(load, parts);
  const saturated = { starvation: 0, loss: 1 - 1 / load };
  if (arrivals === undefined) return saturated;
  const { none, beyond } = arrivals;
  const sum = renewalSum(none, beyond, buffer - 1);
  if (!(sum < 1e300)) return saturated;
  const missing = load < 1 ? compoundTail(none, beyond, buffer - 2) : 1 + (load - 1) * sum;
  return { starvation: 1 / (1 + load * sum), loss: missing / (1 + load * sum) };
}

/** More arrivals than this in one service are so far above the mean of a sensible load that the queue is always full. */
const arrivalsMax = 20_000;

/** a_0 and ā_0, ā_1, … down to where they vanish; undefined where a_0 itself vanishes. */
function arrivalsDuringService(
  load: number,
  parts: readonly Part[],
): { readonly none: number; readonly beyond: Float64Array } | undefined {
  const densities: number[] = [];
  for (const part of parts) addArrivals(densities, part, load);
  const none = densities[0]!;
  if (!(none > 1e-290)) return undefined;
  const beyond = new Float64Array(densities.length);
  let tail = 0;
  for (let j = densities.length - 1; j > 0; j--) {
    tail += densities[j]!;
    beyond[j - 1] = tail;
  }
  let length = beyond.length;
  while (length > 1 && beyond[length - 1]! < 1e-305) length--;
  return { none, beyond: beyond.subarray(0, length) };
}

/** Adds one part's chance of j arrivals: negative binomial for Erlang stages, Poisson for a constant time. */
function addArrivals(densities: number[], part: Part, load: number): void {
  const mean = load * part.mean;
  const k = part.stages;
  // The chance that the next event is an arrival and not the end of a stage.
  const odds = k === Infinity ? 0 : mean / (mean + k);
  let chance = part.share * Math.exp(k === Infinity ? -mean : -k * Math.log1p(mean / k));
  for (let j = 0; j < arrivalsMax; j++) {
    densities[j] = (densities[j] ?? 0) + chance;
    chance *= k === Infinity ? mean / (j + 1) : ((k + j) / (j + 1)) * odds;
    if (chance < 1e-308 && j > mean) return;
  }
}

/** w_0 + … + w_(count−1). */
function renewalSum(none: number, beyond: Float64Array, count: number): number {
  const w: number[] = [];
  let sum = 0;
  const settled = new Settled(beyond.length);
  for (let m = 0; m < count; m++) {
    let next = m === 0 ? 1 : 0;
    const reach = Math.min(m, beyond.length - 1);
    for (let i = 1; i <= reach; i++) next += beyond[i]! * w[m - i]!;
    w.push(next / none);
    sum += w[m]!;
    // Either the sum is beyond all numbers, or what is left of it is below its last digit.
    if (!(sum < 1e300) || (m > reach && w[m]! * count < 1e-17 * sum)) return sum;
    const ratio = settled.ratio(w[m]!);
    if (ratio !== undefined) return sum + w[m]! * geometricSum(ratio, count - 1 - m);
  }
  return sum;
}

/** v_m = P{L > m} for the compound geometric L of the header, ρ < 1. */
function compoundTail(none: number, beyond: Float64Array, m: number): number {
  const rest = new Float64Array(beyond.length + 1);
  for (let i = beyond.length - 1; i > 0; i--) rest[i - 1] = rest[i]! + beyond[i]!;
  const v: number[] = [];
  const settled = new Settled(beyond.length);
  for (let n = 0; n <= m; n++) {
    let next = n < rest.length ? rest[n]! : 0;
    const reach = Math.min(n, beyond.length - 1);
    for (let i = 1; i <= reach; i++) next += beyond[i]! * v[n - i]!;
    v.push(next / none);
    if (v[n]! < 1e-290) return 0;
    const ratio = settled.ratio(v[n]!);
    if (ratio !== undefined) return v[n]! * ratio ** (m - n);
  }
  return v[m]!;
}

/** Notices when a sequence has become geometric: the ratio of neighbours has not moved for as long as terms look back. */
class Settled {
  readonly #patience: number;
  #last = 0;
  #anchor = 0;
  #still = 0;

  constructor(reach: number) {
    this.#patience = Math.min(64, Math.max(16, reach));
  }

  ratio(value: number): number | undefined {
    const ratio = value / this.#last;
    this.#last = value;
    // Rounding alone moves the ratio by a few 10⁻¹⁶; over 10⁶ further terms 10⁻¹⁴ grows to 10⁻⁸ of the result.
    if (Math.abs(ratio - this.#anchor) <= 1e-14 * ratio) this.#still++;
    else {
      this.#anchor = ratio;
      this.#still = 0;
    }
    return this.#still >= this.#patience ? this.#anchor : undefined;
  }
}

/** r + r² + … + r^n. */
function geometricSum(ratio: number, n: number): number {
  if (n <= 0) return 0;
  const x = Math.log(ratio);
  return Math.abs(x) * n < 1e-9 ? n : (ratio * Math.expm1(n * x)) / (ratio - 1);
}

/** A bracket of the lowest point of a cost over loads, starting near a guess: a net of 65 points, then golden section
 * until the bracket is as narrow as wanted. */
function valley(cost: (load: number) => number, guess: number, widthMin: number): readonly [number, number] {
  let [low, high] = netBracket(cost, guess);
  const golden = (Math.sqrt(5) - 1) / 2;
  let left = high - golden * (high - low);
  let right = low + golden * (high - low);
  let leftCost = cost(left);
  let rightCost = cost(right);
  while (high - low > Math.max(widthMin, 1e-7 * high)) {
    if (leftCost <= rightCost) {
      [high, right, rightCost] = [right, left, leftCost];
      left = high - golden * (high - low);
      leftCost = cost(left);
    } else {
      [low, left, leftCost] = [left, right, rightCost];
      right = low + golden * (high - low);
      rightCost = cost(right);
    }
  }
  return [low, high];
}

/** Moves the net until its lowest point is inside it, or nowhere near any whole number of robots that matters. */
function netBracket(cost: (load: number) => number, guess: number): [number, number] {
  for (let centre = guess, round = 0; ; round++) {
    const net = Array.from({ length: 65 }, (_, i) => centre * 2 ** ((i - 32) / 8));
    const costs = net.map(cost);
    let best = 0;
    for (let i = 1; i < net.length; i++) if (costs[i]! < costs[best]!) best = i;
    if ((best > 0 && best < net.length - 1) || round === 60) {
      return [net[Math.max(0, best - 1)]!, net[Math.min(best + 1, net.length - 1)]!];
    }
    centre = net[best]!;
  }
}

/** The best whole number between two bounds; ties go to the smaller. */
function bestWhole(at: (robots: number) => RobotsPlan, from: number, to: number): RobotsPlan {
  // More candidates than this lie within 10⁻⁷ of the best load, where their costs are equal to the last digit.
  const step = Math.max(1, Math.ceil((to - from) / 64));
  let best = at(Math.max(0, from));
  for (let robots = Math.max(0, from) + step; robots <= to; robots += step) {
    const plan = at(robots);
    if (plan.cost < best.cost) best = plan;
  }
  return best;
}
