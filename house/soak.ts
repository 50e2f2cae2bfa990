/**
 * `npm run soak [SEEDS] [FIRST]`: two weeks of operation in trouble for each seed (1000 of them unless said otherwise), in
 * virtual time: sites fail, slow down, limit and recover, the process is killed at random points. Ends with 1 when an
 * invariant was broken, and names the seed that shows it.
 */
import { openSqlite } from '../packages/daemon/src/store/sqlite.ts';
import { liveInTrouble } from '../packages/daemon/src/simulation/trouble.ts';

const [seeds = 1000, first = 0] = process.argv.slice(2).map(Number);
if (!Number.isInteger(seeds) || seeds < 1 || !Number.isInteger(first) || first < 0) {
  process.stderr.write('soak: SEEDS and FIRST are whole numbers, such as npm run soak 1000 0\n');
  process.exit(2);
}

let broken = 0;
let requests = 0;
let restarts = 0;
for (let seed = first; seed < first + seeds; seed++) {
  const opened = openSqlite(':memory:');
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  const report = await liveInTrouble({ seed, days: 14, store: opened.store });
  await opened.store.close();
  requests += report.requests;
  restarts += report.restarts;
  for (const sentence of report.wrong) process.stdout.write(`seed ${seed}: ${sentence}\n`);
  if (report.wrong.length > 0) broken++;
  if (process.stderr.isTTY) process.stderr.write(`\r${seed - first + 1} of ${seeds}`);
}
process.stdout.write(
  `${seeds} seeds, ${requests} requests, ${restarts} restarts: ${broken === 0 ? 'every invariant held' : `${broken} seeds broke one`}\n`,
);
process.exit(broken === 0 ? 0 : 1);
