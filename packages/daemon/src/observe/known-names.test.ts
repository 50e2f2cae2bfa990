/** Names in virtual time: what is answered, after how long, and how often the name servers are asked. */
import { expect, test } from 'vitest';
import { VirtualClock } from '../simulation/virtual-clock.ts';
import { KnownNames } from './known-names.ts';
import { LookupPlaces } from './lookup-places.ts';
import type { ResolvedAddress } from './resolve.ts';

/** How long a system's resolver tries before it says that nobody answers. */
const hangMs = 20_000;

type Says = (name: string) => { readonly afterMs: number; readonly address: string } | { readonly code: string };

function namesWith(says: Says, placesMax = 2, vouches = false) {
  const clock = new VirtualClock(0);
  const asked: { readonly name: string; readonly atMs: number }[] = [];
  let underWay = 0;
  let underWayMost = 0;
  const lookup = async (name: string): Promise<ResolvedAddress[]> => {
    asked.push({ name, atMs: clock.nowMs() });
    underWayMost = Math.max(underWayMost, ++underWay);
    const said = says(name);
    await clock.sleep('code' in said ? (said.code === 'EAI_AGAIN' ? hangMs : 20) : said.afterMs);
    underWay--;
    if ('code' in said) throw Object.assign(new Error(name), { code: said.code });
    return [{ address: said.address, family: 4 }];
  };
  const isAnsweredFor = async (name: string) => !('code' in says(name));
  const places = new LookupPlaces(placesMax);
  const names = new KnownNames(lookup, clock, places, vouches ? isAnsweredFor : undefined);
  /** The address or the code of the failure, and how long it was waited for. */
  const ask = async (name: string): Promise<readonly [string | undefined, number]> => {
    const fromMs = clock.nowMs();
    const said = await names.resolve(name).then(
      ([first]) => first?.address,
      (error: NodeJS.ErrnoException) => error.code,
    );
    return [said, clock.nowMs() - fromMs];
  };
  const run = async <Value>(work: Promise<Value>): Promise<Value> => {
    await clock.runUntil(Infinity, work);
    return work;
  };
  const pass = (ms: number) => clock.runUntil(clock.nowMs() + ms);
  return { clock, asked, names, ask, run, pass, most: () => underWayMost };
}

const dead = { code: 'EAI_AGAIN' };
const at = (address: string) => ({ afterMs: 20, address });

test('a name is looked up once for all who ask, and again a minute later', async () => {
  const web = namesWith(() => at('192.0.2.1'));
  expect(await web.run(Promise.all([web.ask('a'), web.ask('a')]))).toEqual([
    ['192.0.2.1', 20],
    ['192.0.2.1', 20],
  ]);
  await web.pass(59_000);
  expect(await web.run(web.ask('a'))).toEqual(['192.0.2.1', 0]);
  await web.pass(1_000);
  expect(await web.run(web.ask('a'))).toEqual(['192.0.2.1', 20]);
  expect(web.asked).toHaveLength(2);
});

test('nobody waits for a name longer than eight seconds, and for half a minute it is not asked for again', async () => {
  const web = namesWith(() => dead);
  expect(await web.run(Promise.all([web.ask('a'), web.ask('a')]))).toEqual([
    ['ETIMEOUT', 8_000],
    ['ETIMEOUT', 8_000],
  ]);
  // While the lookup goes on, and after it has ended with a word of its own.
  expect(await web.run(web.ask('a'))).toEqual(['ETIMEOUT', 0]);
  await web.pass(15_000);
  expect(await web.run(web.ask('a'))).toEqual(['EAI_AGAIN', 0]);
  expect(web.asked).toHaveLength(1);
  await web.pass(30_000);
  expect(await web.run(web.ask('a'))).toEqual(['ETIMEOUT', 8_000]);
  expect(web.asked).toHaveLength(2);
});

test('an answer that comes late is taken up when it comes', async () => {
  const web = namesWith(() => ({ afterMs: 12_000, address: '192.0.2.1' }));
  expect(await web.run(web.ask('a'))).toEqual(['ETIMEOUT', 8_000]);
  await web.pass(4_000);
  expect(await web.run(web.ask('a'))).toEqual(['192.0.2.1', 0]);
  expect(web.asked).toHaveLength(1);
});

test('while a name server says nothing, what was found before is the answer, for an hour', async () => {
  let isUp = true;
  const web = namesWith(() => (isUp ? at('192.0.2.1') : dead));
  await web.run(web.ask('a'));
  isUp = false;
  await web.pass(60_000);
  for (let minute = 1; minute < 59; minute++) {
    expect(await web.run(web.ask('a'))).toEqual(['192.0.2.1', 1_800]);
    expect(await web.run(web.ask('a'))).toEqual(['192.0.2.1', 0]);
    await web.pass(58_200);
  }
  await web.pass(120_000);
  expect(await web.run(web.ask('a'))).toEqual(['ETIMEOUT', 8_000]);
  isUp = true;
  await web.pass(60_000);
  expect(await web.run(web.ask('a'))).toEqual(['192.0.2.1', 20]);
});

test('a name that has moved is asked at its new address, and one that no longer exists at none', async () => {
  let says: ReturnType<Says> = at('192.0.2.1');
  const web = namesWith(() => says);
  await web.run(web.ask('a'));
  says = at('192.0.2.2');
  await web.pass(60_000);
  expect(await web.run(web.ask('a'))).toEqual(['192.0.2.2', 20]);
  says = { code: 'ENOTFOUND' };
  await web.pass(60_000);
  expect(await web.run(web.ask('a'))).toEqual(['ENOTFOUND', 20]);
  expect(await web.run(web.ask('a'))).toEqual(['ENOTFOUND', 0]);
});

test.each([2, 8])('names that nobody answers for leave %i places to those that are known', async (placesMax) => {
  const web = namesWith((name) => (name.startsWith('dead') ? dead : at('192.0.2.1')), placesMax);
  const live = Array.from({ length: 6 }, (_, i) => `live${i}`);
  await web.run(Promise.all(live.map(web.ask)));
  const dying = Array.from({ length: 100 }, (_, i) => `dead${i}`);
  for (let minute = 0; minute < 60; minute++) {
    for (const name of dying) void web.ask(name);
    await web.pass(60_000);
    for (const [said, waitedMs] of await web.run(Promise.all(live.map(web.ask)))) {
      expect(said).toBe('192.0.2.1');
      expect(waitedMs).toBeLessThanOrEqual(6 * 20);
    }
  }
  expect(web.most()).toBeLessThanOrEqual(placesMax);
  // They are not given up either.
  expect(web.asked.filter(({ name }) => name.startsWith('dead')).length).toBeGreaterThan(100);
});

test('a name that stands in line behind others is looked up although nobody waits for it any longer', async () => {
  const web = namesWith((name) => (name.startsWith('dead') ? dead : at('192.0.2.1')));
  for (let i = 0; i < 5; i++) void web.ask(`dead${i}`);
  expect(await web.run(web.ask('live'))).toEqual(['ETIMEOUT', 8_000]);
  await web.pass(5 * hangMs);
  const [said] = await web.run(web.ask('live'));
  expect(said).toBe('192.0.2.1');
});

test('a name that a name server answers for does not stand in line behind those that hang', async () => {
  const web = namesWith((name) => (name.startsWith('dead') ? dead : at('192.0.2.1')), 2, true);
  for (let i = 0; i < 50; i++) void web.ask(`dead${i}`);
  expect(await web.run(web.ask('live'))).toEqual(['192.0.2.1', 1_020]);
  expect(web.asked.map(({ name }) => name)).toEqual(['dead0', 'live']);
});

test('a name that nobody has asked for goes before those that hang', async () => {
  const web = namesWith((name) => (name.startsWith('dead') ? dead : at('192.0.2.1')), 8);
  const dying = Array.from({ length: 50 }, (_, i) => `dead${i}`);
  for (const name of dying) void web.ask(name);
  await web.pass(50 * hangMs);
  for (const name of dying) void web.ask(name);
  expect(await web.run(web.ask('live'))).toEqual(['192.0.2.1', 20]);
});

test('a line of ten thousand is long enough: more are told so at once', async () => {
  const web = namesWith(() => dead);
  for (let i = 0; i <= 10_000; i++) void web.ask(`dead${i}`);
  expect(await web.run(web.ask('one more'))).toEqual(['ETIMEOUT', 0]);
});

test('closing ends every wait and empties the line', async () => {
  const web = namesWith(() => dead);
  const asked = Promise.all([web.ask('a'), web.ask('b'), web.ask('c')]);
  await web.pass(1_000);
  web.names.close();
  expect((await web.run(asked)).map(([said]) => said)).toEqual(['ETIMEOUT', 'ETIMEOUT', 'ETIMEOUT']);
  await web.pass(10 * hangMs);
  expect(web.asked.map(({ name }) => name)).toEqual(['a']);
});
