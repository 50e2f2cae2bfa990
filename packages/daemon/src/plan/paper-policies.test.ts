import { type Finding, type Policy, type Watched, policies } from '@revisit/core';
import { expect, test } from 'vitest';
import { collectionsOf } from '../config/collections.ts';
import { readConfigText, settle } from '../config/config.ts';
import { readPageFields } from '../config/page-input.ts';
import { calmSite, poissonLaw, type SimulatedPage } from '../simulation/simulated-web.ts';
import { createWorld, startLoop, type World } from '../simulation/world.ts';
import { openSqlite } from '../store/sqlite.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const startMs = Date.UTC(2026, 0, 5);
const settings = { looksPerSecond: 20 / 3600, spacingMs: 1000, robots: 16, queueMax: 256 };

function memoryStore() {
  const opened = openSqlite(':memory:');
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  return opened.store;
}

function page(i: number, meanHours: number): SimulatedPage {
  const site = `site${i % 4}.example`;
  return { url: `https://${site}/${i}`, site, law: poissonLaw(meanHours * hourMs) };
}

/** Half of the pages change every four hours, half every four days. */
const mixed = () => Array.from({ length: 24 }, (_, i) => page(i, i < 12 ? 4 : 96));

async function run(world: World, policy: Policy, untilMs: number, given = settings, parts = {}) {
  const loop = await startLoop(world, policy, given, undefined, parts);
  const stop = new AbortController();
  const running = loop.run(stop.signal);
  await world.clock.runUntil(untilMs);
  stop.abort();
  await world.clock.runUntil(Infinity, running);
  return loop;
}

function looksAt(world: World, fromMs = 0): Map<string, number[]> {
  const looks = new Map<string, number[]>();
  for (const { url, atMs } of world.web.sent) if (atMs >= fromMs) looks.set(url, [...(looks.get(url) ?? []), atMs]);
  return looks;
}

test.each(['wic', 'brewington', 'brewington-greedy'])(
  'the daemon runs %s: fast pages get more looks, and every page some',
  async (name) => {
    const world = await createWorld({ seed: 4, startMs, store: memoryStore(), pages: mixed() });
    await run(world, policies[name]!.create(1), startMs + 72 * hourMs);
    const looks = looksAt(world);
    const all = mixed().map(({ url }) => looks.get(url)?.length ?? 0);
    const fast = all.slice(0, 12).reduce((a, b) => a + b, 0);
    const slow = all.slice(12).reduce((a, b) => a + b, 0);
    expect(Math.min(...all)).toBeGreaterThan(1);
    expect(fast).toBeGreaterThan(1.2 * slow);
    expect(world.web.sent.length).toBeLessThanOrEqual(20 * 72 + 21);
    expect(world.web.sent.length).toBeGreaterThan(0.8 * 20 * 72);
  },
);

test.each(['wic', 'brewington', 'brewington-greedy'])('what %s has learned survives a restart', async (name) => {
  const store = memoryStore();
  const world = await createWorld({ seed: 5, startMs, store, pages: mixed() });
  const ended = startMs + 5 * dayMs;
  const before = await run(world, policies[name]!.create(1), ended);
  const rates = (loop: typeof before) =>
    mixed().map(({ url }) => {
      const [entry] = loop.collection.withUrl(url);
      return loop.policy.belief(entry!.index, world.clock.nowMs() / 1000).ratePerDay;
    });
  const learned = rates(before);
  const fresh = policies[name]!.create(1);
  const after = await startLoop(world, fresh, settings);
  rates(after).forEach((rate, i) => {
    expect(rate).toBeGreaterThan(0.85 * learned[i]!);
    expect(rate).toBeLessThan(1.15 * learned[i]!);
  });
  // Nobody is new to it: the budget goes on as before, without a first round through all pages.
  const again = world.clock.nowMs();
  await run(world, policies[name]!.create(1), again + dayMs);
  const looks = looksAt(world, again);
  const fast = mixed()
    .slice(0, 12)
    .reduce((sum, { url }) => sum + (looks.get(url)?.length ?? 0), 0);
  const all = [...looks.values()].reduce((sum, list) => sum + list.length, 0);
  expect(fast / all).toBeGreaterThan(0.55);
  expect(all).toBeLessThanOrEqual(20 * 24 + 21);
});

test('bytes of another policy are not taken for one’s own', async () => {
  const world = await createWorld({ seed: 6, startMs, store: memoryStore(), pages: mixed() });
  await run(world, policies['wic']!.create(1), startMs + dayMs);
  for (const name of ['brewington', 'revisit', 'wic-steady', 'brewington-greedy']) {
    const loop = await run(world, policies[name]!.create(1), world.clock.nowMs() + dayMs / 2);
    expect(loop.collection.size).toBe(24);
  }
});

test('brewington plans by age: pages that change every four days are looked at when they are old enough', async () => {
  // A change comes 90 to 102 hours after the last one, never sooner: what Poisson rates cannot express.
  const regular = Array.from({ length: 12 }, (_, i): SimulatedPage => ({
    ...page(i, 1),
    law: (random) => (90 + 12 * random()) * hourMs,
  }));
  const meanDelay = async (name: string) => {
    const world = await createWorld({ seed: 7, startMs, store: memoryStore(), pages: regular });
    await run(world, policies[name]!.create(1), startMs + 100 * dayMs, { ...settings, looksPerSecond: 12 / 86_400 });
    const looks = looksAt(world);
    const delays = regular.flatMap(({ url }) =>
      world.web.changesOf(url).flatMap((changedMs) => {
        const found = looks.get(url)!.find((atMs) => atMs >= changedMs);
        return changedMs > startMs + 40 * dayMs && found !== undefined ? [found - changedMs] : [];
      }),
    );
    return delays.reduce((a, b) => a + b, 0) / delays.length;
  };
  expect(await meanDelay('brewington')).toBeLessThan(0.9 * (await meanDelay('uniform')));
});

test('the daemon measures how long fetching takes, and every page has its turn however costly and dull it is', async () => {
  // One page never changes and takes 50 times as long; being out of date at all is what counts.
  const dull: SimulatedPage = { url: 'https://slow.example/', site: 'slow.example', law: () => 1e15 };
  const pages = [...Array.from({ length: 11 }, (_, i) => page(i, 3)), dull];
  const world = await createWorld({
    seed: 8,
    startMs,
    store: memoryStore(),
    pages,
    siteLaw: (site) => ({ ...calmSite, latencyMeanMs: site === 'slow.example' ? 10_000 : 200 }),
  });
  const policy = policies['brewington']!.create(1);
  const seconds = new Map<number, number[]>();
  const looked = policy.looked.bind(policy);
  policy.looked = (index, at, finding: Finding) => {
    if (finding.seconds !== undefined) seconds.set(index, [...(seconds.get(index) ?? []), finding.seconds]);
    looked(index, at, finding);
  };
  const perHour = 6;
  await run(world, policy, startMs + 12 * dayMs, { ...settings, looksPerSecond: perHour / 3600 });
  const means = [...seconds.values()].map((list) => list.reduce((a, b) => a + b, 0) / list.length);
  expect(Math.max(...means)).toBeGreaterThan(5);
  expect(Math.min(...means)).toBeLessThan(1);
  const times = looksAt(world).get(dull.url)!;
  const bound = (20 * pages.length * hourMs) / perHour;
  for (let n = 1; n < times.length; n++) expect(times[n]! - times[n - 1]!).toBeLessThan(bound);
  expect(times.at(-1)).toBeGreaterThan(startMs + 12 * dayMs - bound);
  // It is dull all the same: it gets its turn and no more.
  expect(times.length).toBeLessThan(world.web.sent.length / pages.length / 2);
});

test('wic looks at what disappears or ages while it is there, and not at what is gone before it is worth a look', async () => {
  const store = memoryStore();
  const pages = Array.from({ length: 16 }, (_, i) => page(i, 8));
  const world = await createWorld({ seed: 9, startMs, store, pages });
  const law = (i: number) => {
    if (i < 4) return { life: { kind: 'window', width: 2 } };
    if (i < 8) return { urgency: { kind: 'decay', rate: 0.7 } };
    return i < 12 ? {} : { life: { kind: 'window', width: 2 }, weight: 0.1 };
  };
  const stored: { id: string; settings: Record<string, unknown> }[] = [];
  for await (const batch of store.everyPage()) {
    for (const watched of batch) {
      const fields = readPageFields(law(pages.findIndex(({ url }) => url === watched.page.url)));
      if (fields.kind === 'read') stored.push({ id: watched.page.id, settings: fields.value });
    }
  }
  await store.updatePages(stored);
  await run(world, policies['wic']!.create(1), startMs + 10 * dayMs, { ...settings, looksPerSecond: 4 / 3600 });
  const looks = looksAt(world, startMs + 2 * dayMs);
  const of = (from: number) =>
    pages.slice(from, from + 4).reduce((sum, { url }) => sum + (looks.get(url)?.length ?? 0), 0);
  // Gone after two hours and worth a tenth: left alone. What keeps for ever is captured by the way.
  expect(of(12)).toBeLessThan(0.3 * of(8));
  expect(of(8)).toBeGreaterThan(40);
  expect(of(0) + of(4)).toBeGreaterThan(40);
});

test('collections by tag have policies and budgets of their own', async () => {
  const text = `
policy: uniform
budget: 20/hour
collections:
  news: { policy: wic, budget: 10/hour, urgency: { kind: decay, rate: 0.9 }, weight: 2 }
  rules: { policy: brewington, loss: staleness }
`;
  const file = readConfigText(text, 'revisit.yaml');
  if (file.kind === 'wrong') throw new Error(file.sentence);
  const config = settle(file.value, {});
  if (config.kind === 'wrong') throw new Error(config.sentence);
  const collections = collectionsOf(config.value);
  if (collections.kind === 'wrong') throw new Error(collections.sentence);
  const { policy, of } = collections.value;
  expect(policy.name).toBe('uniform, news: wic, rules: brewington');
  const store = memoryStore();
  const world = await createWorld({ seed: 10, startMs, store, pages: mixed() });
  const tagsOf = (i: number) => (i % 4 === 0 ? ['news', 'rules'] : i % 4 === 1 ? ['rules'] : ['else']);
  const changed: { id: string; settings: { tags: string[] } }[] = [];
  for await (const batch of store.everyPage()) {
    for (const { page: one } of batch)
      changed.push({ id: one.id, settings: { tags: tagsOf(Number(one.url.split('/').at(-1))) } });
  }
  await store.updatePages(changed);
  const seen: Watched[] = [];
  const watch = policy.watch.bind(policy);
  policy.watch = (watched, now) => {
    seen.push(watched);
    watch(watched, now);
  };
  const loop = await run(world, policy, startMs + 5 * dayMs, settings, { collectionOf: of });
  expect(seen.filter(({ collection }) => collection === 1)).toHaveLength(6);
  expect(seen.find(({ collection }) => collection === 1)).toMatchObject({ weight: 2, urgency: { kind: 'decay' } });
  expect(seen.find(({ collection }) => collection === 2)).toMatchObject({ weight: 1, loss: 'staleness' });
  const looks = looksAt(world, startMs + dayMs);
  const count = (kind: (i: number) => boolean) =>
    mixed().reduce((sum, { url }, i) => sum + (kind(i) ? (looks.get(url)?.length ?? 0) : 0), 0);
  const hours = 96;
  // 10 an hour of its own; the other 18 pages share the other 10, 6 and 12 of them.
  expect(count((i) => i % 4 === 0) / hours).toBeGreaterThan(8.7);
  expect(count((i) => i % 4 === 0) / hours).toBeLessThan(10.4);
  expect(count((i) => i % 4 === 1) / hours).toBeGreaterThan(2.8);
  expect(count((i) => i % 4 === 1) / hours).toBeLessThan(3.7);
  expect(count((i) => i % 4 > 1) / hours).toBeGreaterThan(5.7);
  // A page that is given another tag is another policy's from then on.
  const [entry] = loop.collection.withUrl(mixed()[2]!.url);
  const [moved] = (await store
    .updatePages([{ id: entry!.page.id, settings: { tags: ['rules'] } }])
    .then((kept) => (kept.kind === 'kept' ? kept.value : [])))!;
  loop.watch(moved!);
  expect(seen.at(-1)).toMatchObject({ collection: 2 });
});

test('what is wrong about a collection is said in one sentence', () => {
  const read = (text: string) => {
    const file = readConfigText(text, 'revisit.yaml');
    if (file.kind === 'wrong') return file.sentence;
    const config = settle(file.value, {});
    if (config.kind === 'wrong') return config.sentence;
    const collections = collectionsOf(config.value);
    return collections.kind === 'wrong' ? collections.sentence : 'fine';
  };
  expect(read('collections:\n  a: { policy: fastest }')).toMatch(
    /^revisit\.yaml:2: collections\.a\.policy: "fastest" is not allowed; one of uniform, .* is expected$/,
  );
  expect(read('collections: { a: { urgency: { kind: decay, rate: 2 } } }')).toMatch(
    /^collections\.a\.urgency: .*decay, rate: a number from 0 to 1/,
  );
  expect(read('budget: 10/hour\ncollections: { a: { budget: 20/hour } }')).toBe(
    'collections: their budgets add up to more than budget, which is 10/hour',
  );
  expect(read('collections: { a: { colour: red } }')).toMatch(/collections\.a\.colour is not a known setting$/);
  expect(read('collections: { a: { policy: wic } }')).toBe('fine');
});

test('what a page says of its urgency, life and loss reaches the policy', async () => {
  const store = memoryStore();
  const world = await createWorld({ seed: 4, startMs, store, pages: [] });
  const fields = readPageFields({
    urgency: { kind: 'decay', rate: 0.9 },
    life: { kind: 'changes', count: 3 },
    loss: 'staleness',
    weight: 2,
  });
  if (fields.kind === 'wrong') throw new Error(fields.sentence);
  const base = { select: { kind: 'text' }, tags: [], paused: false, options: {}, addedAtMs: startMs } as const;
  const url = 'https://a.example/';
  await store.addPages([{ url, site: 'a.example', weight: 1, ...base, ...fields.value }]);
  const seen: Watched[] = [];
  const policy = policies['wic']!.create(1);
  const watch = policy.watch.bind(policy);
  policy.watch = (watched, now) => {
    seen.push(watched);
    watch(watched, now);
  };
  await startLoop(world, policy, settings);
  expect(seen).toMatchObject([
    { weight: 2, loss: 'staleness', urgency: { kind: 'decay', rate: 0.9 }, life: { kind: 'changes', count: 3 } },
  ]);
  expect(readPageFields({ urgency: { kind: 'decay', rate: 1.5 } }).kind).toBe('wrong');
  expect(readPageFields({ life: { kind: 'changes', count: 0 } }).kind).toBe('wrong');
});
