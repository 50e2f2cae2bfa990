import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NameTree } from './name-tree.ts';

/** What the header says, word for word: the leaf of at most 16 pages, the widest beginning of at most 128, by brute force. */
function alikeByCounting(names: readonly string[], page: number): { narrow: number[]; wide: number[] } {
  const name = names[page]!;
  const folder = name.slice(0, name.lastIndexOf('/', name.length - 2) + 1);
  const kin = [...names.keys()].filter(
    (other) => names[other]!.startsWith(folder) && !names[other]!.slice(folder.length, -1).includes('/'),
  );
  const sharing = (most: number): number[] => {
    for (let length = folder.length; length <= name.length + 1; length++) {
      const beginning = `${name}\n`.slice(0, length);
      const same = kin.filter((other) => `${names[other]!}\n`.startsWith(beginning));
      if (same.length <= most) return same.length === kin.length ? [] : same;
    }
    return [];
  };
  return { narrow: sharing(16), wide: sharing(128) };
}

function members(tree: NameTree, pages: number): Map<string, number[]> {
  const groups = new Map<string, number[]>();
  for (let page = 0; page < pages; page++)
    for (const key of tree.alike(page)) groups.set(key, [...(groups.get(key) ?? []), page]);
  return groups;
}

const names = fc
  .uniqueArray(fc.string({ unit: fc.constantFrom('a', 'b', 'c', '/', '-'), minLength: 1, maxLength: 7 }), {
    minLength: 1,
    maxLength: 300,
  })
  .filter((list) => list.every((name) => !name.endsWith('/')));

test('a page is with the pages whose names begin like its own, sixteen at most and a hundred and twenty-eight at most', () => {
  fc.assert(
    fc.property(names, (list) => {
      const tree = new NameTree((page) => list[page]!);
      list.forEach((_, page) => tree.add(page));
      const groups = members(tree, list.length);
      const atOnce: (readonly string[])[] = [];
      tree.everyLeaf((pages, keys) => {
        for (const page of pages) atOnce[page] = keys;
      });
      expect(atOnce).toEqual(list.map((_, page) => tree.alike(page)));
      for (let page = 0; page < list.length; page++) {
        const keys = tree.alike(page);
        const of = (start: string): number[] => {
          const key = keys.find((word) => word.startsWith(start));
          return key === undefined ? [] : groups.get(key)!;
        };
        const { narrow, wide } = alikeByCounting(list, page);
        expect(of('few like ')).toEqual(narrow);
        // A leaf is not named twice.
        expect(of('like ')).toEqual(wide.length > 16 ? wide : []);
      }
    }),
    { seed: 5, numRuns: 60 },
  );
});

test('those who are told that their groups are others are all whose groups are', () => {
  fc.assert(
    fc.property(names, (list) => {
      const tree = new NameTree((page) => list[page]!);
      const known: string[] = [];
      list.forEach((_, page) => {
        const moved = new Set(tree.add(page));
        for (let other = 0; other < page; other++) {
          const now = tree.alike(other).join('\n');
          if (now !== known[other]) expect(moved).toContain(other);
          known[other] = now;
        }
        known[page] = tree.alike(page).join('\n');
      });
    }),
    { seed: 6, numRuns: 40 },
  );
});

test('pages that go leave the others where they were, and come back', () => {
  const list = Array.from({ length: 400 }, (_, i) => `docs/${'abcdefgh'.charAt(i % 8)}${i}`);
  const tree = new NameTree((page) => list[page]!);
  list.forEach((_, page) => tree.add(page));
  const before = members(tree, 400);
  for (let page = 0; page < 400; page += 3) tree.remove(page);
  for (let page = 0; page < 400; page += 3) tree.add(page);
  expect(members(tree, 400)).toEqual(before);
  for (let page = 0; page < 400; page++) tree.remove(page);
  expect(tree.add(7)).toEqual([]);
  expect(tree.alike(7)).toEqual([]);
});

test('the same name many times has nothing to part by', () => {
  const tree = new NameTree(() => 'docs/again');
  for (let page = 0; page < 2000; page++) expect(tree.add(page)).toEqual([]);
  expect(tree.alike(1999)).toEqual([]);
});
