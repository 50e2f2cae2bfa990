/** Long, broken, scripted and foreign documents, and plain files. */
import { change, css, first, looks, nothing, page, quiet, text, trouble, whole, type Case } from './case.ts';

const law = (fee: string, extra = '') =>
  page(
    `<h1>Harbour Dues Act</h1>${Array.from(
      { length: 60 },
      (_, i) =>
        `<h2>§ ${i + 1}</h2><p>(1) Vessels of class ${i % 7} pay ${i === 41 ? fee : 'the usual fee'} on arrival.</p><p>(2) The harbour master may waive it.</p>`,
    ).join('\n')}${extra}`,
  );

const forum = (replies: number, last: string, online: number) =>
  page(`<h1>Knots</h1><ul>${Array.from({ length: 15 }, (_, i) => `<li>Thread ${'abcdefghijklmno'[i]}: how to tie it</li>`).join('')}</ul>
<p>${replies} replies</p><p>Last post: ${last}</p><p>${online} users online</p>`);

/** Five megabytes, made here because nobody should carry them about. */
const large = (word: string) =>
  page(
    Array.from(
      { length: 38_000 },
      (_, i) =>
        `<div class="row r${i % 9}"><span>Row ${i}</span> <em>of the great ledger</em>, paid by vessel ${(i * 7919) % 10_007} ${i === 30_000 ? word : ''}</div>`,
    ).join('\n'),
  );

const latin1 = (word: string, head = '') =>
  Uint8Array.from(`<html><head>${head}</head><body><p>${word}</p></body></html>`, (character) =>
    character.charCodeAt(0),
  );

export const documents: readonly Case[] = [
  {
    name: 'law: one word in a long text',
    select: text,
    looks: looks(
      [law('ten crowns'), first],
      [law('ten crowns'), nothing],
      [law('twelve crowns'), change('ten → twelve')],
    ),
  },
  {
    name: 'law: a section is added',
    select: text,
    looks: looks([law('ten'), first], [law('ten', '<h2>§ 61</h2><p>This Act ends in 2030.</p>'), change('§ 61')]),
  },
  {
    name: 'law: small edits wait for the threshold in characters',
    select: text,
    options: { tell: { charactersMin: 40 } },
    looks: looks(
      [law('ten'), first],
      [law('six'), quiet('told from 40')],
      [law('a fee set each spring by the harbour council in open session'), change('council')],
    ),
  },
  {
    name: 'law: new markup around the same words',
    select: text,
    looks: looks(
      [law('ten'), first],
      [law('ten').replaceAll('<p>', '<p class="s2" data-k="1">').replaceAll('(2)', '<span>(2)</span>'), nothing],
    ),
  },
  {
    name: 'markup watched: attributes in another order and new classes are nothing, a new target is',
    select: css('nav'),
    options: { as: 'html' },
    looks: looks(
      [page('<nav><a href="/a" title="A" class="x">A</a></nav>'), first],
      [page('<nav><a class="y z" title="A" href="/a">A</a></nav>'), nothing],
      [page('<nav><a class="y z" title="A" href="/b">A</a></nav>'), change('b')],
    ),
  },
  {
    name: 'forum: replies count, users online do not',
    select: text,
    looks: [
      { body: forum(3, 'Ana', 12), expect: first },
      { body: forum(3, 'Ana', 31), expect: nothing },
      { body: forum(3, 'Ana', 30), expect: nothing, second: true, afterMs: 20_000 },
      { body: forum(4, 'Bo', 7), expect: change('3 → 4') },
    ],
  },
  {
    name: 'forum: a part is left out by selector, lines by rule',
    select: text,
    options: { normalise: { remove: ['.who'], ignore: ['^Online:'] } },
    looks: looks(
      [page('<p>Post</p><p class="who">Ana</p><p>Online: 4</p>'), first],
      [page('<p>Post</p><p class="who">Bo</p><p>Online: 5</p>'), nothing],
      [page('<p>Post edited</p><p class="who">Bo</p><p>Online: 5</p>'), change('edited')],
    ),
  },
  {
    name: 'counters replaced by rule',
    select: text,
    options: { normalise: { replace: [{ pattern: 'visit no\\. \\d+', with: 'visit no. #' }] } },
    looks: looks(
      [page('<p>You are visit no. 7</p>'), first],
      [page('<p>You are visit no. 8</p>'), nothing],
      [page('<p>You were visit no. 8</p>'), change('were')],
    ),
  },
  {
    name: 'numbers ignored by rule',
    select: text,
    options: { normalise: { numbers: 'ignore' } },
    looks: looks(
      [page('<p>Seen 1,204 times</p>'), first],
      [page('<p>Seen 1,377 times</p>'), nothing],
      [page('<p>Read 1,377 times</p>'), change('Read')],
    ),
  },
  {
    name: 'case ignored by rule',
    select: text,
    options: { normalise: { case: 'fold' } },
    looks: looks([page('<p>Sale</p>'), first], [page('<p>SALE</p>'), nothing], [page('<p>SALES</p>'), change('sales')]),
  },
  {
    name: 'broken markup: nothing closed',
    select: text,
    looks: looks(
      ['<table><tr><td>One<td>Two<p>Three<b>Four', first],
      ['<table><tr><td>One</td><td>Two<p>Three</p><b>Four</b></td></tr></table>', change('')],
      ['<table><tr><td>One</td><td>Two<p>Three</p><b>Five</b></td></tr></table>', change('Five')],
    ),
  },
  {
    name: 'broken markup: mis-nested, stray and doubled tags',
    select: css('.x'),
    looks: looks(
      ['</div><b><i class=x>Deep</b> sea</i><body class=y><p></x>', first],
      ['</div><b><i class=x>Deep</b> lake</i><body class=y><p></x>', change('sea → lake')],
    ),
  },
  {
    name: 'nested a hundred thousand deep',
    select: text,
    looks: looks([`${'<div>'.repeat(100_000)}bottom`, first], [`${'<div>'.repeat(100_000)}floor`, change('floor')]),
  },
  {
    name: '5 MB: one word in row 30,000',
    select: text,
    looks: looks([large('in full'), first], [large('in part'), change('full → part')]),
  },
  {
    name: 'scripts only: the text is what stands outside them',
    select: text,
    looks: looks(
      [page('<noscript>Please switch scripts on</noscript><script>var build=1</script>'), first],
      [page('<noscript>Please switch scripts on</noscript><script>var build=2</script>'), nothing],
    ),
  },
  {
    name: 'scripts only, not a word',
    select: text,
    looks: looks([page('<div id=root></div><script src=/app.js></script>', ''), trouble('page-empty')]),
  },
  {
    name: 'scripts only: data inside is watched by expression',
    select: { kind: 'regexp', expression: '"stock":(\\d+)' },
    looks: looks(
      [page('<script>data={"stock":4,"t":1}</script>'), first],
      [page('<script>data={"stock":4,"t":2}</script>'), nothing],
      [page('<script>data={"stock":0,"t":3}</script>'), change('4 → 0')],
    ),
  },
  {
    name: 'right to left: Arabic and Hebrew',
    select: text,
    looks: looks(
      [page('<p dir=rtl>السعر اليوم عشرة دنانير</p><p>מחיר: עשרה</p>'), first],
      [page('<p dir=rtl>السعر اليوم عشرون دينارا</p><p>מחיר: עשרה</p>'), change('عشرون')],
      [page('<p dir=rtl>السعر اليوم عشرون دينارا</p><p>מחיר: עשרים</p>'), change('עשרים')],
    ),
  },
  {
    name: 'Chinese and Japanese: by character, without spaces',
    select: text,
    looks: looks(
      [page('<p>本站将于六月一日关闭。</p><p>船は満員になると出ます。</p>'), first],
      [page('<p>本站将于七月一日关闭。</p><p>船は満員になると出ます。</p>'), change('六 → 七')],
      [page('<p>本站将于七月一日关闭。</p><p>船は満員でも出ます。</p>'), change('でも')],
    ),
  },
  {
    name: 'emoji and combining marks',
    select: text,
    looks: looks([page('<p>Café 👨‍👩‍👧 open</p>'), first], [page('<p>Café 👨‍👩‍👧 closed</p>'), change('open → closed')]),
  },
  {
    name: 'Latin-1 by header and by meta',
    select: text,
    looks: [
      { body: latin1('Preis erh\u00f6ht'), charset: 'iso-8859-1', expect: first },
      { body: latin1('Preis erh\u00f6ht', '<meta charset=latin1>'), expect: nothing },
      { body: new TextEncoder().encode('\ufeff' + page('<p>Preis erhöht</p>')), expect: nothing },
    ],
  },
  {
    name: 'plain text',
    select: whole,
    looks: [
      { body: 'a\nb\nc\n', mediaType: 'text/plain', expect: first },
      { body: 'a\r\nb\r\nc', mediaType: 'text/plain', expect: nothing },
      { body: 'a\nB\nc', mediaType: 'text/plain', expect: change('B') },
    ],
  },
  {
    name: 'a file: another size, another digest',
    select: whole,
    looks: [
      { body: Uint8Array.of(37, 80, 68, 70, 0, 1), mediaType: 'application/pdf', expect: first },
      { body: Uint8Array.of(37, 80, 68, 70, 0, 1), mediaType: 'application/pdf', expect: nothing },
      { body: Uint8Array.of(37, 80, 68, 70, 0, 2), mediaType: 'application/pdf', expect: change('SHA-256') },
    ],
  },
  {
    name: 'white space only',
    select: text,
    looks: looks(
      [page('<p>One  two</p>\n<p>Three</p>'), first],
      [page('\n\n<p>One two</p><p>\tThree </p>\n\n'), nothing],
    ),
  },
  {
    name: 'XPath picks attributes',
    select: { kind: 'xpath', expression: '//meta[@name="version"]/@content' },
    looks: looks(
      [page('', '<meta name="version" content="1.2">'), first],
      [page('<p>x</p>', '<meta name="version" content="1.2">'), nothing],
      [page('', '<meta name="version" content="1.3">'), change('1.3')],
    ),
  },
];
