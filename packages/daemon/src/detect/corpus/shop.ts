/** Shops: prices, stock and counters. */
import { change, css, first, late, looks, nothing, page, prose, quiet, text, type Case } from './case.ts';

const item = (price: string, stock: string, viewers: number) =>
  page(`<h1>Copper kettle</h1>${prose(12, 'kettle')}
<p class="price">${price}</p><p class="stock">${stock}</p><p>${viewers} people are viewing this now</p>`);

const clock = (time: string) => page(`<h1>Copper kettle</h1>${prose(14, 'kettle')}<p>Server time: ${time}</p>`);

const price = (amount: string) => page(`<p class="price">${amount}</p>`);
const numbered = { as: 'number' };

export const shop: readonly Case[] = [
  {
    name: 'viewers change, price stays',
    select: text,
    looks: [
      { body: item('€ 20', 'In stock', 11), expect: first },
      { body: item('€ 20', 'In stock', 17), expect: nothing },
      { body: item('€ 20', 'In stock', 14), expect: nothing, second: true, afterMs: 20_000 },
      { body: item('€ 20', 'In stock', 25), expect: nothing },
      { body: item('€ 18', 'In stock', 9), expect: change('18') },
      { body: item('€ 18', 'Sold out', 12), expect: change('Sold') },
    ],
  },
  {
    name: 'a look by hand, before the second one comes, serves as well',
    select: text,
    looks: [
      { body: item('€ 20', 'In stock', 11), expect: first },
      { body: item('€ 20', 'In stock', 17), expect: nothing },
      { body: item('€ 20', 'In stock', 14), expect: nothing, afterMs: 3_000 },
      { body: item('€ 20', 'In stock', 15), expect: nothing, afterMs: 3_000 },
      { body: item('€ 20', 'In stock', 31), expect: nothing },
    ],
  },
  {
    name: 'a clock of which only the seconds differed is the same clock tomorrow',
    select: text,
    looks: [
      { body: clock('2026-11-15T12:41:30.101Z'), expect: first },
      { body: clock('2026-11-15T13:10:12.900Z'), expect: nothing },
      { body: clock('2026-11-15T13:10:33.004Z'), expect: nothing, second: true, afterMs: 20_000 },
      { body: clock('2026-11-16T08:00:59.730Z'), expect: nothing },
      { body: clock('2026-12-24T08:01:00.001Z'), expect: nothing },
    ],
  },
  {
    name: 'a change beside a counter is told at once, without waiting for the counter',
    select: text,
    looks: looks([item('€ 20', 'In stock', 11), first], [item('€ 18', 'In stock', 25), change('18')]),
  },
  {
    name: 'a counter alone that stood still at the second look was no noise',
    select: text,
    looks: [
      { body: item('€ 20', 'In stock', 11), expect: first },
      { body: item('€ 20', 'In stock', 12), expect: nothing },
      { body: item('€ 20', 'In stock', 12), expect: change('12'), second: true, afterMs: 20_000 },
    ],
  },
  {
    name: 'price crosses a bound',
    select: css('.price'),
    options: { ...numbered, tell: { below: 100 } },
    looks: looks(
      [price('€ 120,00'), first],
      [price('€ 110,00'), quiet('below 100')],
      [price('€ 99,50'), change('99.5')],
      [price('€ 98,00'), quiet('below 100')],
    ),
  },
  {
    name: 'price moves by a share, measured from what was last told',
    select: css('.price'),
    options: { ...numbered, tell: { movesPercent: 10 } },
    looks: looks(
      [price('100'), first],
      [price('104'), quiet('4 %')],
      [price('108'), quiet('8 %')],
      [price('111'), change('100 → 111')],
      [price('113'), quiet('1.8 %')],
    ),
  },
  {
    name: 'thousands in three notations are one number',
    select: css('.price'),
    options: numbered,
    looks: looks(
      [price('€ 1.234,50'), first],
      [price('1,234.50 EUR'), nothing],
      [price('1 234,50 €'), nothing],
      [price('1 234,60 €'), change('1234.6')],
    ),
  },
  {
    name: 'stock text appears',
    select: text,
    options: { tell: { appears: 'in stock' } },
    looks: looks(
      [page('<p>Sold out</p>'), first],
      [page('<p>Sold out, more soon</p>'), quiet('did not appear')],
      [page('<p>Now in stock</p>'), change('in stock')],
      [page('<p>Now in stock, hurry</p>'), quiet('did not appear')],
    ),
  },
  {
    name: 'stock text appears again after it went untold',
    select: text,
    options: { tell: { appears: 'in stock' } },
    looks: looks(
      [page('<p>Sold out</p>'), first],
      [page('<p>Now in stock</p>'), change('in stock')],
      [page('<p>Sold out</p>'), quiet('did not appear')],
      [page('<p>Sold out, more soon</p>'), quiet('did not appear')],
      [page('<p>Now in stock</p>'), change('in stock')],
      [page('<p>Now in stock, hurry</p>'), quiet('did not appear')],
    ),
  },
  {
    name: 'a bound is crossed twice',
    select: css('.price'),
    options: { as: 'number', tell: { below: 100 } },
    looks: looks(
      [price('120'), first],
      [price('90'), change('90')],
      [price('130'), quiet('has not gone below 100')],
      [price('90'), change('90')],
      [price('80'), quiet('has not gone below 100')],
    ),
  },
  {
    name: 'text disappears',
    select: text,
    options: { tell: { disappears: '/sold out/i' } },
    looks: looks(
      [page('<p>SOLD OUT</p>'), first],
      [page('<p>sold out today</p>'), quiet('did not disappear')],
      [page('<p>Order now</p>'), change('Order')],
    ),
  },
  {
    name: 'confirmed by a second look',
    select: css('.price'),
    options: { tell: { confirmAfterSeconds: 600 } },
    looks: [
      { body: price('20'), expect: first },
      { body: price('2'), expect: quiet('still finds it') },
      { body: price('20'), expect: quiet('as it was last told'), afterMs: 600_000 },
      { body: price('18'), expect: quiet('still finds it') },
      { body: price('18'), expect: nothing, afterMs: 60_000 },
      { body: price('18'), expect: late('20 → 18'), afterMs: 600_000 },
      { body: price('18'), expect: nothing },
    ],
  },
  {
    name: 'slow drift is told too',
    select: text,
    options: { tell: { percentMin: 20 } },
    looks: [0, 1, 2, 3, 4, 5].map((step) => {
      const words = ['alpha', 'bravo', 'carol', 'delta', 'eager', 'fable', 'gamma', 'hotel', 'igloo', 'joker'];
      const text = words.map((word, i) => (i < step ? word.toUpperCase() : word)).join('\n');
      return {
        body: page(`<pre>${text}</pre><p>${words.join(' ')}</p>`),
        expect: step === 0 ? first : step === 3 ? change('ALPHA') : quiet('%'),
      };
    }),
  },
  {
    name: 'reviews in another order',
    select: css('li'),
    options: { normalise: { order: 'sort' } },
    looks: looks(
      [page('<ul><li>Good</li><li>Bad</li><li>Ugly</li></ul>'), first],
      [page('<ul><li>Ugly</li><li>Good</li><li>Bad</li></ul>'), nothing],
      [page('<ul><li>Ugly</li><li>Good</li><li>Fair</li></ul>'), change('Fair')],
    ),
  },
  {
    name: 'only additions',
    select: css('li'),
    options: { tell: { only: 'additions' } },
    looks: looks(
      [page('<ul><li>One</li><li>Two</li></ul>'), first],
      [page('<ul><li>One</li></ul>'), quiet('nothing was added')],
      [page('<ul><li>One</li><li>Three</li></ul>'), change('Three')],
    ),
  },
];
