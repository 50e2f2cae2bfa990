import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { createProgram } from '../cli/program.ts';
import { locateOldest, oldestNode } from '../../../../house/oldest.ts';
import { packAll, stageAll } from '../../../../house/pack.ts';
import { programsOf, root } from '../trial/documents.ts';

const folder = mkdtempSync(join(tmpdir(), 'revisit-packed-'));
const modules = join(folder, 'node_modules');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What npm would do with the tarballs, with the dependencies that are here already: no registry is asked. */
function install(tarballs: readonly string[]): void {
  mkdirSync(join(modules, '@revisit'), { recursive: true });
  for (const tarball of tarballs) {
    const name = tarball.includes('revisit-core')
      ? '@revisit/core'
      : tarball.includes('revisit-cluster')
        ? '@revisit/cluster'
        : 'revisit';
    mkdirSync(join(modules, name), { recursive: true });
    const done = spawnSync('tar', ['-xzf', tarball, '-C', join(modules, name), '--strip-components=1'], {
      encoding: 'utf8',
    });
    if (done.status !== 0) throw new Error(done.stderr);
  }
  for (const name of readdirSync(join(root, 'node_modules')))
    if (!name.startsWith('.') && name !== '@revisit' && name !== 'revisit')
      symlinkSync(join(root, 'node_modules', name), join(modules, name));
}

/** What the installed command prints. */
async function revisit(words: readonly string[], input = '', node = process.execPath): Promise<string> {
  const child = spawn(node, [join(modules, 'revisit/bin/revisit.js'), ...words], { cwd: folder, stdio: 'pipe' });
  child.stdin.end(input);
  child.stderr.resume();
  return text(child.stdout);
}

/** What Docker asks every half minute, asked of another port. */
function healthcheck(url: string) {
  const [, words] = /^HEALTHCHECK .* CMD (\[.*\])$/m.exec(readFileSync(join(root, 'deploy/Dockerfile'), 'utf8'))!;
  const [program, ...rest] = (JSON.parse(words!) as string[]).map((word) => word.replace('http://127.0.0.1:7373', url));
  expect(program).toBe('node');
  return spawnSync(process.execPath, rest, { encoding: 'utf8' });
}

describe('the packages as they are published', () => {
  beforeAll(() => {
    const out = join(folder, 'out');
    install(packAll(stageAll(out), out));
    // Three compilers and three packings: seconds on an idle machine, more beside other tests.
  }, 240_000);

  test('hold no TypeScript that would have to be run, no test, and no path of this machine', () => {
    const files = ['revisit', '@revisit/core', '@revisit/cluster'].flatMap((name) =>
      readdirSync(join(modules, name), { recursive: true, encoding: 'utf8' }).map((file) => join(modules, name, file)),
    );
    expect(
      files.filter((file) => (file.endsWith('.ts') && !file.endsWith('.d.ts')) || file.includes('.test.')),
    ).toEqual([]);
    const scripts = files.filter((file) => file.endsWith('.js') && !file.includes('/dashboard/'));
    expect(scripts.length).toBeGreaterThan(100);
    for (const file of scripts) {
      const code = readFileSync(file, 'utf8');
      expect(code).not.toContain(root);
      expect(code).not.toMatch(/(from|import|URL)\s*\(?\s*['"]\.[^'"]*\.ts['"]/);
    }
  });

  test('are made by their own program alone: npm pack of a package as it stands refuses and names it', () => {
    for (const name of ['core', 'daemon', 'cluster']) {
      const { scripts } = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')) as {
        scripts: Record<string, string>;
      };
      expect(scripts['prepack'], name).toBe('node ../../house/refuse-pack.ts');
    }
    const done = spawnSync('npm', ['pack', '--dry-run'], { cwd: join(root, 'packages/daemon'), encoding: 'utf8' });
    expect(done.status).not.toBe(0);
    expect(done.stderr + done.stdout).toContain('node house/pack.ts FOLDER');
    expect(readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')).toContain('`node house/pack.ts FOLDER`');
  });

  /** This Node, and the oldest one that the packages promise to run on, where it is here. */
  const oldNode = locateOldest(oldestNode);
  const nodes = [
    { label: 'this-node', node: process.execPath },
    ...(oldNode === undefined ? [] : [{ label: `node-${oldestNode.version}`, node: oldNode }]),
  ];

  describe.each(nodes)('on $label', ({ label, node }) => {
    test('run outside the repository: version, a plan, a page', async () => {
      const manifest = JSON.parse(readFileSync(join(modules, 'revisit/package.json'), 'utf8')) as {
        version: string;
        engines: { node: string };
      };
      expect(manifest.engines.node).toBe('>=22.19');
      const data = ['--data', mkdtempSync(join(folder, 'data-'))];
      const [version, solved, pages, demo] = await Promise.all([
        revisit(['--version'], '', node),
        revisit(['solve', '-'], '{"kind":"robots","arrival":1,"service":5.7,"buffer":10,"starvationWeight":0.5}', node),
        revisit(['add', 'https://example.org/', ...data], '', node).then(async (added) => {
          expect(added).toContain('watching');
          return revisit(['pages', ...data], '', node);
        }),
        revisit(['demo', '--days', '0.02'], '', node),
      ]);
      expect(version.trim()).toBe(manifest.version);
      expect(JSON.parse(solved)).toMatchObject({ robots: 5 });
      expect(pages).toContain('https://example.org/');
      expect(demo).toMatch(/^day +changes/);
    });

    // The documents' own test runs them from source on this Node.
    test.each(node === nodes.at(-1)!.node ? programsOf('packages/core/README.md') : [])(
      'the library runs its example of line $line',
      ({ text: program, line, wanted }) => {
        const file = join(folder, `program-${line}-${label}.ts`);
        writeFileSync(file, program);
        const done = spawnSync(node, ['--disable-warning=ExperimentalWarning', file], {
          cwd: folder,
          encoding: 'utf8',
        });
        expect(done.status, done.stderr).toBe(0);
        if (wanted === undefined) expect(done.stdout).not.toBe('');
        else expect(done.stdout.trim()).toBe(wanted.trim());
      },
    );

    test('the daemon serves its dashboard, and ends when told to', async () => {
      const child = spawn(
        node,
        [join(modules, 'revisit/bin/revisit.js'), 'serve', '--port', '0', '--data', join(folder, `served-${label}`)],
        { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
      );
      const url = await new Promise<string>((resolve, reject) => {
        let said = '';
        child.stderr.on('data', (chunk: Buffer) => {
          const found = /http:\/\/[\w.:]+/.exec((said += chunk.toString()));
          if (found) resolve(found[0]);
        });
        child.once('exit', () => reject(new Error(said)));
      });
      const page = await fetch(url);
      expect(await page.text()).toContain('<script type="module"');
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      expect(healthcheck(url).status).toBe(0);
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      expect(await ended).toBe(0);
      expect(healthcheck(url).status).toBe(1);
    });
  });

  test('carry a manual page and completions', async () => {
    const manual = readFileSync(join(modules, 'revisit/man/revisit.1'), 'utf8');
    const listed = [...(await revisit(['--help'])).matchAll(/^ {2}([a-z]+) .*$/gm)]
      .map((match) => match[1]!)
      .filter((name) => name !== 'help' && name !== 'revisit');
    expect(listed.length).toBeGreaterThan(12);
    for (const name of listed) expect(manual).toContain(`.SS revisit ${name}`);
    const script = readFileSync(join(modules, 'revisit/completions/revisit.bash'), 'utf8');
    const tried = spawnSync(
      'bash',
      [
        '-c',
        `${script}\nCOMP_WORDS=(revisit import --dr); COMP_CWORD=2; _revisit; echo "\${COMPREPLY[@]}"; COMP_WORDS=(revisit repro); COMP_CWORD=1; _revisit; echo "\${COMPREPLY[@]}"`,
      ],
      { encoding: 'utf8' },
    );
    expect(tried.stdout).toBe('--dry-run\nreproduce\n');
    for (const shell of ['zsh', 'fish']) {
      const completions = readFileSync(join(modules, `revisit/completions/revisit.${shell}`), 'utf8');
      for (const name of listed) expect(completions).toContain(name);
    }
  });
});

describe('what is deployed', () => {
  const read = (name: string): string => readFileSync(join(root, 'deploy', name), 'utf8');
  /** Every flag of a call is one that the command has. */
  const expectFlags = async ([name, ...words]: readonly string[]): Promise<void> => {
    const program = await createProgram(() => async () => {}, [name!]);
    const known = program.commands.find((command) => command.name() === name)!.options.map((option) => option.long);
    for (const word of words) if (word.startsWith('--')) expect(known).toContain(word);
  };

  test('the image is built from what is here and starts a command that exists', async () => {
    const lines = read('Dockerfile')
      .split('\n')
      .filter((line) => /^[A-Z]+ /.test(line));
    expect(
      lines.filter((line) => line.startsWith('FROM')).every((line) => /^FROM node:24-slim( AS build)?$/.test(line)),
    ).toBe(true);
    expect(lines).toContain('RUN node house/pack.ts /packages');
    expect(lines).toContain('USER node');
    const json = (name: string): string[] =>
      JSON.parse(lines.find((line) => line.startsWith(`${name} [`))!.slice(name.length + 1)) as string[];
    expect(json('ENTRYPOINT')).toEqual(['revisit']);
    await expectFlags(json('CMD'));
  });

  test('every step of the image has what it needs', () => {
    const stages = read('Dockerfile')
      .split(/^(?=FROM )/m)
      .slice(1);
    const ignored = read('Dockerfile.dockerignore').split('\n');
    // Everything is copied, so what the build reads must be here and not be left out.
    expect(stages[0]).toContain('COPY . .');
    for (const needed of [
      'package.json',
      'package-lock.json',
      'house/pack.ts',
      'house/build.ts',
      'packages',
      'LICENSE',
    ]) {
      expect(existsSync(join(root, needed)), needed).toBe(true);
      expect(ignored.some((pattern) => pattern === needed || pattern === `**/${needed}`)).toBe(false);
    }
    // What the second stage takes is where the first has put it.
    const packed = /^RUN node house\/pack\.ts (\S+)$/m.exec(stages[0]!)![1]!;
    for (const [, from] of stages[1]!.matchAll(/^COPY --from=build (\S+) /gm)) expect(from).toBe(`${packed}/*.tgz`);
    const programs = stages.flatMap((stage) =>
      [...stage.matchAll(/^RUN (.*)$/gm)].flatMap(([, line]) =>
        line!.split('&&').map((one) => one.trim().split(' ')[0]!),
      ),
    );
    for (const program of programs) expect(spawnSync('sh', ['-c', `command -v ${program}`]).status, program).toBe(0);
    // Root until everything is in place, nobody special from then on, and a folder that is theirs.
    const last = stages[1]!.split('\n').filter((line) => /^[A-Z]+ /.test(line));
    const user = last.indexOf('USER node');
    expect(user).toBeGreaterThan(last.findLastIndex((line) => line.startsWith('RUN')));
    const volume = /^VOLUME (\S+)$/m.exec(stages[1]!)![1]!;
    expect(stages[1]).toContain(`chown node:node ${volume}`);
    expect(stages[1]).toContain(`"--data", "${volume}"`);
  });

  test('nothing is compiled: neither the image nor a clone asks for Python and a compiler', () => {
    const { allowScripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      allowScripts: Record<string, boolean>;
    };
    const modules = join(root, 'node_modules');
    const compiled = readdirSync(modules)
      .flatMap((name) =>
        name.startsWith('@') ? readdirSync(join(modules, name)).map((rest) => join(name, rest)) : name,
      )
      .filter((name) => existsSync(join(modules, name, 'binding.gyp')));
    expect(compiled).toContain('better-sqlite3');
    for (const name of compiled) {
      expect(allowScripts[name], name).toBe(false);
      expect(readdirSync(join(modules, name, 'prebuilds')).length, name).toBeGreaterThan(0);
    }
  });

  test('compose builds that image and publishes on loopback only', async () => {
    const { services } = parse(read('compose.yaml')) as {
      services: { revisit: { build: { dockerfile: string }; command: string[]; ports: string[] } };
    };
    expect(services.revisit.build.dockerfile).toBe('deploy/Dockerfile');
    expect(services.revisit.ports.every((port) => port.startsWith('127.0.0.1:'))).toBe(true);
    await expectFlags(services.revisit.command);
  });

  test('the unit starts the daemon with flags it has, and without privileges', async () => {
    const unit = read('revisit.service');
    await expectFlags(/^ExecStart=\S+ revisit (.*)$/m.exec(unit)![1]!.split(' '));
    expect(unit).toMatch(/^DynamicUser=yes$/m);
    const analysed = spawnSync('systemd-analyze', ['verify', '--man=no', join(root, 'deploy/revisit.service')], {
      encoding: 'utf8',
    });
    // Where systemd is not at hand (ENOENT), the file's form is all that can be checked.
    if (analysed.error === undefined && !/Failed to|not been booted/.test(analysed.stderr))
      expect(analysed.stderr).not.toMatch(/Unknown|Invalid/);
  });
});
