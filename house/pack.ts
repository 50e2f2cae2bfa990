/**
 * `node house/pack.ts [FOLDER]`: the packages as they are published, one tarball each. A package's own manifest points at its
 * sources, so that a clone runs without a build; here it is staged with what `tsc` emits and a manifest that points there.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = join(import.meta.dirname, '..');
const tsc = join(root, 'node_modules/typescript/bin/tsc');

export interface Staged {
  readonly name: string;
  readonly folder: string;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly devDependencies?: unknown;
  readonly scripts?: unknown;
  readonly [field: string]: unknown;
}

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

/** Sources without tests and what only tests use. */
const leftOut = ['src/**/*.test.ts', 'src/**/*.oracle.ts', 'src/**/test/**', 'src/trial/**', 'src/**/corpus/**'];

function emit(source: string, stage: string, others: readonly Staged[]): void {
  const settings = {
    extends: join(root, 'tsconfig.base.json'),
    compilerOptions: {
      rootDir: join(source, 'src'),
      outDir: join(stage, 'dist'),
      declaration: true,
      noEmitOnError: true,
      types: ['node'],
      typeRoots: [join(root, 'node_modules/@types')],
      lib: ['ES2024', 'ESNext.Disposable'],
      // Each package is built against the others as they will be installed, not against their sources.
      paths: Object.fromEntries(
        others.flatMap(({ name, folder }) =>
          Object.keys(manifestOf(folder).exports).map((entry) => [
            join(name, entry),
            [join(folder, 'dist', `${entry === '.' ? 'index' : entry.slice(2)}.d.ts`)],
          ]),
        ),
      ),
    },
    include: [join(source, 'src/**/*.ts')],
    exclude: leftOut.map((pattern) => join(source, pattern)),
  };
  const file = join(stage, 'tsconfig.json');
  writeFileSync(file, JSON.stringify(settings));
  const done = spawnSync(process.execPath, [tsc, '-p', file], { encoding: 'utf8' });
  rmSync(file);
  if (done.status !== 0) throw new Error(`${source} does not compile:\n${done.stdout}`);
  retarget(join(stage, 'dist'));
}

/** The compiler turns `./x.ts` into `./x.js` in imports; workers are named by URL, which it leaves alone. */
function retarget(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.js')) continue;
    const file = join(folder, name);
    const text = readFileSync(file, 'utf8');
    const turned = text.replace(/(new URL\((['"])\.[^'"]*)\.ts\2/g, '$1.js$2');
    if (turned !== text) writeFileSync(file, turned);
  }
}

function stageManifest(source: string, stage: string, extra: Record<string, unknown>): void {
  // The scripts are the clone's: what is staged packs as it is.
  const { devDependencies: _dev, scripts: _scripts, ...manifest } = manifestOf(source);
  const exports = Object.fromEntries(
    Object.entries(manifest.exports).map(([entry, file]) => {
      const built = file.replace('./src/', './dist/').replace(/\.ts$/, '');
      return [entry, { types: `${built}.d.ts`, default: `${built}.js` }];
    }),
  );
  writeFileSync(join(stage, 'package.json'), `${JSON.stringify({ ...manifest, exports, ...extra }, null, 2)}\n`);
}

function stagePackage(name: string, out: string, others: readonly Staged[]): Staged {
  const source = join(root, 'packages', name);
  const stage = join(out, name);
  mkdirSync(stage, { recursive: true });
  emit(source, stage, others);
  stageManifest(source, stage, {});
  cpSync(join(root, 'LICENSE'), join(stage, 'LICENSE'));
  const readme = [join(source, 'README.md'), join(root, 'README.md')].find((file) => existsSync(file));
  if (readme !== undefined) cpSync(readme, join(stage, 'README.md'));
  return { name: manifestOf(source).name, folder: stage };
}

/** The manual page and the completions, from the command itself, in one run of it. */
function pagesOfCommand(): Record<'manual' | 'bash' | 'zsh' | 'fish', string> {
  const folder = JSON.stringify(join(root, 'packages/daemon/src'));
  const script = `
    const from = (name) => import(${folder} + '/' + name);
    const { createProgram } = await from('cli/program.ts');
    const { outlineOf } = await from('cli/outline.ts');
    const { completionScript, shells } = await from('cli/completions.ts');
    const outline = outlineOf(await createProgram(() => async () => {}));
    const manual = (await from('cli/manual.ts')).manualPage(outline, (await from('version.ts')).version);
    const scripts = shells.map((shell) => [shell, completionScript(outline, shell)]);
    process.stdout.write(JSON.stringify({ manual, ...Object.fromEntries(scripts) }));`;
  const said = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  if (said.status !== 0) throw new Error(`the manual page could not be written: ${said.stderr}`);
  return JSON.parse(said.stdout) as ReturnType<typeof pagesOfCommand>;
}

/** The command's own package also carries the dashboard, the manual page and the completions. */
function dressDaemon(stage: string): void {
  cpSync(join(root, 'packages/daemon/bin'), join(stage, 'bin'), { recursive: true });
  const dashboard = join(root, 'packages/dashboard/dist');
  if (!existsSync(dashboard)) throw new Error('The dashboard is not built; "node house/build.ts" builds it.');
  cpSync(dashboard, join(stage, 'dist/dashboard'), { recursive: true });
  mkdirSync(join(stage, 'man'), { recursive: true });
  mkdirSync(join(stage, 'completions'), { recursive: true });
  const { manual, ...completions } = pagesOfCommand();
  writeFileSync(join(stage, 'man/revisit.1'), manual);
  for (const [shell, script] of Object.entries(completions))
    writeFileSync(join(stage, `completions/revisit.${shell}`), script);
  stageManifest(join(root, 'packages/daemon'), stage, {
    man: './man/revisit.1',
    files: ['bin', 'dist', 'man', 'completions'],
  });
}

/** Stages every package that is published, each after those it needs. */
export function stageAll(out: string): readonly Staged[] {
  rmSync(out, { recursive: true, force: true });
  const staged: Staged[] = [];
  for (const name of ['core', 'daemon', 'cluster']) {
    staged.push(stagePackage(name, out, staged));
    if (name === 'daemon') dressDaemon(staged.at(-1)!.folder);
  }
  return staged;
}

/** One call for all: starting npm takes longer than packing. It answers with the tarballs' names in the order asked for. */
export function packAll(staged: readonly Staged[], out: string): readonly string[] {
  const words = ['pack', ...staged.map(({ folder }) => folder), '--pack-destination', out, '--silent'];
  const done = spawnSync('npm', words, { cwd: out, encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`npm pack: ${done.stderr}`);
  return done.stdout
    .trim()
    .split('\n')
    .slice(-staged.length)
    .map((name) => join(out, name));
}

if (import.meta.main) {
  const out = resolve(process.argv[2] ?? join(root, 'dist'));
  for (const tarball of packAll(stageAll(out), out)) process.stdout.write(`${tarball}\n`);
}
