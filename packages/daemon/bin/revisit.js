#!/usr/bin/env node
// Starts the command: from source in a clone, from what was built in a published package. Plain JavaScript, because an
// older Node must be able to read it in order to hand over to the one that came with `npm ci`.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import * as modules from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const inClone = existsSync(join(here, '../src/cli/main.ts'));
const [major, minor] = process.versions.node.split('.').map(Number);
const recent = major > 22 || (major === 22 && minor >= 19);
const own = join(here, '../../../node_modules/node/bin/node');

if (recent) {
  // Halves the time to the first word: compiled code is kept in the system's folder for temporary files.
  modules.enableCompileCache?.();
  await import(inClone ? '../src/cli/main.ts' : '../dist/cli/main.js');
} else if (inClone && existsSync(own)) {
  const child = spawn(own, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)));
} else {
  process.stderr.write(
    `revisit needs Node 22.19 or later; this is ${process.versions.node}${inClone ? ' ("npm ci" brings one)' : ''}.\n`,
  );
  process.exitCode = 2;
}
