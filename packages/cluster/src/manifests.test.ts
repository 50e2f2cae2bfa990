import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { expect, test } from 'vitest';
import { readConfigText } from '../../daemon/src/config/config.ts';
import { revisit } from '../../daemon/src/trial/command.ts';
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
  /** Inline ones are copied in at the start, which a root that nobody may write refuses. */
  readonly configs?: unknown;
  readonly services: Record<
    string,
    {
      readonly image?: string;
      readonly read_only?: boolean;
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
interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: number };
  readonly tcpSocket?: { readonly port: number };
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
          readonly startupProbe?: Probe;
          readonly readinessProbe?: Probe;
          readonly livenessProbe?: Probe;
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

/** A process of ours as a manifest starts it: its words, the files that are laid before it, and its writable folders. */
interface Call {
  readonly words: readonly string[];
  readonly keys: readonly string[];
  readonly configs: readonly string[];
  readonly writable: readonly string[];
}

const [compose] = documents('cluster/compose.yaml') as [Compose];
const manifests = documents('kubernetes/revisit.yaml') as Kubernetes[];
const after = (words: readonly string[], option: string): string => words[words.indexOf(option) + 1]!;
const workloads = manifests.flatMap(({ kind, metadata, spec }) =>
  spec?.template ? [{ kind, name: metadata.name, spec, pod: spec.template }] : [],
);

const configured = (name: string): Record<string, string> =>
  manifests.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === name)!.data!;

function composed(): Call[] {
  return Object.values(compose.services)
    .filter(({ image }) => image === 'revisit')
    .map(({ command, secrets, volumes = [] }) => {
      const mounted = volumes.map((volume) => volume.split(':'));
      return {
        words: command!,
        keys: secrets!.map((name) => `/run/secrets/${name}`),
        configs: mounted.filter(([from]) => from === './revisit.yaml').map(([, to]) => to!),
        writable: ['/tmp', ...mounted.filter(([, , how]) => how !== 'ro').map(([, to]) => to!)],
      };
    });
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
          configs: volumeMounts!.flatMap(({ name, mountPath }) =>
            sources(name).flatMap(({ configMap }) =>
              configMap ? Object.keys(configured(configMap.name)).map((path) => join(mountPath, path)) : [],
            ),
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
    for (const { words, keys, configs, writable } of calls()) {
      expect(configs).toEqual(words[0] === 'serve' ? [words[1]] : []);
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
      // Their root is read-only, and browsers, imports and backups want a place for a while.
      expect(writable).toContain('/tmp');
    }
    const named = file.includes('compose')
      ? Object.values(compose.secrets).map((secret) => basename(secret.file, '.nk'))
      : [...readFileSync(join(deploy, file), 'utf8').matchAll(/--from-file=access\/(\S+)\.nk/g)].map(
          ([, name]) => name!,
        );
    expect([...named].sort()).toEqual([...grants.keys()].sort());
  },
);

test('compose lays before everybody what is there, and what is secret stays out of images and commits', () => {
  for (const { image, read_only: readOnly } of Object.values(compose.services))
    expect(readOnly ?? false).toBe(image === 'revisit');
  expect(compose.configs).toBeUndefined();
  const text = readFileSync(join(deploy, 'cluster/revisit.yaml'), 'utf8');
  expect(readConfigText(text, 'revisit.yaml')).toMatchObject({ kind: 'read', value: { natsReplicas: 3 } });
  expect(readConfigText('natsReplicas: 2', 'revisit.yaml')).toEqual({
    kind: 'wrong',
    sentence: 'revisit.yaml:1: natsReplicas: 2 is not allowed; 1, 3 or 5 is expected',
  });
  expect(configured('revisit')['revisit.yaml']).toBe(text);
  const binds = Object.values(compose.services)
    .flatMap(({ volumes = [] }) => volumes.map((volume) => volume.split(':')[0]!))
    .filter((from) => from.startsWith('.'));
  const secret = ['./access', './.env'];
  for (const from of binds) expect(secret.includes(from) || existsSync(join(deploy, 'cluster', from)), from).toBe(true);
  for (const { file } of Object.values(compose.secrets)) expect(file).toMatch(/^\.\/access\//);
  const lines = (file: string): string[] => readFileSync(join(deploy, file), 'utf8').split('\n');
  for (const path of secret.map((each) => join('deploy/cluster', each))) {
    expect(lines('Dockerfile.dockerignore')).toContain(path);
    expect(lines('../.gitignore').map((line) => line.replace(/^\/|\/$/g, ''))).toContain(path);
  }
});

test('probes ask what is answered, and nobody is ended because the database is away', () => {
  const answered = readFileSync(join(deploy, '../docs/api.md'), 'utf8');
  const ours = workloads.flatMap(({ pod }) => pod.spec.containers).filter(({ image }) => image === 'revisit');
  for (const { ports, startupProbe, readinessProbe, livenessProbe } of ours) {
    for (const probe of [startupProbe, readinessProbe, livenessProbe]) {
      const port = probe?.httpGet?.port ?? probe?.tcpSocket?.port;
      if (port !== undefined) expect(ports).toContainEqual({ containerPort: port });
      if (probe?.httpGet) expect(answered).toContain(`\`GET ${probe.httpGet.path}\``);
    }
    expect(livenessProbe?.httpGet).toBeUndefined();
  }
  const coordinator = workloads.find(({ name }) => name === 'coordinator')!.pod.spec.containers[0]!;
  expect(coordinator).toMatchObject({ readinessProbe: { httpGet: { path: '/readyz' } }, livenessProbe: {} });
});

test('every server is called by a name and a port that it has', () => {
  const servers = [...composed(), ...orchestrated()].flatMap(({ words }) => after(words, '--nats').split(','));
  const here = new Set(servers.map((url) => new URL(url).host));
  expect([...here].sort()).toEqual(['nats-0.nats:4222', 'nats-1.nats:4222', 'nats-2.nats:4222']);
  const aliases = Object.values(compose.services).flatMap(({ networks }) => networks?.default.aliases ?? []);
  expect(aliases.map((alias) => `${alias}:4222`).sort()).toEqual([...here].sort());
  // Compose and Kubernetes start the servers alike.
  const own = readFileSync(join(deploy, 'cluster/nats.conf'), 'utf8').replace(/^#.*\n/gm, '');
  expect(configured('nats')['nats.conf']!.trim()).toBe(own.trim());
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
  const apps = workloads.map(({ pod }) => pod.metadata.labels.app);
  for (const { spec } of manifests.filter(({ kind }) => kind === 'PodDisruptionBudget'))
    expect(apps).toContain((spec!.selector as { matchLabels: { app: string } }).matchLabels.app);
  expect(new Set(manifests.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['revisit']));
  for (const store of [...composed(), ...orchestrated()].flatMap(({ words }) =>
    words[0] === 'serve' ? [after(words, '--store')] : [],
  ))
    expect(store).toMatch(/@postgres\/revisit$/);
});

test('what the servers say to each other and of themselves is heard by nobody else, and clients reach them as before', () => {
  interface Rule {
    readonly ports: readonly { readonly port: number }[];
    readonly from?: readonly unknown[];
  }
  const policy = manifests.find(({ kind }) => kind === 'NetworkPolicy')!.spec as unknown as {
    readonly podSelector: unknown;
    readonly ingress: readonly Rule[];
  };
  const servers = { matchLabels: { app: 'nats' } };
  expect(policy.podSelector).toEqual(servers);
  const from = new Map(policy.ingress.flatMap((rule) => rule.ports.map(({ port }) => [port, rule.from] as const)));
  const nats = workloads.find(({ name }) => name === 'nats')!.pod.spec.containers[0]!;
  // Whether a server is ready is asked by its own node, which no policy binds; nobody else may ask there.
  const { port: asked } = nats.readinessProbe!.httpGet!;
  expect(asked).toBe(8222);
  const open = nats.ports!.map(({ containerPort }) => containerPort).filter((port) => port !== asked);
  expect(new Set(from.keys())).toEqual(new Set(open));
  expect([from.has(4222), from.get(4222)]).toEqual([true, undefined]);
  expect(from.get(6222)).toEqual([{ podSelector: servers }]);
  expect(readFileSync(join(deploy, 'cluster/nats.conf'), 'utf8')).toMatch(/cluster \{[^}]*listen: 0\.0\.0\.0:6222/);
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
