/**
 * What the tests need beyond npm: Debian's chromium, nats-server and pgbouncer. As root on Debian they are installed; elsewhere the
 * missing program is named with how to get it, its tests are skipped loudly, and with CI=true that is a failure.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

export interface Program {
  readonly name: string;
  readonly paths: readonly string[];
  readonly debian: string;
  readonly elsewhere: string;
}

export const programs: readonly Program[] = [
  {
    name: 'chromium',
    paths: ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/snap/bin/chromium'],
    debian: 'chromium',
    elsewhere: 'install Chromium or Chrome, or set REVISIT_CHROMIUM to its path',
  },
  {
    name: 'nats-server',
    paths: [
      '/usr/sbin/nats-server',
      '/usr/bin/nats-server',
      '/usr/local/bin/nats-server',
      '/opt/homebrew/bin/nats-server',
    ],
    debian: 'nats-server',
    elsewhere: 'install nats-server 2.9 or later, or set REVISIT_NATS_SERVER to its path',
  },
  {
    name: 'pgbouncer',
    paths: ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer', '/opt/homebrew/bin/pgbouncer'],
    debian: 'pgbouncer',
    elsewhere: 'install pgbouncer, or set REVISIT_PGBOUNCER to its path',
  },
];

/** Where a program is, or undefined. Tests call this too. */
export function locate(name: string): string | undefined {
  const program = programs.find((candidate) => candidate.name === name);
  if (!program) return undefined;
  const variable = process.env[`REVISIT_${name.toUpperCase().replaceAll('-', '_')}`];
  return [...(variable ? [variable] : []), ...program.paths].find((path) => existsSync(path));
}

/** Brings what is missing where that is allowed; returns what is still missing. */
export function provision(say: (line: string) => void): readonly Program[] {
  const missing = () => programs.filter((program) => locate(program.name) === undefined);
  const wanted = missing();
  if (wanted.length === 0) return [];
  const debianRoot = process.getuid?.() === 0 && existsSync('/etc/debian_version') && existsSync('/usr/bin/apt-get');
  if (debianRoot) {
    const names = wanted.map((program) => program.debian);
    say(`installing ${names.join(', ')} with apt-get`);
    const options = { stdio: 'ignore', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } } as const;
    spawnSync('apt-get', ['update'], options);
    spawnSync('apt-get', ['install', '-y', '--no-install-recommends', ...names], options);
  }
  for (const program of missing()) say(`MISSING ${program.name}: its tests are skipped; ${program.elsewhere}`);
  return missing();
}
