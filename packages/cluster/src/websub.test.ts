import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { eventually, freshFolder, serve } from '../../daemon/src/trial/command.ts';
import { type Cleanups, startFront, startHub, startWeb } from '../../daemon/src/trial/hub-world.ts';
import { leash } from '../../daemon/src/trial/leash.ts';
import { quietNow } from '../../daemon/src/trial/quiet-now.ts';
import { locate } from '../../../house/provision.ts';
import { startNats } from './trial/nats-server.ts';
import { startPostgres } from './trial/postgres-server.ts';

const bin = join(import.meta.dirname, '../../daemon/bin/revisit.js');
const hosts = 12;
const cleanups: Cleanups = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test.skipIf(locate('nats-server') === undefined)(
  'a hub calls whichever coordinator it reaches, and the one that looks after the page looks; also when that was lost',
  async () => {
    const [postgres, nats] = await Promise.all([startPostgres(), startNats()]);
    cleanups.push(() => Promise.all([postgres.end(), nats.end()]));
    const hub = await startHub(cleanups);
    const web = await startWeb(cleanups, hub.url, '0.0.0.0');
    const front = await startFront(cleanups);
    const folder = freshFolder();
    cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
    const config = join(folder, 'revisit.yaml');
    writeFileSync(config, JSON.stringify({ publicUrl: front.url, budget: '50/second', spacing: '20ms', lease: '2s' }));
    const open = ['--allow-network', '127.0.0.0/8', '--log-level', 'error'];
    const words = [config, '--store', await postgres.database('hubs'), '--nats', nats.url, ...open];
    const both = [await serve(words), await serve(words)];
    cleanups.push(() => Promise.all(both.map((serving) => serving.end('SIGKILL'))));
    const robot = ['robot', '--nats', nats.url, '--spacing', '20ms', ...open];
    const child = leash(spawn(process.execPath, [bin, ...robot], { cwd: tmpdir(), stdio: 'ignore' }));
    cleanups.push(() => void child.kill('SIGKILL'));
    front.leadTo(...both.map(({ url }) => url));

    const [one, two] = both.map(({ url }) => url) as [string, string];
    // The hub's kind is its path, the same for all of them: honest.
    const urls = Array.from({ length: hosts }, (_, i) => web.url.replace('127.0.0.1', `127.0.0.${i + 1}`) + '/honest');
    web.texts.set('/honest', 'version 1');
    const headers = { 'content-type': 'application/json' };
    // The plan alone would look at each page once: whatever comes after that is the hub's doing.
    const body = JSON.stringify(urls.map((url) => ({ url, spacing: '30d' })));
    expect((await fetch(`${one}/api/pages`, { method: 'POST', headers, body })).status).toBe(201);
    const subscribed = async () => (await hub.state()).subscribers.filter(({ verified }) => verified > 0).length;
    await eventually(async () => (await subscribed()) === hosts);
    const versions = async (at: string): Promise<number[]> =>
      ((await (await fetch(`${at}/api/pages`)).json()) as { pages: { version: number }[] }).pages.map(
        ({ version }) => version,
      );
    /** Until each word was taken; while nobody looks after a page it is not, and a hub comes again. */
    const tell = async (version: number): Promise<void> => {
      web.texts.set('/honest', `version ${version}`);
      await eventually(async () => {
        for (const url of urls) expect((await hub.publish(url)).status).toBe(204);
        return (await hub.state()).subscribers.every(({ answers }) => answers.at(-1) === 202);
      });
    };
    const seen = (version: number): Promise<unknown> =>
      eventually(async () => (await versions(two)).every((each) => each === version));
    await tell(2);
    await seen(2);

    // What was taken is looked at, also where the one that took it is lost before it looked.
    const quiet = async (hours: readonly string[]): Promise<void> => {
      const settings = JSON.stringify({ quiet: hours });
      expect((await fetch(`${two}/api/settings`, { method: 'PATCH', headers, body: settings })).status).toBe(200);
    };
    const quietAt = async (at: string): Promise<string[]> =>
      ((await (await fetch(`${at}/api/settings`)).json()) as { quiet: string[] }).quiet;
    await quiet(quietNow());
    for (const at of [one, two]) await eventually(async () => (await quietAt(at)).length > 0);
    await tell(3);
    await both[0]!.end('SIGKILL');
    front.leadTo(two);
    await quiet([]);
    await seen(3);
    // What the lost one had asked for is known to the one that takes over: nobody asks the hub again.
    await tell(4);
    await seen(4);
    expect((await hub.state()).asked).toHaveLength(hosts);
  },
);
