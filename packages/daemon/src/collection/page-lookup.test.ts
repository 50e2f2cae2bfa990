import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PageLookup } from './page-lookup.ts';

test('pages come and go as in a plain list, whatever texts they share', () => {
  const steps = fc.array(fc.tuple(fc.boolean(), fc.nat(12)), { maxLength: 400 });
  fc.assert(
    fc.property(steps, (steps) => {
      const texts = new Map<number, string>();
      const lookup = new PageLookup((page) => texts.get(page)!);
      let next = 0;
      for (const [coming, n] of steps) {
        const text = `https://a.example/${n}`;
        if (coming) {
          texts.set(next, text);
          lookup.add(text, next++);
        } else {
          const page = [...texts].find(([, other]) => other === text)?.[0];
          if (page === undefined) continue;
          lookup.remove(text, page);
          texts.delete(page);
        }
        const expected = [...texts].filter(([, other]) => other === text).map(([page]) => page);
        expect(lookup.all(text)).toEqual(expected);
        expect(lookup.first(text)).toBe(expected[0]);
        expect(lookup.size).toBe(texts.size);
        expect(lookup.texts).toBe(new Set(texts.values()).size);
      }
    }),
    { seed: 7, numRuns: 300 },
  );
});

test('it grows with its pages and not with those that left', () => {
  const lookup = new PageLookup((page) => `page ${page}`);
  for (let page = 0; page < 20_000; page++) {
    lookup.add(`page ${page}`, page);
    if (page >= 100) lookup.remove(`page ${page - 100}`, page - 100);
  }
  expect(lookup.size).toBe(100);
  for (let page = 0; page < 20_000; page++) {
    expect(lookup.first(`page ${page}`)).toBe(page >= 19_900 ? page : undefined);
  }
});
