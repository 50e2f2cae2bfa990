/**
 * `npm test`: every check there is, in the order in which a failure is cheapest to see. Arguments are handed to vitest, so
 * `npm test -- packages/core` runs all static checks and only those tests.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetchOldest, oldestNode, oldestPostgres } from './oldest.ts';
import { provision } from './provision.ts';

const root = join(import.meta.dirname, '..');
const say = (line: string) => process.stdout.write(`${line}\n`);

function run(title: string, command: string, args: readonly string[]): boolean {
  const begin = performance.now();
  say(`── ${title}`);
  const done = spawnSync(join(root, 'node_modules/.bin', command), args, { cwd: root, stdio: 'inherit' });
  const seconds = ((performance.now() - begin) / 1000).toFixed(1);
  const good = done.status === 0;
  say(`   ${title}: ${good ? 'good' : 'FAILED'} (${seconds} s)`);
  return good;
}

const missing = provision(say);
if (missing.length > 0 && process.env['CI'] === 'true') {
  say(`With CI=true nothing may be skipped: ${missing.map((program) => program.name).join(', ')} missing.`);
  process.exit(1);
}

const olds = [oldestNode, oldestPostgres];
const fetched = Promise.all(olds.map(fetchOldest));
const checks = [
  run('types', 'tsc', ['-p', 'tsconfig.json']),
  run('types of core alone', 'tsc', ['-p', 'packages/core/tsconfig.json']),
  run('types of the dashboard', 'tsc', ['-p', 'packages/dashboard/tsconfig.json']),
  run('lint', 'oxlint', ['--type-aware', '--quiet']),
  run('format', 'oxfmt', ['--check', '.']),
];

let lacking = false;
for (const [i, why] of (await fetched).entries()) {
  if (why === undefined) continue;
  const { name, version, without, variable } = olds[i]!;
  say(`MISSING ${name} ${version}, so ${without}: ${why}`);
  say(`   npm fetches it once from its registry; without one, ${variable} names where it is.`);
  lacking = true;
}
if (lacking && process.env['CI'] === 'true') process.exit(1);

const folder = mkdtempSync(join(tmpdir(), 'revisit-test-'));
const report = join(folder, 'report.json');
const arguments_ = process.argv.slice(2);
const tests = run('tests', 'vitest', [
  'run',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${report}`,
  ...arguments_,
]);

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
}
let counts: Report = { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0 };
try {
  counts = JSON.parse(readFileSync(report, 'utf8')) as Report;
} catch {
  say('vitest left no report');
}
rmSync(folder, { recursive: true, force: true });

const failedChecks = checks.filter((good) => !good).length;
say(
  `${counts.numPassedTests + checks.length - failedChecks} passed, ${counts.numFailedTests + failedChecks} failed, ${counts.numPendingTests} skipped`,
);
process.exit(failedChecks === 0 && tests ? 0 : 1);
