import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { expect, test } from 'vitest';
import { eventually, loopbackWeb, revisit } from '../../daemon/src/trial/command.ts';
import { leash } from '../../daemon/src/trial/leash.ts';
import { locate } from '../../../house/provision.ts';
import type { Role } from './access/grants.ts';
import { Keyring } from './access/keyring.ts';

const deploy = join(import.meta.dirname, '../../../deploy');
const documents = (file: string): unknown[] =>
  parseAllDocuments(readFileSync(join(deploy, file), 'utf8'), { merge: true }).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as unknown;
  });

interface Compose {
  readonly services: Record<
    string,
    {
      readonly image?: string;
      readonly command?: readonly string[];
      readonly secrets?: readonly string[];
      readonly volumes?: readonly string[];
      readonly networks?: { readonly default: { readonly aliases: readonly string[] } };
    }
  >;
  readonly secrets: Record<string, { readonly file: string }>;
  readonly volumes: Record<string, unknown>;
}
interface Source {
  readonly configMap?: { readonly name: string };
  readonly secret?: { readonly items: readonly { readonly key: string; readonly path: string }[] };
}
interface Kubernetes {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly data?: Record<string, string>;
  readonly spec?: {
    readonly replicas?: number;
    readonly selector?: Record<string, unknown>;
    readonly serviceName?: string;
    readonly ports?: readonly { readonly port: number }[];
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
    readonly template?: {
      readonly metadata: { readonly labels: { readonly app: string } };
      readonly spec: {
        readonly containers: readonly {
          readonly image: string;
          readonly args?: readonly string[];
          readonly ports?: readonly { readonly containerPort: number }[];
          readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
        }[];
        readonly volumes?: readonly (Source & {
          readonly name: string;
          readonly projected?: { readonly sources: readonly Source[] };
        })[];
      };
    };
  };
}

/** A process of ours as a manifest starts it: its words, the keys that are laid before it, and its writable folders. */
interface Call {
  readonly words: readonly string[];
  readonly keys: readonly string[];
  readonly writable: readonly string[];
}

const [compose] = documents('cluster/compose.yaml') as [Compose];
const manifests = documents('kubernetes/revisit.yaml') as Kubernetes[];
const after = (words: readonly string[], option: string): string => words[words.indexOf(option) + 1]!;
const workloads = manifests.flatMap(({ kind, metadata, spec }) =>
  spec?.template ? [{ kind, name: metadata.name, spec, pod: spec.template }] : [],
);

function composed(): Call[] {
  return Object.values(compose.services)
    .filter(({ image }) => image === 'revisit')
    .map(({ command, secrets, volumes }) => ({
      words: command!,
      keys: secrets!.map((name) => `/run/secrets/${name}`),
      writable: ['/tmp', ...(volumes ?? []).map((volume) => volume.split(':')[1]!)],
    }));
}

function orchestrated(): Call[] {
  return workloads.flatMap(({ pod: { spec }, spec: { volumeClaimTemplates } }) =>
    spec.containers
      .filter(({ image }) => image === 'revisit')
      .map(({ args, volumeMounts }) => {
        const sources = (name: string): readonly Source[] => {
          const volume = spec.volumes?.find((each) => each.name === name);
          return volume ? (volume.projected?.sources ?? [volume]) : [];
        };
        const claimed = new Set(volumeClaimTemplates?.map(({ metadata }) => metadata.name));
        const isWritable = (name: string): boolean =>
          claimed.has(name) || spec.volumes!.some((each) => each.name === name && 'emptyDir' in each);
        return {
          words: args!,
          keys: volumeMounts!.flatMap(({ name, mountPath }) =>
            sources(name).flatMap(({ secret }) => secret?.items.map(({ path }) => join(mountPath, path)) ?? []),
          ),
          writable: volumeMounts!.filter(({ name }) => isWritable(name)).map(({ mountPath }) => mountPath),
        };
      }),
  );
}

/** Keys as the comment before a manifest says to make them: whose they are, and what for. */
function grantsIn(file: string): Map<string, string> {
  const lines = readFileSync(join(deploy, file), 'utf8').matchAll(/^#.*revisit access add (\w+) (\S+)/gm);
  return new Map([...lines].map(([, role, name]) => [name!, role!]));
}

test('the manifests call commands and options that there are, for everybody there should be', async () => {
  const calls = [...composed(), ...orchestrated()].map(({ words }) => words);
  const helps = new Map<string, string>();
  for (const [command] of calls)
    if (!helps.has(command!)) helps.set(command!, (await revisit([command!, '--help'])).out);
  const unknown = calls.flatMap(([command, ...words]) =>
    words.filter((word) => word.startsWith('--') && !helps.get(command!)!.includes(`${word} `)),
  );
  expect(unknown).toEqual([]);
  expect([...helps.keys()].sort()).toEqual(['observer', 'robot', 'serve']);
  const replicas = Object.fromEntries(workloads.map(({ name, spec }) => [name, spec.replicas]));
  expect(replicas).toMatchObject({ coordinator: 2, nats: 3, postgres: 1, observer: 1 });
  expect(Object.keys(compose.services).sort()).toEqual(
    ['coordinator-0', 'coordinator-1', 'nats-0', 'nats-1', 'nats-2', 'observer', 'postgres', 'robot'].sort(),
  );
});

test.each([
  ['cluster/compose.yaml', composed],
  ['kubernetes/revisit.yaml', orchestrated],
] as const)(
  '%s: each has its own key and no other, made for its role and name, and writes where it may',
  (file, calls) => {
    const grants = grantsIn(file);
    const roles = { serve: 'coordinator', robot: 'robot', observer: 'observer' } as Record<string, string>;
    for (const { words, keys, writable } of calls()) {
      expect(keys).toEqual([after(words, '--nats-key')]);
      const holder = basename(keys[0]!, '.nk');
      expect([holder, grants.get(holder)]).toEqual([holder, roles[words[0]!]]);
      // Its permissions are for this name.
      if (words[0] !== 'serve') expect(after(words, '--name')).toBe(holder);
      if (words.includes('--data')) {
        const data = after(words, '--data');
        expect(writable.some((folder) => data === folder || data.startsWith(`${folder}/`))).toBe(true);
      }
      expect(words.includes('--data')).toBe(words[0] !== 'robot');
    }
    const named = file.includes('compose')
      ? Object.values(compose.secrets).map((secret) => basename(secret.file, '.nk'))
      : [...readFileSync(join(deploy, file), 'utf8').matchAll(/--from-file=access\/(\S+)\.nk/g)].map(
          ([, name]) => name!,
        );
    expect([...named].sort()).toEqual([...grants.keys()].sort());
  },
);

test('every server is called by a name and a port that it has', () => {
  const servers = [...composed(), ...orchestrated()].flatMap(({ words }) => after(words, '--nats').split(','));
  const here = new Set(servers.map((url) => new URL(url).host));
  expect([...here].sort()).toEqual(['nats-0.nats:4222', 'nats-1.nats:4222', 'nats-2.nats:4222']);
  const aliases = Object.values(compose.services).flatMap(({ networks }) => networks?.default.aliases ?? []);
  expect(aliases.map((alias) => `${alias}:4222`).sort()).toEqual([...here].sort());
  // Compose and Kubernetes start the servers alike.
  const configured = manifests.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'nats')!;
  const own = readFileSync(join(deploy, 'cluster/nats.conf'), 'utf8').replace(/^#.*\n/gm, '');
  expect(configured.data!['nats.conf']!.trim()).toBe(own.trim());
  expect(own).toContain('listen: 0.0.0.0:4222');
  const services = manifests.filter(({ kind }) => kind === 'Service');
  for (const { metadata, spec } of services) {
    const selected = workloads.filter(({ pod }) => pod.metadata.labels.app === (spec!.selector as { app: string }).app);
    expect([metadata.name, selected.length]).toEqual([metadata.name, 1]);
    const open = selected[0]!.pod.spec.containers.flatMap(
      ({ ports }) => ports?.map((each) => each.containerPort) ?? [],
    );
    expect(open).toEqual(expect.arrayContaining(spec!.ports?.map(({ port }) => port) ?? []));
  }
  for (const { spec, pod, kind } of workloads) {
    expect(spec.selector).toEqual({ matchLabels: { app: pod.metadata.labels.app } });
    if (kind === 'StatefulSet') expect(services.map(({ metadata }) => metadata.name)).toContain(spec.serviceName);
    const volumes = new Set([
      ...(pod.spec.volumes?.map(({ name }) => name) ?? []),
      ...(spec.volumeClaimTemplates?.map(({ metadata }) => metadata.name) ?? []),
    ]);
    for (const { volumeMounts = [] } of pod.spec.containers)
      for (const { name } of volumeMounts) expect(volumes).toContain(name);
  }
  expect(new Set(manifests.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['revisit']));
  for (const store of [...composed(), ...orchestrated()].flatMap(({ words }) =>
    words[0] === 'serve' ? [after(words, '--store')] : [],
  ))
    expect(store).toMatch(/@postgres\/revisit$/);
});

test.skipIf(locate('nats-server') === undefined)(
  'the servers take the configuration with the keys of the manifests',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'revisit-deploy-'));
    copyFileSync(join(deploy, 'cluster/nats.conf'), join(folder, 'nats.conf'));
    const keys = new Keyring(join(folder, 'access'));
    for (const [name, role] of grantsIn('cluster/compose.yaml')) keys.add(role as Role, name);
    const tried = spawnSync(locate('nats-server')!, ['-t', '-c', join(folder, 'nats.conf')], {
      env: { ...process.env, NAME: 'nats-0' },
      encoding: 'utf8',
    });
    expect(tried.stderr + tried.stdout).toMatch(/is valid/);
    expect(tried.status).toBe(0);
    rmSync(folder, { recursive: true, force: true });
  },
);

test.skipIf(locate('nats-server') === undefined)(
  'the local script starts a whole cluster with keys, and ends it',
  async () => {
    const web = await loopbackWeb();
    web.pages.set('/a', '<p>as it was</p>');
    const folder = mkdtempSync(join(tmpdir(), 'revisit-local-'));
    const serve = [
      '--allow-network',
      '127.0.0.0/8',
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
        spawn(process.execPath, [join(deploy, 'local.ts'), '--folder', folder, '--', ...serve], {
          stdio: ['ignore', 'pipe', 'pipe'],
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
      child.kill('SIGTERM');
      expect(await ended).toBe(0);
    };
    // What it has in its folder it finds again: servers with streams need longer to agree on a leader than fresh ones.
    const once = start();
    await once.urls;
    await endOf(once.child);
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
      // Commands find a coordinator by its folder.
      const pages = await revisit(['pages', '--json', '--data', join(folder, 'coordinator-2')]);
      expect(pages.out).toContain(id);
      // Whoever is killed is told of and started again, and all works as before.
      const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' });
      const ours = stdout
        .split('\n')
        .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
        .filter((found) => found?.[2] === String(child.pid));
      for (const [name, words] of [
        ['robot-1', '--name robot-1 '],
        ['robot-2', '--name robot-2 '],
        ['coordinator-1', '/coordinator-1 '],
        ['nats-0', '/nats-0.conf '],
        ['postgres', '/postgres '],
      ] as const) {
        process.kill(Number(ours.find((found) => found![3]!.includes(words))![1]), 'SIGKILL');
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

test.skipIf(locate('nats-server') === undefined)(
  'the local script ends by itself when it was asked wrongly',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'revisit-local-'));
    const words = ['--folder', folder, '--robots', '0', '--observers', '0', '--', '--budget', 'much'];
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
