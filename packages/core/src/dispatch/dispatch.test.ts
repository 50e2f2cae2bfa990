import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Allowance } from './allowance.ts';
import { Gates } from './gates.ts';

test('a budget never lets more through than its rate and burst allow', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0.01, max: 5, noNaN: true }),
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.double({ min: 0, max: 2, noNaN: true }), { minLength: 50, maxLength: 200 }),
      (rate, burst, waits) => {
        const budget = new Allowance(rate, burst, 0);
        let now = 0;
        const taken: number[] = [];
        for (const wait of waits) {
          now += wait;
          if (budget.take(now)) taken.push(now);
        }
        for (let i = 0; i < taken.length; i++)
          for (let j = i; j < taken.length; j++)
            expect(j - i + 1).toBeLessThanOrEqual(burst + rate * (taken[j]! - taken[i]!) + 1e-6);
      },
    ),
    { seed: 1, numRuns: 100 },
  );
});

test('who is told that the budget is ready pays for it, also where times are large and have fractions', () => {
  // Near 2e12 a double has no finer step than 2e-4, which is more than the last rounding error of the tokens.
  const startMs = Date.UTC(2026, 0, 5);
  fc.assert(
    fc.property(
      fc.double({ min: 0.5, max: 500, noNaN: true }),
      fc.double({ min: 0, max: 1e6, noNaN: true }),
      (perHour, afterMs) => {
        const ratePerMs = perHour / 3_600_000;
        let now = startMs + afterMs;
        const beginMs = now;
        const budget = new Allowance(ratePerMs, 1, now);
        for (let taken = 1; taken <= 20; taken++) {
          now = budget.readyAt(now);
          expect(budget.take(now)).toBe(true);
          expect(taken).toBeLessThanOrEqual((now - beginMs) * ratePerMs + 1e-6);
        }
      },
    ),
    { seed: 11, numRuns: 300 },
  );
});

test('a budget says when it is ready, survives a restart and ignores a clock set back', () => {
  const budget = new Allowance(0.5, 1, 0);
  expect(budget.take(0)).toBe(false);
  expect(budget.readyAt(0)).toBe(2);
  expect(budget.take(2)).toBe(true);
  expect(budget.take(1)).toBe(false);
  const again = new Allowance(0.5, 1, 3, budget.state());
  expect(again.take(3)).toBe(false);
  expect(again.readyAt(3)).toBe(4);
  expect(new Allowance(0, 1, 0).readyAt(5)).toBe(Infinity);
});

test('gates keep spacing and never overlap, first come first served among equals', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          site: fc.integer({ min: 0, max: 3 }),
          after: fc.integer({ min: 0, max: 4 }),
          takes: fc.integer({ min: 0, max: 9 }),
          hurried: fc.boolean(),
        }),
        {
          minLength: 1,
          maxLength: 60,
        },
      ),
      fc.integer({ min: 0, max: 6 }),
      fc.record({ spacing: fc.integer({ min: 0, max: 6 }), breadth: fc.integer({ min: 1, max: 3 }) }),
      (requests, spacing, server) => {
        const gates = new Gates();
        for (let site = 0; site < 4; site++) gates.setSpacing(site, spacing);
        // The last two stand on one server.
        for (const site of [2, 3]) gates.stand(site, 0, server.spacing, server.breadth);
        const passed: { page: number; site: number; at: number; end: number }[] = [];
        let now = 0;
        let next = 0;
        const open: { site: number; end: number }[] = [];
        const arrivals = requests.map((request, page) => ({ ...request, page, at: 0 }));
        for (let i = 1; i < arrivals.length; i++) arrivals[i]!.at = arrivals[i - 1]!.at + arrivals[i]!.after;
        for (; passed.length < arrivals.length && now < 2000; now++) {
          for (const done of open.filter((entry) => entry.end === now)) gates.done(done.site);
          for (; next < arrivals.length && arrivals[next]!.at <= now; next++) {
            const { site, page, hurried } = arrivals[next]!;
            if (hurried) gates.hurry(site, page);
            else gates.wait(site, page);
          }
          for (let pass = gates.pass(now); pass; pass = gates.pass(now)) {
            const end = now + 1 + arrivals[pass.page]!.takes;
            passed.push({ ...pass, at: now, end });
            open.push({ site: pass.site, end });
          }
        }
        expect(passed.length).toBe(arrivals.length);
        for (let site = 0; site < 4; site++) {
          const own = passed.filter((entry) => entry.site === site);
          for (let i = 1; i < own.length; i++) {
            expect(own[i]!.at).toBeGreaterThanOrEqual(own[i - 1]!.at + spacing);
            expect(own[i]!.at).toBeGreaterThanOrEqual(own[i - 1]!.end);
          }
          for (const hurried of [true, false]) {
            const alike = own.map(({ page }) => page).filter((page) => arrivals[page]!.hurried === hurried);
            expect(alike).toEqual([...alike].sort((a, b) => a - b));
          }
        }
        const served = passed.filter(({ site }) => site >= 2);
        for (const [i, { at }] of served.entries()) {
          if (i > 0) expect(at).toBeGreaterThanOrEqual(served[i - 1]!.at + server.spacing);
          expect(served.slice(0, i).filter(({ end }) => end > at).length).toBeLessThan(server.breadth);
        }
      },
    ),
    { seed: 2, numRuns: 200 },
  );
});

test('who is in a hurry is the next, in order, spaced as all are; of five in a row one is not', () => {
  const gates = new Gates();
  gates.setSpacing(0, 10);
  for (const page of [1, 2, 3]) gates.wait(0, page);
  for (const page of [11, 12, 13, 14, 15, 16]) gates.hurry(0, page);
  gates.waitFirst(0, 4);
  const passed: [number, number][] = [];
  for (let now = 0; now < 200; now++) {
    const pass = gates.pass(now);
    if (!pass) continue;
    passed.push([now, pass.page]);
    gates.done(0);
  }
  expect(passed.map(([, page]) => page)).toEqual([11, 12, 13, 14, 4, 15, 16, 1, 2, 3]);
  expect(passed.map(([at]) => at)).toEqual(passed.map((_, i) => 10 * i));
});

test('who is in a hurry passes before others who could, at any site, and keeps none of them waiting for ever', () => {
  const gates = new Gates();
  for (const site of [0, 1, 2]) gates.setSpacing(site, 1);
  for (let page = 0; page < 20; page++) gates.wait(0, page);
  const asked = Array.from({ length: 20 }, (_, i) => 100 + i);
  for (const page of asked) gates.hurry(1 + (page % 2), page);
  const passed: number[] = [];
  // As with a budget: one a time, whoever could pass.
  for (let now = 0; now < 40; now++) {
    const { page, site } = gates.pass(now)!;
    passed.push(page);
    gates.done(site);
  }
  expect(passed.slice(0, 10).filter((page) => page < 100)).toEqual([0, 1]);
  expect(passed.slice(0, 4).every((page) => page >= 100)).toBe(true);
  expect(passed.indexOf(119)).toBeLessThan(26);
  expect(new Set(passed).size).toBe(40);
  expect([gates.waiting, gates.crowd]).toEqual([0, 0]);
});

test('who is in a hurry may leave the line, and the next is the one behind', () => {
  const gates = new Gates();
  gates.wait(0, 1);
  gates.hurry(0, 2);
  expect(gates.leave(0, 2)).toBe(true);
  gates.hurry(0, 3);
  expect(gates.leave(0, 1)).toBe(true);
  expect(gates.pass(0)).toEqual({ page: 3, site: 0 });
  expect(gates.nextPassAt()).toBe(Infinity);
});

test('a held site waits, a page may leave the line', () => {
  const gates = new Gates();
  gates.wait(1, 10);
  gates.wait(1, 11);
  gates.holdUntil(1, 50);
  expect(gates.pass(49)).toBeUndefined();
  expect(gates.nextPassAt()).toBeLessThanOrEqual(50);
  expect(gates.leave(1, 10)).toBe(true);
  expect(gates.leave(1, 10)).toBe(false);
  expect(gates.pass(50)).toEqual({ page: 11, site: 1 });
  gates.recall(1, 60);
  expect(gates.waiting).toBe(0);
});

test('what an earlier process asked of one site counts for the server that it shares', () => {
  const gates = new Gates();
  for (const site of [1, 2]) gates.stand(site, 7, 10);
  gates.recall(1, 50);
  gates.wait(2, 21);
  expect(gates.pass(59)).toBeUndefined();
  expect(gates.pass(60)).toEqual({ page: 21, site: 2 });
});

test('of sites on a server that turns some back, those pass first that were turned back longest ago', () => {
  const gates = new Gates();
  for (const site of [1, 2, 3]) gates.stand(site, 7);
  for (const site of [1, 2, 3]) gates.wait(site, site);
  // The server takes one request in ten; the others come back and are held until it takes the next.
  const hour = (now: number): number | undefined => {
    const [first, ...others] = [1, 2, 3].map(() => {
      const passed = gates.pass(now);
      if (passed) gates.done(passed.site);
      return passed?.site;
    });
    for (const site of others) {
      if (site === undefined) continue;
      gates.turnedBack(site);
      gates.holdUntil(site, now + 10);
      gates.waitFirst(site, site);
    }
    if (first !== undefined) gates.wait(first, first);
    return first;
  };
  // Whoever was asked comes again without being held, and would be there before those that are.
  const asked = [0, 10, 20, 30, 40, 50].map(hour);
  expect(new Set(asked.slice(0, 3))).toEqual(new Set([1, 2, 3]));
  expect(asked.slice(3)).toEqual(asked.slice(0, 3));
});

test('the crowd counts a few of each line, and none of a site that is held', () => {
  const gates = new Gates();
  gates.setSpacing(0, 10);
  for (let page = 0; page < 100; page++) gates.wait(0, page);
  expect([gates.waiting, gates.crowd]).toEqual([100, 2]);
  gates.wait(1, 200);
  expect(gates.crowd).toBe(3);
  gates.holdUntil(0, 1000);
  expect(gates.crowd).toBe(1);
  gates.wait(0, 100);
  expect(gates.crowd).toBe(1);
  expect(gates.pass(0)).toEqual({ page: 200, site: 1 });
  expect(gates.pass(999)).toBeUndefined();
  expect(gates.pass(1000)).toEqual({ page: 0, site: 0 });
  expect([gates.waiting, gates.crowd]).toEqual([100, 2]);
  gates.leave(0, 50);
  expect(gates.waiting).toBe(99);
});

test('requests made beside the asked ones are paid before the next', () => {
  const allowance = new Allowance(1, 5, 0);
  expect(allowance.take(5)).toBe(true);
  allowance.settle(6, 5);
  expect(allowance.take(5)).toBe(false);
  expect(allowance.readyAt(5)).toBe(8);
  allowance.settle(-100, 8);
  expect(allowance.state().tokens).toBe(5);
});

test('a spacing that is widened counts from the last request on, and a hold stays what it was', () => {
  const gates = new Gates();
  gates.setSpacing(1, 10);
  gates.recall(1, 100);
  gates.setSpacing(1, 50);
  gates.wait(1, 11);
  expect(gates.pass(149)).toBeUndefined();
  gates.holdUntil(1, 200);
  gates.setSpacing(1, 60);
  expect(gates.pass(199)).toBeUndefined();
  expect(gates.pass(200)).toEqual({ page: 11, site: 1 });
});

test('slow sites, and slow and unknown ones together, have so many requests under way, and the others pass them by', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ site: fc.integer({ min: 0, max: 8 }), takes: fc.integer({ min: 1, max: 5 }) }), {
        minLength: 20,
        maxLength: 80,
      }),
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 1, max: 3 }),
      (requests, slowMax, unknownMin) => {
        const gates = new Gates();
        gates.share(slowMax, slowMax + unknownMin);
        const kindOf = (site: number) => (['prompt', 'unknown', 'slow'] as const)[site % 3]!;
        // Said after some wait and are under way, as it is when an answer comes.
        for (const [page, { site }] of requests.entries()) gates.wait(site, page);
        for (let site = 0; site < 9; site++) gates.setPromptness(site, kindOf(site));
        let open: { site: number; end: number }[] = [];
        let passed = 0;
        for (let now = 0; passed < requests.length && now < 2000; now++) {
          for (const { site, end } of open) if (end <= now) gates.done(site);
          open = open.filter(({ end }) => end > now);
          for (let pass = gates.pass(now); pass; pass = gates.pass(now)) {
            open.push({ site: pass.site, end: now + requests[pass.page]!.takes });
            passed++;
          }
          const under = (kind: string) => open.filter(({ site }) => kindOf(site) === kind).length;
          expect(under('slow')).toBeLessThanOrEqual(slowMax);
          expect(under('slow') + under('unknown')).toBeLessThanOrEqual(slowMax + unknownMin);
          // Nobody at a site that answers waits for others.
          for (let site = 0; site < 9; site += 3) expect(gates.open(site, now) && !gates.free(site, now)).toBe(false);
          if (under('slow') >= slowMax) for (let site = 2; site < 9; site += 3) expect(gates.admits(site)).toBe(false);
        }
        expect([passed, gates.waiting, gates.crowd]).toEqual([requests.length, 0, 0]);
      },
    ),
    { seed: 3, numRuns: 200 },
  );
});

test('a site that turns out slow takes its requests under way with it', () => {
  const gates = new Gates();
  gates.share(1, 3);
  gates.setPromptness(1, 'prompt');
  for (const page of [10, 11]) gates.wait(1, page);
  expect(gates.pass(0)?.page).toBe(10);
  for (const site of [1, 2]) gates.setPromptness(site, 'slow');
  gates.wait(2, 20);
  // The one under way at site 1 is all that slow sites have.
  expect([gates.admits(2), gates.pass(0), gates.nextPassAt(), gates.crowd]).toEqual([false, undefined, Infinity, 0]);
  gates.setPromptness(1, 'prompt');
  expect(gates.crowd).toBe(2);
  expect(gates.pass(0)?.page).toBe(20);
  gates.done(1);
  expect(gates.pass(0)?.page).toBe(11);
});
