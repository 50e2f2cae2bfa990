/**
 * What a look captures of a page that changes at a steady rate λ, w after the last look (WIC's g in continuous time):
 *
 *   g(w) = ∫_0^w λ · urgency(x) · life(x) dx,
 *
 * and the wait after which it has reached a given worth. Closed forms where urgency × life is a factor per unit of time up to
 * an edge (append, overwrite, windows; uniform, decay), Simpson's rule otherwise. g never falls and may stay below any
 * worth: then the wait is infinite.
 */
import { type Life, type Urgency, lifeAfter, urgencyAt } from './utility.ts';

export interface CaptureLaw {
  readonly life: Life;
  readonly urgency: Urgency;
}

interface Factor {
  /** urgency × life = e^(−fall · x) up to `edge`, 0 after it. */
  readonly fall: number;
  readonly edge: number;
}

function factorOf({ life, urgency }: CaptureLaw, rate: number): Factor | undefined {
  if (urgency.kind === 'polynomial' || (life.kind === 'changes' && life.count > 1)) return undefined;
  const forget = life.kind === 'overwrite' || life.kind === 'changes' ? rate : 0;
  const fade = urgency.kind === 'decay' ? -Math.log(urgency.rate) : 0;
  const edges = [life, urgency].map((law) => (law.kind === 'window' ? law.width : Infinity));
  return { fall: forget + fade, edge: Math.min(...edges) };
}

export function captured(law: CaptureLaw, rate: number, wait: number): number {
  const factor = factorOf(law, rate);
  if (!factor) return bySimpson(law, rate, wait);
  const span = Math.min(wait, factor.edge);
  if (factor.fall === Infinity) return 0;
  return factor.fall * span < 1e-9 ? rate * span : (rate * -Math.expm1(-factor.fall * span)) / factor.fall;
}

/** The wait after which a look captures `worth`. */
export function waitFor(law: CaptureLaw, rate: number, worth: number): number {
  if (!(rate > 0)) return Infinity;
  const factor = factorOf(law, rate);
  if (!factor) return byBisection(law, rate, worth);
  const share = (worth * factor.fall) / rate;
  if (share >= 1) return Infinity;
  const wait = share < 1e-9 ? worth / rate : -Math.log1p(-share) / factor.fall;
  return wait <= factor.edge ? wait : Infinity;
}

const panels = 64;

function bySimpson({ life, urgency }: CaptureLaw, rate: number, wait: number): number {
  // Panels that widen with the delay: x = wait · u², so that the steep beginning is seen.
  const at = (u: number) => {
    const x = wait * u * u;
    return urgencyAt(urgency, x) * lifeAfter(life, x, rate * x) * 2 * wait * u;
  };
  let sum = at(0) + at(1);
  for (let n = 1; n < panels; n++) sum += (n % 2 === 1 ? 4 : 2) * at(n / panels);
  return (rate * sum) / (3 * panels);
}

function byBisection(law: CaptureLaw, rate: number, worth: number): number {
  let high = worth / rate;
  for (let n = 0; bySimpson(law, rate, high) < worth; n++) {
    if (n === 60) return Infinity;
    high *= 2;
  }
  let low = 0;
  for (let n = 0; n < 40; n++) {
    const middle = (low + high) / 2;
    if (bySimpson(law, rate, middle) < worth) low = middle;
    else high = middle;
  }
  return high;
}
