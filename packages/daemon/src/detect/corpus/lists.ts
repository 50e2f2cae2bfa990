/** Feeds and JSON: items, not bytes. */
import { change, first, looks, nothing, quiet, text, trouble, whole, type Case, type Expected } from './case.ts';

const json = 'application/json';
const entry = (id: number, title: string, body = 'Body') =>
  `<item><guid>tag:${id}</guid><title>${title}</title><link>https://example.com/${id}</link><description>${body} of ${title}</description></item>`;
const rss = (built: string, ...entries: readonly string[]) =>
  `<?xml version="1.0"?><rss version="2.0"><channel><title>Pier</title><lastBuildDate>${built}</lastBuildDate>${entries.join('')}</channel></rss>`;
const atom = (...entries: readonly (readonly [string, string])[]) =>
  `<feed xmlns="http://www.w3.org/2005/Atom"><title>Pier</title><updated>2026-11-${10 + entries.length}T00:00:00Z</updated>${entries
    .map(([id, title]) => `<entry><id>${id}</id><title>${title}</title><updated>2026-11-01T00:00:00Z</updated></entry>`)
    .join('')}</feed>`;
const release = (id: number, name: string, downloads: number) => ({ id, name, downloads });
const list = (...items: readonly object[]) => JSON.stringify(items);

const typed = (mediaType: string, ...pairs: readonly (readonly [string, Expected])[]) =>
  looks(...pairs).map((look) => ({ ...look, mediaType }));

export const lists: readonly Case[] = [
  {
    name: 'RSS: the build date alone is nothing',
    select: text,
    looks: typed('application/rss+xml', [rss('Mon', entry(1, 'One')), first], [rss('Tue', entry(1, 'One')), nothing]),
  },
  {
    name: 'RSS: three new entries are three changes, the old one that fell off is none',
    select: text,
    looks: typed(
      'text/xml',
      [rss('Mon', entry(2, 'Two'), entry(1, 'One')), first],
      [
        rss('Tue', entry(5, 'Five'), entry(4, 'Four'), entry(3, 'Three'), entry(2, 'Two')),
        change('3 new: Five; Four; Three', 3),
      ],
    ),
  },
  {
    name: 'RSS: an entry falls off, nothing comes',
    select: text,
    looks: typed(
      'application/rss+xml',
      [rss('Mon', entry(2, 'Two'), entry(1, 'One')), first],
      [rss('Tue', entry(2, 'Two')), nothing],
    ),
  },
  {
    name: 'RSS: an entry was edited',
    select: whole,
    looks: typed(
      'application/rss+xml',
      [rss('Mon', entry(2, 'Two'), entry(1, 'One')), first],
      [rss('Tue', entry(2, 'Two'), entry(1, 'One', 'Corrected')), change('1 changed: One', 1)],
    ),
  },
  {
    name: 'RSS: entries that went are told when asked for',
    select: text,
    options: { items: { removed: true } },
    looks: typed(
      'application/rss+xml',
      [rss('Mon', entry(2, 'Two'), entry(1, 'One')), first],
      [rss('Tue', entry(2, 'Two')), change('1 removed: One', 1)],
    ),
  },
  {
    name: 'Atom: order and dates do not matter',
    select: text,
    looks: typed(
      'application/atom+xml',
      [atom(['a', 'A'], ['b', 'B']), first],
      [atom(['b', 'B'], ['a', 'A']), nothing],
      [atom(['c', 'C'], ['b', 'B'], ['a', 'A']), change('1 new: C', 1)],
    ),
  },
  {
    name: 'JSON list: order does not matter, items do',
    select: whole,
    looks: typed(
      json,
      [list(release(1, 'v1', 0), release(2, 'v2', 0)), first],
      [list(release(2, 'v2', 0), release(1, 'v1', 0)), nothing],
      [list(release(3, 'v3', 0), release(2, 'v2 (yanked)', 0)), change('1 new, 1 changed, 1 removed: v3', 3)],
    ),
  },
  {
    name: 'JSON list: a counter in every item is learned as a field',
    select: { kind: 'jsonpath', expression: '$.releases' },
    looks: [0, 1, 2, 3, 4, 5, 6, 7].map((i) => ({
      mediaType: json,
      body: JSON.stringify({
        releases: [release(1, 'v1', 100 + 17 * i), release(2, i < 7 ? 'v2' : 'v2.1', 40 + 9 * i)],
      }),
      expect: i === 0 ? first : i < 6 ? change('2 changed') : i === 6 ? nothing : change('1 changed: v2.1', 1),
    })),
  },
  {
    name: 'JSON list: the key is a field by name',
    select: { kind: 'jq', expression: '.rows' },
    options: { items: { key: 'code' } },
    looks: typed(
      json,
      ['{"rows":[{"code":"A","n":1},{"code":"B","n":1}]}', first],
      ['{"rows":[{"code":"A","n":2},{"code":"B","n":1}]}', change('1 changed', 1)],
      ['{"rows":[{"code":"B","n":1}]}', change('1 removed', 1)],
    ),
  },
  {
    name: 'JSON list: emptied is a change, missing is trouble',
    select: { kind: 'jsonpath', expression: '$.jobs[*]' },
    looks: typed(
      json,
      ['{"jobs":[{"id":1,"title":"Cook"}]}', first],
      ['{"jobs":[]}', change('1 removed: Cook', 1)],
      ['{"error":"later"}', trouble('selector-nothing')],
      ['{"jobs":[{"id":2,"title":"Mate"}]}', change('1 new: Mate', 1)],
    ),
  },
  {
    name: 'JSON object: order of names and white space do not matter',
    select: whole,
    looks: typed(
      json,
      ['{"a":1,"b":{"c":2,"d":3}}', first],
      ['{ "b": {"d":3, "c":2},\n "a": 1 }', nothing],
      ['{"a":1,"b":{"c":2,"d":4}}', change('3 → 4')],
    ),
  },
  {
    name: 'JSON list: an error came before it, and an empty list',
    select: whole,
    looks: typed(
      json,
      ['{"error":"later"}', first],
      [list(release(1, 'a', 1)), change('1 new: a')],
      ['{"error":"later"}', change('error')],
      ['[]', change('[]')],
      [list(release(1, 'a', 1), release(2, 'b', 1)), change('2 new: a; b', 2)],
    ),
  },
  {
    name: 'JSON number: crosses and moves',
    select: { kind: 'jsonpath', expression: '$.rate' },
    options: { tell: { above: 2 } },
    looks: typed(
      json,
      ['{"rate":1.5}', first],
      ['{"rate":1.9}', quiet('above 2')],
      ['{"rate":2.1}', change('1.5 → 2.1')],
    ),
  },
  {
    name: 'JSON turned into an HTML error page',
    select: whole,
    looks: [
      { body: '{"ok":true}', mediaType: json, expect: first },
      { body: '<html><body><h1>Maintenance</h1></body></html>', expect: trouble('page-not-json') },
      { body: '<html><body><h1>Maintenance</h1></body></html>', expect: trouble('page-not-json', true) },
      { body: '{"ok":true}', mediaType: json, expect: nothing },
      { body: '{"ok":false}', mediaType: json, expect: change('true → false') },
    ],
  },
  {
    name: 'JSON broken in the middle',
    select: { kind: 'jsonpath', expression: '$.a' },
    looks: typed(json, ['{"a":1}', first], ['{"a":1', trouble('page-not-json')], ['{"a":2}', change('1 → 2')]),
  },
];
