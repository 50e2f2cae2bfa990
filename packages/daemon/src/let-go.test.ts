import { expect, test } from 'vitest';
import { readConfigText, settle } from './config/config.ts';
import { letGo } from './daemon.ts';
import { openSqlite } from './store/sqlite.ts';
import { StoreFailed } from './values/fault.ts';

const dayMs = 86_400_000;
const clock = { nowMs: () => 1000 * dayMs, sleep: () => Promise.resolve() };

async function forgottenBefore(text: string): Promise<number[]> {
  const file = readConfigText(text, 'revisit.yaml');
  if (file.kind === 'wrong') throw new Error(file.sentence);
  const config = settle(file.value, {});
  if (config.kind === 'wrong') throw new Error(config.sentence);
  const opened = openSqlite(':memory:');
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  const asked: number[] = [];
  opened.store.outbox.forget = (beforeMs) => {
    asked.push(beforeMs / dayMs);
    return Promise.reject(new StoreFailed({ code: 'disk-full', sentence: 'full' }));
  };
  const said: string[] = [];
  await letGo(opened.store, config.value, (level, message) => said.push(`${level}: ${message}`), clock);
  expect(said).toEqual(['warn: messages could not be forgotten']);
  await opened.store.close();
  return asked;
}

test('messages that have ended are remembered for three months, or as long as the configuration says', async () => {
  expect(await forgottenBefore('')).toEqual([910]);
  expect(await forgottenBefore('keep: {deliveries: 30d}')).toEqual([970]);
});
