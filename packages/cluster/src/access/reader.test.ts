import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstream } from '@nats-io/jetstream';
import { connect, nkeyAuthenticator } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, revisit } from '../../../daemon/src/trial/command.ts';
import { leash } from '../../../daemon/src/trial/leash.ts';
import { locate } from '../../../../house/provision.ts';
import { link } from '../dispatch/link.ts';
import { ensureStreams, subjects } from '../dispatch/streams.ts';
import { answers, freePort } from '../trial/postgres-server.ts';

const root = join(import.meta.dirname, '../../../..');
const documented = /```js\n(import [^`]*REVISIT_CHANGES[^`]*)```/.exec(
  readFileSync(join(root, 'docs/scale.md'), 'utf8'),
)![1]!;

describe.skipIf(locate('nats-server') === undefined)('a reader', () => {
  const folder = mkdtempSync(join(tmpdir(), 'revisit-reader-'));
  const children: ChildProcess[] = [];
  let url: string;
  let said: string;

  beforeAll(async () => {
    const port = await freePort();
    url = `nats://127.0.0.1:${port}`;
    await revisit(['access', 'server', '--listen', `127.0.0.1:${port}`, '--folder', folder]);
    await revisit(['access', 'add', 'coordinator', 'home', '--folder', folder]);
    await revisit(['access', 'add', 'reader', 'other', '--folder', folder]);
    said = (await revisit(['access', 'add', 'reader', 'me', '--folder', folder])).err;
    const words = ['-c', join(folder, 'nats.conf')];
    children.push(leash(spawn(locate('nats-server')!, words, { stdio: 'ignore' })));
    await eventually(() => answers(port));
    const linked = await link({ nats: url, natsKey: join(folder, 'home.nk') }, 'home');
    if (linked.kind === 'failed') throw new Error(linked.sentence);
    await ensureStreams(linked.connection);
    await jetstream(linked.connection).publish(subjects.change(3), JSON.stringify({ summary: 'it is news' }));
    await linked.connection.close();
  });
  afterAll(() => {
    for (const child of children) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  const inbox = (): string => /_INBOX_U\w+/.exec(said)![0];

  test('follows the changes by the program in docs/scale.md, with the inbox that "access add" says', async () => {
    const program = documented
      .replace('nats://127.0.0.1:4222', url)
      .replace('revisit-access/', `${folder}/`)
      .replace('_INBOX_UXXX', inbox());
    const child = leash(
      spawn(process.execPath, ['--input-type=module', '-e', program], { cwd: join(root, 'packages/cluster') }),
    );
    children.push(child);
    let heard = '';
    child.stdout!.on('data', (text: Buffer) => (heard += text.toString()));
    child.stderr!.on('data', (text: Buffer) => (heard += text.toString()));
    await eventually(() => heard !== '');
    expect(heard).toContain("{ summary: 'it is news' }");
  });

  test('hears nothing that goes to another: neither by its name nor where clients listen that were told nothing', async () => {
    const connection = await connect({
      servers: url,
      authenticator: nkeyAuthenticator(readFileSync(join(folder, 'other.nk')).subarray(0, 58)),
    });
    for (const place of [`${inbox()}.>`, '_INBOX.>']) {
      const refusal = await new Promise<string>((done) => {
        connection.subscribe(place, { callback: (error) => done(error?.message ?? 'heard') });
      });
      expect(refusal).toMatch(/Permissions Violation/);
    }
    await connection.close();
  });
});
