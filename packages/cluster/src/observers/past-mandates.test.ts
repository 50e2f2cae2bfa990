import { zstdCompressSync } from 'node:zlib';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Observation, Page, PageState, Probe } from 'revisit/ports';
import { VirtualClock } from '../../../daemon/src/simulation/virtual-clock.ts';
import { beforeEach, expect, test } from 'vitest';
import { type Report, fingerprint, packReport, unlooked } from './errand.ts';
import { Fleet } from './fleet.ts';

const url = 'https://a.example/';
const page = { id: 'x', url, site: 'a.example', select: { kind: 'text' }, options: {}, paused: false };
const state = { looks: 100, changes: 2 } as unknown as PageState;
const probe: Probe = { id: 'p', url, site: 'a.example', pageIds: ['x'], atMs: 0, validators: {} };
const counts = { places: 1, looks: 0, reports: 0, wholeBytes: 0, sentBytes: 0 };
const body = new TextEncoder().encode('words of a page '.repeat(2_000));
const other = new TextEncoder().encode('other words of a page '.repeat(2_000));
const mandateMs = 60_000;

let clock: VirtualClock;
let fleet: Fleet;
let asked: string[];
let warned: string[];
let past: ReadonlyMap<string, number>;

function started(): Fleet {
  return new Fleet({
    clock,
    connection: {
      request: (_: string, words: string) => {
        asked.push(words);
        return Promise.resolve({ json: () => ({ agoMs: 1e6 }) });
      },
    } as unknown as NatsConnection,
    mandateMs,
    spacingMs: 1_000,
    budgetPerSecond: () => 1,
    behind: () => false,
    lend: () => {},
    giveBack: () => {},
    pageOf: (id) => (id === 'x' ? { page: page as unknown as Page, state } : undefined),
    everyPage: () => [],
    pageCount: () => 1,
    probeSoon: (id) => asked.push(`look ${id}`),
    remember: (_site, _observer, ends) => Promise.resolve(void (past = new Map(ends))),
    outlive: () => {},
    log: (level, message) => void (level === 'warn' && warned.push(message)),
  });
}

const says = (stirred: readonly string[]): void => fleet.heard('near', { atMs: clock.nowMs(), ...counts, stirred });
const seen = (of: Uint8Array): Observation => ({
  probe,
  startedAtMs: 0,
  endedAtMs: 7_000,
  outcome: { kind: 'fetched', status: 200, body: of, mediaType: 'text/html', charset: 'utf-8', validators: {} },
  bytesReceived: of.length,
  requests: 1,
});
function tells(of: Uint8Array, more: Partial<Report>): Uint8Array {
  const { probe: _probe, ...observation } = seen(of);
  const about = { what: 'whole' as const, fingerprint: fingerprint(of), agoMs: 0, looks: 1, overMs: 0, wholeBytes: 1 };
  return packReport({ observation, ...about, more: 0, ...more }, zstdCompressSync(of));
}

/** The observer had the site, was not heard for longer than its mandate lasts, and home has looked. */
beforeEach(async () => {
  clock = new VirtualClock(1e12);
  asked = [];
  warned = [];
  past = new Map();
  fleet = started();
  says([]);
  fleet.restore('a.example', 'near');
  await clock.runUntil(clock.nowMs() + mandateMs + 10_000);
  await fleet.decide();
  expect([...past.keys()]).toEqual(['near']);
  fleet.fromHome(seen(body));
  asked = [];
});

test('is asked for what it found under a mandate that has run out, and for nothing else, and is believed', async () => {
  says(['x']);
  expect(asked).toEqual(['look x']);
  expect(await fleet.route(probe)).toMatchObject({
    observer: 'near',
    errand: { foundOnly: true, mandate: { forMs: 0 } },
  });
  fleet.ended(probe.site);
  const told = fleet.read('near', tells(other, { agoMs: 30_000, finding: 'f1', given: 'g0', more: 1 }), probe);
  expect(told).toMatchObject({ toldAfterMs: 30_000, overtaken: { more: true }, outcome: { body: other } });
  expect(told).toMatchObject({ finding: 'near/f1' });
  fleet.kept([probe.id]);
  // The next errand asks for the rest and says that it has arrived; what home has seen stays what all is held against.
  const next = (await fleet.route(probe))!;
  expect(next.errand).toMatchObject({ foundOnly: true, arrived: 'f1', base: fingerprint(body) });
  fleet.ended(probe.site);
  fleet.read('near', tells(other, { agoMs: 20_000, finding: 'f2', given: 'g0' }), probe);
  fleet.kept([probe.id]);
  // It hears that all has arrived, and that it has nothing more to tell is held against nobody; then home has its turn.
  const last = (await fleet.route(probe))!;
  expect(last.errand).toMatchObject({ foundOnly: true, arrived: 'f2' });
  fleet.ended(probe.site);
  const nothing = fleet.read('near', unlooked(last.errand, clock.nowMs()), probe);
  expect(nothing).toMatchObject({ requests: 0, outcome: { kind: 'refused' } });
  fleet.fromHome(seen(body));
  expect(warned).toEqual([]);
  expect((await fleet.route(probe))?.errand.foundOnly).toBeUndefined();
});

test('whoever takes over the site knows of it; of one that never had it nothing is asked for', async () => {
  fleet = started();
  fleet.restorePast('a.example', past);
  says(['x']);
  fleet.heard('liar', { atMs: 0, ...counts, stirred: ['x'] });
  expect(asked).toEqual(['look x']);
  expect(await fleet.route(probe)).toMatchObject({ observer: 'near', errand: { foundOnly: true } });
});

test('what is read and not kept has not arrived: whoever reads it may be lost before it is in the store', async () => {
  says(['x']);
  await fleet.route(probe);
  fleet.ended(probe.site);
  fleet.read('near', tells(other, { agoMs: 30_000, finding: 'f1', given: 'g0' }), probe);
  expect((await fleet.route(probe))?.errand.arrived).toBeUndefined();
  fleet.kept(['another', probe.id]);
  says(['x']);
  expect((await fleet.route(probe))?.errand.arrived).toBe('f1');
});

test('given the site again, it tells of the time before as of the past, whatever its clock says, and of what it finds from then on as of now', async () => {
  fleet.restore('a.example', 'near', 'g1');
  await clock.runUntil(clock.nowMs() + 10_000);
  says(['x']);
  expect((await fleet.route(probe))?.errand).toMatchObject({ given: 'g1' });
  // Its clock was put back: by that, it has just looked. It had not after its mandate ran out.
  const past = fleet.read('near', tells(other, { agoMs: 0, finding: 'f1', given: 'g0' }), probe);
  expect(past).toMatchObject({ overtaken: { more: false }, toldAfterMs: 10_000 });
  fleet.kept([probe.id]);
  expect((await fleet.route(probe))?.errand).toMatchObject({ arrived: 'f1' });
  const told = tells(other, { agoMs: 1_000, finding: 'f2', given: 'g1' });
  expect(fleet.read('near', told, probe)?.overtaken).toBeUndefined();
  fleet.kept([probe.id]);
  // That has arrived too: not told so, it would tell the same for ever and nothing after it.
  expect((await fleet.route(probe))?.errand).toMatchObject({ arrived: 'f2' });
});

test('what it saw when it was only tried, before it was given the site, is the past as well', async () => {
  fleet.restore('a.example', 'near', 'g1');
  const told = fleet.read('near', tells(other, { agoMs: 600_000, finding: 'f1' }), probe);
  expect(told?.overtaken).toEqual({ more: false, triedFrom: 'near' });
});
