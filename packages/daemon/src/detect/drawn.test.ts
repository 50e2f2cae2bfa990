import { expect, test } from 'vitest';
import { selectOne } from 'css-select';
import fc from 'fast-check';
import { isTag } from 'domhandler';
import { drawn } from './drawn.ts';
import { parseHtml, textInside, walk } from './tree.ts';

const hostile = [
  '<script>window.pwned=1</script>',
  '<img src="http://x.test/i" srcset="http://x.test/j 2x" onerror="pwned()" alt="a &lt;script&gt;">',
  '<svg><style><img src=http://x.test></style><a xlink:href="javascript:1"><text>t</text></a></svg>',
  '<math><mtext><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;"></mtext></math>',
  '<link rel="preconnect" href="http://x.test"><link rel="stylesheet" href="http://x.test/c">',
  '<meta http-equiv="refresh" content="0;url=http://x.test"><base href="http://x.test/">',
  '<style>@import "http://x.test/a"; p{background:url(http://x.test/b)} </styl</style>',
  '<p style="background:url(http://x.test/c);color:red" onclick="pwned()">p</p>',
  '<iframe src="http://x.test"></iframe><object data="http://x.test"></object><video poster="http://x.test"></video>',
  '<a href="javascript:pwned()" ping="http://x.test">a</a><form action="http://x.test"><button formaction="http://x.test">b</button></form>',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>',
  '<textarea></textarea><xmp><script>1</script></xmp><plaintext><script>1</script>',
];
const known = new Set(
  'id class style dir lang colspan rowspan span align valign width height hidden bgcolor color data-selector charset'.split(
    ' ',
  ),
);
const barred = new Set('script link base iframe object embed svg math video img input noscript'.split(' '));

function complaints(text: string): string[] {
  const found: string[] = [];
  walk(parseHtml(text), (node) => {
    if (!isTag(node)) return true;
    if (barred.has(node.name)) found.push(node.name);
    if (node.name === 'style' && /url|import/i.test(textInside(node))) found.push('style asks');
    for (const [name, value] of Object.entries(node.attribs)) {
      if (!known.has(name)) found.push(name);
      if (name === 'style' && /url\s*\(/i.test(value)) found.push('style asks');
    }
    return true;
  });
  return found;
}

test('whatever is put together, nothing is left that runs or asks', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...hostile, '<div>', '</div>', '<table>', '<p>', '</p>', 'x'), { maxLength: 12 }),
      (parts) => {
        expect(complaints(drawn(parts.join('')))).toEqual([]);
      },
    ),
    { seed: 9, numRuns: 300 },
  );
});

test('each selector finds, in the page itself, the part that was pointed at', () => {
  const page =
    '<body><nav><ul><li>one</li><li>two</li></ul></nav><main><p>a</p><p class="lead">b</p><x-card><b id="price">9 €</b></x-card></main>';
  const picture = parseHtml(drawn(page));
  const original = parseHtml(page);
  let compared = 0;
  walk(picture, (node) => {
    if (!isTag(node) || node.attribs['data-selector'] === undefined) return true;
    const found = selectOne(node.attribs['data-selector'], original);
    expect(found && textInside(found), node.attribs['data-selector']).toBe(textInside(node));
    compared++;
    return true;
  });
  expect(compared).toBe(10);
});
