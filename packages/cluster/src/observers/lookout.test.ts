import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Observation, Observer, Outcome, Page, Probe } from 'revisit/ports';
import { VirtualClock } from '../../../daemon/src/simulation/virtual-clock.ts';
import { judge } from '../../../daemon/src/eye.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Errand, bodyOf, fingerprint, unpackReport } from './errand.ts';
import { Journal } from './journal.ts';
import { Lookout } from './lookout.ts';

const probe: Probe = { id: 'p', url: 'https://a.example/', site: 'a.example', pageIds: ['x'], atMs: 0, validators: {} };
const pages: readonly Pick<Page, 'id' | 'select' | 'options'>[] = [{ id: 'x', select: { kind: 'text' }, options: {} }];
const filler = Array.from({ length: 400 }, (_, i) => `<p>Paragraph ${i * 7919} says ${(i * 104729) % 9973}.</p>`).join(
  '\n',
);
const bytes = (text: string): Uint8Array =>
  new TextEncoder().encode(`<html><body>${filler}<p>${text}</p></body></html>`);

class Source implements Observer {
  text = 'one';
  asked = 0;
  /** Looks wait for their site's turn until then. */
  turn: Promise<void> | undefined;
  readonly #clock: VirtualClock;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  async observe(asked: Probe): Promise<Observation> {
    this.asked++;
    await this.turn;
    const atMs = this.#clock.nowMs();
    const body = bytes(this.text);
    const about = { mediaType: 'text/html', charset: 'utf-8', validators: {} };
    const outcome: Outcome = { kind: 'fetched', status: 200, body, ...about };
    const times = { startedAtMs: atMs, endedAtMs: atMs };
    return { probe: asked, ...times, outcome, bytesReceived: body.length, requests: 1 };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

describe('an observer', () => {
  let clock: VirtualClock;
  let source: Source;
  let lookout: Lookout;
  let base: Uint8Array | undefined;
  /** What the coordinator has kept. */
  let arrived: string | undefined;
  beforeEach(() => {
    clock = new VirtualClock(1e12);
    source = new Source(clock);
    lookout = new Lookout(source, judge, clock);
    base = undefined;
    arrived = undefined;
  });

  const errand = (more: Partial<Errand> = {}): Errand => ({
    probe,
    mandate: { everyMs: 10_000, forMs: 60_000, sinceMs: clock.nowMs() },
    base: base ? fingerprint(base) : '',
    pages,
    given: 'g1',
    ...(arrived === undefined ? {} : { arrived }),
    ...more,
  });
  const openJournal = (file: string): Promise<Journal> =>
    Journal.open(file, () => ({ boot: 'b', upMs: clock.nowMs() - 1e11, nowMs: clock.nowMs() }));
  /** What the coordinator understands, and how many bytes that took. */
  async function ask(more: Partial<Errand> = {}) {
    const packed = (await lookout.answer(errand(more)))!;
    const received = unpackReport(packed)!;
    base = bodyOf(received, base);
    arrived = received.report.finding;
    const text = base && /<p>(\w+)<\/p><\/body>/.exec(new TextDecoder().decode(base))?.[1];
    return { ...received.report, text, bytes: packed.length };
  }
  async function pass(ms: number): Promise<void> {
    const endMs = clock.nowMs() + ms;
    while (clock.nowMs() < endMs) {
      const waitMs = await lookout.patrol();
      const slept = clock.sleep(Math.min(Math.max(1, waitMs), endMs - clock.nowMs()));
      await clock.runUntil(endMs, slept);
    }
  }

  test('sends the whole first, then nothing, then the difference', async () => {
    expect(await ask()).toMatchObject({ what: 'whole', text: 'one', looks: 1 });
    await pass(8_000);
    const same = await ask();
    expect(same).toMatchObject({ what: 'same', text: 'one' });
    expect(same.bytes).toBeLessThan(400);
    source.text = 'two';
    await pass(9_000);
    const changed = await ask();
    expect(changed).toMatchObject({ what: 'difference', text: 'two' });
    expect(changed.bytes).toBeLessThan(bytes('two').length / 20);
  });

  test('a mandate that begins with what a trial found is not begun with a look that was not lent', async () => {
    base = bytes('none');
    const { given: _given, ...tried } = errand({ mandate: { everyMs: 1_000, forMs: 0, sinceMs: clock.nowMs() } });
    await lookout.answer(tried);
    await pass(3_000);
    expect(await ask()).toMatchObject({ text: 'one', looks: 0 });
    expect(source.asked).toBe(1);
    await pass(9_900);
    expect(source.asked).toBe(1);
    await pass(200);
    expect(source.asked).toBe(2);
  });

  test('looks by itself within its mandate, says so once, and stops when it ends', async () => {
    base = bytes('one');
    await ask();
    await pass(200_000);
    // One for the errand, then every ten seconds of the minute.
    expect(source.asked).toBe(6);
    expect(lookout.counts().places).toBe(0);
  });

  test('looks no more often for being asked in between', async () => {
    for (let i = 0; i < 20; i++) {
      await ask();
      await pass(16_000);
    }
    expect(source.asked).toBeGreaterThan(30);
    expect(source.asked).toBeLessThanOrEqual(1 + (20 * 16_000) / 10_000);
  });

  test('what a person asks for is looked at, however short a time ago the last look was, and instead of the next', async () => {
    await ask();
    source.text = 'two';
    clock.suspend(1_000);
    expect(await ask()).toMatchObject({ text: 'one', agoMs: 1_000 });
    expect(await ask({ probe: { ...probe, afresh: true } })).toMatchObject({ text: 'two', agoMs: 0 });
    expect(source.asked).toBe(2);
    // One that began before does not do either.
    clock.suspend(19_000);
    let goOn = (): void => {};
    source.turn = new Promise((resolve) => (goOn = resolve));
    const looking = lookout.patrol();
    const asked = ask({ probe: { ...probe, afresh: true } });
    source.turn = Promise.resolve();
    goOn();
    await Promise.all([looking, asked]);
    expect(source.asked).toBe(4);
    await pass(39_000);
    // As many as the mandate has given, with those that were asked for.
    expect(source.asked).toBeLessThanOrEqual(7);
  });

  test('answers at once while its look waits for the site, and tells of what that found when asked again', async () => {
    await ask();
    clock.suspend(10_000);
    let goOn = (): void => {};
    source.turn = new Promise((resolve) => (goOn = resolve));
    source.text = 'two';
    const looking = lookout.patrol();
    expect(await ask()).toMatchObject({ text: 'one', agoMs: 10_000 });
    clock.suspend(5_000);
    goOn();
    await looking;
    expect(lookout.stirred(10)).toEqual(['x']);
    clock.suspend(2_000);
    expect(await ask()).toMatchObject({ text: 'two', agoMs: 2_000 });
    expect(source.asked).toBe(2);
  });

  test('a look for the eyes of somebody who does not watch the page yet changes nothing of what is watched there', async () => {
    await ask();
    source.text = 'two';
    const peek = errand({ probe: { ...probe, pageIds: [] }, base: '', pages: [] });
    const shown = unpackReport((await lookout.answer(peek))!)!;
    expect([shown.report.what, shown.report.more]).toEqual(['whole', 0]);
    expect(lookout.stirred(10)).toEqual([]);
    clock.suspend(10_000);
    await lookout.patrol();
    expect(lookout.stirred(10)).toEqual(['x']);
  });

  test('looks less often from when it is told to, until the next errand', async () => {
    await ask();
    await pass(5_000);
    lookout.slow(['a.example', 'b.example'], 0.5);
    await pass(40_000);
    // At 0, 20 and 40 seconds.
    expect(source.asked).toBe(3);
    // By the errand, and by its mandate once more.
    await ask();
    await pass(21_000);
    expect(source.asked).toBe(5);
  });

  test('what is told of a time ends with the last look: what was lent since pays for the next', async () => {
    await ask();
    await pass(28_000);
    expect(await ask()).toMatchObject({ looks: 3, overMs: 28_000 });
    await pass(4_000);
    expect(await ask()).toMatchObject({ looks: 0, overMs: 0 });
    await pass(10_000);
    expect(await ask()).toMatchObject({ looks: 1, overMs: 12_000 });
  });

  test('says how many looks found nothing new before what it tells of', async () => {
    await ask();
    await pass(30_001);
    source.text = 'two';
    await pass(10_000);
    source.text = 'three';
    await pass(10_000);
    const told = [await ask(), await ask()];
    expect(told.map(({ text, observation }) => [text, observation.unchangedLooks])).toEqual([
      ['two', 3],
      ['three', 0],
    ]);
    await pass(20_000);
    expect((await ask()).observation.unchangedLooks).toBe(1);
  });

  test('an errand that was long on its way gives no more time than its coordinator reckons with', async () => {
    await ask({ mandate: { everyMs: 10_000, forMs: 60_000, sinceMs: clock.nowMs() - 40_000 } });
    await pass(200_000);
    expect(source.asked).toBe(2);
  });

  test('keeps every change it finds without a link and reports them one by one, in order', async () => {
    await ask();
    for (const text of ['two', 'three', 'four']) {
      source.text = text;
      await pass(10_001);
    }
    expect(lookout.stirred(10)).toEqual(['x']);
    const told = [await ask(), await ask(), await ask()];
    expect(told.map(({ text, more }) => [text, more])).toEqual([
      ['two', 2],
      ['three', 1],
      ['four', 0],
    ]);
    // The last one has been asked for, and is let go of when the coordinator shows that it has it.
    expect(lookout.stirred(10)).toEqual([]);
    expect(lookout.hasUntold).toBe(true);
    expect(await ask()).toMatchObject({ what: 'same', text: 'four' });
    expect(lookout.hasUntold).toBe(false);
    // No request was made for the answers, and all of the patrol's are accounted for.
    expect(source.asked).toBe(4);
    expect(told.reduce((sum, { observation }) => sum + observation.requests, 0)).toBe(3);
  });

  test('a report that did not arrive is made again', async () => {
    await ask();
    source.text = 'two';
    await pass(10_001);
    const lost = await lookout.answer(errand());
    expect(unpackReport(lost!)!.report.what).toBe('difference');
    expect(await ask()).toMatchObject({ text: 'two' });
    expect(await ask()).toMatchObject({ what: 'same', text: 'two' });
    expect(lookout.stirred(10)).toEqual([]);
  });

  test('what it sees first under a mandate is told until it is kept, where home has something else', async () => {
    base = bytes('zero');
    expect(await ask()).toMatchObject({ text: 'one' });
    // Whoever heard it was lost before it was kept, and the page is edited again.
    base = bytes('zero');
    arrived = undefined;
    source.text = 'two';
    await pass(10_000);
    expect(await ask()).toMatchObject({ text: 'one' });
    expect(await ask()).toMatchObject({ text: 'two' });
  });

  test('what it sees first for one that has just taken over the site, and has no copy of it, is told until it is kept', async () => {
    expect(await ask()).toMatchObject({ what: 'whole', text: 'one' });
    // The shard has gone on to yet another one, which has not heard of it, and the page is edited again.
    base = undefined;
    arrived = undefined;
    source.text = 'two';
    await pass(10_000);
    expect(await ask()).toMatchObject({ what: 'whole', text: 'one' });
    expect(await ask()).toMatchObject({ text: 'two' });
  });

  test('keeps a site while something of it is untold, and tells it also when a look from home has overtaken it', async () => {
    base = bytes('one');
    await ask();
    for (const text of ['two', 'three']) {
      source.text = text;
      await pass(10_001);
    }
    expect(await lookout.shed('a.example')).toBe('untold');
    await pass(100_000);
    const { asked } = source;
    const mandate = { everyMs: 10_000, forMs: 0, sinceMs: clock.nowMs() };
    const found = async (kept: string | undefined, sees: string) => {
      base = bytes(sees);
      arrived = kept;
      return ask({ mandate, foundOnly: true, given: 'g2' });
    };
    const two = await found(undefined, 'elsewhere');
    expect(two).toMatchObject({ text: 'two', given: 'g1', more: 1 });
    // It did not arrive, though home sees by itself what is told next.
    expect(await found(undefined, 'three')).toMatchObject({ text: 'two', finding: two.finding, more: 1 });
    const three = await found(two.finding, 'three');
    expect(three).toMatchObject({ text: 'three', given: 'g1', more: 0 });
    expect(lookout.hasUntold).toBe(true);
    // Nobody says that it has arrived: whoever was to hear of it may have been lost, so it is spoken of again.
    expect(lookout.stirred(10)).toEqual([]);
    await pass(10_000);
    expect(lookout.stirred(10)).toEqual(['x']);
    // Another has the site: without anything to tell nobody looks from here.
    expect((await found(three.finding, 'four')).observation).toMatchObject({ requests: 0 });
    expect(lookout.hasUntold).toBe(false);
    expect(source.asked).toBe(asked);
  });

  test('what was found before the end is told by the next, which looks at what it is first asked for', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'revisit-lookout-'));
    const file = join(folder, 'findings');
    lookout = new Lookout(source, judge, clock, await openJournal(file));
    await ask();
    for (const text of ['two', 'three']) {
      source.text = text;
      await pass(10_001);
    }
    const { asked } = source;
    // As if it had been killed: nothing is closed.
    const after = await openJournal(file);
    lookout = new Lookout(source, judge, clock, after);
    expect(lookout.stirred(10)).toEqual(['x']);
    expect(lookout.knows(errand())).toBe(true);
    await pass(30_000);
    source.text = 'four';
    const told = [await ask()];
    expect(source.asked).toBe(asked + 1);
    source.text = 'five';
    told.push(await ask(), await ask());
    expect(told.map(({ text, what }) => [text, what])).toEqual([
      ['two', 'whole'],
      ['three', 'difference'],
      ['four', 'difference'],
    ]);
    // To tell all that was found may take minutes, and nobody else looks; but once is enough.
    expect(source.asked).toBe(asked + 1);
    await pass(10_001);
    expect(await ask()).toMatchObject({ text: 'five' });
    await ask();
    expect(lookout.hasUntold).toBe(false);
    expect(after.findings()).toEqual([]);
    await after.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('what the one before had told some of is told on by the next, whatever the coordinator has by then', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'revisit-lookout-'));
    const file = join(folder, 'findings');
    lookout = new Lookout(source, judge, clock, await openJournal(file));
    await ask();
    for (const text of ['two', 'three', 'four', 'five']) {
      source.text = text;
      await pass(10_001);
    }
    // The third errand shows that the second report arrived, and its own report does not arrive.
    expect([(await ask()).text, (await ask()).text]).toEqual(['two', 'three']);
    await lookout.answer(errand());
    const after = await openJournal(file);
    lookout = new Lookout(source, judge, clock, after);
    expect([(await ask()).text, (await ask()).text]).toEqual(['four', 'five']);
    await ask();
    expect(lookout.hasUntold).toBe(false);
    await after.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('what it sees when it is only tried is a finding where home has something else, until home says that it may be forgotten', async () => {
    const tried = (): Partial<Errand> => ({
      mandate: { everyMs: 1_000, forMs: 0, sinceMs: clock.nowMs() },
      given: undefined as unknown as string,
    });
    base = bytes('one');
    expect((await ask(tried())).finding).toBeUndefined();
    await pass(1_000);
    base = bytes('before');
    const { finding, given } = await ask(tried());
    expect([typeof finding, given]).toEqual(['string', undefined]);
    // It keeps nobody from the site, and is spoken of again when nobody asks for it.
    expect([lookout.hasUntold, await lookout.shed('a.example')]).toEqual([false, 1_000 - 1_000]);
    expect(lookout.stirred(10)).toEqual([]);
    await pass(10_000);
    expect(lookout.stirred(10)).toEqual(['x']);
    await lookout.forget([finding!]);
    expect(lookout.stirred(10)).toEqual([]);
  });

  test('after its machine was put right by minutes, what was found before is as old as it is', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'revisit-lookout-'));
    const file = join(folder, 'findings');
    lookout = new Lookout(source, judge, clock, await openJournal(file));
    await ask();
    source.text = 'two';
    await pass(10_001);
    const upMs = clock.nowMs();
    // Five seconds later the next process begins, and its clock says ten minutes less.
    clock = new VirtualClock(upMs + 5_000 - 600_000);
    source = new Source(clock);
    const moment = () => ({ boot: 'b', upMs: upMs + 5_000 - 1e11, nowMs: clock.nowMs() });
    const after = await Journal.open(file, moment);
    lookout = new Lookout(source, judge, clock, after);
    const { agoMs, text } = await ask();
    expect(text).toBe('two');
    expect(agoMs).toBeGreaterThanOrEqual(5_000);
    expect(agoMs).toBeLessThan(6_000);
    await after.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('what nobody sees is no change', async () => {
    await ask();
    source.text = 'one</p><p hidden>';
    await pass(25_000);
    expect(lookout.stirred(10)).toEqual([]);
  });

  test('a number that differs at every look is told each time, until the coordinator says that it is noise, and again when it is none', async () => {
    source.text = '100';
    await ask();
    const told = async (more?: Partial<Errand>): Promise<unknown> => {
      source.text = String(Number(source.text) + 1);
      await pass(10_001);
      return lookout.hasUntold && (await ask(more)).text;
    };
    // One that differs at six looks in a row is noise where that can be seen and undone: not here.
    for (let n = 1; n <= 12; n++) expect(await told()).toBe(String(100 + n));
    await ask();
    const above = filler
      .split('\n')
      .at(-1)!
      .replace(/<\/?p>/g, '');
    const why = 'differs at nearly every look';
    const part = { id: 'n', kind: 'words', pattern: ['', ''], below: above, example: '', why, sinceMs: 0 } as const;
    await ask({ pages: [{ ...pages[0]!, noise: [part] }] });
    for (let n = 0; n < 3; n++) expect(await told()).toBe(false);
    // A coordinator that does not know any more what is noise leaves it as it was.
    await ask();
    expect(await told()).toBe(false);
    await ask({ pages: [{ ...pages[0]!, noise: [] }] });
    expect(await told()).toBe('117');
  });

  test('lets go of a site when told to, and of pages that it never heard of says so', async () => {
    base = bytes('one');
    await ask();
    expect(await lookout.shed('a.example')).toBe(0);
    await pass(100_000);
    expect(source.asked).toBe(1);
    const { pages: _pages, ...brief } = errand();
    expect(await lookout.answer(brief)).toBeUndefined();
  });
});
