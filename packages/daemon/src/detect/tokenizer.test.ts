/** Both parsers make the same tree of anything. */
import { isComment, isTag, isText, type AnyNode } from 'domhandler';
import fc from 'fast-check';
import { parse } from 'parse5';
import { adapter } from 'parse5-htmlparser2-tree-adapter';
import { expect, test } from 'vitest';
import { parseDocument } from './tokenizer.ts';

type Shape = string | readonly [string, Readonly<Record<string, string>>, readonly Shape[]];

function shape(node: AnyNode): Shape {
  if (isText(node)) return `text ${node.data}`;
  if (isComment(node)) return `comment ${node.data}`;
  const children = 'children' in node ? node.children.map(shape) : [];
  return [isTag(node) ? node.name : node.type, isTag(node) ? { ...node.attribs } : {}, children];
}

const options = { treeAdapter: adapter, scriptingEnabled: false };

function same(source: string): void {
  expect(shape(parseDocument(source, options))).toEqual(shape(parse(source, options)));
}

const pieces = [
  ...'html head body p div b i a table tr td caption colgroup select option textarea pre script style title svg math'.split(
    ' ',
  ),
  ...'template noscript ul li form button h1 desc foreignObject frameset frame plaintext listing xmp'.split(' '),
].flatMap((name) => [`<${name}>`, `</${name}>`, `<${name} title="a &amp; b" class='x "y"' hidden data-n=1>`]);
const texts = [
  ' ',
  '\n',
  '\r\n',
  '\r',
  '\t',
  '\f',
  'word',
  'two words ',
  ' ein Satz.\nUnd noch einer',
  '&amp;',
  '&nosuch;',
  '&#x1F600;',
  '&notit;',
  '😀 and more',
  '\ud800 alone',
  '\0',
  'a\0b',
  '<',
  '</',
  '< b',
  '<!-- a -- comment -->',
  '<!--',
  '-->',
  '<!doctype html>',
  '<![CDATA[ raw & text ]]>',
  ']]>',
  '<?php echo 1 ?>',
  '"',
  "'",
  '日本語のテキスト',
  'שלום עולם',
  '</scr',
  '<!-- <script> -->',
];

test('any sequence of pieces', () => {
  const piece = fc.oneof(fc.constantFrom(...pieces), fc.constantFrom(...texts), fc.string({ unit: 'binary' }));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 25 }), (parts) => same(parts.join(''))),
    { seed: 8, numRuns: 800 },
  );
});

test('longer than the piece of input that the tokenizer lets go of', () => {
  const row =
    '<tr><td class="cell &lt;">some\r\nwords 😀 &amp; signs</td></tr><script>if (a < b && c) { d("</p>") }</script>\n';
  same(`<!doctype html><table>${row.repeat(2_000)}</table>`);
  same(`<p>${'all in one text '.repeat(20_000)}`);
});
