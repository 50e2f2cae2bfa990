import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually, loopbackWeb, revisit } from '../../daemon/src/trial/command.ts';
import { leash } from '../../daemon/src/trial/leash.ts';
import { supervise } from '../../../deploy/supervised.ts';
import { locate } from '../../../house/provision.ts';

const deploy = join(import.meta.dirname, '../../../deploy');

/** Of every process its number, that of its parent, and its words. */
const processes = (): string[][] =>
  spawnSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .stdout.split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .flatMap((found) => (found ? [found.slice(1)] : []));

const stateOf = (pid: number): string =>
  spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim();

test('a child that was stopped is killed when it has not ended in time', { timeout: 20_000 }, async () => {
  const said: string[] = [];
  const child = leash(spawn('sleep', ['600']));
  const supervised = supervise({
    name: 'sleeper',
    start: () => child,
    say: (line) => void said.push(line),
    wrong: () => {},
    patienceMs: 100,
  });
  child.kill('SIGSTOP');
  // Of two signals that wait for it, it would take the one that ends it first.
  await eventually(() => stateOf(child.pid!).startsWith('T'));
  await supervised.end();
  expect(child.signalCode).toBe('SIGKILL');
  expect(said).toEqual(['sleeper does not end within 0.1 s and is killed']);
});

test.each([
  ['is said to be asked wrongly', 60_000, 'asker was asked wrongly (it ended with 2), so all ends'],
  ['is started again when it had run for long', 0, 'asker ended with 2; starts again in 1 s'],
])('a child that ends with 2 %s', async (_, soundMs, sentence) => {
  const said: string[] = [];
  let wrongs = 0;
  const supervised = supervise({
    name: 'asker',
    start: () => leash(spawn('sh', ['-c', 'exit 2'])),
    say: (line) => void said.push(line),
    wrong: () => void wrongs++,
    soundMs,
  });
  await eventually(() => said.length > 0);
  await supervised.end();
  expect([said[0], wrongs]).toEqual([sentence, soundMs > 0 ? 1 : 0]);
});

test.skipIf(locate('nats-server') === undefined)(
  'a second Ctrl-C ends the local cluster at once, also who was stopped',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'revisit-local-'));
    const words = ['--folder', folder, '--port', '0', '--coordinators', '1', '--robots', '0', '--observers', '0'];
    const child = leash(
      spawn(process.execPath, [join(deploy, 'local.ts'), ...words], { stdio: ['ignore', 'pipe', 'ignore'] }),
    );
    const ended = new Promise((done) => child.once('exit', done));
    await Promise.race([ended, new Promise((done) => child.stdout.once('data', done))]);
    const stopped = processes().find(([, , line]) => line!.includes(`${folder}/coordinator-1 `))!;
    process.kill(Number(stopped[0]), 'SIGSTOP');
    child.kill('SIGINT');
    await new Promise((done) => setTimeout(done, 1_200));
    expect(child.exitCode).toBeNull();
    child.kill('SIGINT');
    expect(await ended).toBe(1);
    await eventually(() => !processes().some(([, , line]) => line!.includes(folder)));
    rmSync(folder, { recursive: true, force: true });
  },
);

test.skipIf(locate('nats-server') === undefined)(
  'the local script starts a whole cluster with keys, and ends it',
  async () => {
    const web = await loopbackWeb();
    web.pages.set('/a', '<p>as it was</p>');
    const folder = mkdtempSync(join(tmpdir(), 'revisit-local-'));
    const contact = ['--contact', 'me@example.org'];
    const serve = [
      ...contact,
      '--allow-network=127.0.0.0/8',
      '--spacing',
      '50ms',
      '--budget',
      '20/second',
      '--log-level',
      'error',
    ];
    let said = '';
    const start = () => {
      const child = leash(
        spawn(process.execPath, [join(deploy, 'local.ts'), '--folder', folder, '--port', '0', '--', ...serve], {
          stdio: ['ignore', 'pipe', 'pipe'],
          detached: true,
        }),
      );
      child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
      let out = '';
      child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
      const urls = eventually(() => {
        if (child.exitCode !== null) throw new Error(said);
        return out.trim().split('\n').length === 2 && out.trim().split('\n');
      });
      return { child, urls };
    };
    const endOf = async (child: ChildProcess): Promise<void> => {
      const ended = new Promise((done) => child.once('exit', done));
      // As a terminal sends Ctrl-C: to the whole group, and npm passes it on.
      process.kill(-child.pid!, 'SIGINT');
      await new Promise((done) => setTimeout(done, 20));
      process.kill(child.pid!, 'SIGINT');
      expect(await ended).toBe(0);
    };
    // Killed, it takes everybody with it; what it has in its folder the next one finds again.
    const once = start();
    await once.urls;
    once.child.kill('SIGKILL');
    await eventually(() => !processes().some(([, , words]) => words!.includes(folder)));
    const { child, urls: coming } = start();
    try {
      const urls = await coming;
      const added = await fetch(`${urls[0]}/api/pages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ url: `${web.url}/a` }),
      });
      expect(added.status).toBe(201);
      const { id } = (await added.json()) as { id: string };
      // Seen by the one that did not add it, whoever looked.
      await eventually(
        async () => ((await (await fetch(`${urls[1]}/api/pages/${id}`)).json()) as { version: number }).version === 1,
      );
      web.pages.set('/a', '<p>as it is</p>');
      await eventually(
        async () => ((await (await fetch(`${urls[1]}/api/pages/${id}`)).json()) as { version: number }).version === 2,
      );
      // Whoever looks was told how its owner is reached.
      for (const { agent } of web.asked) expect(agent).toContain('me@example.org');
      // Commands find a coordinator by its folder.
      const pages = await revisit(['pages', '--json', '--data', join(folder, 'coordinator-2')]);
      expect(pages.out).toContain(id);
      // Whoever is killed is told of and started again, and all works as before.
      const ours = processes().filter(([, parent]) => parent === String(child.pid));
      // None is of its group: Ctrl-C would end servers under the feet of their users.
      const groups = spawnSync('ps', ['-o', 'pgid=', '-p', ours.map(([pid]) => pid).join()], {
        encoding: 'utf8',
      }).stdout;
      expect(groups.trim().split(/\s+/)).toHaveLength(ours.length);
      expect(groups.trim().split(/\s+/)).not.toContain(String(child.pid));
      for (const [name, words] of [
        ['robot-1', '--name robot-1 '],
        ['robot-2', '--name robot-2 '],
        ['coordinator-1', '/coordinator-1 '],
        ['nats-0', '/nats-0.conf '],
        ['postgres', '/postgres '],
      ] as const) {
        process.kill(Number(ours.find(([, , each]) => each!.includes(words))![0]), 'SIGKILL');
        await eventually(() => new RegExp(`^${name} ended.* starts again`, 'm').test(said));
      }
      web.pages.set('/a', '<p>as it will be</p>');
      for (const url of urls)
        await eventually(
          async () =>
            (
              await fetch(`${url}/api/pages/${id}`).then(
                (answer) => answer.json() as Promise<{ version: number }>,
                () => ({ version: 0 }),
              )
            ).version === 3,
        );
    } finally {
      await endOf(child);
      await web.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

test.skipIf(locate('nats-server') === undefined).each([
  [['--robots', 'many'], '--robots many: a number from 0 to 64 is expected'],
  [['--coordinators', '0'], '--coordinators 0: a number from 1 to 64 is expected'],
  [['--port', '70000'], '--port 70000: a number from 0 to'],
  [['--bots', '2'], "Unknown option '--bots'"],
])('the local script refuses %j in a sentence', (words, sentence) => {
  const tried = spawnSync(process.execPath, [join(deploy, 'local.ts'), ...words], { encoding: 'utf8' });
  expect([tried.status, tried.stdout]).toEqual([2, '']);
  expect(tried.stderr).toContain(sentence);
  expect(tried.stderr).not.toContain('    at ');
});

test.skipIf(locate('nats-server') === undefined)(
  'the local script says why it cannot begin, and leaves nobody behind',
  () => {
    const taken = join(mkdtempSync(join(tmpdir(), 'revisit-local-')), 'taken');
    writeFileSync(taken, 'a file where a folder should be');
    // Where /proc is, it is a place in which nothing can be made.
    for (const folder of [taken, '/proc/nope/deep']) {
      const tried = spawnSync(process.execPath, [join(deploy, 'local.ts'), '--folder', folder], {
        encoding: 'utf8',
        timeout: 30_000,
        killSignal: 'SIGKILL',
      });
      expect([tried.status, tried.stdout]).toEqual([1, '']);
      expect(tried.stderr).toMatch(/^--folder \S+: cannot be made \(E[A-Z]+:.*\)\n$/);
    }
    rmSync(dirname(taken), { recursive: true, force: true });
  },
);

test.skipIf(locate('nats-server') === undefined)(
  'the local script ends by itself when it was asked wrongly',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'revisit-local-'));
    const words = ['--folder', folder, '--port', '0', '--robots', '0', '--observers', '0', '--', '--budget', 'much'];
    const child = spawn(process.execPath, [join(deploy, 'local.ts'), ...words], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    expect(await new Promise((done) => child.once('close', done))).toBe(2);
    expect(said).toContain('--budget much: a rate');
    rmSync(folder, { recursive: true, force: true });
  },
);
