/**
 * Days of operation in trouble, from one seed: the daemon's own loop, observer and store in virtual time, killed at random
 * points and started again. Answers what was wrong: nothing, it is hoped.
 */
import { integer, policies, random } from '@revisit/core';
import { detector } from '../daemon.ts';
import { Loop } from '../loop.ts';
import { createObserver } from '../observe/observe.ts';
import type { Store } from '../store/port.ts';
import { usualSettings } from '../values/page.ts';
import { FaultyWeb } from './faulty-web.ts';
import { VirtualClock } from './virtual-clock.ts';

export interface TroubleOptions {
  readonly seed: number;
  readonly days: number;
  readonly store: Store;
  readonly policy?: string;
}

export interface TroubleReport {
  readonly wrong: readonly string[];
  readonly requests: number;
  readonly restarts: number;
  readonly changes: number;
}

const hourMs = 3_600_000;
const startMs = Date.UTC(2026, 0, 5);
/** At the end the web is fine for this long: more than the longest back-off. */
const calmHours = 16;
const settings = { looksPerSecond: 30 / 3600, spacingMs: 2_000, robots: 4, queueMax: 64 };

export async function liveInTrouble(options: TroubleOptions): Promise<TroubleReport> {
  const luck = random(options.seed);
  const clock = new VirtualClock(startMs);
  const endMs = startMs + options.days * 24 * hourMs;
  const calmMs = endMs - calmHours * hourMs;
  const cap = { count: 30, periodMs: hourMs };
  const web = new FaultyWeb({
    clock,
    random: luck,
    sites: 4,
    pagesPerSite: 3,
    spacingMs: settings.spacingMs,
    cap,
    startMs,
    calmMs,
    endMs,
  });
  await options.store.addPages(
    web.urls.map((url) => ({
      url,
      site: new URL(url).hostname,
      ...usualSettings,
      addedAtMs: startMs,
    })),
  );
  let restarts = 0;
  while (clock.nowMs() < endMs) {
    let alive = true;
    const observer = createObserver({
      clock,
      random: luck,
      userAgent: 'Revisit',
      allowNetworks: [],
      spacingMs: settings.spacingMs,
      siteRules: () => ({ cap }),
      fetchPage: web.connection(() => alive),
    });
    const policy = policies[options.policy ?? 'uniform']!.create(options.seed);
    const loop = new Loop(
      { clock, random: luck, store: options.store, observer, policy, detect: detector(options.store), log: () => {} },
      settings,
    );
    await loop.load();
    void loop.run(new AbortController().signal);
    const killMs = clock.nowMs() + 1 + integer(luck, 8 * hourMs);
    await clock.runUntil(killMs < calmMs ? killMs : endMs);
    alive = false;
    loop.die();
    restarts++;
  }
  const wrong = [
    ...web.violations,
    ...(await checkLog(options.store)),
    ...(await checkPages(options.store, web, calmMs)),
  ];
  // A killed process may have sent what it had not yet paid for.
  const allowed = settings.looksPerSecond * 3600 * 24 * options.days + restarts * (1 + 3 * settings.robots);
  if (web.requests > allowed) wrong.push(`${web.requests} requests went out; the budget allows ${Math.floor(allowed)}`);
  return { wrong, requests: web.requests, restarts, changes: (await options.store.counts()).changes };
}

/** Every change once, in order, without holes. */
async function checkLog(store: Store): Promise<readonly string[]> {
  const changes = await store.changes({ after: 0, limit: 1_000_000 });
  const wrong = changes.flatMap(({ sequence }, index) =>
    sequence === index + 1 ? [] : [`change ${index + 1} has the number ${sequence}`],
  );
  if (new Set(changes.map(({ id }) => id)).size !== changes.length) wrong.push('a change has the id of another');
  return wrong;
}

/** Every page was seen in the calm, holds what the web showed then, and has told each version once. */
async function checkPages(store: Store, web: FaultyWeb, calmMs: number): Promise<readonly string[]> {
  const wrong: string[] = [];
  const changes = await store.changes({ after: 0, limit: 1_000_000 });
  for (const { page, state } of await store.pages({ limit: 10_000 })) {
    if ((state.lastSeenMs ?? 0) < calmMs)
      wrong.push(`${page.url} was last seen ${state.lastSeenMs ? new Date(state.lastSeenMs).toISOString() : 'never'}`);
    const versions = await store.versions(page.id);
    const numbers: number[] = [];
    for (const { number } of versions)
      numbers.push(Number(/version (\d+)/.exec((await store.versionText(page.id, number)) ?? '')?.[1]));
    if (numbers.some((number, index) => index > 0 && !(number > numbers[index - 1]!)))
      wrong.push(`${page.url} holds the versions ${numbers.join(', ')}`);
    const told = changes
      .filter((change) => change.pageId === page.id && change.kind === 'changed')
      .map(({ toVersion }) => toVersion);
    if (
      told.join() !==
      versions
        .slice(1)
        .map(({ number }) => number)
        .join()
    )
      wrong.push(`${page.url} has the versions ${versions.length} and told ${told.join()}`);
    const seenMs = state.lastSeenMs ?? 0;
    const last = numbers.at(-1) ?? 0;
    if (last < web.versionAt(page.url, seenMs) || last > web.versionAt(page.url, seenMs + 20_000)) {
      wrong.push(`${page.url} holds ${last}; when last seen it was ${web.versionAt(page.url, seenMs)}`);
    }
  }
  return wrong;
}
