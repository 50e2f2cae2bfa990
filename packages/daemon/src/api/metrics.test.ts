import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Desk } from '../desk.ts';
import { openSqlite } from '../store/sqlite.ts';
import { systemClock } from '../values/clock.ts';
import { createApi } from './server.ts';

test('every metric that the Grafana dashboard shows is there', async () => {
  const opened = openSqlite(':memory:');
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  const app = createApi(new Desk(opened.store, systemClock, () => {}));
  await app.inject('/api/status');
  const { body } = await app.inject('/metrics');
  const there = new Set([...body.matchAll(/^(revisit_\w+)/gm)].map((match) => match[1]));
  const file = readFileSync(join(import.meta.dirname, '../../../../deploy/grafana.json'), 'utf8');
  const shown = new Set([...file.matchAll(/revisit_[a-z_]+/g)].map((match) => match[0]));
  expect(shown.size).toBeGreaterThan(10);
  expect([...shown].filter((name) => !there.has(name))).toEqual([]);
  await app.close();
});
