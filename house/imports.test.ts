import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { coreForbidden, dumpingGrounds, roomOf, rooms } from './imports.ts';

const root = join(import.meta.dirname, '..');
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => /\.tsx?$/.test(file) && existsSync(join(root, file)));
const sources = files.filter((file) => !/\.(test|oracle)\.tsx?$/.test(file));

function importsOf(source: string): string[] {
  const pattern =
    /(?:^|\n)\s*(?:import|export)\s(?:[^'"]*?\sfrom\s)?\s*['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)/g;
  return [...source.matchAll(pattern)].map((match) => (match[1] ?? match[2])!);
}

function complaint(file: string, specifier: string): string | undefined {
  const room = roomOf(file);
  if (!room) return undefined;
  if (specifier.startsWith('.')) {
    const target = normalize(join(dirname(file), specifier));
    const home = roomOf(target);
    const allowed =
      home === room ||
      room.may.some((prefix) => target === prefix || target.startsWith(`${prefix}/`)) ||
      target.startsWith(`${room.folder}/`);
    return allowed
      ? undefined
      : `${file} imports ${target}, but ${room.folder} may import only ${room.may.join(', ') || 'itself'}`;
  }
  const name = specifier.startsWith('@') ? specifier.split('/').slice(0, 2).join('/') : specifier.split('/')[0]!;
  const allowed =
    room.packages.includes('*') ||
    room.packages.includes(name) ||
    (specifier.startsWith('node:') && room.packages.includes('node:*'));
  return allowed
    ? undefined
    : `${file} imports ${specifier}, but ${room.folder} may import only ${room.packages.join(', ') || 'no package'}`;
}

test('every import is allowed by the table of rooms', () => {
  const complaints = sources.flatMap((file) =>
    importsOf(readFileSync(join(root, file), 'utf8')).flatMap((specifier) => complaint(file, specifier) ?? []),
  );
  expect(complaints).toEqual([]);
});

test('the rule finds what it must', () => {
  expect(complaint('packages/core/src/plan/a.ts', 'node:fs')).toContain('no package');
  expect(complaint('packages/core/src/time/a.ts', '../plan/polite.ts')).toContain('may import only itself');
  expect(complaint('packages/daemon/src/observe/a.ts', '../detect/b.ts')).toContain('observe');
  expect(complaint('packages/daemon/src/observe/a.ts', 'fastify')).toContain('fastify');
  expect(complaint('packages/daemon/src/observe/a.ts', './b.ts')).toBeUndefined();
  expect(
    importsOf("import { a } from './a.ts';\nimport './b.ts';\nexport * from '../c.ts';\nawait import('./d.ts')"),
  ).toEqual(['./a.ts', './b.ts', '../c.ts', './d.ts']);
  for (const room of rooms) for (const prefix of room.may) expect(prefix).not.toMatch(/\/$/);
});

test('core touches no clock, randomness or input and output', () => {
  const complaints = sources
    .filter((file) => file.startsWith('packages/core/src/'))
    .flatMap((file) => {
      const code = readFileSync(join(root, file), 'utf8')
        .replace(/\/\*[\s\S]*?\*\//g, '')
        .replace(/(^|[^:])\/\/.*$/gm, '$1');
      return coreForbidden.filter((pattern) => pattern.test(code)).map((pattern) => `${file}: ${pattern.source}`);
    });
  expect(complaints).toEqual([]);
});

test('core has no dependencies', () => {
  const manifest = JSON.parse(readFileSync(join(root, 'packages/core/package.json'), 'utf8')) as Record<
    string,
    unknown
  >;
  expect(manifest['dependencies']).toBeUndefined();
});

test('no file or folder is a dumping ground', () => {
  expect(files.filter((file) => dumpingGrounds.test(file))).toEqual([]);
});
