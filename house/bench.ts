/**
 * `npm run bench [NAME]`: runs each `bench/NAME.ts`, which returns rows of measurements against rivals in the same run,
 * prints them as a table and keeps the last results with machine and date in bench/RESULTS.md.
 */
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export interface Measurement {
  readonly what: string;
  /** What was measured, with its unit, such as "48 ms". */
  readonly ours: string;
  /** What it is held against: a rival in the same run, or the number in the design. */
  readonly rival: string;
  /** Ours against the rival's, as the number to hold states it. */
  readonly ratio?: string;
  readonly holds: boolean;
}

export type Bench = (say: (line: string) => void) => Promise<readonly Measurement[]>;

const folder = join(import.meta.dirname, '../bench');
const resultsFile = join(folder, 'RESULTS.md');

function table(rows: readonly Measurement[]): string {
  const line = (row: Measurement) =>
    `| ${row.what} | ${row.ours} | ${row.rival} | ${row.ratio ?? ''} | ${row.holds ? 'holds' : 'DOES NOT HOLD'} |`;
  return ['| what | ours | held against | ratio | |', '|---|---|---|---|---|', ...rows.map(line)].join('\n');
}

/** Replaces the section of one benchmark and leaves the others as they were. */
function keep(name: string, text: string): void {
  const heading = '# Last benchmark results\n';
  const old = existsSync(resultsFile) ? readFileSync(resultsFile, 'utf8') : heading;
  const sections = old.split(/^(?=## )/m);
  const others = sections.slice(1).filter((section) => !section.startsWith(`## ${name}\n`));
  const all = [...others, `## ${name}\n\n${text}\n`].sort().map((section) => section.trimEnd());
  writeFileSync(resultsFile, `${[heading.trimEnd(), ...all].join('\n\n')}\n`);
}

async function main(): Promise<void> {
  const known = readdirSync(folder)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => file.slice(0, -3));
  const wanted = process.argv.slice(2);
  const unknown = wanted.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    process.stderr.write(`bench: ${unknown.join(', ')} is not known; known benchmarks are ${known.join(', ')}\n`);
    process.exit(2);
  }
  let good = true;
  for (const name of wanted.length > 0 ? wanted : known) {
    const { bench } = (await import(pathToFileURL(join(folder, `${name}.ts`)).href)) as { bench: Bench };
    const rows = await bench((line) => process.stderr.write(`${name}: ${line}\n`));
    const machine = `${cpus()[0]?.model ?? 'unknown'} × ${cpus().length}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`;
    const text = `${new Date().toISOString().slice(0, 10)}, ${machine}\n\n${table(rows)}`;
    process.stdout.write(`\n## ${name}\n\n${text}\n`);
    keep(name, text);
    good &&= rows.every((row) => row.holds);
  }
  process.exit(good ? 0 : 1);
}

if (import.meta.main) await main();
