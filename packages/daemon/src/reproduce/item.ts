/** One table or figure of a paper, recomputed: what the paper says, what came out here, and whether the two agree. */
import { type Random, random, solve } from '@revisit/core';

export const papers = {
  brewington: 'Brewington 1999, Optimal observation',
  eckstein: 'Eckstein, Gal and Reiner 2005, Polite monitoring',
  wic: 'Pandey, Dhamdhere and Olston 2004, WIC',
  talim: 'Talim et al. 1998, The number of robots',
  czumaj: 'Czumaj et al. 2001, Temporal factors',
  open: 'Open questions',
} as const;
export type Paper = keyof typeof papers;

export interface Check {
  /** What the paper reports, in its numbers or words. */
  readonly paper: string;
  readonly ours: string;
  readonly agrees: boolean;
}

export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
  readonly draw?: 'line' | 'dots' | 'steps';
}

export interface Plot {
  readonly title: string;
  readonly x: string;
  readonly y: string;
  readonly series: readonly Series[];
  /** The part of the vertical axis that is shown, where the whole would hide what matters. */
  readonly yMax?: number;
  /** The part of the horizontal axis that is shown; otherwise what the points take. */
  readonly xRange?: readonly [number, number];
  /** Names of the rows [0, 1), [1, 2) …, in place of numbers at the vertical axis. */
  readonly rowNames?: readonly string[];
  readonly logX?: boolean;
  readonly logY?: boolean;
}

export interface DataTable {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

export interface Findings {
  readonly checks: readonly Check[];
  /** What a reader of the paper must know: a misprint, data that are not public, a claim that needs a condition. */
  readonly remark?: string;
  readonly tables?: readonly DataTable[];
  readonly plots?: readonly Plot[];
}

export interface Context {
  /** Recorded traces by name, where a folder of them was given. */
  readonly trace: (name: string) => readonly (readonly [source: string, seconds: number])[] | undefined;
  readonly luck: (name: string) => Random;
}

export interface Item {
  readonly id: string;
  readonly paper: Paper;
  readonly title: string;
  /** Seconds it takes on one core, about; the progress bar moves by it. */
  readonly seconds: number;
  run(context: Context): Findings;
}

export type Verdict = 'holds' | 'holds with a remark' | 'does not hold';

export function verdictOf(findings: Findings): Verdict {
  // Nothing checked is nothing shown.
  if (findings.checks.length === 0 || !findings.checks.every((check) => check.agrees)) return 'does not hold';
  return findings.remark === undefined ? 'holds' : 'holds with a remark';
}

/** Each item draws from its own numbers, so that one can be run alone and give the same. */
export function luckOf(name: string): Random {
  let hash = 2_166_136_261;
  for (const letter of name) hash = Math.imul(hash ^ letter.charCodeAt(0), 16_777_619) >>> 0;
  return random(hash);
}

/** The public door of the library: what an item asks, anyone can ask with `revisit solve`. */
export function solved(problem: Record<string, unknown>): Record<string, unknown> {
  const outcome = solve(problem);
  if (outcome.kind === 'refused') throw new Error(outcome.sentence);
  return outcome.solution;
}

export const near = (ours: number, paper: number, tolerance: number): boolean => Math.abs(ours - paper) <= tolerance;

export function numberCheck(what: string, paper: number, ours: number, tolerance: number): Check {
  const digits = Math.max(0, Math.ceil(-Math.log10(tolerance)));
  return { paper: `${what} = ${paper}`, ours: ours.toFixed(digits), agrees: near(ours, paper, tolerance) };
}

export function claim(paper: string, agrees: boolean, ours: string): Check {
  return { paper, agrees, ours };
}
