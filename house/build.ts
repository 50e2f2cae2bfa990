/** Builds what cannot run from source: the dashboard's page. Called by `npm ci` through `prepare`. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const dashboard = join(import.meta.dirname, '../packages/dashboard');
if (existsSync(join(dashboard, 'vite.config.ts'))) {
  const { build } = await import('vite');
  await build({ root: dashboard, configFile: join(dashboard, 'vite.config.ts'), logLevel: 'warn' });
}
