import { random } from '@revisit/core';
import { expect, test } from 'vitest';
import { VirtualClock } from '../simulation/virtual-clock.ts';
import type { Answer, Ask } from './ask.ts';
import { createObserver } from './observe.ts';

const hourMs = 3_600_000;

test('a site that kept failing and answers again is told of at once, and not each time that it fails', async () => {
  const clock = new VirtualClock(Date.UTC(2026, 0, 5));
  let fails = true;
  const observer = createObserver({
    clock,
    random: random(1),
    userAgent: 'Revisit',
    allowNetworks: [],
    spacingMs: 1_000,
    fetchPage: ({ url }: Ask): Promise<Answer> => {
      const nowMs = clock.nowMs();
      const status = url.pathname === '/robots.txt' ? 404 : fails ? 500 : 200;
      const times = { askedAtMs: nowMs, answeredAtMs: nowMs };
      return Promise.resolve({
        kind: 'answered',
        url,
        status,
        headers: {},
        body: Buffer.from(''),
        bytesReceived: 0,
        ...times,
      });
    },
  });
  let asked = 0;
  const look = async (): Promise<void> => {
    const url = 'https://a.example/page';
    const atMs = clock.nowMs();
    const looking = observer.observe({
      id: `${asked++}`,
      pageIds: ['p'],
      url,
      site: 'a.example',
      atMs,
      validators: {},
    });
    await clock.runUntil(atMs + hourMs, looking);
    // Longer than the site is left alone, and the robots.txt that was read holds on.
    await clock.runUntil(atMs + hourMs);
  };
  const told = (): unknown => {
    const saved = observer.save!(true);
    return saved && (JSON.parse(new TextDecoder().decode(saved)) as { sites: unknown }).sites;
  };
  await look();
  expect(told()).toMatchObject([{ site: 'a.example', failures: 1 }]);
  for (let n = 0; n < 5; n++) await look();
  expect(observer.standing!('a.example')!.failures).toBeGreaterThan(4);
  expect(observer.save!()).toBeDefined();
  expect(told()).toBeUndefined();
  fails = false;
  await look();
  expect(told()).toEqual([]);
  expect(told()).toBeUndefined();
  await observer.close();
});
