/**
 * `npm run soak [SEEDS] [FIRST] [KILLS]`: for each seed (1000 of them unless said otherwise), in virtual time, two weeks of
 * operation in trouble (sites fail, slow down, limit and recover, pages move and go, the disk is full, the machine sleeps, the
 * user meddles, the process is killed at random points) and twenty lives of a process that tells receivers who fail, hang and
 * answer late; then a real daemon killed KILLS times (36 unless said otherwise). Ends with 1 when an invariant was broken, and
 * names the seed that shows it.
 *
 * `npm run soak cluster [ROUNDS] [SEED] [restless]`: a cluster of real processes in trouble, 200 rounds unless said otherwise; with
 * `restless` its pages are edited without waiting until they have been seen. Where SEED is odd, NATS lets in only who has a key.
 */
import { memoryStore } from '../packages/daemon/src/simulation/index.ts';
import { tellInTrouble } from '../packages/daemon/src/simulation/telling-in-trouble.ts';
import { liveInTrouble } from '../packages/daemon/src/simulation/trouble.ts';
import { killAgainAndAgain } from '../packages/daemon/src/trial/killed-daemon.ts';

if (process.argv[2] === 'cluster') {
  const { soakCluster } = await import('../packages/cluster/src/trial/soak.ts');
  process.exit(await soakCluster(process.argv.slice(3)));
}

const [seeds = 1000, first = 0, kills = 36] = process.argv.slice(2).map(Number);
if (![seeds, first, kills].every((number) => Number.isInteger(number) && number >= 0)) {
  process.stderr.write('soak: SEEDS, FIRST and KILLS are whole numbers, such as npm run soak 1000 0 36\n');
  process.exit(2);
}
const livesPerSeed = 20;

let broken = 0;
function judge(name: string, wrong: readonly string[]): void {
  for (const sentence of wrong) process.stdout.write(`${name}: ${sentence}\n`);
  if (wrong.length > 0) broken++;
}

const sum = { requests: 0, restarts: 0, told: 0, messages: 0 };
for (let seed = first; seed < first + seeds; seed++) {
  const lived = memoryStore();
  const life = await liveInTrouble({ seed, days: 14, store: lived });
  await lived.close();
  judge(`seed ${seed}`, life.wrong);
  const telling = memoryStore();
  const tale = await tellInTrouble({ seed, kills: livesPerSeed, store: telling });
  await telling.close();
  judge(`seed ${seed}, telling`, tale.wrong);
  sum.requests += life.requests;
  sum.restarts += life.restarts + tale.kills;
  sum.told += tale.changes;
  sum.messages += tale.messages;
  if (process.stderr.isTTY) process.stderr.write(`\r${seed - first + 1} of ${seeds}`);
}
process.stdout.write(
  `${seeds} seeds, ${sum.requests} requests, ${sum.restarts} restarts, ${sum.told} changes told in ${sum.messages} messages\n`,
);
if (kills > 0) {
  const report = await killAgainAndAgain(kills, first);
  judge(`${kills} kills`, report.wrong);
  process.stdout.write(`${kills} real kills, ${report.changes} changes told in ${report.messages} messages\n`);
}
process.stdout.write(broken === 0 ? 'every invariant held\n' : `${broken} runs broke an invariant\n`);
process.exit(broken === 0 ? 0 : 1);
