/** What was asked of `revisit simulate`, word by word. */
import { type Aims, type Budget, type Trace, bound, firstEvent, lastEvent, policies } from '@revisit/core';
import { type ImportanceFile, type Read, readImportanceFile } from '../lab/trace-file.ts';
import { unwritable } from './unwritable.ts';

export interface SimulateOptions {
  readonly trace?: string;
  readonly data?: string;
  readonly train?: string;
  readonly test?: string;
  readonly budget?: string;
  readonly policies: string;
  readonly bound?: boolean;
  readonly learn: string;
  readonly loss: string;
  readonly importance?: string;
  readonly spacing: string;
  readonly siteOf: string;
  readonly probesOut?: string;
  readonly report?: string;
  readonly json?: boolean;
}

/** Looks of its own, or so many times those that the collection itself made. */
export type AskedBudget = {
  readonly text: string;
  readonly budget: Budget | { readonly kind: 'own'; readonly times: number };
};

export interface Asked {
  /** Undefined: as the source of the trace has it. */
  readonly trainSeconds: number | undefined;
  readonly testSeconds: number | undefined;
  readonly budgets: readonly AskedBudget[];
  readonly names: readonly string[];
  readonly learn: 'probes' | 'events';
  readonly loss: NonNullable<Aims['loss']>;
  readonly spacingSeconds: number;
  readonly importance?: ImportanceFile;
}

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800, y: 31_536_000 };

/** A length of time such as 730d or 12h, in seconds. */
function spanOf(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*([smhdwy])$/.exec(text);
  return match ? Number(match[1]) * unitSeconds[match[2]!]! : undefined;
}

function budgetOf(text: string): AskedBudget['budget'] | undefined {
  const match = /^(\d+(?:\.\d+)?(?:e-?\d+)?)(x|\/page\/day|\/change)$/.exec(text);
  const looks = match ? Number(match[1]) : 0;
  if (!match || !(looks > 0 && looks < Infinity)) return undefined;
  if (match[2] === 'x') return { kind: 'own', times: looks };
  return { kind: match[2] === '/change' ? 'per-change' : 'per-page-day', looks };
}

/** What is compared where no budget was given. */
const usualBudget = ({ data }: SimulateOptions): string => (data === undefined ? '0.1/page/day' : '1x');

/** Checks every word of the call before anything is read or run. */
export async function asked(options: SimulateOptions): Promise<Read<Asked>> {
  const bad = (sentence: string) => ({ kind: 'wrong', sentence }) as const;
  const trainSeconds = options.train === undefined ? undefined : (spanOf(options.train) ?? 0);
  if (trainSeconds === 0) return bad(`--train ${options.train}: a length of time above 0 such as 730d is expected`);
  const testSeconds = options.test === undefined ? undefined : (spanOf(options.test) ?? 0);
  if (testSeconds === 0) return bad(`--test ${options.test}: a length of time above 0 such as 365d is expected`);
  const spacingSeconds = options.spacing === '0' ? 0 : spanOf(options.spacing);
  if (spacingSeconds === undefined)
    return bad(`--spacing ${options.spacing}: a length of time such as 10s is expected`);
  const budgets: AskedBudget[] = [];
  for (const text of (options.budget ?? usualBudget(options)).split(',')) {
    const budget = budgetOf(text);
    if (!budget)
      return bad(
        `--budget ${text}: R/page/day or R/change with R above 0 is expected, or with --data a multiple such as 2x`,
      );
    if (budget.kind === 'own' && options.data === undefined)
      return bad(
        `--budget ${text}: is a multiple of a collection’s own looks, for --data only; R/page/day or R/change is expected`,
      );
    budgets.push({ text, budget });
  }
  const names = options.policies === 'all' ? Object.keys(policies) : [...new Set(options.policies.split(','))];
  const unknown = names.find((name) => !Object.hasOwn(policies, name));
  if (unknown !== undefined)
    return bad(`--policies ${unknown}: is not known; known policies are ${Object.keys(policies).join(', ')}`);
  if (options.bound) names.push(bound);
  const { learn, loss } = options;
  if (learn !== 'probes' && learn !== 'events') return bad(`--learn ${learn}: probes or events is expected`);
  if (loss !== 'obsolescence' && loss !== 'staleness')
    return bad(
      `--loss ${loss}: obsolescence (how long changes go unseen) or staleness (how long copies are old) is expected`,
    );
  if (options.siteOf !== 'prefix' && options.siteOf !== 'all')
    return bad(`--site-of ${options.siteOf}: prefix (up to the first slash) or all (one site) is expected`);
  if (options.probesOut !== undefined && budgets.length > 1)
    return bad(`--probes-out ${options.probesOut}: one budget is expected with it, not ${budgets.length}`);
  for (const [option, file] of [
    ['--probes-out', options.probesOut],
    ['--report', options.report],
  ] as const) {
    const sentence = file === undefined ? undefined : unwritable(option, file);
    if (sentence !== undefined) return bad(sentence);
  }
  const base = { trainSeconds, testSeconds, budgets, names, learn, loss, spacingSeconds } as const;
  if (options.importance === undefined) return { kind: 'read', value: base };
  const importance = await readImportanceFile(options.importance);
  return importance.kind === 'wrong' ? importance : { kind: 'read', value: { ...base, importance: importance.value } };
}

/** What is learned from and what is scored: as asked; of a file years, of a collection's own history two thirds and the rest. */
export function spansOf(call: Asked, trace: Trace, own: boolean): readonly [train: number, test: number] {
  const all = lastEvent(trace) - firstEvent(trace);
  const test =
    call.testSeconds ?? (!own ? 365 * 86_400 : call.trainSeconds === undefined ? all / 3 : all - call.trainSeconds);
  return [call.trainSeconds ?? (own ? Math.max(0, all - test) : 730 * 86_400), test];
}

/** What is asked of a collection's own history, and that has not lasted as long. */
export function tooShort({ trainSeconds = 0 }: Asked, options: SimulateOptions, trace: Trace): string | undefined {
  const all = lastEvent(trace) - firstEvent(trace);
  return options.data === undefined || options.test !== undefined || trainSeconds < all
    ? undefined
    : `--train ${options.train}: the history has lasted ${lengthOf(all)}, and nothing of it is left to test; a shorter time is expected`;
}

/** A length of time in the words of the options. */
export function lengthOf(seconds: number): string {
  const [unit, size] = Object.entries(unitSeconds).findLast(
    ([name, size]) => 'smhd'.includes(name) && seconds >= size,
  ) ?? ['s', 1];
  return `${+(seconds / size).toPrecision(3)}${unit}`;
}
