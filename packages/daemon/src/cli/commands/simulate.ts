import { existsSync } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import {
  type Aims,
  type Budget,
  type Split,
  type Trace,
  firstEvent,
  kinOf,
  lastEvent,
  policies,
  probesAllowed,
  sitePrefix,
  splitTrace,
  traceOf,
} from '@revisit/core';
import { type Compared, bound, boundSentence, comparePolicy } from '../../lab/compare.ts';
import { type BudgetRun, comparisonHtml, shortSentence } from '../../lab/comparison-report.ts';
import { historyOf } from '../../lab/lab.ts';
import { type ImportanceFile, type Read, readImportanceFile, readTrace } from '../../lab/trace-file.ts';
import { noFolder } from '../client.ts';
import { example, jsonOption } from '../options.ts';
import { type CommandOutcome, counted, done, failed, note, print, printJson, wrong } from '../outcome.ts';
import type { Runner } from '../program.ts';
import { progress } from '../progress.ts';
import { table } from '../table.ts';
import { codeOf, unwritable } from '../unwritable.ts';

interface SimulateOptions {
  readonly trace?: string;
  readonly data?: string;
  readonly train?: string;
  readonly test?: string;
  readonly budget: string;
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

interface Asked {
  /** Undefined: as the source of the trace has it. */
  readonly trainSeconds: number | undefined;
  readonly testSeconds: number | undefined;
  readonly budgets: readonly { readonly text: string; readonly budget: Budget }[];
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

function budgetOf(text: string): Budget | undefined {
  const match = /^(\d+(?:\.\d+)?(?:e-?\d+)?)\/(page\/day|change)$/.exec(text);
  const looks = match ? Number(match[1]) : 0;
  if (!match || !(looks > 0)) return undefined;
  return { kind: match[2] === 'change' ? 'per-change' : 'per-page-day', looks };
}

/** Checks every word of the call before anything is read or run. */
async function asked(options: SimulateOptions): Promise<Read<Asked>> {
  const bad = (sentence: string) => ({ kind: 'wrong', sentence }) as const;
  const trainSeconds = options.train === undefined ? undefined : (spanOf(options.train) ?? 0);
  if (trainSeconds === 0) return bad(`--train ${options.train}: a length of time above 0 such as 730d is expected`);
  const testSeconds = options.test === undefined ? undefined : (spanOf(options.test) ?? 0);
  if (testSeconds === 0) return bad(`--test ${options.test}: a length of time above 0 such as 365d is expected`);
  const spacingSeconds = options.spacing === '0' ? 0 : spanOf(options.spacing);
  if (spacingSeconds === undefined)
    return bad(`--spacing ${options.spacing}: a length of time such as 10s is expected`);
  const budgets: { text: string; budget: Budget }[] = [];
  for (const text of options.budget.split(',')) {
    const budget = budgetOf(text);
    if (!budget) return bad(`--budget ${text}: R/page/day or R/change with R above 0 is expected`);
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

/** The trace of a file, or of a data folder's own changes. */
async function traceFrom(options: SimulateOptions): Promise<Read<Trace> | CommandOutcome> {
  if ((options.trace === undefined) === (options.data === undefined))
    return { kind: 'wrong', sentence: '--trace FILE or --data DIR is expected, and not both' };
  if (options.trace !== undefined) {
    const read = await readTrace(options.trace);
    return read.kind === 'wrong' ? { kind: 'wrong', sentence: `--trace ${read.sentence}` } : read;
  }
  if (!existsSync(options.data!)) return { kind: 'wrong', sentence: noFolder(options.data!) };
  // Opening would make a database, in whatever folder was named by mistake.
  if (!existsSync(join(options.data!, 'revisit.db')))
    return {
      kind: 'wrong',
      sentence: `--data ${options.data}: is no data folder of revisit; there is no revisit.db in it`,
    };
  const { openFolder, readBeside } = await import('../../folder.ts');
  const taken = openFolder(options.data!);
  // What a daemon has seen so far can be read beside it.
  const folder = taken.kind === 'held' ? readBeside(options.data!, taken.sentence) : taken;
  if (folder.kind !== 'opened') return failed(folder.sentence);
  const { names, events } = await historyOf(folder.store);
  await folder.close();
  if (events.length === 0) return { kind: 'wrong', sentence: `--data ${options.data}: no change has been seen yet` };
  return {
    kind: 'read',
    value: traceOf(events.map(([page, seconds]) => [names[page]!, Math.floor(seconds)] as const)),
  };
}

/** What is learned from and what is scored: as asked; of a file years, of a collection's own history two thirds and the rest. */
function spansOf(call: Asked, trace: Trace, own: boolean): readonly [train: number, test: number] {
  const all = lastEvent(trace) - firstEvent(trace);
  const test =
    call.testSeconds ?? (!own ? 365 * 86_400 : call.trainSeconds === undefined ? all / 3 : all - call.trainSeconds);
  return [call.trainSeconds ?? (own ? Math.max(0, all - test) : 730 * 86_400), test];
}

/** What is asked of a collection's own history, and that has not lasted as long. */
function tooShort({ trainSeconds = 0 }: Asked, options: SimulateOptions, trace: Trace): string | undefined {
  const all = lastEvent(trace) - firstEvent(trace);
  return options.data === undefined || options.test !== undefined || trainSeconds < all
    ? undefined
    : `--train ${options.train}: the history has lasted ${lengthOf(all)}, and nothing of it is left to test; a shorter time is expected`;
}

/** A length of time in the words of the options. */
function lengthOf(seconds: number): string {
  const [unit, size] = Object.entries(unitSeconds).findLast(
    ([name, size]) => 'smhd'.includes(name) && seconds >= size,
  ) ?? ['s', 1];
  return `${+(seconds / size).toPrecision(3)}${unit}`;
}

async function writeProbes(file: string, split: Split, compared: readonly Compared[]): Promise<void> {
  const out = await open(file, 'w');
  await out.write('policy,source,unix_seconds\n');
  for (const { policy, log } of compared) {
    let lines: string[] = [];
    for (let i = 0; i < log.length; i++) {
      const name = split.names[log.page(i)]!;
      lines.push(`${policy},${/[",\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name},${log.at(i)}\n`);
      if (lines.length === 50_000 || i === log.length - 1) {
        await out.write(lines.join(''));
        lines = [];
      }
    }
  }
  await out.close();
}

function resultOf({ policy, score, seconds, knob, runs, reliability }: Compared): Record<string, unknown> {
  const { delays: _delays, ...rest } = score;
  const future = policy === bound ? { knowsTheTest: true } : {};
  return { policy, ...future, ...rest, seconds, knob, runs, ...(reliability ? { reliability } : {}) };
}

function shown(split: Split, runs: readonly BudgetRun[]): string {
  const head = ['policy', 'probes', 'changes', 'mean delay h', 'freshness', 'hit rate', 'obsolescence', 'seconds'];
  const parts = runs.map((run) => {
    const rows = run.compared.map(({ policy, score, seconds }) => [
      policy === bound ? `${bound} *` : policy,
      String(score.probes),
      String(score.changes),
      score.meanDelayHours.toPrecision(4),
      score.freshness.toFixed(4),
      score.hitRate.toFixed(4),
      score.obsolescence.toPrecision(5),
      seconds.toFixed(1),
    ]);
    return `budget ${run.budget}: ${counted(run.allowed, 'probe')} over ${counted(split.names.length, 'page')}\n\n${table(head, rows)}`;
  });
  if (runs.some(({ compared }) => compared.some(({ policy }) => policy === bound))) parts.push(`* ${boundSentence}`);
  return parts.join('\n\n');
}

async function simulate(options: SimulateOptions): Promise<CommandOutcome> {
  const call = await asked(options);
  if (call.kind === 'wrong') return wrong(call.sentence);
  const trace = await traceFrom(options);
  if ('code' in trace) return trace;
  if (trace.kind === 'wrong') return wrong(trace.sentence);
  const { budgets, names, learn, loss, spacingSeconds, importance } = call.value;
  const [trainSeconds, testSeconds] = spansOf(call.value, trace.value, options.data !== undefined);
  const short = tooShort(call.value, options, trace.value);
  if (short !== undefined) return wrong(short);
  const split = splitTrace(trace.value, trainSeconds, testSeconds);
  if (split.names.length === 0 || split.trainStart >= split.testStart || split.testEnd <= split.testStart)
    return wrong(
      `--test ${options.test ?? lengthOf(testSeconds)}: no source changed before the test begins; a shorter test or a longer ${options.data === undefined ? 'trace' : 'history'} is expected`,
    );
  const kin = kinOf(split.names, options.siteOf === 'all' ? () => '' : sitePrefix);
  const weights =
    importance?.kind === 'pages'
      ? Float64Array.from(split.names, (name) => importance.weightOf.get(name) ?? 1)
      : undefined;

  const bar = progress('simulate', 100);
  const runs: BudgetRun[] = [];
  for (const [b, { text, budget }] of budgets.entries()) {
    const allowed = probesAllowed(split, budget);
    if (allowed < 1) return wrong(`--budget ${text}: not one probe in the whole test; more is expected`);
    const given = {
      split,
      kin,
      allowed,
      learn,
      loss,
      spacingSeconds,
      ...(importance?.kind === 'times' ? { importance: importance.importance } : {}),
      ...(weights ? { weights } : {}),
    };
    const compared = names.map((name, i) => {
      const say = (share: number): void =>
        bar.to((100 * (b + (i + share) / names.length)) / budgets.length, `${name} at ${text}`);
      return comparePolicy(name, given, say, () => performance.now());
    });
    runs.push({ budget: text, allowed, compared });
  }
  bar.end();
  const unwritten: string[] = [];
  const write = async (option: string, file: string | undefined, writing: (file: string) => Promise<void>) => {
    if (file === undefined) return;
    try {
      await writing(file);
    } catch (error) {
      unwritten.push(`${option} ${file}: cannot be written (${codeOf(error)})`);
    }
  };
  await write('--probes-out', options.probesOut, (file) => writeProbes(file, split, runs[0]!.compared));
  await write('--report', options.report, (file) =>
    writeFile(file, comparisonHtml(`Policies on ${options.trace ?? options.data}`, split, runs)),
  );
  if (options.json) printJson(jsonOf(split, learn, runs));
  else print(shown(split, runs));
  for (const run of runs) {
    const sentence = shortSentence(run);
    if (sentence !== undefined) note(sentence);
  }
  // After the result: what took an hour to work out is not lost with a full disk.
  return unwritten.length > 0 ? failed(unwritten.join('; ')) : done;
}

function jsonOf(split: Split, learn: string, runs: readonly BudgetRun[]): Record<string, unknown> {
  const body = ({ budget, allowed, compared }: BudgetRun) => ({ budget, allowed, policies: compared.map(resultOf) });
  return {
    trainStart: split.trainStart,
    testStart: split.testStart,
    testEnd: split.testEnd,
    pages: split.names.length,
    expectedChanges: split.expectedChanges,
    learn,
    ...(runs.length === 1 ? body(runs[0]!) : { budgets: runs.map(body) }),
  };
}

export function registerSimulate(program: Command, run: Runner): void {
  const command = program
    .command('simulate')
    .description('policies against a recorded trace, each with the same number of probes')
    .option(
      '--trace <file>',
      'source,unix_seconds as .csv or .csv.gz, or the 14-week crawl set’s urlid_offset_history (id, offset and [[gap_days, changed], …] between tabs); - for stdin',
    )
    .option('--data <folder>', 'replay this collection’s own changes instead, also while its daemon runs')
    .option('--train <time>', 'what is learned from, before the test (730d; with --data two thirds of the history)')
    .option('--test <time>', 'what is scored; it ends with the last event (365d; with --data what is left)')
    .option('--budget <list>', 'probes as R/page/day or R/change; several for curves', '0.1/page/day')
    .option('--policies <list>', 'by name, or "all"', 'uniform,lambdacrawl,revisit')
    .option('--bound', 'add a row for the plan that knows how often each page will change in the test')
    .option('--learn <how>', 'see training through probes, or know its events', 'probes')
    .option('--loss <what>', 'what revisit is to keep small: obsolescence or staleness', 'obsolescence')
    .option(
      '--importance <file>',
      'hours of the week that count more (JSON), or a weight for each source (source,weight, or urlid_imp)',
    )
    .option('--spacing <time>', 'least time between two probes of one site', '0')
    .option('--site-of <how>', 'what one site is: prefix (up to the first slash) or all', 'prefix')
    .option('--probes-out <file>', 'write policy,source,unix_seconds of every probe in the test')
    .option('--report <file>', 'write an HTML report with plots');
  jsonOption(command);
  example(
    command,
    'revisit simulate --trace pages.csv.gz --train 365d --test 180d --budget 30/change --policies uniform,lambdacrawl,revisit --report report.html',
  );
  command.action(run(simulate));
}
