/**
 * Everything that README and docs tell people to type is typed here. The convention:
 *   sh         run in the page's own folder, in order, as one session; `serve` and `demo` are put into the background or ended,
 *              other commands share a process (trial/resident.ts).
 *              A page that adds nothing finds a collection of one page
 *   sh setup   not run: it installs, or needs root, Docker or NATS's own command line; only such commands may stand in it
 *   ts         a program that runs by itself
 *   js         one that needs a server (the cluster's reader.test.ts runs it)
 *   yaml       a revisit.yaml that is accepted (in a session's own files it may be anything)
 *   json       a problem for `revisit solve` (docs/solve.md has a test of its own)
 *   json options, json message, match
 *              options of a page, the body of a webhook, an expression of a subscription: each is read
 *   text       what the block before it prints
 * What stands in the text as `revisit …` or as a call of the API must exist too.
 */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApiDocument } from './api/document.ts';
import { outlineOf, type CommandOutline } from './cli/outline.ts';
import { createProgram } from './cli/program.ts';
import { readConfigText } from './config/config.ts';
import { readOptions } from './detect/options.ts';
import { requestFor } from './tell/channels.ts';
import { parseExpression } from './tell/expression.ts';
import { blocksOf, documents, programsOf, root, textOf } from './trial/documents.ts';

const home = mkdtempSync(join(tmpdir(), 'revisit-docs-'));
function run(
  command: string,
  words: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<{ code: number | null; out: string; err: string }> {
  return new Promise((resolve) => {
    const child = spawn(command, words, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    child.on('close', (code) => resolve({ code, out, err }));
  });
}

/** Whoever is asked: the same page with a new sentence each time, so that there is something to see. */
let web: Server;
let asked = 0;
beforeAll(async () => {
  web = createServer((request, response) => {
    if (request.url === '/robots.txt') return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': 'text/html' });
    const story = Array.from(
      { length: 6 },
      (_, i) =>
        `<p>Paragraph ${i + 1} of a story that is long enough to be one, with sentences, commas, and people who read it, every day, to its end.</p>`,
    );
    response.end(
      `<title>News</title><main><article><h1>News of today</h1><p id="price">${asked} euro</p><p>This is edition number ${asked++}, and it differs from the one before.</p>${story.join('')}</article></main>`,
    );
  });
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  mkdirSync(join(home, 'node_modules/@revisit'), { recursive: true });
  symlinkSync(join(root, 'packages/core'), join(home, 'node_modules/@revisit/core'));
  const node = `exec "${process.execPath}" --disable-warning=ExperimentalWarning --import "${join(import.meta.dirname, 'trial/pretend-internet.ts')}"`;
  for (const [name, file] of [
    ['revisit', join(root, 'packages/daemon/bin/revisit.js')],
    ['resident', join(import.meta.dirname, 'trial/resident.ts')],
  ]) {
    writeFileSync(join(home, name!), `#!/bin/sh\n${node} "${file}" "$@"\n`);
    chmodSync(join(home, name!), 0o755);
  }
});
afterAll(() => {
  web.close();
  rmSync(home, { recursive: true, force: true });
});

/** A daemon that a page starts runs beside the rest of the session, on a port of its own; a demonstration ends by itself. */
const prelude = (port: number, desk: string): string => `set -e
serving=""
end() { if [ -n "$serving" ]; then kill "$serving" 2>/dev/null || true; wait "$serving" 2>/dev/null || true; serving=""; fi; }
mkfifo "${desk}/ask" "${desk}/answer"
"${home}/resident" "${desk}" >"${desk}/failed" 2>&1 &
resident=$!
trap 'end; kill -KILL "$resident" 2>/dev/null || true; cat "${desk}/failed" >&2' EXIT
ask() {
  printf '%s\\0' "$@" >"${desk}/words"
  timeout 120 sh -c 'echo >"${desk}/ask"'
  code=$(timeout 120 cat "${desk}/answer")
  cat "${desk}/out"
  cat "${desk}/err" >&2
  return "$code"
}
npx() { "$@"; }
revisit() {
  case "$1" in
    serve)
      end
      "${home}/revisit" "$@" --port ${port} --spacing 10ms >serve.out 2>&1 &
      serving=$!
      for i in $(seq 1 300); do
        if curl -sf http://127.0.0.1:${port}/api/status 2>/dev/null | grep -Eq '"looks":[1-9]|"pages":0'; then return 0; fi
        sleep 0.1
      done
      cat serve.out >&2; return 1 ;;
    demo) shift; "${home}/revisit" demo --port 0 --seconds 1 "$@" ;;
    *) ask "$@" ;;
  esac
}
`;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
}

const setupWords = /^(npm|npx|git|cd|docker|sudo|systemctl|nats|#|$)/;
const kinds = ['', 'sh', 'sh setup', 'ts', 'js', 'yaml', 'json', 'json options', 'json message', 'match', 'text'];

describe.concurrent.each(documents)('%s', (page) => {
  const blocks = blocksOf(page);

  test('every block says what it is, and every link leads somewhere', () => {
    for (const { info, text, line } of blocks) {
      expect(kinds, `${page}:${line}`).toContain(info);
      if (info === '')
        expect(text, `${page}:${line} looks like a command; mark it sh`).not.toMatch(
          /^(npx |npm |curl )?(revisit|ci) /m,
        );
      if (info === 'sh setup')
        for (const command of text.split('\n')) expect(command, `${page}:${line}`).toMatch(setupWords);
      if (info === 'yaml') expect(readConfigText(text, `${page}:${line}`)).toMatchObject({ kind: 'read' });
      if (info === 'json options')
        expect(readOptions(JSON.parse(text) as Record<string, unknown>), `${page}:${line}`).toMatchObject({
          kind: 'read',
        });
      if (info === 'json message') expect(Object.keys(JSON.parse(text) as object)).toEqual(messageFields);
      if (info === 'match') expect(parseExpression(text), `${page}:${line}`).toMatchObject({ kind: 'parsed' });
      if (info === 'json') expect(page, `${page}:${line} only problems are plain json`).toBe('docs/solve.md');
    }
    for (const [, target] of textOf(page).matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g))
      expect(existsSync(join(root, dirname(page), target!)), `${page} links to ${target}`).toBe(true);
  });

  const session = blocks.filter(({ info }) => info === 'sh');
  const live = async (): Promise<void> => {
    const folder = mkdtempSync(join(home, 'session-'));
    const port = await freePort();
    // What stands in docs/solve.md as a file is one of its own examples.
    const example = blocks.find(({ info }) => info === 'json');
    if (example) writeFileSync(join(folder, 'problem.json'), example.text);
    const script = session.map(({ text, line }) => {
      const wanted = blocks.find(
        (block) =>
          block.info === 'text' &&
          block.line > line &&
          !blocks.some((other) => other.line > line && other.line < block.line),
      );
      const body = text.replaceAll('7373', String(port));
      return `echo "== ${page}:${line}" >&2\n${wanted ? `{\n${body}\n} | tee told.txt\ncat > wanted.txt <<'WANTED'\n${wanted.text}\nWANTED\ndiff wanted.txt told.txt >&2` : body}`;
    });
    const begun = session.some(({ text }) => text.includes('revisit add'))
      ? ''
      : 'revisit add https://example.org/ >/dev/null\n';
    writeFileSync(
      join(folder, 'session.sh'),
      `${prelude(port, mkdtempSync(join(home, 'desk-')))}${begun}${script.join('\n')}\n`,
    );
    const { code, err } = await run('bash', ['session.sh'], folder, {
      REVISIT_TRIAL_WEB: String((web.address() as AddressInfo).port),
    });
    expect(code, err.slice(-2_000)).toBe(0);
  };
  if (session.length > 0) test('its session runs', live, 180_000);

  const programs = programsOf(page);
  test.each(programs)('the program in line $line', async ({ text, line, wanted }) => {
    const file = join(home, `program-${page.replaceAll('/', '-')}-${line}.ts`);
    writeFileSync(file, text);
    const { code, out, err } = await run(process.execPath, ['--disable-warning=ExperimentalWarning', file], home);
    expect(code, err).toBe(0);
    if (wanted !== undefined) expect(out.trim()).toBe(wanted.trim());
    else expect(out).not.toBe('');
  });
});

const emptyMessage = { id: '', subscription: { id: '' }, title: '', text: '', changes: [], url: '' };
const sent = requestFor({ kind: 'webhook', url: 'https://hooks.example.org/' }, emptyMessage, 0)!;
const messageFields = Object.keys(JSON.parse(sent.body as string) as object);

/** What the text says in passing: `revisit import FILE --dry-run`. */
function mentioned(page: string): readonly string[][] {
  const inline = textOf(page).replace(/^```[\s\S]*?^```/gm, '');
  return [...inline.matchAll(/`(?:npx )?revisit ([a-z][^`]*)`/g)].map(([, words]) => words!.trim().split(/\s+/));
}

test('every command and flag that is mentioned exists', async () => {
  const program = outlineOf(await createProgram(() => async () => {}));
  let count = 0;
  for (const page of documents)
    for (const words of mentioned(page)) {
      let at: CommandOutline | undefined = program.commands.find(({ name }) => name === words[0]);
      expect(at, `${page}: revisit ${words.join(' ')}`).toBeDefined();
      at = at!.commands.find(({ name }) => name === words[1]) ?? at!;
      for (const word of words.filter((one) => one.startsWith('--') && one.length > 2))
        expect(
          at.options.map(({ long }) => long),
          `${page}: revisit ${words.join(' ')}`,
        ).toContain(word.replace(/=.*/, ''));
      count++;
    }
  expect(count).toBeGreaterThan(20);
});

test('every call of the API that is mentioned exists', async () => {
  const { paths } = (await openApiDocument()) as { paths: Record<string, Record<string, unknown>> };
  const calls = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), parts: path.split('/') })),
  );
  let count = 0;
  for (const page of documents)
    for (const [, methods, path] of textOf(page).matchAll(
      /`(GET|POST|PATCH|PUT|DELETE) (\/(?:api|feeds)\/[^\s`?]*)/g,
    )) {
      const parts = path!.split('/');
      const fits = calls.some(
        (call) =>
          call.method === methods &&
          call.parts.length === parts.length &&
          call.parts.every((part, i) => part === parts[i] || part.startsWith('{')),
      );
      expect(fits, `${page}: ${methods} ${path}`).toBe(true);
      count++;
    }
  expect(count).toBeGreaterThan(5);
});
