/** News pages: headlines that matter among advertisements, clocks and lists that turn. */
import { change, css, first, links, looks, main, nothing, page, prose, text, whole, type Case } from './case.ts';

const advertisement = ['Buy shoes at Marlow’s', 'Fly to Lisbon tonight', 'Half price on all kettles', 'Learn the tuba'];

function front(headline: string, ad: number, extra = ''): string {
  return page(`
<header><h1>The Daily Pier</h1><nav><a href="/">Home</a> <a href="/sport">Sport</a></nav></header>
<aside class="ad-slot top">${advertisement[ad % 4]}</aside>
<main><h2><a href="/story">${headline}</a></h2>${prose(14, 'city')}</main>
<div id="sponsored-links"><a href="https://ads.example/${ad}">${advertisement[(ad + 1) % 4]}</a></div>
${extra}`);
}

function unmarked(headline: string, teaser: string): string {
  return page(`<h1>The Daily Pier</h1><h2>${headline}</h2>${prose(14, 'city')}
<div class="box"><p>From our readers</p><p>${teaser}</p><p>Send us yours</p></div>`);
}

const article = (body: string, around: string) =>
  page(`<nav><ul><li>${around}</li><li>World</li><li>Weather</li></ul></nav>
<article><h1>Bridge to open in spring</h1>${body}</article>
<aside><h3>Most read</h3><ol><li>${around} again</li><li>Second</li></ol></aside><footer>© The Daily Pier</footer>`);

export const news: readonly Case[] = [
  {
    name: 'advertisements named as such turn, headline stays',
    select: text,
    looks: looks(
      [front('Bridge opens', 0), first],
      [front('Bridge opens', 1), nothing],
      [front('Bridge opens', 2), nothing],
    ),
  },
  {
    name: 'headline changes while advertisements turn',
    select: text,
    looks: looks([front('Bridge opens', 0), first], [front('Bridge closed again', 3), change('closed again')]),
  },
  {
    name: 'advertisements in markup do not count among the links asked for',
    select: css('main a'),
    looks: looks(
      [front('Bridge opens', 0), first],
      [front('Bridge opens', 2), nothing],
      [front('Ferry sinks', 2), change('Ferry')],
    ),
  },
  {
    name: 'a box that turns at every look is learned from second looks, the headline is not',
    select: text,
    looks: [
      { body: unmarked('Bridge opens', 'A poem by Ana'), expect: first },
      { body: unmarked('Bridge opens', 'Fog, a song'), expect: change('Fog') },
      { body: unmarked('Bridge opens', 'My uncle’s boat'), expect: change('uncle') },
      { body: unmarked('Bridge opens', 'Ode to a bollard'), expect: change('bollard'), second: true, afterMs: 20_000 },
      { body: unmarked('Bridge opens', 'Gulls at noon'), expect: nothing, second: true, afterMs: 20_000 },
      { body: unmarked('Bridge opens', 'Three lanterns'), expect: nothing },
      { body: unmarked('Bridge closed', 'A poem by Ana'), expect: change('closed') },
    ],
  },
  {
    name: 'a few teasers in turn are learned without second looks',
    select: text,
    looks: looks(
      [unmarked('Bridge opens', 'Alpha poem'), first],
      [unmarked('Bridge opens', 'Beta song'), change('Beta')],
      [unmarked('Bridge opens', 'Alpha poem'), change('Alpha')],
      [unmarked('Bridge opens', 'Beta song'), change('Beta')],
      [unmarked('Bridge opens', 'Alpha poem'), nothing],
      [unmarked('Bridge opens', 'Beta song'), nothing],
      [unmarked('Ferry sinks', 'Alpha poem'), change('Ferry')],
    ),
  },
  {
    name: 'a new headline at every look is news, not noise',
    select: text,
    looks: [
      'Bridge opens',
      'Mayor resigns',
      'Rain until June',
      'Cup final lost',
      'Whale in the harbour',
      'Tram returns',
      'Mayor is back',
      'Snow',
    ].map((headline, i) => ({
      body: unmarked(headline, 'A poem'),
      expect: i === 0 ? first : change(headline.split(' ').at(-1)!),
    })),
  },
  {
    name: '"minutes ago" beside every story',
    select: text,
    looks: [
      { body: page(`<h1>Ticker</h1>${prose(14)}<p>Ferry late <small>3 minutes ago</small></p>`), expect: first },
      { body: page(`<h1>Ticker</h1>${prose(14)}<p>Ferry late <small>9 minutes ago</small></p>`), expect: nothing },
      {
        body: page(`<h1>Ticker</h1>${prose(14)}<p>Ferry late <small>10 minutes ago</small></p>`),
        expect: nothing,
        second: true,
        afterMs: 20_000,
      },
      { body: page(`<h1>Ticker</h1>${prose(14)}<p>Ferry late <small>1 hour ago</small></p>`), expect: nothing },
      {
        body: page(`<h1>Ticker</h1>${prose(14)}<p>Ferry sunk <small>1 minute ago</small></p>`),
        expect: change('sunk'),
      },
    ],
  },
  {
    name: 'dates ignored by rule',
    select: text,
    options: { normalise: { dates: 'ignore' } },
    looks: looks(
      [page('<p>Sunday, 15 November 2026, 08:30</p><p>Ferry leaves at the pier</p>'), first],
      [page('<p>Monday, 16 November 2026, 09:45</p><p>Ferry leaves at the pier</p>'), nothing],
      [page('<p>Monday, 16 November 2026, 10:00</p><p>Ferry leaves at the quay</p>'), change('quay')],
    ),
  },
  {
    name: 'main text: what stands around the article does not count',
    select: main,
    looks: looks(
      [article(prose(8, 'bridge'), 'Storm warning'), first],
      [article(prose(8, 'bridge'), 'Sale of the century'), nothing],
      [
        article(
          `${prose(8, 'bridge')}<p>Correction: the opening is on 3 April, not in March, the ministry said on Friday.</p>`,
          'Sale',
        ),
        change('Correction'),
      ],
    ),
  },
  {
    name: 'links only: text around them changes, then a link comes',
    select: links,
    looks: looks(
      [page('<p>Today</p><a href="/a?utm_source=x">A</a>'), first],
      [page('<p>Tomorrow</p><a href="/a?utm_source=y&utm_medium=z">A</a>'), nothing],
      [page('<p>Tomorrow</p><a href="/a">A</a><a href="/b">B</a>'), change('https://example.com/b')],
    ),
  },
  {
    name: 'whole source: a nonce in every script tag',
    select: whole,
    looks: [0, 1, 2, 3].map((i) => ({
      body: page(`${prose(14)}\n<script nonce="${'k3Jd9sLq0'.slice(i)}${i * 7919}">start()</script>`),
      expect: i === 0 ? first : nothing,
      ...(i === 2 ? { second: true, afterMs: 20_000 } : {}),
    })),
  },
];
