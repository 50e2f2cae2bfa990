/**
 * A page drawn again from its tree, so that a person can point at the part to watch: its boxes, texts and own style, and on
 * every element the selector that finds it again. What is not on the lists below is left out or becomes a plain box; the
 * picture asks for nothing and runs nothing. Whoever serves it still sends a policy that says so, for the cases that
 * no list thinks of.
 */
import { isTag, isText, type AnyNode, type Element } from 'domhandler';
import { selectors } from './outline.ts';
import { parseHtml, textInside, walk } from './tree.ts';

/** A browser lays out no more in a breath. */
const charactersMax = 3_000_000;
/** A longer one is a place in a deep nest, for which its nearest named parent stands. */
const selectorCharactersMax = 300;

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));
const left = words(
  'script noscript template svg math iframe frame frameset object embed applet canvas video audio source track link meta base head title portal fencedframe',
);
const kept = words(
  'html body a abbr address article aside b bdi bdo blockquote br button caption center cite code col colgroup dd del dfn div dl dt em fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 header hgroup hr i ins kbd label legend li main mark menu nav ol p pre q s samp section small span strong sub summary sup table tbody td tfoot th thead time tr u ul var wbr',
);
const empty = words('br hr col wbr');
const attributes = words('id class style dir lang colspan rowspan span align valign width height hidden bgcolor color');

const escaped = (text: string): string =>
  // oxlint-disable-next-line no-control-regex
  text.replace(/[&<>"'\u0000]/g, (sign) => (sign === '\u0000' ? '' : `&#${sign.charCodeAt(0)};`));

/** Style without what would be fetched; an `</style` cannot stand in it, since `<` is left out. */
const still = (style: string): string =>
  style
    .replaceAll('<', '')
    .replace(/@import[^;]*;?/gi, '')
    .replace(/(?:url|image-set|image|src)\s*\([^)]*\)/gi, 'none');

function opening(element: Element, name: string, selector: string): string {
  let text = `<${name}`;
  for (const [attribute, value] of Object.entries(element.attribs))
    if (attributes.has(attribute)) text += ` ${attribute}="${escaped(attribute === 'style' ? still(value) : value)}"`;
  if (selector.length <= selectorCharactersMax) text += ` data-selector="${escaped(selector)}"`;
  return `${text}>`;
}

/** A document of HTML, complete, for a frame without scripts. */
export function drawn(source: string): string {
  const tree = parseHtml(source);
  const selectorOf = selectors(tree);
  const styles: string[] = [];
  let body = '';
  const isOut = (): boolean => body.length > charactersMax;
  const nameOf = (element: Element): string => (kept.has(element.name) ? element.name : 'span');
  const enter = (node: AnyNode): boolean => {
    if (isText(node)) {
      if (!isOut()) body += escaped(node.data);
      return false;
    }
    if (!isTag(node)) return node === tree;
    const selector = selectorOf(node);
    if (node.name === 'style') {
      styles.push(still(textInside(node)));
      return false;
    }
    if (node.name === 'html' || node.name === 'head') return true;
    if (node.parent && isTag(node.parent) && node.parent.name === 'head') return false;
    if (left.has(node.name) || isOut()) return false;
    if (node.name === 'img' || node.name === 'input') {
      const said = node.attribs[node.name === 'img' ? 'alt' : 'value'] ?? '';
      body += `${opening(node, 'span', selector)}${escaped(said)}</span>`;
      return false;
    }
    body += opening(node, nameOf(node), selector);
    return !empty.has(node.name);
  };
  const opened = new Set<AnyNode>();
  walk(
    tree,
    (node) => {
      const before = body.length;
      const into = enter(node);
      if (into && isTag(node) && body.length > before) opened.add(node);
      return into;
    },
    (node) => {
      if (opened.has(node)) body += `</${nameOf(node as Element)}>`;
    },
  );
  return `<!doctype html><html><head><meta charset="utf-8"><style>${styles.join('\n').slice(0, charactersMax)}</style></head>${body}</html>`;
}
