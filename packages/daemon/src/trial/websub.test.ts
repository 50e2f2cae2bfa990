import { afterEach, expect, test } from 'vitest';
import { settle } from '../config/config.ts';
import { type Daemon, startDaemon } from '../daemon.ts';
import { type Clock, systemClock } from '../values/clock.ts';
import { eventually, freshFolder } from './command.ts';
import { type Cleanups, startFront, startHub, startWeb } from './hub-world.ts';

const cleanups: Cleanups = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(urls: readonly string[], clock = systemClock): Promise<Daemon> {
  const front = await startFront(cleanups);
  // The plan alone would look at each page once: whatever comes after that is the hub's doing.
  const pages = urls.map((url) => ({ url, spacing: '30d' }));
  const given = { pages, data: freshFolder(), port: 0, publicUrl: front.url, logLevel: 'silent' } as const;
  const settled = settle({ ...given, budget: '50/second', spacing: '0', allowNetwork: ['127.0.0.0/8'] }, {});
  if (settled.kind === 'wrong') throw new Error(settled.sentence);
  const stop = new AbortController();
  const started = await startDaemon(settled.value, stop.signal, { clock });
  if (started.kind === 'wrong') throw new Error(started.sentence);
  cleanups.push(() => {
    stop.abort();
    return started.daemon.ended;
  });
  front.leadTo(started.daemon.url);
  return started.daemon;
}

/** Time that passes so many times as fast, at the hub too. */
function fastClock(speed: number): Clock {
  const begunMs = Date.now();
  return {
    nowMs: () => begunMs + (Date.now() - begunMs) * speed,
    sleep: (ms, signal) => systemClock.sleep(ms / speed, signal),
  };
}

const versionsOf = (daemon: Daemon, url: string) => daemon.loop.collection.withUrl(url)[0]?.state.version ?? 0;

test('a hub that is honest makes us look, at once and through the whole daemon; others move nothing', async () => {
  const hub = await startHub(cleanups);
  const web = await startWeb(cleanups, hub.url);
  const kinds = ['honest', 'mute', 'refusing', 'denying', 'mistaken', 'forging'];
  for (const kind of kinds) web.texts.set(`/${kind}`, 'first');
  const url = (kind: string) => `${web.url}/${kind}`;
  const daemon = await start(kinds.map(url));
  const state = await eventually(async () => {
    const known = await hub.state();
    return known.asked.length === kinds.length && known.subscribers.length + known.unverified.length === 4 && known;
  });
  expect(state.subscribers.map(({ kind }) => kind).sort()).toEqual(['forging', 'honest']);
  expect(state.unverified.find(({ kind }) => kind === 'mistaken')).toEqual({ kind: 'mistaken', status: 404 });
  expect(state.unverified.find(({ kind }) => kind === 'denying')).toEqual({ kind: 'denying', status: 200 });

  for (const version of [2, 3]) {
    for (const kind of kinds) web.texts.set(`/${kind}`, `version ${version}`);
    for (const kind of kinds) expect((await hub.publish(url(kind))).status).toBe(204);
    await eventually(() => versionsOf(daemon, url('honest')) === version);
  }
  const told = await hub.state();
  expect(Object.fromEntries(told.subscribers.map(({ kind, answers }) => [kind, answers]))).toEqual({
    forging: [202, 202],
    honest: [202, 202],
  });
  for (const kind of kinds.slice(1)) expect([kind, web.looks.get(`/${kind}`)]).toEqual([kind, 1]);

  // A hub that dies takes nothing along: the page can still be looked at, and what it missed is found.
  await hub.kill();
  web.texts.set('/honest', 'version 4');
  const { id } = daemon.loop.collection.withUrl(url('honest'))[0]!.page;
  expect((await fetch(`${daemon.url}/api/pages/${id}/probe`, { method: 'POST' })).ok).toBe(true);
  await eventually(() => versionsOf(daemon, url('honest')) === 4);
}, 120_000);

test('a lease of minutes is renewed before it ends, again and again', async () => {
  // Ten minutes pass in half a second, here and at the hub.
  const speed = 1200;
  const hub = await startHub(cleanups, 600, speed);
  const web = await startWeb(cleanups, hub.url);
  web.texts.set('/short', 'first');
  const url = `${web.url}/short`;
  const daemon = await start([url], fastClock(speed));
  const renewed = () =>
    hub.state().then(({ subscribers }) => subscribers.find(({ kind }) => kind === 'short')?.verified ?? 0);
  await eventually(async () => (await renewed()) >= 4);
  // Were a notice to meet the moment between two leases on a slow machine, the next one is heard.
  web.texts.set('/short', 'second');
  await eventually(async () => {
    await hub.publish(url);
    return versionsOf(daemon, url) === 2;
  });
}, 120_000);
