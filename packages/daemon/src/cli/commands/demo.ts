import type { Command } from 'commander';
import type { Demo } from '../../demo/demo.ts';
import { type DemoReport, paceToTell, waitsFor } from '../../demo/report-form.ts';
import type { Runner } from '../program.ts';
import { example, jsonOption } from '../options.ts';
import { type CommandOutcome, counted, done, note, print, printJson, wrong } from '../outcome.ts';
import { progress } from '../progress.ts';
import { table } from '../table.ts';

interface DemoOptions {
  readonly port: string;
  readonly speed: string;
  readonly budget: string;
  readonly policy?: string;
  readonly seed: string;
  readonly seconds?: string;
  readonly days?: string;
  readonly json?: boolean;
}

const hours = (value: number | null): string => (value === null ? '–' : `${value.toFixed(2)} h`);

export function line(report: DemoReport): string {
  const { ours, uniform, bound } = report.delayHours.lastDay;
  const early = waitsFor(report);
  const comparison = early === undefined ? `, uniform ${hours(uniform)}, bound ${hours(bound)}` : ` so far, ${early}`;
  const factor = report.medianFactor === null ? '–' : `×${report.medianFactor.toFixed(2)}`;
  const busy =
    report.pace < paceToTell
      ? `  (a busy machine: ${Math.round(report.pace * 100)} % of the speed, so that no look is lost)`
      : '';
  return `day ${report.virtualDays.toFixed(1)}  ${report.looks} looks  ${counted(report.changes.happened, 'change')}, ${report.changes.unseen} unseen  delay: ours ${hours(ours)}${comparison}  rates within ${factor}${busy}`;
}

/** q, Esc or Ctrl-C; on a pipe only the signals. */
function listenForEnd(stop: AbortController): () => void {
  const end = (): void => stop.abort();
  process.once('SIGINT', end).once('SIGTERM', end);
  const { stdin } = process;
  if (!stdin.isTTY) return () => {};
  const key = (bytes: Buffer): void => {
    if (['q', 'Q', '\u0003', '\u001b'].includes(bytes.toString())) end();
  };
  stdin.setRawMode(true);
  stdin.on('data', key).resume();
  return () => {
    stdin.off('data', key).pause();
    stdin.setRawMode(false);
  };
}

async function show(demo: Demo, signal: AbortSignal, seconds: number): Promise<void> {
  const beginMs = performance.now();
  const terminal = process.stderr.isTTY;
  while (!signal.aborted && performance.now() - beginMs < seconds * 1000) {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.min(1000, seconds * 1000));
      signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
    });
    if (!terminal || signal.aborted) continue;
    process.stderr.write(`\r\u001b[2K${line(await demo.report()).slice(0, (process.stderr.columns ?? 160) - 1)}`);
  }
  if (terminal) process.stderr.write('\n');
}

/** As many virtual days as asked for, without waiting for them: one row for each. */
async function rehearsed(days: number, numbers: { budget: number; seed: number }, options: DemoOptions) {
  const policy = options.policy ?? 'revisit';
  const [{ createPolicy, policyUnknown }, { rehearse }] = await Promise.all([
    import('../../config/collections.ts'),
    import('../../demo/rehearsal.ts'),
  ]);
  if (!createPolicy(policy)) return wrong(policyUnknown(policy));
  const bar = progress('days', days);
  const report = await rehearse({
    days,
    looksPerHour: numbers.budget,
    seed: numbers.seed,
    policy,
    onHour: (passed) => bar.to(Math.round((passed / 24) * 10) / 10),
  });
  bar.end();
  if (options.json) {
    printJson(report);
    return done;
  }
  print(
    table(
      ['day', 'changes', 'ours', 'uniform', 'bound'],
      report.days.map((row, i) => [
        String(i + 1),
        String(row.changes),
        hours(row.ours),
        hours(row.uniform),
        hours(row.bound),
      ]),
    ),
  );
  print(line(report));
  return done;
}

async function demonstrate(options: DemoOptions): Promise<CommandOutcome> {
  const numbers = {
    speed: Number(options.speed),
    seed: Number(options.seed),
    budget: Number(options.budget),
    seconds: options.seconds === undefined ? Infinity : Number(options.seconds),
  };
  if (!(numbers.speed >= 1 && numbers.speed <= 36_000))
    return wrong(`--speed ${options.speed}: a number from 1 to 36000 is expected`);
  if (!(numbers.budget > 0)) return wrong(`--budget ${options.budget}: looks an hour, a number above 0, are expected`);
  if (!Number.isSafeInteger(numbers.seed)) return wrong(`--seed ${options.seed}: a whole number is expected`);
  if (!(numbers.seconds > 0)) return wrong(`--seconds ${options.seconds}: a number above 0 is expected`);
  if (options.days !== undefined) {
    const days = Number(options.days);
    if (!(days > 0 && days <= 365)) return wrong(`--days ${options.days}: a number above 0, at most 365, is expected`);
    return rehearsed(days, numbers, options);
  }
  const [{ settle }, { startDemo }] = await Promise.all([
    import('../../config/config.ts'),
    import('../../demo/demo.ts'),
  ]);
  const config = settle(
    {},
    { port: options.port, logLevel: 'error', ...(options.policy === undefined ? {} : { policy: options.policy }) },
  );
  if (config.kind === 'wrong') return wrong(config.sentence);
  const stop = new AbortController();
  const release = listenForEnd(stop);
  try {
    const demo = await startDemo(
      { speed: numbers.speed, looksPerHour: numbers.budget, seed: numbers.seed, config: config.value },
      stop.signal,
    );
    if ('kind' in demo) return wrong(demo.sentence);
    note(
      `A living web of ${demo.pages} pages on ${demo.sites} sites, and a daemon that watches it; a second is ${(numbers.speed / 60).toFixed(0)} minutes.`,
    );
    note(`Dashboard: ${demo.url}/#/demo  (${process.stdin.isTTY ? 'q ends it' : 'Ctrl-C ends it'})`);
    await show(demo, stop.signal, numbers.seconds);
    const report = await demo.report();
    stop.abort();
    await demo.ended;
    if (options.json) printJson(report);
    else print(line(report));
    return done;
  } finally {
    release();
  }
}

export function registerDemo(program: Command, run: Runner): void {
  const command = program
    .command('demo')
    .description('a living web on loopback whose laws of change are known, and a daemon that watches it in fast time')
    .option('--port <number>', 'where the dashboard listens', '7373')
    .option('--speed <factor>', 'how many times faster than the clock on the wall', '1800')
    .option('--budget <looks>', 'looks an hour of fast time', '150')
    .option('--policy <name>', 'how looks are planned')
    .option('--seed <number>', 'another world', '1')
    .option('--seconds <number>', 'end by itself after so many seconds')
    .option(
      '--days <number>',
      'so many days of fast time without waiting for them and without a dashboard: a row for each',
    );
  example(jsonOption(command), 'revisit demo');
  command.action(run(demonstrate));
}
