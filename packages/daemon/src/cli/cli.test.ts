import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as certificates from '../observe/test/certificates.ts';
import { freshFolder, loopbackWeb, revisit, type LoopbackWeb } from '../trial/command.ts';
import { revisitHere } from '../trial/command-here.ts';

let web: LoopbackWeb;
beforeAll(async () => {
  web = await loopbackWeb();
});
afterAll(() => web.close());

const open = ['--allow-network', '127.0.0.0/8'];

describe('wrong calls get one sentence, exit 2, and change nothing', () => {
  const data = freshFolder();
  const config = (text: string): string => {
    const file = join(freshFolder(), 'revisit.yaml');
    writeFileSync(file, text);
    return file;
  };
  test.each([
    ['a misspelt command', ['serv'], /Did you mean serve/],
    ['an unknown flag beside none that must be there', ['robot', '--bogus'], /unknown option '--bogus'/],
    ['a robot without servers', ['robot'], /^revisit: --nats is missing: .*such as nats:\/\/127.0.0.1:4222/],
    ['an unknown flag', ['pages', '--dta', data], /unknown option '--dta'[\s\S]*Did you mean --data/],
    ['a wrong URL', ['add', 'ftp://example.org/x', '--data', join(data, 'none')], /ftp:.*http: and https:/],
    ['a bad rate', ['serve', '--budget', '5', '--data', join(data, 'none')], /--budget 5: a rate such as 600\/hour/],
    [
      'a bad duration',
      ['serve', '--spacing', 'soon', '--data', join(data, 'none')],
      /--spacing soon: a duration such as/,
    ],
    ...[
      ['a jq filter that is none', ['--select', 'jq:.['], /select: The jq selector \.\[ is not valid/],
      ['an option that is none', ['--options', '{"tel":{}}'], /options\.tel: no option has this name/],
      [
        'a part to remove that is none',
        ['--options', '{"normalise":{"remove":["p["]}}'],
        /options\.normalise\.remove\[0\]: The css selector p\[ is not valid/,
      ],
    ].map(
      ([what, words, sentence]) =>
        [what, ['add', 'https://a.example/', ...(words as string[]), '--data', join(data, 'none')], sentence] as [
          string,
          string[],
          RegExp,
        ],
    ),
    ...(['serve', 'robot', 'observer'] as const).flatMap((command) => {
      const words = [command, '--nats', 'nats://127.0.0.1:1', '--data', join(data, 'none')];
      if (command === 'robot') words.splice(3);
      return [
        [
          'a network that is none',
          [...words, '--allow-network', '300.0.0.0/8'],
          /--allow-network 300.0.0.0\/8: an addr/,
        ],
        ['a level that is none', [...words, '--log-level', 'loud'], /--log-level loud: .*"silent"/],
      ] as [string, string[], RegExp][];
    }),
    ...['foo', '127.0.0.1:99999', '127.0.0.1:0', '4222', '::1:4222'].map(
      (address) =>
        [
          `${address}, where no server of NATS can listen,`,
          ['access', 'server', '--listen', address, '--folder', join(data, 'none')],
          /--listen \S+: an address such as 0\.0\.0\.0:4222/,
        ] as [string, string[], RegExp],
    ),
    ['a bad port', ['serve', '--port', 'x', '--data', join(data, 'none')], /--port x/],
    [
      'an unknown policy',
      ['serve', '--policy', 'magic', '--data', join(data, 'none')],
      /"magic".*known policies are uniform/,
    ],
    [
      'an unknown key in the config',
      ['serve', config('budget: 600/hour\n\nspacng: 2s\n')],
      /revisit.yaml:3: spacng is not a known setting/,
    ],
    [
      'a bad value in the config',
      ['serve', config('port: 80\nbudget: lots\n')],
      /revisit.yaml:2: budget: "lots" is not allowed; a rate such as/,
    ],
    [
      'a wrong page in the config',
      ['serve', config('budget: 9/hour\npages:\n  - url: gopher://x\n')],
      /revisit.yaml:3: pages\.0.*gopher:/,
    ],
    [
      'a wrong setting of a page in the config',
      ['check', config('pages:\n  - url: https://a.example/\n    select: a\n    weight: heavy\n')],
      /revisit.yaml:4: pages\.0.*weight/,
    ],
    ['broken YAML', ['serve', config('budget: [1\n')], /revisit.yaml:\d+: /],
    ['a folder that is not there', ['pages', '--data', join(data, 'none')], /no such folder/],
  ])('%s', async (_what, words, sentence) => {
    const ended = await revisitHere(words);
    expect(ended.err).toMatch(sentence);
    expect(ended).toMatchObject({ code: 2, out: '' });
    expect(existsSync(join(data, 'none'))).toBe(false);
  });

  test('a problem that is no JSON, to a process of its own', async () => {
    const ended = await revisit(['solve', '-']);
    expect(ended.err).toMatch(/is not JSON/);
    expect(ended).toMatchObject({ code: 2, out: '' });
  });
});

test("help, version and every command's example", async () => {
  const help = await revisit(['--help']);
  expect(help.code).toBe(0);
  expect((await revisitHere(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect((await revisitHere(['add', '--help'])).out).toContain('Example:\n  revisit add');
});

test('without a daemon: the plan is that of the pages the configuration names', async () => {
  const folder = freshFolder();
  const file = join(folder, 'revisit.yaml');
  const pages = ['/1', '/2', '/3'].map((path) => `  - url: https://a.example${path}\n`).join('');
  writeFileSync(file, `budget: 60/hour\npages:\n${pages}sites:\n  a.example:\n    atMost: 2/hour\n`);
  const ended = await revisitHere(['plan', file, '--data', join(folder, 'data'), '--json']);
  expect(ended).toMatchObject({ code: 0, err: '' });
  const plan = JSON.parse(ended.out) as { pages: number; probes: unknown[]; dearSites: { site: string }[] };
  expect(plan.pages).toBe(3);
  expect(plan.probes.length).toBe(3);
  expect(plan.dearSites.map(({ site }) => site)).toEqual(['a.example']);
});

test('settings for a page that is watched already are not dropped: add says which differ, edit changes them', async () => {
  const data = join(freshFolder(), 'data');
  const page = 'https://a.example/settings';
  const call = (...words: readonly string[]) => revisitHere([...words, '--data', data]);
  expect((await call('add', page, '--tag', 'one')).code).toBe(0);
  // The same again, and nothing more said of it, is no mistake.
  expect((await call('add', page, '--tag', 'one')).out).toContain('already watched');
  expect((await call('add', page)).out).toContain('already watched');
  const [{ id }] = JSON.parse((await call('pages', '--json')).out) as [{ id: string }];
  const options = ['--options', '{"discover":true}', '--spacing', '1h'];
  const other = await call('add', 'https://b.example/', page, ...options);
  expect(other).toMatchObject({ code: 2, out: '' });
  expect(other.err).toContain(`${page} is watched already: spacing in seconds is not set, not 3600`);
  expect(other.err).toContain('options is {}, not {"discover":true}');
  expect(other.err).toContain(`"revisit edit ${id}"`);
  // Nothing was touched, nor the page before it added.
  const pages = async () => JSON.parse((await call('pages', '--json')).out) as Record<string, unknown>[];
  expect(await pages()).toMatchObject([{ url: page, options: {} }]);
  expect(await call('edit', id, ...options)).toMatchObject({ code: 0, out: `${id}  changed  ${page}\n` });
  expect(await pages()).toMatchObject([{ options: { discover: true }, spacingSeconds: 3600, tags: ['one'] }]);
  expect((await call('add', page, ...options)).out).toContain('already watched');
  expect(await call('edit', page)).toMatchObject({ code: 2, out: '' });
  expect(await call('edit', page, '--weight', '-1')).toMatchObject({ code: 2, out: '' });
});

test('a page is shown in a browser, or asked for with headers, by flags; no value of a header is said again', async () => {
  const data = join(freshFolder(), 'data');
  const page = 'https://a.example/flags';
  const call = (...words: readonly string[]) => revisitHere([...words, '--data', data]);
  const secret = ['--header', 'Cookie: hush=hush', '--header', 'Accept-Language: de'];
  expect((await call('add', page, '--render', ...secret)).code).toBe(0);
  const pages = async () => JSON.parse((await call('pages', '--json')).out) as Record<string, unknown>[];
  expect(await pages()).toMatchObject([{ render: true, headers: ['Cookie', 'Accept-Language'] }]);
  const again = await call('add', page, '--no-render', ...secret);
  expect(again).toMatchObject({ code: 2, out: '' });
  expect(again.err).toContain('render is true, not false; its headers are kept as they are');
  expect((await call('edit', page, '--no-render', '--header', 'X-A: b: c')).code).toBe(0);
  expect(await pages()).toMatchObject([{ render: false, headers: ['X-A'] }]);
  for (const words of [
    ['hush'],
    [':hush'],
    ['Cookie: hush', '--header', 'cookie: hush'],
    ['Host: hush'],
    ['X: hush\u0001'],
  ]) {
    const refused = await call('add', 'https://a.example/other', '--header', ...words);
    expect([words, refused.code, refused.out]).toEqual([words, 2, '']);
    expect(refused.err + again.err).not.toContain('hush');
  }
});

test('without a daemon: add twice, check, change, check, diff, remove', async () => {
  const data = join(freshFolder(), 'data');
  web.pages.set('/alone', '<h1>Title</h1><p>the first text</p>');
  const page = `${web.url}/alone`;
  const first = await revisit(['add', page, `${web.url.toUpperCase()}/alone#part`, '--data', data]);
  expect(first.out.match(/watching/g)?.length).toBe(1);
  expect(first.out).toContain('already watched');
  const check = ['check', '--all', '--data', data, '--spacing', '0', '--budget', '100/second', ...open];
  const before = web.requests.length;
  const begun = await revisit(check);
  expect(begun.code).toBe(0);
  // robots.txt is a request too.
  expect(web.requests.slice(before).map(({ path }) => path)).toEqual(['/robots.txt', '/alone']);
  expect(begun.err).toContain('pages looked at: 1, requests: 2, changes: 0');
  web.pages.set('/alone', '<h1>Title</h1><p>the second text</p>');
  const found = await revisit([...check, '--json']);
  expect(JSON.parse(found.out)).toMatchObject({ looks: 1, requests: 1, changes: [{ url: page, kind: 'changed' }] });
  const diff = await revisitHere(['diff', page, '--data', data]);
  expect(diff.out).toContain('the [-first-]{+second+} text');
  const shown = await revisitHere(['show', page, '--version', '1', '--data', data]);
  expect(shown.out).toContain('the first text');
  expect((await revisitHere(['changes', '--data', data, '--json'])).out).toContain(page);
  expect((await revisitHere(['remove', page, '--data', data])).code).toBe(0);
  expect(JSON.parse((await revisitHere(['pages', '--data', data, '--json'])).out)).toEqual([]);
});

test('a check ends where hours keep it from looking, and says until when', async () => {
  const folder = freshFolder();
  web.pages.set('/quiet', '<p>text</p>');
  const clock = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);
  const file = join(folder, 'revisit.yaml');
  const page = `pages:\n  - url: ${web.url}/quiet\n`;
  const before = web.requests.length;
  for (const [rules, why] of [
    [`quiet: ["${clock(-1)}-${clock(2)} UTC"]\n`, 'quiet hours until'],
    [`sites:\n  127.0.0.1:\n    quiet: ["${clock(-1)}-${clock(2)} UTC"]\n`, 'quiet hours of 127.0.0.1 until'],
  ] as const) {
    writeFileSync(file, `${rules}${page}`);
    const checked = await revisit(['check', file, '--all', '--data', join(folder, 'data'), ...open]);
    expect(checked.code).toBe(0);
    expect(checked.err).toContain(`pages left for later: 1 (${why} 2`);
  }
  expect(web.requests.slice(before)).toEqual([]);
});

test('a folder that cannot be written, and a database of another make, are said and left alone', async () => {
  const file = join(freshFolder(), 'file');
  writeFileSync(file, 'not a folder');
  expect((await revisitHere(['add', `${web.url}/x`, '--data', file])).code).toBe(1);
  const data = freshFolder();
  mkdirSync(join(data, 'inner'));
  writeFileSync(join(data, 'revisit.db'), 'this is no database, but somebody keeps it here');
  const ended = await revisitHere(['add', `${web.url}/x`, '--data', data]);
  expect(ended.code).toBe(1);
  expect(ended.err).toContain('revisit.db');
  expect(readFileSync(join(data, 'revisit.db'), 'utf8')).toContain('somebody keeps it here');
  // Root may write anywhere, so this part only speaks for other users.
  if (process.getuid?.() !== 0) {
    const locked = freshFolder();
    chmodSync(locked, 0o500);
    expect((await revisitHere(['add', `${web.url}/x`, '--data', locked])).code).toBe(1);
  }
});

test('a folder for keys that cannot be written, or read, is said in a sentence', async () => {
  const file = join(freshFolder(), 'file');
  writeFileSync(file, 'not a folder');
  for (const words of [['add', 'robot', 'one'], ['server']]) {
    const ended = await revisit(['access', ...words, '--folder', join(file, 'keys')]);
    expect(ended).toMatchObject({ code: 1, out: '' });
    expect(ended.err).toMatch(/^revisit: --folder \S+: cannot be written \((EEXIST|ENOTDIR)\)\n$/);
  }
  const keys = freshFolder();
  mkdirSync(join(keys, 'grants.json'));
  const listed = await revisit(['access', 'list', '--folder', keys]);
  expect(listed).toEqual({ code: 1, out: '', err: `revisit: --folder ${keys}: cannot be read (EISDIR)\n` });
});

test('a server of NATS is given a certificate and its key, or nothing', async () => {
  const folder = freshFolder();
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const [cert, key] = [file('cert', certificates.good), file('key', certificates.key)];
  const [other, none, away] = [file('other', certificates.authority), file('none', 'root:x:0:0'), join(folder, 'away')];
  const keys = join(folder, 'keys');
  const server = (...words: string[]) => revisit(['access', 'server', '--folder', keys, ...words]);
  for (const [tlsCert, tlsKey, said] of [
    [away, away, `--tls-cert ${away}: cannot be read (ENOENT)`],
    [cert, away, `--tls-key ${away}: cannot be read (ENOENT)`],
    [none, none, `--tls-cert ${none}: it holds no certificate; `],
    [cert, none, `--tls-key ${none}: it holds no key that can be read; `],
    [other, key, `--tls-key ${key}: it is not the key of the certificate in --tls-cert ${other}`],
  ] as const) {
    const ended = await server('--tls-cert', tlsCert, '--tls-key', tlsKey);
    expect(ended).toEqual({ code: 2, out: '', err: expect.stringContaining(said) });
  }
  for (const words of [['list'], ['remove', 'me']]) {
    const gone = await revisit(['access', ...words, '--folder', keys]);
    expect(gone).toEqual({
      code: 2,
      out: '',
      err: expect.stringContaining(`--folder ${keys}: there is no such folder`),
    });
    const file = await revisit(['access', ...words, '--folder', cert]);
    expect(file).toEqual({ code: 2, out: '', err: expect.stringContaining(`--folder ${cert}: it is no folder`) });
  }
  expect(await server('--tls-cert', cert, '--tls-key', key)).toMatchObject({ code: 0 });
  expect(readFileSync(join(keys, 'nats.conf'), 'utf8')).toContain(cert);
  expect(await revisit(['access', 'list', '--folder', keys])).toEqual({ code: 0, out: '', err: '' });
});

test('a damaged database file and a folder that is a file are said in a sentence', async () => {
  const data = join(freshFolder(), 'data');
  const file = join(data, 'revisit.db');
  for (let i = 0; i < 3; i++) await revisit(['add', `https://a.example/${i}`, '--data', data]);
  const taken = await revisit(['export', '--format', 'files', '--out', file, '--data', data]);
  expect(taken).toMatchObject({ code: 1, out: '' });
  expect(taken.err).toMatch(/cannot be written \((EEXIST|ENOTDIR)\)\n$/);
  const bytes = readFileSync(file);
  bytes.fill(0xa5, 4096 * 5, 4096 * 11);
  writeFileSync(file, bytes);
  const seen = await revisit(['doctor', '--repair', '--data', data]);
  expect(seen).toMatchObject({ code: 1, out: '' });
  expect(seen.err).toMatch(/damaged .*restore a backup.*\n$/);
  expect(seen.err).not.toContain('    at ');
});
