import { zstdCompressSync } from 'node:zlib';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Observation, Page, PageState, Probe } from 'revisit/ports';
import { VirtualClock } from '../../../daemon/src/simulation/virtual-clock.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import { fingerprint, packReport, type Report, unlooked } from './errand.ts';
import { Fleet } from './fleet.ts';
import type { Word } from './roster.ts';
import { type LinkRange, whereFrom } from './vantage-points.ts';

/** A link, and by which share of itself it may be faster or slower. */
const link = (latency: number, secondsPerByte: number, wanders = 0.01): LinkRange => {
  const at = (factor: number) => ({ latency: factor * latency, secondsPerByte: factor * secondsPerByte });
  return { best: at(1 - wanders), worst: at(1 + wanders) };
};
const far = link(0.1, 1e-6);
const near = link(0.001, 1e-8);
const documents = [{ bytes: 50_000, changedShare: 0.02, compression: 0.05 }];

describe('from where a site is observed', () => {
  const site = { home: far, documents, looksPerDay: 100, observer: undefined };
  const tried = (name: string, fromHome: typeof far, toSite: typeof far | undefined) => ({ name, fromHome, toSite });

  test('near its pages when that saves more than it costs, home otherwise', () => {
    expect(whereFrom(site, [tried('a', far, near)])).toBe('a');
    expect(whereFrom({ ...site, home: near }, [tried('a', far, near)])).toBeUndefined();
    expect(whereFrom(site, [tried('a', far, undefined)])).toBeUndefined();
  });

  test('the best of several, and a move only where it pays', () => {
    const middling = link(0.05, 5e-7);
    const hardlyBetter = link(0.0009, 1e-8);
    expect(whereFrom(site, [tried('a', far, middling), tried('b', far, near)])).toBe('b');
    const at = { ...site, observer: 'a' };
    expect(whereFrom(at, [tried('a', far, middling), tried('b', far, near)])).toBe('b');
    expect(whereFrom(at, [tried('a', far, near), tried('b', far, hardlyBetter)])).toBe('a');
    expect(whereFrom({ ...at, home: near }, [tried('a', far, middling)])).toBeUndefined();
  });
});

describe('a fleet', () => {
  const url = 'https://a.example/';
  const page = {
    id: 'x',
    url,
    site: 'a.example',
    select: { kind: 'text' },
    options: {},
    paused: false,
  } as unknown as Page;
  let state = { looks: 100, changes: 2 } as unknown as PageState;
  const word: Word = { atMs: 5, places: 1, looks: 0, reports: 0, wholeBytes: 0, sentBytes: 0, stirred: [] };
  const probe: Probe = { id: 'p', url, site: 'a.example', pageIds: ['x'], atMs: 0, validators: {} };
  const text = 'words of a page '.repeat(2_000);
  const body = new TextEncoder().encode(text);
  let clock: VirtualClock;
  let fleet: Fleet;
  let asked: string[];
  let kept: (string | undefined)[];
  let lentPerSecond: number;
  let warned: string[];
  let outlived: string[];

  beforeEach(() => {
    clock = new VirtualClock(1e12);
    asked = [];
    kept = [];
    lentPerSecond = 0;
    warned = [];
    outlived = [];
    const answer = { json: () => ({ agoMs: 1e6 }) };
    const request = (subject: string, words: string) => {
      asked.push(`${subject} ${words.slice(0, 30)}`);
      return Promise.resolve(answer);
    };
    fleet = new Fleet({
      clock,
      connection: { request } as unknown as NatsConnection,
      mandateMs: 60_000,
      spacingMs: 1_000,
      budgetPerSecond: () => 1,
      behind: () => false,
      lend: (perSecond) => (lentPerSecond = perSecond),
      giveBack: (requests) => (lentPerSecond -= requests),
      pageOf: (id) => (id === 'x' ? { page, state } : undefined),
      everyPage: () => [{ page, state }],
      pageCount: () => 4,
      probeSoon: (id) => asked.push(`look ${id}`),
      remember: (_site, observer) => Promise.resolve(void kept.push(observer)),
      outlive: (observer, life) => outlived.push(`${observer} ${life}`),
      log: (level, message) => void (level === 'warn' && warned.push(message)),
    });
    fleet.heard('near', word);
  });

  const look = (latencyMs: number): Observation => ({
    probe: { ...probe, atMs: clock.nowMs() },
    startedAtMs: 0,
    endedAtMs: latencyMs + 50,
    latencyMs,
    outcome: { kind: 'fetched', status: 200, body, mediaType: 'text/html', charset: 'utf-8', validators: {} },
    bytesReceived: body.length,
    requests: 1,
  });
  const report = (latencyMs: number, more: Partial<Report> = {}, requests = 4): Uint8Array => {
    const { probe: _probe, ...seen } = look(latencyMs);
    const outcome = { ...seen.outcome, body: undefined };
    const observation = { ...seen, requests, outcome } as unknown as Report['observation'];
    const says = {
      what: 'same' as const,
      fingerprint: fingerprint(body),
      agoMs: 0,
      looks: 4,
      overMs: 0,
      wholeBytes: 40_000,
      more: 0,
    };
    return packReport({ observation, ...says, ...more }, new Uint8Array());
  };

  /** An errand is answered at once. */
  async function route(plannedMs?: number): ReturnType<Fleet['route']> {
    const routed = await fleet.route(plannedMs === undefined ? probe : { ...probe, plannedMs });
    if (routed) fleet.ended(probe.site);
    return routed;
  }

  /** A slow look from home, a trial from near, a decision. */
  async function give(): Promise<void> {
    fleet.fromHome(look(800));
    for (let i = 0; i < 4; i++) {
      expect((await route())?.errand.mandate.forMs).toBe(0);
      fleet.read('near', report(2), probe);
    }
    expect(await route()).toBeUndefined();
    await fleet.decide();
  }

  const later = async (ms: number): Promise<void> => {
    await clock.runUntil(clock.nowMs() + ms);
    fleet.heard('near', word);
  };

  test('hears once what is noise on a page, and again when the page has other noise', async () => {
    const before = state;
    await give();
    const part = { id: 'n', kind: 'words', pattern: ['', ''], example: 'seen 7 times', why: 'x', sinceMs: 0 };
    const said = async (...parts: readonly object[]): Promise<unknown> => {
      const detectState = JSON.stringify({ settings: '', body: '', noise: { parts, candidates: {} } });
      state = { ...before, detectState } as unknown as PageState;
      return (await route())?.errand.pages?.map(({ noise }) => noise);
    };
    expect(await said()).toEqual([[]]);
    expect(await said(part)).toEqual([[{ ...part, example: '' }]]);
    expect(await said(part)).toBeUndefined();
    expect(await said({ ...part, watched: true })).toEqual([[]]);
    state = before;
  });

  describe('on trial', () => {
    const other = new TextEncoder().encode(text.replace('words', 'lies'));
    const otherwise = (more: Partial<Report> = {}): Uint8Array => {
      const { probe: _probe, ...seen } = look(2);
      const observation = {
        ...seen,
        outcome: { ...seen.outcome, body: undefined },
      } as unknown as Report['observation'];
      const counts = { agoMs: 0, looks: 1, overMs: 0, wholeBytes: 40_000, more: 0 };
      const head = { observation, what: 'whole' as const, fingerprint: fingerprint(other), ...counts, ...more };
      return packReport(head, zstdCompressSync(other));
    };
    const believed = { kind: 'refused', fault: { code: 'robot-lost' } };

    /** It says what it saw, and home sees what it has seen before. */
    const contradicted = async (said = otherwise()): Promise<void> => {
      expect((await route())?.observer).toBe('near');
      expect(fleet.read('near', said, probe)).toMatchObject({ outcome: believed });
      expect(await route()).toBeUndefined();
      fleet.fromHome(look(800));
    };
    test('what it alone sees is told to nobody, and after three times it is not tried there again for long', async () => {
      fleet.fromHome(look(800));
      for (let times = 0; times < 3; times++) {
        expect(warned).toEqual([]);
        await contradicted();
        // Not at once.
        expect(await route()).toBeUndefined();
        await fleet.decide();
        await later(30_000);
      }
      expect(warned).toEqual(['an observer sees another page than home does']);
      for (const hours of [0, 1, 20]) {
        await later(hours * 3_600_000);
        expect(await route()).toBeUndefined();
      }
      expect(kept).toEqual([]);
    });

    test('that a page was edited and edited back, now and then, is not held against it', async () => {
      fleet.fromHome(look(800));
      for (let times = 0; times < 6; times++) {
        await contradicted();
        await later(3_600_000);
        expect((await route())?.observer).toBe('near');
        fleet.read('near', report(2), probe);
        await later(3_600_000);
      }
      expect(warned).toEqual([]);
    });

    test('nor that its site did not answer there, or that it handed an errand back', async () => {
      fleet.fromHome(look(800));
      const unlookedAt = unlooked(
        { probe, mandate: { everyMs: 1, forMs: 0, sinceMs: 0 }, base: '', pages: [] },
        clock.nowMs(),
      );
      for (let times = 0; times < 4; times++) {
        await contradicted(unlookedAt);
        if (times % 4 === 3) await later(3_600_000);
      }
      expect((await route())?.observer).toBe('near');
      expect(warned).toEqual([]);
    });

    test('nor that home sees what it saw since then: it is asked for as the past', async () => {
      fleet.fromHome(look(800));
      await later(20_000);
      fleet.fromHome(look(800));
      expect((await route())?.observer).toBe('near');
      fleet.read('near', otherwise({ agoMs: 10_000, finding: 'f1' }), probe);
      await later(1_000);
      asked = [];
      fleet.fromHome(look(800));
      expect(asked).toEqual(['look x']);
      expect(await route()).toMatchObject({ observer: 'near', errand: { foundOnly: true } });
      const told = fleet.read('near', otherwise({ agoMs: 11_000, finding: 'f1' }), probe);
      expect(told).toMatchObject({ overtaken: { triedFrom: 'near', doubted: true }, toldAfterMs: 11_000 });
    });

    test('nor what home had seen before it and tells after it', async () => {
      fleet.fromHome(look(800));
      for (let times = 0; times < 4; times++) {
        const late = look(800);
        await later(1_000);
        expect((await route())?.observer).toBe('near');
        fleet.read('near', otherwise(), probe);
        await later(1_000);
        fleet.fromHome(late);
        // It is for home to say still.
        expect(await route()).toBeUndefined();
        const seen = look(800);
        fleet.fromHome({ ...seen, outcome: { ...seen.outcome, body: other } as Observation['outcome'] });
        // And is as it was.
        fleet.fromHome(look(800));
        await later(3_600_000);
      }
      expect(warned).toEqual([]);
    });

    test('that its site turned it away is believed, for ten minutes at most', async () => {
      for (const [forMs, heldMs] of [
        [25_000, 25_000],
        [86_400_000, 600_000],
      ] as const) {
        fleet.fromHome(look(800));
        await clock.runUntil(clock.nowMs() + 86_400_001);
        fleet.heard('near', word);
        expect((await route())?.observer).toBe('near');
        const { probe: _probe, ...seen } = look(2);
        const siteUntilMs = seen.endedAtMs + forMs;
        const outcome = { kind: 'refused', fault: { code: 'turned-away', sentence: 'x' }, siteUntilMs } as const;
        const counts = { agoMs: 0, looks: 1, overMs: 0, wholeBytes: 250, more: 0 };
        const report = { observation: { ...seen, outcome }, what: 'no-body', fingerprint: '', ...counts } as const;
        const held = { kind: 'refused', siteUntilMs: seen.endedAtMs + heldMs };
        expect(fleet.read('near', packReport(report, new Uint8Array()), probe)).toMatchObject({ outcome: held });
      }
    });

    test('nor is it believed that a page is gone, or that its site must be left alone', async () => {
      for (const outcome of [
        { kind: 'gone', status: 404 },
        { kind: 'refused', fault: { code: 'x', sentence: 'x' }, siteUntilMs: 1e13 },
      ] as const) {
        fleet.fromHome(look(800));
        await clock.runUntil(clock.nowMs() + 86_400_001);
        fleet.heard('near', word);
        expect((await route())?.observer).toBe('near');
        const { probe: _probe, ...seen } = look(2);
        const counts = { agoMs: 0, looks: 1, overMs: 0, wholeBytes: 250, more: 0 };
        const said = packReport(
          { observation: { ...seen, outcome }, what: 'no-body', fingerprint: '', ...counts },
          new Uint8Array(),
        );
        expect(fleet.read('near', said, probe)).toMatchObject({ outcome: believed });
      }
    });

    test('what home sees then too was the truth', async () => {
      fleet.fromHome(look(800));
      expect((await route())?.observer).toBe('near');
      fleet.read('near', otherwise(), probe);
      expect(await route()).toBeUndefined();
      const seen = look(800);
      fleet.fromHome({ ...seen, outcome: { ...seen.outcome, body: other } as Observation['outcome'] });
      expect(warned).toEqual([]);
      expect((await route())?.observer).toBe('near');
    });
  });

  test('tells again what was read of a shard that was lost before it could be kept', async () => {
    await give();
    expect((await route())?.errand.base).toBe(fingerprint(body));
    fleet.forget((name) => name === 'b.example');
    expect((await route())?.errand.base).toBe(fingerprint(body));
    fleet.forget((name) => name === 'a.example');
    fleet.restore('a.example', 'near');
    expect((await route())?.errand.base).toBe('');
  });

  test('that is away keeps its site until its mandate ends, which is said', async () => {
    fleet.restore('a.example', 'far');
    const why = 'the observer far is away and may be looking at a.example';
    expect(fleet.awaited('a.example')).toEqual({ why, untilMs: clock.nowMs() + 60_000 });
    expect(fleet.awaited('b.example')).toBeUndefined();
    fleet.heard('far', word);
    expect(fleet.awaited('a.example')).toBeUndefined();
    await later(30_000);
    expect(fleet.awaited('a.example')).toEqual({ why, untilMs: clock.nowMs() + 30_000 });
    await later(30_000);
    expect(fleet.awaited('a.example')).toBeUndefined();
  });

  test('that has left gives its sites back for whoever follows, and one that is only away does not', async () => {
    await give();
    const home = fleet.bringHome(2_000);
    await clock.runUntil(clock.nowMs() + 5_000, home);
    expect(kept).toEqual(['near']);
    fleet.heard('near', { ...word, leaves: true });
    const begunMs = clock.nowMs();
    const again = fleet.bringHome(2_000);
    await clock.runUntil(begunMs + 5_000, again);
    expect(kept).toEqual(['near', undefined]);
    // When it is back it is tried anew, and may have it again.
    fleet.heard('near', word);
    expect(fleet.awaited('a.example')).toBeUndefined();
    await fleet.decide();
    expect(kept).toEqual(['near', undefined, 'near']);
  });

  test('is tried once, gets the site, and what it saves is counted', async () => {
    await give();
    expect(kept).toEqual(['near']);
    expect(await route()).toMatchObject({
      observer: 'near',
      errand: { base: fingerprint(body), mandate: { forMs: 60_000 } },
    });
    fleet.sent('near', 300);
    expect(fleet.read('near', report(2), probe)).toMatchObject({ outcome: { kind: 'fetched', body } });
    // Four trials and this one; it has told others, or the process before this, of more.
    fleet.heard('near', { ...word, looks: 900, reports: 486 });
    const counts = { looks: 20, reports: 5, sinceMs: 1e12 };
    expect(fleet.reports()).toMatchObject([{ name: 'near', state: 'there', sites: ['a.example'], ...counts }]);
    expect(fleet.reports()[0]!.savedBytes).toBeGreaterThan(78_000);
    // What it has found is asked for.
    fleet.heard('near', { ...word, stirred: ['x', 'unknown'] });
    expect(asked).toContain('look x');
  });

  test('one that seemed slow because its machine was busy is tried again soon, and gets the site then', async () => {
    fleet.fromHome(look(800));
    for (let i = 0; i < 4; i++) {
      expect((await route())?.observer).toBe('near');
      fleet.read('near', report(2_000), probe);
    }
    await fleet.decide();
    expect(kept).toEqual([]);
    expect(await route()).toBeUndefined();
    await clock.runUntil(clock.nowMs() + 16_000, clock.sleep(16_000));
    fleet.heard('near', word);
    for (let i = 0; i < 4; i++) {
      expect((await route())?.observer).toBe('near');
      fleet.read('near', report(2), probe);
    }
    expect(await route()).toBeUndefined();
    await fleet.decide();
    expect(kept).toEqual(['near']);
  });

  test('looks as often as the plan wants the page, also when it is asked for something else, and is left alone for four looks', async () => {
    await give();
    const everyMs = async (plannedMs?: number): Promise<number> => (await route(plannedMs))!.errand.mandate.everyMs;
    expect(await everyMs(10_000)).toBeCloseTo(10_000);
    expect(lentPerSecond).toBeCloseTo(0.1);
    expect(fleet.read('near', report(2), probe)!.watchedForMs).toBeCloseTo(40_000);
    expect(await everyMs()).toBeCloseTo(10_000);
    // No longer than its mandate lasts.
    await everyMs(3_600_000);
    expect(fleet.read('near', report(2), probe)!.watchedForMs).toBe(60_000);
    expect(await everyMs(20_000)).toBeCloseTo(20_000);
    // Not more often than the site's spacing, nor than there is budget for; a look that takes two requests costs two.
    expect(await everyMs(100)).toBeCloseTo(1_000 / 0.9);
    for (let i = 0; i < 60; i++) fleet.read('near', report(2, { looks: 1 }, 2), probe);
    expect(await everyMs(20_000)).toBeCloseTo(20_000);
    expect(lentPerSecond).toBeCloseTo(0.1, 3);
  });

  test('what the first look from there asks for once, robots.txt, is not lent for every look', async () => {
    fleet.fromHome(look(800));
    for (const requests of [2, 1, 1, 1]) {
      await route();
      fleet.read('near', report(2, { looks: 1 }, requests), probe);
    }
    await fleet.decide();
    await route(10_000);
    expect(lentPerSecond).toBeCloseTo(0.1);
  });

  test('of one that is away when its site is taken over, what it may still use is held back, and the site comes home in the end', async () => {
    fleet.restore('a.example', 'lost');
    await fleet.decide();
    expect(lentPerSecond).toBeCloseTo(1 / 4);
    await clock.runUntil(clock.nowMs() + 61_000, clock.sleep(61_000));
    await fleet.decide();
    expect(kept).toEqual([undefined]);
    expect(lentPerSecond).toBe(0);
  });

  test('of a report about the time before its site was taken over, only the part since the first errand counts here', async () => {
    fleet.restore('a.example', 'near');
    fleet.fromHome(look(800));
    await route(10_000);
    await clock.runUntil(clock.nowMs() + 5_000, clock.sleep(5_000));
    expect(fleet.read('near', report(2, { overMs: 20_000 }, 40), probe)!.requests).toBe(10);
    expect(fleet.read('near', report(2, { overMs: 4_000 }, 4), probe)!.requests).toBe(4);
  });

  test('what was lent is free again when it lets go', async () => {
    await give();
    await route(10_000);
    for (let i = 0; i < 40; i++) fleet.fromHome({ ...look(1), endedAtMs: 2 });
    for (let i = 0; i < 40; i++) fleet.read('near', report(900), probe);
    await fleet.decide();
    expect(kept).toEqual(['near', undefined]);
    expect(lentPerSecond).toBe(0);
  });

  test('keeps the site while its mandate may last, then loses it', async () => {
    await give();
    await route();
    await clock.runUntil(clock.nowMs() + 30_000, clock.sleep(30_000));
    expect(fleet.lostAtMs('near', 'a.example')).toBe(1e12 + 60_000);
    await fleet.decide();
    expect(kept).toEqual(['near']);
    await clock.runUntil(clock.nowMs() + 31_000, clock.sleep(31_000));
    expect(fleet.reports()).toMatchObject([{ state: 'away', lastHeardMs: 1e12, sites: ['a.example'] }]);
    await fleet.decide();
    expect(kept).toEqual(['near', undefined]);
    expect(await route()).toBeUndefined();
    expect(fleet.reports()).toMatchObject([{ state: 'away', lastHeardMs: 1e12, sites: [] }]);
    await clock.runUntil(clock.nowMs() + 600_000, clock.sleep(600_000));
    expect(fleet.reports()).toEqual([]);
  });

  test('one that is there in place of it after it was killed is asked for its pages at once, with all that is to be known', async () => {
    fleet.heard('near', { ...word, life: '0000000a.1' });
    await give();
    expect((await route(10_000))?.errand.pages).toBeDefined();
    expect((await route(10_000))?.errand.pages).toBeUndefined();
    expect(lentPerSecond).toBeGreaterThan(0);
    asked = [];
    // Of one from another folder nobody knows that the first is dead.
    for (const life of ['0000000a.1', '0000000b.2', undefined]) fleet.heard('near', { ...word, ...(life && { life }) });
    expect(asked).toEqual([]);
    fleet.heard('near', { ...word, life: '0000000b.2' });
    fleet.heard('near', { ...word, life: '0000000b.4' });
    expect([asked, lentPerSecond]).toEqual([['look x'], 0]);
    const again = await route(10_000);
    expect(again).toMatchObject({ observer: 'near', errand: { mandate: { forMs: 60_000 } } });
    expect(again?.errand.pages).toBeDefined();
    fleet.heard('near', { ...word, life: '0000000b.4' });
    expect(asked).toEqual(['look x']);
    expect(lentPerSecond).toBeGreaterThan(0);
  });

  test('one that was killed together with the coordinator is asked for the pages that it had looked at lately, at once and once', async () => {
    const says = (life: string): void => fleet.heard('near', { ...word, life });
    for (const [agoMs, looks] of [
      [10_000, ['look x']],
      [150_000, []],
    ] as const) {
      state = { ...state, lastLookMs: clock.nowMs() - agoMs };
      [asked, outlived] = [[], []];
      fleet.restore('a.example', 'near', 'g1', '0000000a.1');
      // It lives on, and looks on; or one of its name does, of which nobody knows whether it does.
      for (const life of ['0000000a.1', '0000000b.7']) {
        says(life);
        fleet.restore('a.example', 'near', 'g1', '0000000a.1');
      }
      expect([asked, outlived]).toEqual([[], []]);
      says('0000000a.2');
      says('0000000a.2');
      expect([asked, outlived]).toEqual([looks, ['near 0000000a.2']]);
    }
    // Of one whose life nobody has kept, it is from now on.
    fleet.restore('a.example', 'near', 'g1');
    [asked, outlived] = [[], []];
    says('0000000a.2');
    expect([asked, outlived]).toEqual([[], ['near 0000000a.2']]);
  });

  test('loses it at once when it says that it leaves, but for the spacing of its last look', async () => {
    await give();
    await route();
    fleet.heard('near', { ...word, leaves: true });
    await fleet.decide();
    expect(kept).toEqual(['near']);
    expect(fleet.reports()).toMatchObject([{ state: 'away', lastHeardMs: null, sites: ['a.example'] }]);
    await clock.runUntil(clock.nowMs() + 1_000, clock.sleep(1_000));
    await fleet.decide();
    expect(kept).toEqual(['near', undefined]);
    expect(lentPerSecond).toBe(0);
  });

  test('is taken home when home became as fast, after it has let go', async () => {
    await give();
    await route();
    for (let i = 0; i < 40; i++) fleet.fromHome({ ...look(1), endedAtMs: 2 });
    for (let i = 0; i < 40; i++) fleet.read('near', report(900), probe);
    await fleet.decide();
    expect(asked).toContain('revisit.ask.near {"shed":"a.example"}');
    expect(kept).toEqual(['near', undefined]);
  });

  test('is not taken from it while an errand is under way, and no errand goes out while it is taken', async () => {
    await give();
    await fleet.route(probe);
    for (let i = 0; i < 40; i++) fleet.fromHome({ ...look(1), endedAtMs: 2 });
    for (let i = 0; i < 40; i++) fleet.read('near', report(900), probe);
    const decided = fleet.decide();
    await clock.runUntil(clock.nowMs() + 5_000, decided);
    expect(asked).not.toContain('revisit.ask.near {"shed":"a.example"}');
    expect(kept).toEqual(['near']);
    fleet.ended(probe.site);
    const taking = fleet.decide();
    const routed = fleet.route(probe);
    await taking;
    // It had not gone to the observer that was about to let go.
    expect(await routed).toBeUndefined();
    expect(kept).toEqual(['near', undefined]);
  });

  test('is not believed after three reports that are not what they say', async () => {
    await give();
    const forged = report(2, { what: 'whole', fingerprint: 'x'.repeat(22) });
    for (let i = 0; i < 3; i++) {
      fleet.fromHome(look(800));
      expect(fleet.read('near', forged, probe)).toBeUndefined();
    }
    expect(fleet.reports()).toMatchObject([{ state: 'disbelieved' }]);
    expect(fleet.read('near', report(2, { looks: -1 }), probe)).toBeUndefined();
    expect(fleet.read('nobody', report(2), probe)).toBeUndefined();
  });

  test('what an observer saw before home saw another page was true then, and is told late', async () => {
    await give();
    const other = new TextEncoder().encode('quite another page');
    const elsewise = (): Observation => ({
      ...look(800),
      outcome: { ...look(800).outcome, body: other } as Observation['outcome'],
    });
    const tells = (of: Uint8Array, agoMs = 0): void =>
      void fleet.read('near', packReport({ ...says(of), agoMs }, zstdCompressSync(of)), probe);
    for (let i = 0; i < 4; i++) {
      fleet.fromHome(look(800));
      const early = look(800);
      await clock.runUntil(clock.nowMs() + 10_000);
      fleet.fromHome(elsewise());
      tells(body, 5_000);
      tells(other);
      // It left before that word, and came late.
      fleet.fromHome(early);
      tells(other);
      fleet.heard('near', word);
    }
    expect(fleet.reports()).toMatchObject([{ state: 'there' }]);
  });

  test('a look from home that sees another page counts against whoever goes on saying the old', async () => {
    await give();
    const other = new TextEncoder().encode('quite another page');
    for (let i = 0; i < 3; i++) {
      fleet.fromHome(look(800));
      fleet.fromHome({ ...look(800), outcome: { ...look(800).outcome, body: other } as Observation['outcome'] });
      fleet.read('near', packReport(says(body), zstdCompressSync(body)), probe);
    }
    expect(fleet.reports()).toMatchObject([{ state: 'disbelieved' }]);
  });

  function says(of: Uint8Array): Report {
    const { probe: _probe, ...observation } = look(2);
    return {
      observation,
      what: 'whole',
      fingerprint: fingerprint(of),
      agoMs: 0,
      looks: 1,
      overMs: 0,
      wholeBytes: 1,
      more: 0,
    };
  }
});
