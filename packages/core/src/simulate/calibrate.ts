/**
 * Brings a policy to the budget: its knob is turned until the test uses 99 to 100 % of the probes allowed.
 *
 * Looks fall in the knob for interval policies (a scale on intervals) and rise in it for those that are told a budget;
 * both are nearly a power of it, so the search is a secant in logarithms within a bracket. Some rules jump over the mark
 * (their intervals sit at bounds); then the largest run below the allowance stands, and the caller is told the share. Where that
 * would leave more than half unused, as when few looks are allowed and all pages come due at once, the least eager run above it
 * stands, cut off where the allowance ends.
 */
import type { Replay } from './replay.ts';

export interface Calibrated {
  readonly replay: Replay;
  readonly knob: number;
  /** Runs it took. */
  readonly runs: number;
}

/**
 * A run that wants k of N looks more than it gets ends before the test does, by about k/N of its time T, and what changes then
 * waits for the end: that adds (k/N)^2 T/2 to the mean delay, of which one page looked at evenly has T/2N. With k a tenth of the
 * root of N it is a hundredth of that.
 */
const overRoots = 0.1;
/** Where no run keeps to that, one that wants so much more stands: rules that hear what is left end a few looks early at any knob. */
const overMost = 1.003;
const under = 0.99;
/** A run that uses less is worse off than one that ends early. */
const usedLeast = 0.5;
const runsMax = 14;
/** After so many runs on one side of the mark each step is twice as far: a rule whose looks hardly follow its knob is not near it. */
const farFrom = 4;

export function calibrate(
  allowed: number,
  run: (knob: number) => Replay,
  options: { readonly start: number; readonly rises: boolean },
): Calibrated {
  const sign = options.rises ? 1 : -1;
  let low: Point | undefined;
  let high: Point | undefined;
  let best: Calibrated | undefined;
  /** The least eager that wants more than it gets. */
  let early: Calibrated | undefined;
  let x = Math.log(options.start);
  for (let runs = 1; runs <= runsMax; runs++) {
    const knob = Math.exp(x);
    const replay = run(knob);
    const share = replay.wanted / Math.max(1, allowed);
    const good = replay.wanted <= allowed + Math.max(1, overRoots * Math.sqrt(allowed));
    if (good && (!best || replay.log.length > best.replay.log.length)) best = { replay, knob, runs };
    if (good && share >= under) return { ...best!, runs };
    if (!good && (!early || replay.wanted < early.replay.wanted)) early = { replay, knob, runs };
    const point = { x, y: Math.log(Math.max(share, 1e-6) / 0.997) };
    if (point.y > 0) high = point;
    else low = point;
    x = nextKnob(x, point.y * 2 ** Math.max(0, runs - farFrom), sign, low, high);
    if (low && high && Math.abs(low.x - high.x) < 1e-7) break;
  }
  const used = (best?.replay.log.length ?? 0) / Math.max(1, allowed);
  const close = early && early.replay.wanted <= overMost * allowed;
  if (early && (close ? used < under : used < usedLeast)) return { ...early, runs: runsMax };
  return best ?? { replay: run(Math.exp(x - sign * 3)), knob: Math.exp(x - sign * 3), runs: runsMax };
}

interface Point {
  readonly x: number;
  readonly y: number;
}

function nextKnob(x: number, y: number, sign: number, low?: Point, high?: Point): number {
  if (!low || !high) return x - sign * Math.max(-4, Math.min(4, 1.1 * y));
  const slope = (high.y - low.y) / (high.x - low.x);
  const secant = low.x - low.y / slope;
  const share = (secant - low.x) / (high.x - low.x);
  // A secant that hugs one end converges slowly; keep a tenth away from both.
  return low.x + (high.x - low.x) * Math.max(0.1, Math.min(0.9, share));
}
