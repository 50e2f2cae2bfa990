import fc from 'fast-check';
import { expect, test } from 'vitest';
import { kinOf } from '../model/kin.ts';
import { policies } from '../policy/catalog.ts';
import type { Finding, Policy } from '../policy/policy.ts';
import { calibrate } from './calibrate.ts';
import { ProbeLog } from './probe-log.ts';
import { exponential, random } from './random.ts';
import { type Replay, replay } from './replay.ts';
import { scoreProbes } from './score.ts';
import { looksMost, probesAllowed, splitTrace } from './split.ts';
import { readTraceCsv, traceOf } from './trace.ts';

const day = 86_400;

function poissonTrace(pages: number, days: number, perDay: (page: number) => number, seed = 1) {
  const next = random(seed);
  const events: [string, number][] = [];
  for (let page = 0; page < pages; page++) {
    let at = 0;
    while (at <= days * day) {
      events.push([`site${page % 3}/page-${page}`, Math.floor(at)]);
      at += exponential(next, day / perDay(page));
    }
  }
  events.push(['site0/page-0', days * day]);
  return traceOf(events);
}

test('a trace is read with and without a header, quoted names and Windows line ends, and refuses what is not one', () => {
  const read = readTraceCsv('source,unix_seconds\r\nb,20\r\n"a,1",10\nb,5\nb,20\n');
  expect(read.kind === 'read' && read.trace.names).toEqual(['b', 'a,1']);
  expect(read.kind === 'read' && read.trace.times.map((times) => [...times])).toEqual([[5, 20], [10]]);
  expect(readTraceCsv('a,1\nb,x\n')).toEqual({
    kind: 'refused',
    sentence: 'trace row 2: "b,x" is not source,unix_seconds',
  });
  expect(readTraceCsv('').kind).toBe('refused');
});

test('the split leaves out sources without an event in training and counts births as no change', () => {
  const trace = traceOf([
    ['old', 0],
    ['old', 50],
    ['young', 45],
    ['young', 48],
    ['late', 90],
    ['old', 95],
    ['quiet', 1],
    ['end', 41],
    ['end', 100],
  ]);
  const split = splitTrace(trace, 30, 40);
  expect([split.trainStart, split.testStart, split.testEnd]).toEqual([30, 60, 100]);
  expect(split.names).toEqual(['old', 'young', 'end']);
  expect([...split.birth]).toEqual([30, 45, 41]);
  expect([split.trainChanges, split.testChanges]).toEqual([2, 2]);
  expect(probesAllowed(split, { kind: 'per-change', looks: 10 })).toBe(26);
});

test('what happened in the first moment of a trace is of the time to learn from', () => {
  const start = 1_700_000_000;
  const day = 86_400;
  const trace = traceOf([
    ['a', start],
    ['b', start + 1],
    ['a', start + 5 * day],
    ['b', start + 6 * day],
  ]);
  for (const train of [20 * day, 4 * day]) {
    const split = splitTrace(trace, train, 2 * day);
    expect([split.trainStart, split.names, [...split.birth]]).toEqual([start, ['a', 'b'], [start, start + 1]]);
  }
});

test('scores agree with counting by hand, change by change', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 12 }), {
        minLength: 1,
        maxLength: 4,
      }),
      fc.array(fc.tuple(fc.nat(3), fc.integer({ min: 101, max: 199 })), { maxLength: 30 }),
      (events, looks) => {
        const trace = traceOf([
          ...events.flatMap((list, page) => [
            [`p${page}`, 50] as const,
            ...list.map((at) => [`p${page}`, at] as const),
          ]),
          ['p0', 200] as const,
        ]);
        const split = splitTrace(trace, 100, 100);
        const log = new ProbeLog();
        const sorted = looks.filter(([page]) => page < events.length).sort((a, b) => a[1] - b[1]);
        for (const [page, at] of sorted) log.add(page, at);
        let delay = 0;
        let changes = 0;
        let stale = 0;
        for (let page = 0; page < split.names.length; page++) {
          const probes = sorted.filter(([p]) => p === page).map(([, at]) => at);
          for (const at of split.times[page]!.filter((time) => time > 100)) {
            changes++;
            delay += (probes.find((probe) => probe >= at) ?? 200) - at;
          }
          for (let t = 100; t < 200; t++) {
            const copy = Math.max(100, ...probes.filter((probe) => probe <= t));
            if (split.times[page]!.some((time) => time > copy && time <= t)) stale++;
          }
        }
        const score = scoreProbes(split, log);
        expect(score.changes).toBe(changes);
        expect(score.meanDelayHours * changes * 3600).toBeCloseTo(delay, 6);
        expect(score.obsolescence * 3600).toBeCloseTo(delay, 6);
        expect((1 - score.freshness) * 100 * split.names.length).toBeCloseTo(stale, 6);
      },
    ),
    { seed: 6, numRuns: 300 },
  );
});

function run(name: string, split: ReturnType<typeof splitTrace>, allowed: number, spacingSeconds = 0) {
  const entry = policies[name]!;
  const kin = kinOf(split.names);
  const once = (knob: number): Replay =>
    replay(split, entry.knob === 'scale' ? entry.create(knob) : entry.create(), {
      allowed,
      told: entry.knob === 'told' ? knob : 1,
      kin,
      learn: 'probes',
      spacingSeconds,
    });
  return calibrate(allowed, once, { start: 1, rises: entry.knob === 'told' });
}

test('every policy is brought to 99 to 100 % of the probes, never more', () => {
  const split = splitTrace(
    poissonTrace(40, 150, (page) => 0.05 * 1.07 ** page),
    100 * day,
    50 * day,
  );
  const allowed = probesAllowed(split, { kind: 'per-change', looks: 10 });
  for (const name of Object.keys(policies)) {
    const { log } = run(name, split, allowed).replay;
    expect(log.length, name).toBeLessThanOrEqual(allowed);
    expect(log.length, name).toBeGreaterThanOrEqual(0.99 * allowed);
  }
});

test('uniform looks cost half an interval, and square-root shares beat them as theory says', () => {
  const split = splitTrace(
    poissonTrace(50, 900, (page) => (page < 25 ? 0.02 : 0.5)),
    600 * day,
    300 * day,
  );
  const allowed = probesAllowed(split, { kind: 'per-page-day', looks: 2 });
  const uniform = scoreProbes(split, run('uniform', split, allowed).replay.log);
  expect(uniform.meanDelayHours).toBeGreaterThan(5.7);
  expect(uniform.meanDelayHours).toBeLessThan(6.3);
  const shared = scoreProbes(split, run('lambdacrawl', split, allowed).replay.log);
  // (sqrt a + sqrt b)^2 / (2 (a + b)) for two halves of rates a and b.
  const theory = (Math.sqrt(0.02) + Math.sqrt(0.5)) ** 2 / (2 * 0.52);
  expect(shared.meanDelayHours / uniform.meanDelayHours).toBeGreaterThan(theory - 0.06);
  expect(shared.meanDelayHours / uniform.meanDelayHours).toBeLessThan(theory + 0.06);
});

test('a site with spacing is never asked sooner than that', () => {
  const split = splitTrace(
    poissonTrace(12, 40, () => 1),
    20 * day,
    20 * day,
  );
  const allowed = probesAllowed(split, { kind: 'per-page-day', looks: 24 });
  const { log } = run('uniform', split, allowed, 600).replay;
  const { site } = kinOf(split.names);
  const last = new Map<number, number>();
  for (let i = 0; i < log.length; i++) {
    const at = log.at(i);
    expect(at - (last.get(site[log.page(i)]!) ?? -Infinity)).toBeGreaterThanOrEqual(600);
    last.set(site[log.page(i)]!, at);
  }
  expect(log.length).toBeGreaterThan(0.97 * allowed);
});

/** Spends nearly everything at once and then keeps to what it is told. */
class EarlySpender implements Policy {
  readonly name = 'early spender';
  readonly told: [at: number, looksPerSecond: number][] = [];
  private looks = 0;
  private last = 0;
  private readonly from: number;
  private readonly early: number;

  constructor(from: number, early: number) {
    this.from = from;
    this.early = early;
  }

  watch(): void {}
  forget(): void {}
  started(): void {}

  setBudget(looksPerSecond: number, now: number): void {
    this.told.push([now, looksPerSecond]);
  }

  next(now: number) {
    if (now < this.from) return { page: 0, at: this.from + 1 };
    if (this.looks < this.early) return { page: 0, at: now + 1 };
    return { page: 0, at: Math.max(now, this.last + 1 / this.told.at(-1)![1]) };
  }

  looked(_page: number, at: number): void {
    if (at > this.from) this.looks++;
    this.last = at;
  }

  due(): number {
    return 0;
  }

  belief() {
    return { current: 1, ratePerDay: 1, rateInterval: [1, 1] as const };
  }
}

test('a policy that has spent most of its budget is told what is left, and still looks at the end', () => {
  const split = splitTrace(
    poissonTrace(1, 200, () => 2),
    100 * day,
    100 * day,
  );
  const allowed = 2000;
  const early = 1900;
  const policy = new EarlySpender(split.testStart, early);
  const options = { allowed, told: 1, kin: kinOf(split.names), learn: 'probes', spacingSeconds: 0 } as const;
  const { log, wanted } = replay(split, policy, options);
  const [at, told] = policy.told.find(([when]) => when > split.testStart)!;
  expect(told * (split.testEnd - at)).toBeLessThanOrEqual(allowed - early);
  expect(wanted).toBeLessThanOrEqual(allowed);
  expect(split.testEnd - log.at(log.length - 1)).toBeLessThan(3 * day);
});

test('where events are known, a policy that hears times learns by looks over all pages, told when each change happened', () => {
  const split = splitTrace(
    poissonTrace(9, 60, (page) => 0.3 + page / 4),
    40 * day,
    20 * day,
  );
  const run = (hearsTimes: boolean) => {
    const policy = policies['revisit']!.create(1);
    expect(policy.hearsTimes).toBe(true);
    const times = split.names.map((): number[] => []);
    const lastLook = split.birth.slice();
    let previous = 0;
    const heard = Object.assign(Object.create(policy) as Policy, {
      hearsTimes,
      looked(page: number, at: number, finding: Finding) {
        expect(at).toBeGreaterThanOrEqual(previous);
        previous = at;
        expect(finding.times !== undefined).toBe(hearsTimes && finding.kind === 'changed' && at <= split.testStart);
        times[page]!.push(...(finding.times ?? []));
        if (at <= split.testStart) lastLook[page] = at;
        policy.looked(page, at, finding);
      },
    });
    const options = { allowed: 900, told: 1, kin: kinOf(split.names), spacingSeconds: 0 } as const;
    return { ...replay(split, heard, { ...options, learn: 'events' }), times, lastLook };
  };
  const { times, lastLook, trainProbes } = run(true);
  expect(trainProbes).toBeGreaterThan(900);
  split.times.forEach((all, page) =>
    expect(times[page]).toEqual([...all].filter((at) => at > split.birth[page]! && at <= lastLook[page]!)),
  );
  expect(run(false).trainProbes).toBe(0);
});

test('a policy told more than one look a page and second looks once a second, and time goes on', () => {
  const at = 1_600_000_000;
  const split = splitTrace(
    traceOf([0, 100, 200, 300].flatMap((s) => [['a', at + s] as const, ['b', at + s] as const])),
    200,
    100,
  );
  for (const name of ['uniform', 'lambdacrawl', 'doe', 'nutch', 'wic', 'revisit']) {
    const entry = policies[name]!;
    const policy = entry.knob === 'told' ? entry.create() : entry.create(1e-12);
    let looks = 0;
    const looked = policy.looked.bind(policy);
    policy.looked = (page, now, finding) => {
      if (++looks > 1000) throw new Error(`${name} looks for the ${looks}th time, ${now - at} s into the trace`);
      looked(page, now, finding);
    };
    const options = { allowed: 1000, told: 1e9, kin: kinOf(split.names), learn: 'probes', spacingSeconds: 0 } as const;
    const { log } = replay(split, policy, options);
    expect(log.length, name).toBeLessThanOrEqual(looksMost(split));
    const seconds = new Set(Array.from({ length: log.length }, (_, i) => `${log.page(i)} ${log.at(i)}`));
    expect(seconds.size, name).toBe(log.length);
  }
  expect(looksMost(split)).toBe(2 * 99);
  // A site that is asked every ten seconds has ten turns; two sites have twice as many.
  expect(looksMost(split, { site: Int32Array.of(0, 0) }, 10)).toBe(10);
  expect(looksMost(split, { site: Int32Array.of(0, 1) }, 10)).toBe(20);
});

test('progress is told every few dozen steps, be they looks or waits', () => {
  const split = splitTrace(
    poissonTrace(4, 60, () => 0.5),
    30 * day,
    30 * day,
  );
  const kin = kinOf(split.names);
  const options = { allowed: 400, told: 1, kin, learn: 'probes', spacingSeconds: 0 } as const;
  for (const name of ['uniform', 'wic']) {
    const entry = policies[name]!;
    const shares: number[] = [];
    replay(split, entry.create(1), { ...options, progress: (share) => shares.push(share) });
    expect(shares.length, name).toBeGreaterThan(8);
    expect(shares.toSorted((a, b) => a - b)).toEqual(shares);
    const steps = shares.map((share, i) => share - (shares[i - 1] ?? 0));
    expect(Math.max(...steps), name).toBeLessThan(0.15);
  }
});

test('page weights weigh obsolescence, and neither the mean delay nor freshness', () => {
  const split = splitTrace(
    traceOf([
      ['a', 0],
      ['b', 0],
      ['a', 7200],
      ['b', 7200 + 3600],
      ['a', 14_400],
    ]),
    3600,
    10_800,
  );
  const log = new ProbeLog();
  log.add(0, 9000);
  const [even, weighed] = [undefined, Float64Array.of(10, 1)].map((weights) =>
    scoreProbes(split, log, undefined, weights),
  );
  expect(weighed).toMatchObject({ freshness: even!.freshness, meanDelayHours: even!.meanDelayHours });
  expect(even!.freshness).toBeCloseTo(1 - (0.5 + 1) / 6, 9);
  expect([even!.obsolescence, weighed!.obsolescence]).toEqual([1.5, 6]);
});
