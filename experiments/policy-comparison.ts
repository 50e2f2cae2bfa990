/**
 * Every policy on every trace at 10, 30 and 100 probes per expected change: the figure of docs/learning.md.
 *
 *   npx node experiments/policy-comparison.ts TRACES CACHE.jsonl [--traces a,b] [--budgets 10,30,100] [--policies all]
 *       [--again revisit] [--without siblings,week] [--aims staleness,work-hours] [--evenly market] [--period 3600] [--seconds 240]
 *
 * A row a cell is added to the cache as soon as it is known, and cells found there are not run again but for the policies
 * named by --again, so after a change of `revisit` only `revisit` is run. `bound` is revisit told how
 * often each page will change in the test (simulate/bound.ts). --aims ask revisit for fresh copies instead of short delays, or to count Monday to
 * Friday 8 to 18 (UTC) three times; every row is scored for all three. --evenly market runs revisit as the daemon does, whose
 * requests leave evenly: by the market's prices, with nothing to borrow from quiet weeks but within --period seconds, which is that of the budget; --evenly feedback without the market. Ends after --seconds with what there is; call it again to go on.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import {
  type Aims,
  type Parts,
  type PolicyEntry,
  type Split,
  borrowingSeconds,
  bound,
  boundEntry,
  calibrate,
  kinOf,
  policies,
  probesAllowed,
  readTraceCsv,
  replay,
  scoreProbes,
  splitTrace,
} from '@revisit/core';

const day = 86_400;

interface Source {
  readonly file: string;
  readonly trainDays: number;
  readonly testDays: number;
  /** One source of the file only. */
  readonly only?: string;
}

const list = { file: 'feed-gitlist', trainDays: 540, testDays: 365 } as const;

export const sources: Readonly<Record<string, Source>> = {
  'docs-csswg': { file: 'docs-csswg', trainDays: 1095, testDays: 730 },
  'docs-peps': { file: 'docs-peps', trainDays: 1460, testDays: 730 },
  'docs-mdn': { file: 'docs-mdn', trainDays: 730, testDays: 365 },
  'gs-telegram-web': { file: 'gs-telegram-web', trainDays: 730, testDays: 365 },
  'gs-misc-a': { file: 'gs-misc-a', trainDays: 730, testDays: 365 },
  'gs-disaster': { file: 'gs-disaster', trainDays: 1000, testDays: 365 },
  'burst-7k': { file: 'burst-7k', trainDays: 47, testDays: 30 },
  'pkg-homebrew-cask': { file: 'pkg-homebrew-cask', trainDays: 365, testDays: 180 },
  'pkg-homebrew-core': { file: 'pkg-homebrew-core', trainDays: 365, testDays: 180 },
  'whatwg-html': { file: 'feed-whatwg-html', trainDays: 730, testDays: 365 },
  topics: { ...list, only: 'git-list/topics' },
  replies: { ...list, only: 'git-list/replies' },
  patches: { ...list, only: 'git-list/patches' },
  covers: { ...list, only: 'git-list/patch-series-cover' },
};

export interface Row {
  readonly trace: string;
  readonly budget: number;
  readonly policy: string;
  readonly delayHours: number;
  readonly freshness: number;
  /** The mean delay with working hours counted three times. */
  readonly workDelayHours: number;
  readonly probes: number;
  readonly allowed: number;
  readonly seconds: number;
}

/** Hours since a Monday 00:00 UTC. */
const weekHours = (t: number): number => (t - 4 * day) / 3600;

/** Working hours count three times. */
export function workHours(t: number): number {
  const hours = weekHours(t) % 168;
  return hours < 120 && hours % 24 >= 8 && hours % 24 < 18 ? 3 : 1;
}

export function workHoursUntil(t: number): number {
  const hours = weekHours(t);
  const days = Math.floor((hours % 168) / 24);
  const today = days < 5 ? Math.max(0, Math.min(10, (hours % 24) - 8)) : 0;
  return t + 2 * 3600 * (50 * Math.floor(hours / 168) + 10 * Math.min(5, days) + today);
}

export function aimsOf(words: readonly string[]): Aims {
  return {
    ...(words.includes('staleness') ? { loss: 'staleness' as const } : {}),
    ...(words.includes('work-hours') ? { importance: workHours } : {}),
  };
}

export function runCell(
  split: Split,
  name: string,
  looksPerChange: number,
  aims: Aims = {},
  market = false,
): Omit<Row, 'trace'> {
  const allowed = probesAllowed(split, { kind: 'per-change', looks: looksPerChange });
  const kin = kinOf(split.names);
  const entry: PolicyEntry = name === bound ? boundEntry(split) : policies[name]!;
  const started = performance.now();
  const run = (knob: number) => {
    const asked = { horizonSeconds: borrowingSeconds(split), ...aims };
    const policy = entry.knob === 'scale' ? entry.create(knob) : entry.aimed ? entry.aimed(asked) : entry.create();
    const told = entry.knob === 'told' ? knob : 1;
    return replay(split, policy, { allowed, told, kin, learn: 'probes', spacingSeconds: 0, market });
  };
  const done = calibrate(allowed, run, { start: 1, rises: entry.knob === 'told' });
  const { meanDelayHours, freshness } = scoreProbes(split, done.replay.log);
  const weighed = scoreProbes(split, done.replay.log, workHoursUntil);
  const workDelayHours = weighed.obsolescence / weighed.changes;
  const seconds = (performance.now() - started) / 1000;
  const probes = done.replay.log.length;
  return {
    budget: looksPerChange,
    policy: name,
    delayHours: meanDelayHours,
    freshness,
    workDelayHours,
    probes,
    allowed,
    seconds,
  };
}

function readSplit(folder: string, source: Source): Split {
  let text = gunzipSync(readFileSync(join(folder, `${source.file}.csv.gz`))).toString();
  const { only } = source;
  if (only !== undefined)
    text = text
      .split('\n')
      .filter((line) => line.startsWith(`${only},`))
      .join('\n');
  const outcome = readTraceCsv(text);
  if (outcome.kind === 'refused') throw new Error(outcome.sentence);
  return splitTrace(outcome.trace, source.trainDays * day, source.testDays * day);
}

function main(words: readonly string[]): void {
  const [folder = 'traces', cache = 'policy-comparison.jsonl'] = words;
  const option = (name: string, otherwise: string): string[] => {
    const place = words.indexOf(`--${name}`);
    const value = place < 0 ? otherwise : words[place + 1]!;
    return value === '' ? [] : value.split(',');
  };
  const until = performance.now() + 1000 * Number(option('seconds', '1e9')[0]);
  const again = option('again', '');
  const without = option('without', '');
  const aims = option('aims', '');
  const evenly = option('evenly', '');
  const periodSeconds = Number(option('period', '3600')[0]);
  const form = [
    'revisit',
    ...(evenly.length > 0
      ? ['evenly by', ...evenly, ...(periodSeconds === 3600 ? [] : ['over', String(periodSeconds)])]
      : []),
    ...(without.length > 0 ? ['without', ...without] : []),
    ...(aims.length > 0 ? ['for', ...aims] : []),
  ].join(' ');
  const rows = existsSync(cache) ? readFileSync(cache, 'utf8').trim().split('\n').filter(Boolean) : [];
  const known = new Set(
    rows.map((row) => JSON.parse(row) as Row).map(({ trace, budget, policy }) => `${trace} ${budget} ${policy}`),
  );
  const asked = option('policies', 'all');
  const names = asked[0] === 'all' ? [...Object.keys(policies), bound] : asked;
  for (const trace of option('traces', Object.keys(sources).join(','))) {
    let split: Split | undefined;
    for (const budget of option('budgets', '10,30,100').map(Number)) {
      for (const name of names) {
        const policy = name === 'revisit' ? form : name;
        if (known.has(`${trace} ${budget} ${policy}`) && !again.includes(name)) continue;
        if (performance.now() > until) return;
        split ??= readSplit(folder, sources[trace]!);
        const parts = Object.fromEntries(without.map((part) => [part, false])) as Parts;
        const asAsked = { parts, ...aimsOf(aims), ...(evenly.length > 0 ? { horizonSeconds: periodSeconds } : {}) };
        const row: Row = { trace, ...runCell(split, name, budget, asAsked, evenly.includes('market')), policy };
        appendFileSync(cache, `${JSON.stringify(row)}\n`);
        process.stdout.write(
          `${trace} ${budget} ${policy} ${row.delayHours.toPrecision(4)} h, ${row.workDelayHours.toPrecision(4)} h of work, fresh ${row.freshness.toFixed(4)}\n`,
        );
      }
    }
  }
}

if (import.meta.main) main(process.argv.slice(2));
