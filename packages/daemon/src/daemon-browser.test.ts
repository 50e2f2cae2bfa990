import { expect, test } from 'vitest';
import { settle } from './config/config.ts';
import { createLoop } from './daemon.ts';
import { memoryStore } from './simulation/index.ts';

test.each([
  ['/nowhere/chromium', 1],
  [process.execPath, 0],
  [undefined, 0],
])('a browser at %s is warned of %i times at the start', async (chromium, times) => {
  const config = settle(chromium === undefined ? {} : { chromium }, {});
  if (config.kind === 'wrong') expect.unreachable(config.sentence);
  const store = memoryStore();
  const warned: unknown[] = [];
  const loop = createLoop(config.value, store, (level, message, fields) => {
    if (level === 'warn' && message.startsWith('chromium ')) warned.push(fields);
  });
  await loop.load();
  expect(warned).toEqual(Array.from({ length: times }, () => ({ chromium })));
  await loop.close();
  await store.close();
});
