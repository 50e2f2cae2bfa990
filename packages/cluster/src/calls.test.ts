import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { revisit } from '../../daemon/src/trial/command.ts';
import { freePort } from './trial/postgres-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'revisit-calls-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a server that is away is no wrong call: 1, not 2', async () => {
  const port = await freePort();
  const serve = await revisit(['serve', '--store', `postgres://x:x@127.0.0.1:${port}/x`]);
  expect(serve).toMatchObject({ code: 1, out: '' });
  expect(serve.err).toMatch(/^revisit: store: .*\n$/);
  const robot = await revisit(['robot', '--nats', `nats://127.0.0.1:${port}`]);
  expect(robot).toMatchObject({ code: 1, out: '' });
});

test.each([
  [['robot', '--nats', 'bogus://x'], /--nats bogus:\/\/x: an address such as nats:/],
  [['observer', '--nats', 'nats://127.0.0.1:1,https://x', '--data', folder], /--nats https:\/\/x: an address such as/],
  [['serve', '--store', 'postgres://127.0.0.1:1/x', '--lease', '100d'], /lease.*from 1s to 1h/],
])('%j is a wrong call, said in one sentence', async (words, sentence) => {
  const ended = await revisit(words);
  expect(ended).toMatchObject({ code: 2, out: '' });
  expect(ended.err).toMatch(sentence);
  expect(ended.err.trim().split('\n').length).toBe(1);
});

test("doctor and backup say of a coordinator's folder where its pages are", async () => {
  writeFileSync(join(folder, 'shared-store'), '');
  for (const words of [['doctor'], ['backup', join(folder, 'x')]]) {
    const ended = await revisit([...words, '--data', folder]);
    expect(ended).toMatchObject({ code: 2, out: '' });
    expect(ended.err).toMatch(/in PostgreSQL; back that up with pg_dump/);
  }
});
