import { existsSync } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import {
  type Split,
  type Trace,
  bound,
  kinOf,
  looksMost,
  looksSimulatedMax,
  probesAllowed,
  sitePrefix,
  splitTrace,
} from '@revisit/core';
import { type Compared, boundSentence, comparePolicy } from '../../lab/compare.ts';
import { type BudgetRun, comparisonHtml, shortSentence } from '../../lab/comparison-report.ts';
import { type Conditions, aimOf, leftOutSentence, originSentence, ownLooksSentence } from '../../lab/conditions.ts';
import { delayColumn } from '../../lab/delay-column.ts';
import { nowAndThen } from '../../lab/now-and-then.ts';
import { type OwnHistory, ownHistory } from '../../lab/own-history.ts';
import { type Read, readTrace } from '../../lab/trace-file.ts';
import { noFolder } from '../client.ts';
import { example, jsonOption } from '../options.ts';
import { type CommandOutcome, counted, done, failed, note, print, printJson, wrong } from '../outcome.ts';
import type { Runner } from '../program.ts';
import { progress } from '../progress.ts';
import { table } from '../table.ts';
import { type Asked, type SimulateOptions, asked, lengthOf, spansOf, tooShort } from '../simulate-call.ts';
import { codeOf } from '../unwritable.ts';

/** What is replayed; of a collection also what it is and did. */
interface Source {
  readonly trace: Trace;
  readonly watched?: OwnHistory['watched'];
  readonly looksIn?: OwnHistory['looksIn'];
  close(): Promise<void>;
}

/** The trace of a file, or of a data folder's own changes. */
async function sourceOf(options: SimulateOptions): Promise<Read<Source> | CommandOutcome> {
  if ((options.trace === undefined) === (options.data === undefined))
    return { kind: 'wrong', sentence: '--trace FILE or --data DIR is expected, and not both' };
  if (options.trace !== undefined) {
    const read = await readTrace(options.trace);
    return read.kind === 'wrong'
      ? { kind: 'wrong', sentence: `--trace ${read.sentence}` }
      : { kind: 'read', value: { trace: read.value, close: () => Promise.resolve() } };
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
  const own = await ownHistory(folder.store);
  if (own) return { kind: 'read', value: { ...own, close: () => folder.close() } };
  await folder.close();
  return { kind: 'wrong', sentence: `--data ${options.data}: no change has been seen yet` };
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
  const parts = runs.map((run) => {
    const delay = delayColumn(run.compared.map(({ score }) => score.meanDelayHours));
    const head = [
      'policy',
      'probes',
      'changes',
      `mean delay ${delay.unit}`,
      'freshness',
      'hit rate',
      'obsolescence',
      'seconds',
    ];
    const rows = run.compared.map(({ policy, score, seconds }) => [
      policy === bound ? `${bound} *` : policy,
      String(score.probes),
      String(score.changes),
      delay.shown(score.meanDelayHours),
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

interface Prepared {
  readonly split: Split;
  /** Of each budget how many probes it comes to. */
  readonly allowed: readonly number[];
  readonly leftOut: number;
  /** Where a budget is a multiple of them. */
  readonly ownLooks: number | undefined;
}

function expectedIn({ expectedChanges }: Split): string {
  if (expectedChanges === 0) return 'no change';
  return `${Number(expectedChanges.toPrecision(2))} changes`;
}

/** A budget that comes to one probe at least: one a change where changes are expected, otherwise one a page. */
function enough({ expectedChanges, testStart, testEnd }: Split): string {
  if (expectedChanges >= 1) return '1/change';
  const perDay = 86_400 / (testEnd - testStart);
  const digit = 10 ** Math.floor(Math.log10(perDay));
  return `${Number((digit * Math.ceil(perDay / digit)).toPrecision(1))}/page/day`;
}

async function prepared(options: SimulateOptions, call: Asked, source: Source): Promise<Read<Prepared>> {
  const bad = (sentence: string) => ({ kind: 'wrong', sentence }) as const;
  const { trace, watched = trace.names.length } = source;
  const own = options.data !== undefined;
  const { importance } = call;
  if (importance?.kind === 'pages' && trace.names.every((name) => importance.weightOf.get(name) === 0))
    return bad(`--importance ${options.importance}: every weight is 0; one above 0 at least is expected`);
  if (importance?.kind === 'pages' && !trace.names.some((name) => importance.weightOf.has(name))) {
    const [first] = importance.weightOf.keys();
    return bad(
      `--importance ${options.importance}: names none of the ${own ? 'pages' : 'trace’s sources'}, only such as ${JSON.stringify(first)}; rows of source,weight with names such as ${JSON.stringify(trace.names[0])} are expected`,
    );
  }
  const [trainSeconds, testSeconds] = spansOf(call, trace, own);
  const short = tooShort(call, options, trace);
  if (short !== undefined) return bad(short);
  const split = splitTrace(trace, trainSeconds, testSeconds);
  if (split.names.length === 0 || split.trainStart >= split.testStart || split.testEnd <= split.testStart)
    return bad(
      `--test ${options.test ?? lengthOf(testSeconds)}: no source changed before the test begins; a shorter test or a longer ${own ? 'history' : 'trace'} is expected`,
    );
  const allowed: number[] = [];
  let ownLooks: number | undefined;
  for (const { text, budget } of call.budgets) {
    if (budget.kind === 'own') ownLooks ??= await source.looksIn!(split.names, split.testStart, split.testEnd);
    allowed.push(budget.kind === 'own' ? Math.floor(budget.times * ownLooks!) : probesAllowed(split, budget));
    if (allowed.at(-1)! < 1) {
      const given = options.budget === undefined ? `${text} (as none was given)` : text;
      const why =
        budget.kind === 'own'
          ? `: the collection made ${Math.round(ownLooks!)} at these pages in that time`
          : budget.kind === 'per-change'
            ? `: the time to learn from leads one to expect ${expectedIn(split)} there`
            : '';
      return bad(
        `--budget ${given}: not one probe in the whole test${why}; a budget such as ${enough(split)} is expected`,
      );
    }
  }
  const most = looksMost(split);
  const tooMany = allowed.findIndex((looks) => Math.min(looks, most) > looksSimulatedMax);
  if (tooMany >= 0)
    return bad(
      `--budget ${call.budgets[tooMany]!.text}: ${Math.min(allowed[tooMany]!, most).toLocaleString('en')} probes in the test; ${looksSimulatedMax.toLocaleString('en')} at most are simulated: a smaller budget or a shorter test is expected`,
    );
  return { kind: 'read', value: { split, allowed, leftOut: Math.max(0, watched - split.names.length), ownLooks } };
}

async function simulate(options: SimulateOptions): Promise<CommandOutcome> {
  const call = await asked(options);
  if (call.kind === 'wrong') return wrong(call.sentence);
  const source = await sourceOf(options);
  if ('code' in source) return source;
  if (source.kind === 'wrong') return wrong(source.sentence);
  const ready = await prepared(options, call.value, source.value);
  await source.value.close();
  if (ready.kind === 'wrong') return wrong(ready.sentence);
  const { split, leftOut, ownLooks } = ready.value;
  const { budgets, names, learn, loss, spacingSeconds, importance } = call.value;
  const conditions: Conditions = {
    learn,
    loss,
    spacingSeconds,
    siteOf: options.siteOf,
    leftOut,
    ...(options.data === undefined ? {} : { own: true }),
    ...(source.value.trace.dayZero === undefined ? {} : { dayZero: source.value.trace.dayZero }),
    ...(ownLooks === undefined ? {} : { ownLooks: Math.floor(ownLooks) }),
    ...(importance ? { importance: { file: options.importance!, kind: importance.kind } } : {}),
  };
  const kin = kinOf(split.names, options.siteOf === 'all' ? () => '' : sitePrefix);
  const weights =
    importance?.kind === 'pages'
      ? Float64Array.from(split.names, (name) => importance.weightOf.get(name) ?? 1)
      : undefined;

  const bar = progress('simulate', 100);
  const runs: BudgetRun[] = [];
  for (const [b, { text }] of budgets.entries()) {
    const allowed = ready.value.allowed[b]!;
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
      const say = nowAndThen(
        100,
        () => performance.now(),
        (share: number) => bar.to((100 * (b + (i + share) / names.length)) / budgets.length, `${name} at ${text}`),
      );
      say(0);
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
    writeFile(file, comparisonHtml(`Policies on ${options.trace ?? options.data}`, split, runs, conditions)),
  );
  if (options.json) printJson(jsonOf(split, conditions, runs));
  else {
    const said = [leftOutSentence(split, leftOut), ownLooksSentence(conditions)].filter((one) => one !== undefined);
    print([...(said.length > 0 ? [said.join('\n')] : []), shown(split, runs)].join('\n\n'));
  }
  const origin = originSentence(conditions);
  if (origin !== undefined) note(origin);
  for (const run of runs) {
    const sentence = shortSentence(run);
    if (sentence !== undefined) note(sentence);
  }
  // After the result: what took an hour to work out is not lost with a full disk.
  return unwritten.length > 0 ? failed(unwritten.join('; ')) : done;
}

function jsonOf(split: Split, conditions: Conditions, runs: readonly BudgetRun[]): Record<string, unknown> {
  const body = ({ budget, allowed, compared }: BudgetRun) => ({ budget, allowed, policies: compared.map(resultOf) });
  return {
    trainStart: split.trainStart,
    testStart: split.testStart,
    testEnd: split.testEnd,
    pages: split.names.length,
    expectedChanges: split.expectedChanges,
    ...conditions,
    notes: [originSentence(conditions)].filter((sentence) => sentence !== undefined),
    comparedBy: aimOf(conditions).name,
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
    .option(
      '--budget <list>',
      'probes as R/page/day or R/change, with --data also as a multiple such as 2x of the looks the collection itself made; several for curves (0.1/page/day; with --data 1x)',
    )
    .option('--policies <list>', 'by name, or "all"', 'uniform,lambdacrawl,revisit')
    .option('--bound', 'add a row for revisit told how often each page will change in the test')
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
