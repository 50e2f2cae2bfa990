import { existsSync, statSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { type Paper, papers } from '../../reproduce/item.ts';
import { type Reproduced, reportHtml } from '../../reproduce/report.ts';
import { contextOf, itemsOf, runItem } from '../../reproduce/reproduce.ts';
import { version } from '../../version.ts';
import { example, jsonOption } from '../options.ts';
import { type CommandOutcome, done, failed, note, print, printJson, wrong } from '../outcome.ts';
import type { Runner } from '../program.ts';
import { progress } from '../progress.ts';
import { table } from '../table.ts';
import { codeOf, unwritable } from '../unwritable.ts';

interface ReproduceOptions {
  readonly traces?: string;
  readonly out: string;
  readonly json?: boolean;
}

/** The bar and the keyboard get a turn between items. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function reproduce(name: string | undefined, options: ReproduceOptions): Promise<CommandOutcome> {
  if (name !== undefined && !Object.hasOwn(papers, name))
    return wrong(`paper ${name}: one of ${Object.keys(papers).join(', ')} is expected`);
  const { traces } = options;
  if (traces !== undefined && !(existsSync(traces) && statSync(traces).isDirectory()))
    return wrong(`--traces ${traces}: a folder of traces is expected`);
  const closed = options.json ? undefined : unwritable('--out', options.out);
  if (closed !== undefined) return wrong(closed);
  const items = itemsOf(name as Paper | undefined);
  const context = contextOf(traces);
  const total = items.reduce((sum, item) => sum + item.seconds, 0);
  const bar = progress('reproduce', 100);
  const finished: Reproduced[] = [];
  let spent = 0;
  for (const item of items) {
    bar.to(Math.round((100 * spent) / total), `${item.paper}, ${item.title}`.slice(0, 60));
    await turn();
    const begin = performance.now();
    finished.push({ ...runItem(item, context), seconds: (performance.now() - begin) / 1000 });
    spent += item.seconds;
  }
  bar.end();
  if (options.json)
    printJson({
      version,
      items: finished.map(({ item, verdict, findings, seconds }) => ({ ...item, verdict, seconds, ...findings })),
    });
  else {
    try {
      writeFileSync(options.out, reportHtml(finished, { version, traces: traces !== undefined }));
    } catch (error) {
      return failed(`--out ${options.out}: cannot be written (${codeOf(error)})`);
    }
    print(
      table(
        ['paper', 'verdict', 'item'],
        finished.map(({ item, verdict }) => [item.paper, verdict, item.title]),
      ),
    );
    note(`The report is in ${options.out}`);
  }
  return done;
}

export function registerReproduce(program: Command, run: Runner): void {
  const command = program
    .command('reproduce [paper]')
    .description(`every table and figure of the five papers, recomputed: ${Object.keys(papers).join(', ')}`)
    .option('--traces <folder>', 'recorded traces (NAME.csv or NAME.csv.gz), shown beside what is generated')
    .option('--out <file>', 'where the report goes', 'revisit-papers.html');
  example(jsonOption(command), 'revisit reproduce eckstein --out eckstein.html');
  command.action(run(reproduce));
}
