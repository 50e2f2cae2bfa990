import fc from 'fast-check';
import { expect, test } from 'vitest';
import { random } from '../../../core/src/simulate/random.ts';
import {
  RecentContents,
  baseNumber,
  brought,
  expired,
  keepContent,
  readContent,
  type Content,
  type Contents,
} from './versions.ts';

function shelf(): Contents & { readonly map: Map<string, Content> } {
  const map = new Map<string, Content>();
  return { map, get: (name) => map.get(name), put: (name, content) => map.set(name, content) };
}

function keepAll(contents: Contents, versions: readonly Uint8Array[], recent?: RecentContents): string[] {
  const names: string[] = [];
  for (const [i, version] of versions.entries()) {
    const base = baseNumber(i + 1);
    names.push(keepContent(contents, version, base === undefined ? undefined : names[base - 1], recent));
  }
  return names;
}

const bytes = (text: string) => new TextEncoder().encode(text);
const read = (contents: Contents, name: string, recent?: RecentContents) => {
  const result = readContent(contents, name, recent);
  return result.kind === 'read' ? Buffer.from(result.content) : result;
};

test('any sequence of versions reads back byte for byte', () => {
  const version = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.string({ maxLength: 200 }).map(bytes),
    fc.constantFrom(bytes(''), bytes('the same'), bytes('the same again'), bytes('x'.repeat(5000))),
  );
  fc.assert(
    fc.property(fc.array(version, { minLength: 1, maxLength: 140 }), (versions) => {
      const contents = shelf();
      const recent = new RecentContents(2_000);
      const names = keepAll(contents, versions, recent);
      for (const [i, name] of names.entries()) {
        expect(read(contents, name)).toEqual(Buffer.from(versions[i]));
        expect(read(contents, name, recent)).toEqual(Buffer.from(versions[i]));
      }
    }),
    { seed: 8, numRuns: 60 },
  );
});

test('small edits cost little, and no version is more than seven steps deep', () => {
  const next = random(3);
  const words = Array.from({ length: 8000 }, () => Math.floor(next() * 1e9).toString(36));
  const contents = shelf();
  const versions: Uint8Array[] = [];
  for (let i = 0; i < 130; i++) {
    words[Math.floor(next() * words.length)] = `edit${i}`;
    versions.push(bytes(words.join(' ')));
  }
  const names = keepAll(contents, versions);
  const kept = [...contents.map.values()].reduce((sum, content) => sum + content.packed.length, 0);
  const whole = versions.reduce((sum, version) => sum + version.length, 0);
  expect(kept).toBeLessThan(0.04 * whole);
  for (const name of names) {
    let depth = 0;
    for (let at: string | null = name; at !== null; at = contents.get(at)!.base) depth++;
    expect(depth).toBeLessThanOrEqual(7);
  }
});

test('an edit of a line takes what it says and nine bytes, wherever it stands; damage to one is found', () => {
  const lines = Array.from({ length: 400 }, (_, n) => `line ${n} of a page that says little`);
  const page = (n: number, line: string) => bytes(lines.with(n, line).join('\n'));
  for (const n of [0, 200, 399]) {
    const contents = shelf();
    const edited = [page(n, 'an old line'), page(n, 'a new line'), page(n, 'an old line and more of it'), page(n, '')];
    const names = keepAll(contents, edited);
    for (const [i, name] of names.entries()) expect(read(contents, name)).toEqual(Buffer.from(edited[i]!));
    expect(names.slice(1).map((name) => contents.get(name)!.packed.length)).toEqual([9 + 4, 9 + 15, 9]);
    const { packed, ...rest } = contents.get(names[1]!)!;
    contents.put(names[1]!, { ...rest, packed: Buffer.from(packed).fill(255, 1, 5) });
    expect(readContent(contents, names[1]!)).toMatchObject({ kind: 'broken', at: names[1] });
  }
});

test('a content that returns is kept once', () => {
  const contents = shelf();
  const names = keepAll(contents, [bytes('a'), bytes('b'), bytes('a'), bytes('b')]);
  expect(contents.map.size).toBe(2);
  expect(names[0]).toBe(names[2]);
});

test('contents that come and go for ever never make a chain too deep', () => {
  const next = random(5);
  const text = (k: number) => bytes(`${'The ledger of the harbour. '.repeat(20)} ${k}`);
  const contents = shelf();
  const names = keepAll(
    contents,
    Array.from({ length: 700 }, (_, i) => text(next() < 0.5 ? Math.floor(next() * i) : i)),
    new RecentContents(20_000),
  );
  for (const name of names) expect(readContent(contents, name)).toMatchObject({ kind: 'read' });
});

test('damage is found at the content that has it', () => {
  const contents = shelf();
  const names = keepAll(contents, [bytes('one '.repeat(99)), bytes('one '.repeat(98)), bytes('one '.repeat(97))]);
  const { packed, ...rest } = contents.get(names[0])!;
  contents.put(names[0], { ...rest, packed: packed.slice(0, -3) });
  expect(readContent(contents, names[1])).toMatchObject({ kind: 'broken', at: names[0] });
  contents.map.delete(names[0]);
  expect(readContent(contents, names[2])).toMatchObject({ kind: 'broken', at: names[0], why: 'it is missing' });
});

test('retention lets the oldest go and never the last or what must stay', () => {
  const versions = Array.from({ length: 10 }, (_, i) => ({ number: i + 1, atMs: i * 1000, bytesKept: 100 }));
  expect(expired(versions, {}, 1e9, new Set())).toEqual([]);
  expect(expired(versions, { countMax: 7 }, 1e9, new Set())).toEqual([1, 2, 3]);
  expect(expired(versions, { countMax: 7 }, 1e9, new Set([2]))).toEqual([1, 3, 4]);
  expect(expired(versions, { ageMsMax: 1 }, 1e9, new Set([4]))).toEqual([1, 2, 3, 5, 6, 7, 8, 9]);
  expect(expired(versions, { bytesMax: 350 }, 1e9, new Set())).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(expired(versions, { bytesMax: 0 }, 1e9, new Set()).includes(10)).toBe(false);
});

test('a version brings exactly the lines that the one before had nowhere, however many there are', () => {
  const page = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(page, page, (old, lines) => {
      const news = lines.filter((line) => !old.includes(line)).join('\n');
      expect(brought(old.join('\n'), lines.join('\n'))).toBe(news);
    }),
  );
});
