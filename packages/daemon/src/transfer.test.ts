import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { createClient } from './api/client.ts';
import { createApi } from './api/server.ts';
import { readPage } from './config/page-input.ts';
import { openFolder } from './folder.ts';
import { Desk } from './desk.ts';
import { takeOver } from './import/take-over.ts';
import { revisitHere } from './trial/command-here.ts';
import { silenceMs, takeBack } from './unfinished-import.ts';
import { systemClock } from './values/clock.ts';
import { fault } from './values/fault.ts';

const folder = mkdtempSync(join(tmpdir(), 'revisit-transfer-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The command in this process, with the folder as its own. */
async function revisit(...words: string[]) {
  const given = words.map((word, i) =>
    words[i - 1] === '--data' || words[i - 1] === '--out' || words[i - 1] === 'import' ? join(folder, word) : word,
  );
  const { code, out, err } = await revisitHere(given);
  return { status: code, stdout: out, stderr: err };
}

const pages = [
  {
    url: 'https://a.example/',
    title: 'A',
    tags: ['x', 'y'],
    weight: 2.5,
    select: 'css:#main',
    spacing: '1h',
    headers: { Authorization: 'hush-hush' },
    urgency: { kind: 'decay', rate: 0.5 },
    life: { kind: 'window', width: 3 },
    loss: 'staleness',
    importance: { breaks: [0, 302_400, 604_800], values: [1, 3], period: 604_800 },
  },
  {
    url: 'https://b.example/feed',
    paused: true,
    options: { normalise: { dates: 'ignore' }, tell: { charactersMin: 5 } },
  },
  { url: 'https://b.example/feed', select: 'links', render: true },
];
const past = [
  { atMs: 1_700_000_000_000, text: 'one', format: 'text' },
  { atMs: 1_700_000_900_000, text: 'two "quoted"\nlines', format: 'text' },
];

test('an export read into an empty folder is the same collection, versions and state included', async () => {
  const opened = openFolder(join(folder, 'first'));
  if (opened.kind !== 'opened') throw new Error(opened.sentence);
  const app = createApi(
    new Desk(opened.store, { nowMs: () => 1_750_000_000_000, sleep: () => Promise.resolve() }, () => {}),
  );
  const added = await app.inject({
    method: 'POST',
    url: '/api/import',
    payload: { records: [{ page: pages[0], versions: past }, ...pages.slice(1).map((page) => ({ page }))] },
  });
  expect(added.statusCode).toBe(200);
  await app.close();
  await opened.close();

  expect((await revisit('export', '--secrets', '--data', 'first', '--out', 'all.ndjson')).status).toBe(0);
  const imported = await revisit('import', 'all.ndjson', '--data', 'second', '--json');
  expect(imported.stderr).toBe('');
  expect(JSON.parse(imported.stdout)).toMatchObject({ format: 'revisit', pages: 3, added: 3, already: 0, versions: 2 });
  const first = await revisit('export', '--secrets', '--data', 'first');
  const second = await revisit('export', '--secrets', '--data', 'second');
  expect(second.stdout).toBe(first.stdout);
  expect(first.stdout).toContain('hush-hush');
  expect((await revisit('export', '--data', 'second')).stdout).not.toContain('hush-hush');
  const diff = await revisit('diff', 'https://a.example/', '--data', 'second');
  expect(diff.stdout).toContain('version 1 → 2');

  const again = await revisit('import', 'all.ndjson', '--data', 'second', '--json');
  expect(JSON.parse(again.stdout)).toMatchObject({ added: 0, already: 3, versions: 0 });
  expect((await revisit('import', 'all.ndjson', '--data', 'second')).stdout).toBe(
    'taken over: 0 pages from this revisit file; 3 were watched already and keep their settings\n',
  );
  expect((await revisit('export', '--secrets', '--data', 'second')).stdout).toBe(first.stdout);
});

const anyPage = fc.record(
  {
    url: fc
      .tuple(fc.integer({ min: 0, max: 5 }), fc.webPath())
      .map(([host, path]) => `https://h${host}.example${path || '/'}`),
    title: fc.string({ unit: 'grapheme', maxLength: 40 }),
    tags: fc.uniqueArray(fc.string({ minLength: 1, maxLength: 12 }), { maxLength: 3 }),
    weight: fc.double({ min: 0.01, max: 100, noNaN: true }),
    select: fc.constantFrom(
      'text',
      'main',
      'links',
      'whole',
      'css:#a > .b',
      'xpath://h1',
      'jsonpath:$.a',
      'regexp:v(\\d+)',
    ),
    spacing: fc.integer({ min: 1, max: 99 }).map((minutes) => `${minutes}m`),
    paused: fc.boolean(),
    render: fc.boolean(),
    loss: fc.constantFrom('obsolescence', 'staleness'),
    headers: fc.dictionary(fc.stringMatching(/^[A-Za-z-]{1,10}$/), fc.stringMatching(/^[ -~]{0,20}$/), { maxKeys: 2 }),
  },
  { requiredKeys: ['url'] },
);
const anyPast = fc
  .uniqueArray(fc.integer({ min: 1, max: 1_000_000 }), { maxLength: 4 })
  .chain((times) =>
    fc.tuple(
      ...times
        .sort((a, b) => a - b)
        .map((at, i) =>
          fc
            .string({ unit: 'grapheme', maxLength: 60 })
            .map((text) => ({ atMs: 1_600_000_000_000 + at * 1000, text: `${i} ${text}`, format: 'text' })),
        ),
    ),
  );

test('whatever is watched: an export of an import of an export is that export', async () => {
  let round = 0;
  const collections = fc.uniqueArray(fc.record({ page: anyPage, versions: anyPast }), {
    minLength: 1,
    maxLength: 14,
    selector: ({ page }) => page.url,
  });
  await fc.assert(
    fc.asyncProperty(collections, async (records) => {
      const [one, two] = [`any-${round}`, `any-${round++}-again`];
      const opened = openFolder(join(folder, one));
      if (opened.kind !== 'opened') throw new Error(opened.sentence);
      const clock = { nowMs: () => 1_750_000_000_000, sleep: () => Promise.resolve() };
      const app = createApi(new Desk(opened.store, clock, () => {}));
      const added = await app.inject({ method: 'POST', url: '/api/import', payload: { records } });
      expect(added.statusCode, added.body).toBe(200);
      await app.close();
      await opened.close();
      await revisit('export', '--secrets', '--data', one, '--out', `${one}.ndjson`);
      expect((await revisit('import', `${one}.ndjson`, '--data', two)).status).toBe(0);
      const first = readFileSync(join(folder, `${one}.ndjson`), 'utf8');
      expect(first.split('\n').length).toBeGreaterThan(records.length);
      expect((await revisit('export', '--secrets', '--data', two)).stdout).toBe(first);
    }),
    // Opening a folder takes longer than a page does, so collections are large rather than many.
    { seed: 10, numRuns: 8 },
  );
});

test('what cannot be read leaves no trace and exits with 2', async () => {
  writeFileSync(join(folder, 'cut.zip'), Buffer.from('PK\u0003\u0004 and no more of it'));
  expect((await revisit('import', 'cut.zip', '--data', 'third')).stderr).toMatch(
    /cut.zip: the archive has no directory at its end, as if it were cut off. Nothing was taken over.$/m,
  );
  writeFileSync(join(folder, 'bad.xml'), '<urlset><url><loc>https://a.example/</loc></url>');
  const { status, stdout, stderr } = await revisit('import', 'bad.xml', '--data', 'third');
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toMatch(/bad.xml: it is not well-formed XML .* Nothing was taken over/);
  expect((await revisit('pages', '--data', 'third')).status).toBe(2);
});

const spoolOf = (count: number): string => {
  const spool = join(folder, `spool-${count}`);
  const records = Array.from({ length: count }, (_, i) => JSON.stringify({ page: { url: `https://a.example/${i}` } }));
  writeFileSync(spool, records.join('\n'));
  return spool;
};

test('an import that fails half way is undone', async () => {
  const opened = openFolder(join(folder, 'fails'));
  if (opened.kind !== 'opened') throw new Error(opened.sentence);
  const desk = new Desk(opened.store, systemClock, () => {});
  await desk.add([readPage({ url: 'https://a.example/17' })].flatMap((page) => ('value' in page ? [page.value] : [])));
  const app = createApi(desk);
  let parts = 0;
  const call = createClient(async ({ method, path, body }) => {
    if (path === '/api/import' && method === 'POST' && ++parts > 2) throw new Error('The disk is full.');
    const answer = await app.inject({ method: method as 'POST', url: path, payload: body as object });
    return answer.statusCode === 204 ? undefined : answer.json();
  });
  const outcome = await takeOver(spoolOf(4_500), call, new AbortController().signal, () => {});
  expect(outcome).toEqual({
    kind: 'undone',
    sentence: 'The disk is full. Nothing was taken over (3999 pages removed again).',
  });
  // What was watched before is still there, and alone.
  expect((await opened.store.pages({ limit: 10 })).map(({ page }) => page.url)).toEqual(['https://a.example/17']);
  await app.close();
  await opened.close();
});

test('an import whose sender is killed is taken back by whoever opens the collection next', async () => {
  const killed = spawn(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `const { openFolder } = await import(${JSON.stringify(import.meta.resolve('./folder.ts'))});
       const { Desk } = await import(${JSON.stringify(import.meta.resolve('./desk.ts'))});
       const { createApi } = await import(${JSON.stringify(import.meta.resolve('./api/server.ts'))});
       const { createClient } = await import(${JSON.stringify(import.meta.resolve('./api/client.ts'))});
       const { takeOver } = await import(${JSON.stringify(import.meta.resolve('./import/take-over.ts'))});
       const { store } = openFolder('killed');
       const app = createApi(new Desk(store, { nowMs: Date.now }, () => {}));
       let parts = 0;
       const call = createClient(async ({ method, path, body }) => {
         const answer = await app.inject({ method, url: path, payload: body });
         if (++parts === 2) process.kill(process.pid, 'SIGKILL');
         return answer.json();
       });
       await takeOver(${JSON.stringify(spoolOf(6_000))}, call, new AbortController().signal, () => {});`,
    ],
    { cwd: folder, stdio: 'ignore' },
  );
  const [, signal] = (await once(killed, 'exit')) as [number | null, string];
  expect(signal).toBe('SIGKILL');
  const { stdout, stderr } = await revisit('pages', '--json', '--data', 'killed');
  expect(stderr).toContain('an import that was cut off is taken back: 4000 pages removed');
  expect(JSON.parse(stdout)).toEqual([]);
});

test('an import whose end cannot be kept is not said to have ended', async () => {
  const opened = openFolder(join(folder, 'full'));
  if (opened.kind !== 'opened') throw new Error(opened.sentence);
  const { store } = opened;
  const desk = new Desk(store, systemClock, () => {});
  const app = createApi(desk);
  const records = [{ page: { url: 'https://a.example/1' } }];
  await app.inject({ method: 'POST', url: '/api/import', payload: { import: 'one', records } });
  const revise = store.revise.bind(store);
  store.revise = () => Promise.resolve({ kind: 'failed', fault: fault('disk-full', 'The disk is full.') });
  const ended = await app.inject({ method: 'POST', url: '/api/import/end', payload: { import: 'one' } });
  expect([ended.statusCode, ended.json()]).toMatchObject([503, { detail: 'The disk is full.' }]);
  store.revise = revise;
  expect(await takeBack(desk)).toBe(1);
  await app.close();
  await opened.close();
});

test('one import at a time; the next takes back one that fell silent', async () => {
  const opened = openFolder(join(folder, 'two'));
  if (opened.kind !== 'opened') throw new Error(opened.sentence);
  let nowMs = 0;
  const desk = new Desk(opened.store, { nowMs: () => nowMs, sleep: () => Promise.resolve() }, () => {});
  const app = createApi(desk);
  const part = (name: string, url: string) =>
    app.inject({ method: 'POST', url: '/api/import', payload: { import: name, records: [{ page: { url } }] } });
  expect((await part('one', 'https://a.example/1')).statusCode).toBe(200);
  const refused = await part('two', 'https://a.example/2');
  expect([refused.statusCode, refused.json()]).toMatchObject([
    409,
    { type: expect.stringContaining('import-under-way') as string },
  ]);
  nowMs = silenceMs;
  expect((await part('two', 'https://a.example/2')).statusCode).toBe(200);
  await app.inject({ method: 'POST', url: '/api/import/end', payload: { import: 'two' } });
  expect(await takeBack(desk)).toBe(0);
  expect((await opened.store.pages({ limit: 10 })).map(({ page }) => page.url)).toEqual(['https://a.example/2']);
  await app.close();
  await opened.close();
});
