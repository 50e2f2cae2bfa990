import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { expect, test } from 'vitest';
import { eventually, loopbackWeb, revisit } from '../../daemon/src/trial/command.ts';
import { locate } from '../../../house/provision.ts';

const deploy = join(import.meta.dirname, '../../../deploy');
const documents = (file: string): unknown[] =>
  parseAllDocuments(readFileSync(join(deploy, file), 'utf8'), { merge: true }).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as unknown;
  });

interface Compose {
  readonly services: Record<string, { readonly image?: string; readonly command?: readonly string[] }>;
}
interface Kubernetes {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: {
    readonly replicas?: number;
    readonly template?: {
      readonly spec: { readonly containers: readonly { image: string; args?: readonly string[] }[] };
    };
  };
}

test('the manifests call commands and options that there are, for everybody there should be', async () => {
  const [compose] = documents('cluster/compose.yaml') as [Compose];
  const manifests = documents('kubernetes/revisit.yaml') as Kubernetes[];
  const calls = [
    ...Object.values(compose.services).flatMap(({ image, command }) => (image === 'revisit' ? [command!] : [])),
    ...manifests.flatMap(
      ({ spec }) =>
        spec?.template?.spec.containers.flatMap(({ image, args }) => (image === 'revisit' ? [args!] : [])) ?? [],
    ),
  ];
  const helps = new Map<string, string>();
  for (const [command] of calls)
    if (!helps.has(command!)) helps.set(command!, (await revisit([command!, '--help'])).out);
  const unknown = calls.flatMap(([command, ...words]) =>
    words.filter((word) => word.startsWith('--') && !helps.get(command!)!.includes(`${word} `)),
  );
  expect(unknown).toEqual([]);
  expect([...helps.keys()].sort()).toEqual(['robot', 'serve']);
  const replicas = Object.fromEntries(
    manifests.flatMap(({ metadata, spec }) => (spec?.replicas ? [[metadata.name, spec.replicas]] : [])),
  );
  expect(replicas).toMatchObject({ coordinator: 2, nats: 3, postgres: 1 });
  expect(Object.keys(compose.services).sort()).toEqual(
    ['coordinator-0', 'coordinator-1', 'nats-0', 'nats-1', 'nats-2', 'postgres', 'robot'].sort(),
  );
});

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
    const child = spawn(process.execPath, [join(deploy, 'local.ts'), '--folder', folder, '--', ...serve], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    let out = '';
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    try {
      const urls = await eventually(() => {
        if (child.exitCode !== null) throw new Error(said);
        return out.trim().split('\n').length === 2 && out.trim().split('\n');
      });
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
    } finally {
      const ended = new Promise((done) => child.once('exit', done));
      child.kill('SIGTERM');
      expect(await ended).toBe(0);
      await web.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
