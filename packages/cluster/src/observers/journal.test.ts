import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Finding, Journal } from './journal.ts';

let folder = '';
let file = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'revisit-journal-'));
  file = join(folder, 'deep', 'near.findings');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function finding(text: string, repeated = 1): Finding {
  const body = new TextEncoder().encode(text.repeat(repeated));
  return {
    observation: {
      probe: { id: 'p', url: 'https://a.example/ü', site: 'a.example', pageIds: ['x'], atMs: 0, validators: {} },
      startedAtMs: 1,
      endedAtMs: 2,
      outcome: { kind: 'fetched', status: 200, body, mediaType: 'text/html', charset: 'utf-8', validators: {} },
      bytesReceived: body.length,
      requests: 1,
    },
    atMs: 2,
    pages: [{ id: 'x', select: { kind: 'text' }, options: {} }],
    name: `finding-${text}`,
    given: 'g1',
  };
}

const texts = (journal: Journal): string[] =>
  journal.findings().map(({ finding: { observation } }) => {
    if (observation.outcome.kind !== 'fetched') throw new Error('No body.');
    return new TextDecoder().decode(observation.outcome.body);
  });

test('what was kept and not let go of is there again, in order', async () => {
  const moment = () => ({ boot: 'b', upMs: 5, nowMs: 7 });
  const journal = await Journal.open(file, moment);
  expect(journal.aliveMs).toBeUndefined();
  const ids = [];
  for (const text of ['one', 'two', 'three']) ids.push(await journal.keep(finding(text)));
  await journal.letGo(ids[1]!);
  await journal.close();
  const again = await Journal.open(file, moment);
  expect(texts(again)).toEqual(['one', 'three']);
  expect(again.findings()[0]!.finding).toEqual(finding('one'));
  expect(again.aliveMs).toBeGreaterThan(0);
  // Numbers go on, so that what is let go of is never another.
  await again.keep(finding('four'));
  await again.letGo(again.findings()[0]!.id);
  expect(texts(again)).toEqual(['three', 'four']);
  await again.close();
});

test('when all is let go of the file is empty', async () => {
  const journal = await Journal.open(file);
  const [one, two] = [await journal.keep(finding('one')), await journal.keep(finding('two'))];
  await journal.letGo(one!);
  expect(statSync(file).size).toBeGreaterThan(0);
  await journal.letGo(two!);
  expect(statSync(file).size).toBe(0);
  await journal.close();
});

test('killed at any byte of a write: all before it is there, and what comes after it is too', async () => {
  const journal = await Journal.open(file);
  await journal.keep(finding('one'));
  const before = statSync(file).size;
  await journal.keep(finding('two'));
  await journal.close();
  const whole = readFileSync(file);
  for (let size = before; size < whole.length - 1; size += 7) {
    rmSync(file);
    appendFileSync(file, whole);
    truncateSync(file, size);
    const torn = await Journal.open(file);
    expect(texts(torn)).toEqual(['one']);
    await torn.keep(finding('three'));
    await torn.close();
    const next = await Journal.open(file);
    expect(texts(next)).toEqual(['one', 'three']);
    await next.close();
  }
});

test('the file stays small however much goes through it', async () => {
  const journal = await Journal.open(file);
  const stays = await journal.keep(finding('stays'));
  const noise = Array.from({ length: 20_000 }, (_, i) => Math.imul(i + 1, 2654435761).toString(36)).join('');
  for (let i = 0; i < 30; i++) await journal.letGo((await journal.keep(finding(`${i}${noise}`)))!);
  expect(statSync(file).size).toBeLessThan(2 * 2 ** 20);
  expect(texts(journal)).toEqual(['stays']);
  await journal.letGo(stays!);
  expect(statSync(file).size).toBe(0);
  await journal.close();
});

test('it says when the process before was alive', async () => {
  const journal = await Journal.open(file);
  await journal.alive(1.7e12);
  await journal.close();
  expect((await Journal.open(file)).aliveMs).toBe(1.7e12);
});
