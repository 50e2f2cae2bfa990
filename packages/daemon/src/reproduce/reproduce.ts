/** Runs the items one after the other. Where one meets a bug the others still run, and it does not hold. */
import { readFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { brewington } from './brewington.ts';
import { czumaj } from './czumaj.ts';
import { eckstein } from './eckstein.ts';
import { type Context, type Item, type Paper, luckOf, verdictOf } from './item.ts';
import { openQuestions } from './open-questions.ts';
import type { Reproduced } from './report.ts';
import { talim } from './talim.ts';
import { wic } from './wic.ts';

export const items: readonly Item[] = [...brewington, ...eckstein, ...wic, ...talim, ...czumaj, ...openQuestions];

/** Traces by name from a folder of NAME.csv or NAME.csv.gz, rows of source,number; undefined where one is missing. */
export function traceReader(folder: string | undefined): Context['trace'] {
  return (name) => {
    if (folder === undefined) return undefined;
    const plain = join(folder, `${name}.csv`);
    const packed = `${plain}.gz`;
    const bytes = existsSync(packed)
      ? gunzipSync(readFileSync(packed))
      : existsSync(plain)
        ? readFileSync(plain)
        : undefined;
    return bytes
      ?.toString('utf8')
      .split('\n')
      .flatMap((line) => {
        const comma = line.lastIndexOf(',');
        const value = Number(line.slice(comma + 1));
        return comma > 0 && Number.isFinite(value) && line.slice(comma + 1).trim() !== ''
          ? [[line.slice(0, comma), value] as const]
          : [];
      });
  };
}

export function itemsOf(paper: Paper | undefined): readonly Item[] {
  return paper === undefined ? items : items.filter((item) => item.paper === paper);
}

export function runItem(item: Item, context: Context): Omit<Reproduced, 'seconds'> {
  const about = { id: item.id, paper: item.paper, title: item.title };
  try {
    const findings = item.run(context);
    return { item: about, verdict: verdictOf(findings), findings };
  } catch (error) {
    const sentence = error instanceof Error ? error.message : String(error);
    return {
      item: about,
      verdict: 'does not hold',
      findings: { checks: [{ paper: 'it can be computed', ours: `it met a fault: ${sentence}`, agrees: false }] },
    };
  }
}

export function contextOf(folder: string | undefined): Context {
  const trace = traceReader(folder);
  const read = new Map<string, ReturnType<Context['trace']>>();
  return {
    luck: luckOf,
    trace: (name) => (read.has(name) ? read.get(name) : (read.set(name, trace(name)), read.get(name))),
  };
}
