import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { RevisitPolicy, exponential, random } from '@revisit/core';
import { expect, test } from 'vitest';
import { openFolder } from '../folder.ts';
import { type Importance, readImportance } from '../lab/importance.ts';
import { poissonLaw } from '../simulation/simulated-web.ts';
import { createWorld, startLoop } from '../simulation/world.ts';
import { openSqlite } from '../store/sqlite.ts';
import { freshFolder, revisit } from '../trial/command.ts';

const day = 86_400;

function traceText(): string {
  const next = random(2);
  const rows: [string, number][] = [];
  for (let page = 0; page < 12; page++) {
    for (let at = 1_700_000_000; at < 1_700_000_000 + 90 * day; at += exponential(next, day * (page < 6 ? 0.5 : 8)))
      rows.push([`site/p${page}`, Math.floor(at)]);
  }
  rows.sort((a, b) => a[1] - b[1]);
  return `source,unix_seconds\n${rows.map(([source, at]) => `${source},${at}`).join('\n')}\n`;
}

test('simulate compares policies on a trace, writes probes that can be scored again, and a report', async () => {
  const folder = freshFolder();
  const trace = join(folder, 't.csv.gz');
  writeFileSync(trace, gzipSync(traceText()));
  const [probes, report] = [join(folder, 'probes.csv'), join(folder, 'report.html')];
  const words = ['simulate', '--trace', trace, '--train', '60d', '--test', '30d', '--budget', '10/change'];
  const ended = await revisit([
    ...words,
    '--policies',
    'uniform,heritrix,revisit',
    '--bound',
    '--json',
    '--probes-out',
    probes,
    '--report',
    report,
  ]);
  expect(ended.err).toBe('');
  expect(ended.code).toBe(0);
  const body = JSON.parse(ended.out) as {
    testStart: number;
    testEnd: number;
    allowed: number;
    policies: { policy: string; knowsTheTest?: boolean; probes: number; changes: number; meanDelayHours: number }[];
  };
  const lines = readFileSync(probes, 'utf8').trim().split('\n');
  expect(lines[0]).toBe('policy,source,unix_seconds');
  const events = traceText()
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','));
  for (const one of body.policies) {
    expect(one.probes).toBeLessThanOrEqual(body.allowed);
    expect(one.probes).toBeGreaterThanOrEqual(0.99 * body.allowed);
    const own = lines.filter((line) => line.startsWith(`${one.policy},`)).map((line) => line.split(','));
    expect(own.length).toBe(one.probes);
    let delay = 0;
    let changes = 0;
    for (const [source, seconds] of events) {
      const at = Number(seconds);
      if (at <= body.testStart) continue;
      const found = own.find((probe) => probe[1] === source && Number(probe[2]) >= at);
      delay += (found ? Number(found[2]) : body.testEnd) - at;
      changes++;
    }
    expect(one.changes).toBe(changes);
    expect(one.meanDelayHours).toBeCloseTo(delay / changes / 3600, 6);
  }
  const html = readFileSync(report, 'utf8');
  expect(html).toContain('How soon changes were found');
  expect(html).toContain('The week as revisit learned it');
  expect(body).toMatchObject({
    learn: 'probes',
    loss: 'obsolescence',
    spacingSeconds: 0,
    siteOf: 'prefix',
    comparedBy: 'mean delay',
  });
  expect(html).toContain('bound is revisit told how often each page will change in the test');
  expect(body.policies.map(({ policy, knowsTheTest }) => [policy, knowsTheTest])).toEqual([
    ['uniform', undefined],
    ['heritrix', undefined],
    ['revisit', undefined],
    ['bound', true],
  ]);
  expect(body.policies[3]!.meanDelayHours).toBeLessThan(body.policies[0]!.meanDelayHours);
  expect(html).not.toMatch(/(?:src|href)="http/);
});

test('the 14-week set’s form, weights, spacing and events are understood', async () => {
  const folder = freshFolder();
  const history = join(folder, 'urlid_offset_history.tsv');
  const looks = (every: number) =>
    JSON.stringify(Array.from({ length: 98 }, (_, i) => [1, i % every === every - 1 ? 1 : 0]));
  writeFileSync(history, Array.from({ length: 8 }, (_, i) => `${i}\t${i % 3}\t${looks(2 + i)}`).join('\n'));
  const weights = join(folder, 'urlid_imp.tsv');
  writeFileSync(weights, '0\t5\n1\t0.5\n');
  const words = ['simulate', '--trace', history, '--train', '60d', '--test', '30d', '--budget', '2/page/day'];
  const ended = await revisit([
    ...words,
    '--policies',
    'lambdacrawl,revisit',
    '--importance',
    weights,
    '--spacing',
    '60s',
    '--learn',
    'events',
    '--report',
    join(folder, 'report.html'),
  ]);
  // The set has no dates, and none is invented.
  const html = readFileSync(join(folder, 'report.html'), 'utf8');
  expect(html).toContain('The trace has no dates: days count from the first look, which is taken for a Monday');
  expect(html).toMatch(/>(?:hours, beginning [\d.]+ )?days since the first look</);
  expect(html).not.toMatch(/2006/);
  expect(ended.err).toContain('Changes are known as of the look that found them');
  expect(ended.code).toBe(0);
  expect(ended.out).toContain('480 probes over 8 pages');

  writeFileSync(weights, 'http://0\t5\nhttp://1\t0.5\n');
  const strange = await revisit([...words, '--importance', weights]);
  expect([strange.code, strange.out]).toEqual([2, '']);
  expect(strange.err).toMatch(
    /--importance .*urlid_imp\.tsv: names none of the trace’s sources, only such as "http:\/\/0"; rows of source,weight with names such as "0" are expected\n$/,
  );
});

test('a budget of more probes than can be simulated is refused before the work', async () => {
  const trace = join(freshFolder(), 'many.csv');
  const rows = Array.from(
    { length: 60 * 90 },
    (_, i) => `p${i % 60},${1_700_000_000 + Math.floor(i / 60) * 86_400 + i}`,
  );
  writeFileSync(trace, `source,unix_seconds\n${rows.join('\n')}\n`);
  const words = ['simulate', '--trace', trace, '--train', '60d', '--test', '29d', '--policies', 'uniform'];
  for (const budget of ['1e9/change', '1e308/page/day']) {
    const ended = await revisit([...words, '--budget', budget]);
    expect([ended.code, ended.out]).toEqual([2, '']);
    expect(ended.err).toMatch(
      /^revisit: --budget 1e\S+: 15\d,\d{3},\d{3} probes in the test; 50,000,000 at most are simulated: a smaller budget or a shorter test is expected\n$/,
    );
  }
});

test('a policy that cannot be brought to the budget is named beside the result', async () => {
  const trace = join(freshFolder(), 't.csv');
  // Twelve pages in step: an interval rule wants all of them once or twice, and twenty looks lie between.
  const rows = Array.from({ length: 91 }, (_, i) => i).flatMap((i) =>
    Array.from({ length: 12 }, (_page, page) => `site/p${page},${1_700_000_000 + i * day}`),
  );
  writeFileSync(trace, `${rows.join('\n')}\n`);
  const words = ['simulate', '--trace', trace, '--train', '60d', '--test', '30d', '--json'];
  const ended = await revisit([...words, '--policies', 'uniform,stormcrawler', '--budget', '0.056/page/day']);
  expect(ended.code).toBe(0);
  const { allowed, policies } = JSON.parse(ended.out) as { allowed: number; policies: { probes: number }[] };
  expect([allowed, ...policies.map(({ probes }) => probes)]).toEqual([20, 20, 12]);
  expect(ended.err).toBe(
    'Of 20 probes allowed at 0.056/page/day, fewer were made by stormcrawler 12 (60.0 %): no setting of the knob was found with 99 to 100 %.\n',
  );
  // Ten lie between once and never: what is allowed is used, and the look at all of them cut off there.
  const few = await revisit([...words, '--policies', 'stormcrawler', '--budget', '0.028/page/day']);
  expect([few.code, few.err]).toEqual([0, '']);
  expect(JSON.parse(few.out)).toMatchObject({ allowed: 10, policies: [{ probes: 10 }] });
});

test('what is wrong with a call is said in one sentence', async () => {
  const folder = freshFolder();
  const trace = join(folder, 't.csv');
  writeFileSync(trace, 'a,1\nb,zwei\n');
  const tries: [string[], RegExp][] = [
    [['--trace', trace], /--trace .*t\.csv.*row 2: "b,zwei"/],
    [
      ['--trace', join(folder, 'none.csv')],
      /--trace .*none\.csv: cannot be read \(ENOENT\); a readable file is expected/,
    ],
    [['--trace', trace, '--budget', '1e400/change'], /--budget 1e400\/change: R\/page\/day or R\/change/],
    [
      ['--trace', trace, '--importance', join(folder, 'none.json')],
      /--importance .*none\.json: cannot be read \(ENOENT\)/,
    ],
    [['--trace', trace, '--budget', '10/hour'], /--budget 10\/hour: R\/page\/day or R\/change/],
    [['--trace', trace, '--budget', '2x'], /--budget 2x: is a multiple .* for --data only; R\/page\/day or R\/change/],
    [['--trace', trace, '--policies', 'best'], /--policies best: is not known; known policies are uniform/],
    [['--trace', trace, '--learn', 'all'], /--learn all: probes or events/],
    [['--trace', trace, '--train', 'long'], /--train long:/],
    [['--trace', trace, '--loss', 'delay'], /--loss delay: obsolescence .* or staleness/],
    [
      ['--trace', trace, '--report', join(folder, 'none', 'r.html')],
      /--report .*r\.html: there is no folder .*none; a file in a folder that is there is expected/,
    ],
    [['--trace', trace, '--report', folder], /--report .*: is a folder; a file is expected/],
    [['--trace', trace, '--probes-out', join(trace, 'p.csv')], /--probes-out .*p\.csv: there is no folder .*t\.csv;/],
    [[], /--trace FILE or --data DIR/],
    [['--data', join(folder, 'none')], /--data .*none: there is no such folder/],
    [['--data', folder], /is no data folder of revisit/],
  ];
  for (const [words, sentence] of tries) {
    const ended = await revisit(['simulate', ...words]);
    expect(ended.code).toBe(2);
    expect(ended.out).toBe('');
    expect(ended.err).toMatch(sentence);
    expect(ended.err.trim().split('\n').length).toBe(1);
  }
  expect(existsSync(join(folder, 'revisit.db'))).toBe(false);
});

test('pages without a change before the test are told of as left out, and a budget that nobody gave as such', async () => {
  const trace = join(freshFolder(), 't.csv');
  writeFileSync(trace, 'a,0\na,100\nlate,250\na,300\n');
  const words = ['simulate', '--trace', trace, '--train', '200s', '--test', '100s', '--policies', 'uniform'];
  const ended = await revisit([...words, '--budget', '10/change']);
  expect(ended.out).toContain(
    '1 of 2 pages had no change in the time to learn from and is left out: R/page/day and R/change count the other 1 only.',
  );
  expect(JSON.parse((await revisit([...words, '--budget', '10/change', '--json'])).out)).toMatchObject({ leftOut: 1 });
  const none = await revisit(words);
  expect([none.code, none.err]).toEqual([
    2,
    'revisit: --budget 0.1/page/day (as none was given): not one probe in the whole test; a budget such as 900/page/day is expected\n',
  ]);
});

// A device that is always full is what a disk is that fills up during the work.
test.skipIf(!existsSync('/dev/full'))('a result whose files cannot be written is printed all the same', async () => {
  const trace = join(freshFolder(), 't.csv');
  writeFileSync(trace, traceText());
  const words = ['simulate', '--trace', trace, '--train', '60d', '--test', '30d', '--policies', 'uniform', '--json'];
  const ended = await revisit([...words, '--budget', '1/change', '--probes-out', '/dev/full', '--report', '/dev/full']);
  expect(ended.code).toBe(1);
  expect(JSON.parse(ended.out)).toHaveProperty('policies');
  expect(ended.err).toBe(
    'revisit: --probes-out /dev/full: cannot be written (ENOSPC); --report /dev/full: cannot be written (ENOSPC)\n',
  );
});

/** A data folder in which the daemon's own loop has watched a simulated web for so many days. */
async function watchedFolder(days: number): Promise<string> {
  const folder = freshFolder();
  // In memory, and then written in one go: a disk would make each of thousands of commits wait.
  const opened = openSqlite(':memory:');
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  const startMs = Date.UTC(2026, 0, 5);
  const pages = Array.from({ length: 12 }, (_, i) => {
    const site = `site${i % 3}.example`;
    return { url: `https://${site}/page/${i}`, site, law: poissonLaw(1000 * day * (i < 4 ? 0.2 : 4)) };
  });
  const world = await createWorld({ seed: 3, startMs, store: opened.store, pages });
  const settings = { looksPerSecond: 24 / 3600, spacingMs: 2_000, robots: 8, queueMax: 64 };
  const loop = await startLoop(world, new RevisitPolicy(), settings);
  const stop = new AbortController();
  const running = loop.run(stop.signal);
  await world.clock.runUntil(startMs + days * day * 1000);
  stop.abort();
  await world.clock.runUntil(Infinity, running);
  await loop.close();
  await opened.store.care.backup(join(folder, 'revisit.db'));
  await opened.store.close();
  return folder;
}

/** Looks in a test at pages that changed in the training before it, and how many pages these are. */
async function looksBetween(folder: string, [training, from, to]: readonly number[]): Promise<readonly number[]> {
  const opened = openFolder(folder);
  if (opened.kind !== 'opened') throw new Error('the folder is held');
  const within = (low: number, high: number) => (one: { readonly atMs: number }) =>
    one.atMs > low * 1000 && one.atMs <= high * 1000;
  const changes = (await opened.store.latestChanges({ limit: 100_000 })).filter(({ kind }) => kind === 'changed');
  const changed = new Set(changes.filter(within(training! - 0.001, from! + 1)).map(({ pageId }) => pageId));
  let looks = 0;
  for (const id of changed) looks += (await opened.store.looks(id, 100_000)).filter(within(from!, to!)).length;
  await opened.close();
  return [looks, changed.size];
}

test('the history of a data folder is a trace: what twice the budget would have found', async () => {
  const folder = await watchedFolder(8);
  const words = ['simulate', '--data', folder, '--policies', 'uniform,revisit', '--json'];
  const report = join(freshFolder(), 'own.html');
  const ended = await revisit([...words, '--budget', '6/page/day,12/page/day', '--report', report]);
  // What such a history does not know is told beside the result, in it and in the report.
  const origin =
    'Changes are known as of the look that found them, so the schedule that really ran has delays near 0 here, and what nobody saw is not there: this compares policies with each other and not with what really happened.';
  expect(ended.err).toBe(`${origin}\n`);
  expect(JSON.parse(ended.out)).toMatchObject({ notes: [origin] });
  expect(readFileSync(report, 'utf8')).toContain(origin);
  expect(ended.code).toBe(0);
  const body = JSON.parse(ended.out) as {
    trainStart: number;
    testStart: number;
    testEnd: number;
    pages: number;
    budgets: { policies: { policy: string; changes: number; meanDelayHours: number }[] }[];
  };
  expect(body.pages).toBeGreaterThanOrEqual(10);
  expect((body.testEnd - body.testStart) / (body.testEnd - body.trainStart)).toBeCloseTo(1 / 3, 2);
  expect((body.testEnd - body.trainStart) / day).toBeGreaterThan(6.5);
  const [once, twice] = body.budgets.map(({ policies }) => policies);
  expect(once![0]!.changes).toBeGreaterThan(30);
  for (const i of [0, 1]) expect(twice![i]!.meanDelayHours).toBeLessThan(0.75 * once![i]!.meanDelayHours);
  expect(once![1]!.meanDelayHours).toBeLessThan(once![0]!.meanDelayHours);

  const long = await revisit([...words, '--test', '60d']);
  expect(long.code).toBe(2);
  expect(long.err).toMatch(/--test 60d: no source changed before the test begins; a shorter test or a longer history/);
  const all = await revisit([...words, '--train', '60d']);
  expect(all.code).toBe(2);
  expect(all.err).toMatch(
    /^revisit: --train 60d: the history has lasted [67]\.\d+d, and nothing of it is left to test; a shorter time is expected\n$/,
  );

  // Without a budget it is the collection's own: the looks that it made at these pages in the time of the test.
  const ownWords = ['simulate', '--data', folder, '--policies', 'uniform', '--json'];
  const own = JSON.parse((await revisit(ownWords)).out) as { budget: string; allowed: number; pages: number };
  const [made, pages] = await looksBetween(folder, [body.trainStart, body.testStart, body.testEnd]);
  expect([own.budget, own.pages]).toEqual(['1x', pages]);
  expect(own.allowed).toBe(made);
  expect(JSON.parse((await revisit([...ownWords, '--budget', '2x'])).out)).toMatchObject({
    allowed: 2 * made!,
    ownLooks: made,
  });
  expect((await revisit(ownWords.filter((word) => word !== '--json'))).out).toContain(
    `1x is as many as the collection itself made at these pages in the time of the test: ${made}.`,
  );

  // The same while another process works on the folder, of which nothing becomes another.
  const daemon = openFolder(folder);
  if (daemon.kind !== 'opened') throw new Error('the folder is held');
  // By another process: closing a file that this one has locked would open its lock.
  const hashes = `for (const name of ['revisit.db', 'revisit.db-wal', 'lock.db'])
    console.log(name, require('node:crypto').hash('sha1', require('node:fs').readFileSync(name)))`;
  const files = () => execFileSync(process.execPath, ['-e', hashes], { cwd: folder }).toString();
  const before = files();
  const beside = await revisit([...words, '--budget', '6/page/day']);
  expect([beside.err, beside.code]).toEqual([`${origin}\n`, 0]);
  expect((JSON.parse(beside.out) as { policies: unknown[] }).policies).toMatchObject(
    once!.map(({ policy, meanDelayHours }) => ({ policy, meanDelayHours })),
  );
  expect(files()).toBe(before);
  await daemon.close();
});

test('where the papers’ report cannot go is said before the work', async () => {
  const out = join(freshFolder(), 'nowhere', 'papers.html');
  const ended = await revisit(['reproduce', '--out', out]);
  expect([ended.code, ended.out]).toEqual([2, '']);
  expect(ended.err).toMatch(/^revisit: --out .*papers\.html: there is no folder .*nowhere; .*\n$/);
});

test('an importance over the week has the integral of its steps', () => {
  const work = readImportance({ breaks: [0, 9, 18, 24], values: [1, 3, 1], period: 24 }) as Importance;
  const monday = 1_700_438_400;
  expect([work.at(monday), work.at(monday + 9 * 3600), work.at(monday + 18 * 3600)]).toEqual([1, 3, 1]);
  expect(work.integral(monday + 7 * day) - work.integral(monday)).toBeCloseTo(7 * (15 + 27) * 3600, 3);
  expect(work.integral(monday + 10 * 3600) - work.integral(monday)).toBeCloseTo(12 * 3600, 3);
});

test.each([
  ['{"breaks":[0,9],"values":[1],"period":24}', 'breaks is [0,9]; the first is 0, the last the period'],
  ['{"breaks":[0,9,9,24],"values":[1,2,1],"period":24}', 'breaks is [0,9,9,24]; a list of hours that rise is expected'],
  ['{"breaks":[],"values":[],"period":24}', 'breaks is []; the first is 0, the last the period'],
  ['{"breaks":[0,24],"values":[-1],"period":24}', 'values is [-1]; a list of numbers of at least 0 is expected'],
  ['{"breaks":[0,24],"values":[1,2],"period":24}', 'values is [1,2]; one fewer than breaks is expected'],
  ['{"breaks":[0,24],"values":[0],"period":24}', 'values is [0]; one above 0 at least is expected'],
  ['{"breaks":[0,1],"values":[1],"period":1}', 'period is 1; 168 (hours of the week) or 24 (of the day) is expected'],
  ['{"a":1}', 'period is missing; 168 (hours of the week) or 24 (of the day) is expected'],
  ['{"breaks":', 'is no JSON ('],
])('of an importance %s it is said what is wrong', async (text, sentence) => {
  const folder = freshFolder();
  const [trace, importance] = [join(folder, 't.csv'), join(folder, 'i.json')];
  writeFileSync(trace, 'a,0\nb,3600\na,172800\nb,345600\n');
  writeFileSync(importance, text);
  const refused = await revisit(['simulate', '--trace', trace, '--train', '2d', '--importance', importance]);
  expect([refused.code, refused.out]).toEqual([2, '']);
  expect(refused.err).toContain(`revisit: --importance ${importance}: ${sentence}`);
});

test('a budget a change where training expects none is refused as such, and one that is enough is named', async () => {
  const trace = join(freshFolder(), 't.csv');
  writeFileSync(trace, 'a,0\nb,3600\na,172800\nb,345600\n');
  const words = ['simulate', '--trace', trace, '--train', '2d', '--test', '3d', '--policies', 'uniform'];
  const refused = await revisit([...words, '--budget', '10/change']);
  expect([refused.code, refused.out, refused.err]).toEqual([
    2,
    '',
    'revisit: --budget 10/change: not one probe in the whole test: the time to learn from leads one to expect no change there; a budget such as 0.4/page/day is expected\n',
  ]);
  expect((await revisit([...words, '--budget', '0.4/page/day'])).code).toBe(0);
});

test('weights that are all 0 are refused, as nothing would be worth a look', async () => {
  const folder = freshFolder();
  const [trace, weights] = [join(folder, 't.csv'), join(folder, 'w.csv')];
  writeFileSync(trace, 'a,0\na,86400\na,172800\nb,0\nb,90000\nb,180000\n');
  writeFileSync(weights, 'a,0\nb,0\n');
  const words = ['simulate', '--trace', trace, '--train', '1d', '--test', '1d', '--budget', '1/change'];
  const refused = await revisit([...words, '--importance', weights]);
  expect([refused.code, refused.out]).toEqual([2, '']);
  expect(refused.err).toMatch(/--importance .*w\.csv: every weight is 0; one above 0 at least is expected\n$/);
});
