/**
 * How many robots keep a finite indexing queue neither starved nor overflowing (Talim, Liu, Nain and Coffman 1998).
 *
 *   minimise over N   C = γ·P{X = 0} + P{X = K},   X the length of an M/M/1/K queue at load ρ = Nλ/μ   (1)
 *
 * Invariant: with x = ln ρ and g(x) = (e^x − 1)/(e^((K+1)x) − 1), starvation is g(x) and loss is g(−x), so C(ρ, γ) equals
 * γ·C(1/ρ, 1/γ) and the best load of 1/γ is the inverse of that of γ. The derivative vanishes where
 *   K·y + ln u(y) − ln(K − u(y)) = |ln γ|,   u(y) = 1/(e^y − 1) − (K+1)/(e^((K+1)y) − 1),   y = |x|,
 * whose left side rises from 0: one root, the unique minimum of Lemma 1. The paper's R(ρ), with its double root at 1 and
 * its ρ^2K, is never formed. The symmetry also turns (6) into an upper bound (Kγ)^(1/(K−1)), sharper than (7).
 *
 * Cost: 60 to 100 bisections of O(1), whatever K is. Delicate: e^((K+1)x) overflows for K = 10⁶ (so only decaying
 * exponentials are formed), and both terms of u(y) grow like 1/y near ρ = 1 (so a series is used there).
 */

export interface QueueShares {
  /** The share of time in which the indexer has nothing to do. */
  readonly starvation: number;
  /** The share of arriving pages that find the queue full. */
  readonly loss: number;
}

export interface RobotsProblem {
  /** Pages one robot brings per unit of time (λ). */
  readonly arrival: number;
  /** Pages the indexer takes per unit of time (μ). */
  readonly service: number;
  /** Pages that fit, the one being indexed included (K ≥ 2). */
  readonly buffer: number;
  /** What a share of starved time costs against a share of lost pages (γ > 0). */
  readonly starvationWeight: number;
}

export interface RobotsPlan extends QueueShares {
  readonly robots: number;
  readonly load: number;
  readonly cost: number;
}

/** Starvation and loss of the M/M/1/K queue at a load, Proposition 1. */
export function queueShares(load: number, buffer: number): QueueShares {
  if (load === 0) return { starvation: 1, loss: 0 };
  if (load === Infinity) return { starvation: 0, loss: 1 };
  const x = Math.log(load);
  return { starvation: emptyShare(x, buffer), loss: emptyShare(-x, buffer) };
}

export function robotsCost(load: number, problem: { starvationWeight: number; buffer: number }): number {
  const { starvation, loss } = queueShares(load, problem.buffer);
  return problem.starvationWeight * starvation + loss;
}

/** The load at which the cost has its unique minimum, ρ(γ, K) of Lemma 1. */
export function bestLoad(starvationWeight: number, buffer: number): number {
  const target = Math.abs(Math.log(starvationWeight));
  if (target === 0) return 1;
  let low = Math.max(0, (target - Math.log(buffer)) / (buffer - 1));
  let high = (target + Math.log(buffer)) / (buffer - 1);
  for (let round = 0; round < 200; round++) {
    const middle = (low + high) / 2;
    if (middle <= low || middle >= high) break;
    if (slopeBalance(middle, buffer) < target) low = middle;
    else high = middle;
  }
  const y = (low + high) / 2;
  return Math.exp(starvationWeight > 1 ? y : -y);
}

/** The bounds (6) and (7): lower < ρ(γ, K) < upper. */
export function bestLoadBounds(starvationWeight: number, buffer: number): readonly [lower: number, upper: number] {
  const power = 1 / (buffer - 1);
  return [(starvationWeight / buffer) ** power, ((buffer + 1) * starvationWeight) ** power];
}

/** N(γ, K) of Proposition 2; among equals the smaller number. */
export function planRobots(problem: RobotsProblem): RobotsPlan {
  const { arrival, service, buffer, starvationWeight } = problem;
  // Robots that bring nothing cannot help, however many they are.
  const wanted = arrival === 0 ? 0 : (bestLoad(starvationWeight, buffer) * service) / arrival;
  const plans = [Math.floor(wanted), Math.ceil(wanted)].map((robots) => robotsPlan(robots, problem));
  return plans[1]!.cost < plans[0]!.cost ? plans[1]! : plans[0]!;
}

/** What a given number of robots costs. */
export function robotsPlan(robots: number, problem: RobotsProblem): RobotsPlan {
  const load = (robots * problem.arrival) / problem.service;
  const shares = queueShares(load, problem.buffer);
  return { robots, load, cost: problem.starvationWeight * shares.starvation + shares.loss, ...shares };
}

/** The rule (10) for large K, which does not look at K at all. */
export function robotsForLargeBuffer(problem: Omit<RobotsProblem, 'buffer'>): number {
  const ratio = problem.service / problem.arrival;
  const above = Math.ceil(ratio) / ratio;
  const below = Math.floor(ratio) / ratio;
  return (above - 1) / above <= problem.starvationWeight * (1 - below) ? Math.ceil(ratio) : Math.floor(ratio);
}

/** g(x) of the header with decaying exponentials only. */
function emptyShare(x: number, buffer: number): number {
  if (x === 0) return 1 / (buffer + 1);
  return x < 0
    ? Math.expm1(x) / Math.expm1((buffer + 1) * x)
    : Math.exp(-buffer * x) * (Math.expm1(-x) / Math.expm1(-(buffer + 1) * x));
}

/** The left side of the header's equation for y > 0. */
function slopeBalance(y: number, buffer: number): number {
  if ((buffer + 1) * y < 1) {
    const u = buffer / 2 + bernoulli(y) - (buffer + 1) * bernoulli((buffer + 1) * y);
    return buffer * y + Math.log(u) - Math.log(buffer - u);
  }
  const scaled = -1 / Math.expm1(-y) + ((buffer + 1) * Math.exp(-buffer * y)) / Math.expm1(-(buffer + 1) * y);
  const u = Math.exp(-y) * scaled;
  return (buffer - 1) * y + Math.log(scaled) - Math.log(buffer - u);
}

/** 1/(e^y − 1) − 1/y + 1/2 for 0 ≤ y ≤ 1, where the three terms nearly cancel; the last term kept is below 10⁻¹⁶. */
function bernoulli(y: number): number {
  const q = y * y;
  return (
    y *
    (1 / 12 -
      q *
        (1 / 720 -
          q * (1 / 30240 - q * (1 / 1209600 - q * (1 / 47900160 - q * (691 / 1307674368000 - q * (1 / 74724249600)))))))
  );
}
