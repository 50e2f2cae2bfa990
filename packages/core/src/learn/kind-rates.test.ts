import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contentKinds } from '../model/content-kind.ts';
import { exponential, random } from '../simulate/random.ts';
import { KindRates } from './kind-rates.ts';
import { PageModels } from './page-models.ts';

const day = 86_400;
const feed = contentKinds.indexOf('feed');
const html = contentKinds.indexOf('html');

/** Sites of one feed that changes twice a day and nine pages that change every other month, all in one folder, looked at daily for a month. */
function watchSites(sites: number, kinds: boolean, models = new PageModels()): PageModels {
  const next = random(4);
  models.guessRate(1 / (30 * day));
  for (let site = 0; site < sites; site++)
    for (let n = 0; n < 10; n++) {
      const page = site * 10 + n;
      const isFeed = n === 0;
      models.open(page, [site], 0, site, kinds ? (isFeed ? 'feed' : 'html') : 'unknown');
      const mean = isFeed ? day / 2 : 60 * day;
      let change = exponential(next, mean);
      for (let look = 1; look <= 30; look++) {
        const changed = change <= look * day;
        while (change <= look * day) change += exponential(next, mean);
        models.learn(page, look * day, changed);
      }
    }
  return models;
}

/** Changes a day expected of a page that comes to a site nobody has seen. */
function newcomer(models: PageModels, page: number, kind: 'feed' | 'html' | 'unknown'): number {
  models.open(page, [1000], 30 * day, 1000, kind);
  return models.longRun(page, 30 * day) * day;
}

test('a feed never seen, on a site never seen, is expected to change as feeds do, once feeds have shown it', () => {
  const models = watchSites(12, true);
  const [ofFeed, ofHtml, ofUnknown] = (['feed', 'html', 'unknown'] as const).map((kind, i) =>
    newcomer(models, 500 + i, kind),
  );
  expect(ofFeed! / ofHtml!).toBeGreaterThan(6);
  expect(ofUnknown!).toBeGreaterThan(ofHtml!);
  expect(ofUnknown!).toBeLessThan(ofFeed!);
  // Told by the first look only, it is the same from there on.
  models.open(600, [1000], 30 * day, 1000);
  models.isOfKind(600, 'feed');
  models.fresh(600, 30 * day);
  expect(models.longRun(600, 30 * day) * day).toBeCloseTo(ofFeed!, 6);
});

test('one page of a kind does not speak for the kind, and without kinds all is as it was', () => {
  const few = watchSites(1, true);
  expect(newcomer(few, 500, 'feed') / newcomer(few, 501, 'unknown')).toBeLessThan(4);
  const blind = watchSites(12, false);
  expect(newcomer(blind, 500, 'feed')).toBe(newcomer(blind, 501, 'html'));
});

test('the kind of a page and what is known of kinds come back after a restart', () => {
  const before = watchSites(12, true);
  const keys = { keyOf: (group: number) => group, groupOf: (key: number) => key };
  const saved = JSON.parse(JSON.stringify(before.saveShared(keys)));
  const after = new PageModels();
  // A name that says nothing: what the look told is in the page's own bytes.
  after.open(0, [0], 30 * day);
  const bytes = before.save(0);
  expect(bytes.length).toBeLessThanOrEqual(64);
  expect(after.restore(0, bytes, 30 * day)).toBe(true);
  after.restoreShared(saved, keys, 30 * day);
  expect(after.save(0)).toEqual(bytes);
  expect(newcomer(after, 500, 'feed') / newcomer(after, 501, 'html')).toBeGreaterThan(5);
  delete saved.kinds;
  new PageModels().restoreShared(saved, keys, 30 * day);
});

test('whatever is seen, a factor stays positive, finite and within thirty times', () => {
  const look = fc.record({
    kind: fc.integer({ min: 0, max: contentKinds.length - 1 }),
    mean: fc.double({ min: 1e-12, max: 1, noNaN: true }),
    age: fc.double({ min: 0, max: 1e9, noNaN: true }),
    changes: fc.integer({ min: 0, max: 6 }),
    gap: fc.double({ min: 1, max: 1e8, noNaN: true }),
    number: fc.oneof(fc.constant(0), fc.double({ min: 0.5, max: 100, noNaN: true })),
  });
  fc.assert(
    fc.property(fc.array(look, { maxLength: 100 }), (looks) => {
      const rates = new KindRates();
      for (const { kind, mean, age, changes, gap, number } of looks) rates.learn(kind, mean, age, changes, gap, number);
      for (let kind = 0; kind < contentKinds.length; kind++) {
        expect(rates.factor(kind)).toBeGreaterThan(1 / 31);
        expect(rates.factor(kind)).toBeLessThan(31);
      }
      expect(rates.factor(0)).toBe(1);
      const again = new KindRates();
      again.restore(JSON.parse(JSON.stringify(rates.save())));
      for (const kind of [feed, html]) expect(again.factor(kind)).toBeCloseTo(rates.factor(kind), 9);
    }),
  );
});
