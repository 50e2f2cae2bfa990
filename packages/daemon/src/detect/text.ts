/** The text of a page as a reader sees it, one line for each block, and markup with one line for each tag. */
import { isComment, isTag, isText, type AnyNode, type Element } from 'domhandler';
import { walk } from './tree.ts';

const blocks = new Set(
  (
    'address article aside blockquote body br button caption dd details dialog div dl dt fieldset figcaption figure ' +
    'footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p pre search ' +
    'section select summary table tbody textarea tfoot thead title tr ul'
  ).split(' '),
);
const unseen = new Set('audio canvas embed head iframe math noembed object script style svg template video'.split(' '));
const cells = new Set(['td', 'th']);

/** Hidden by the markup itself; what style sheets hide is not known here. */
function hidden(element: Element): boolean {
  const { attribs } = element;
  if ('hidden' in attribs && attribs['hidden'] !== 'until-found') return true;
  if (attribs['aria-hidden'] === 'true' && element.children.length === 0) return true;
  const style = attribs['style'];
  return style !== undefined && /display\s*:\s*none|visibility\s*:\s*hidden/i.test(style);
}

const adWord =
  /(^|[\s_-])(ads?|advert(isement|ising|s)?|sponsored|adsbygoogle|adslot|adbox|adunit|adwrapper|dfp|taboola|outbrain)([\s_-]|$)/i;
const neverAd = new Set(['html', 'body', 'main', 'article']);

/** Advertisements that say so in their markup; the rest is found by watching. */
export function isAdvertisement(element: Element): boolean {
  if (neverAd.has(element.name)) return false;
  const { attribs } = element;
  const name = attribs['class'] === undefined ? attribs['id'] : `${attribs['class']} ${attribs['id'] ?? ''}`;
  if (name !== undefined && adWord.test(name)) return true;
  if (attribs['data-ad-slot'] !== undefined || attribs['data-ad-client'] !== undefined) return true;
  return attribs['aria-label'] !== undefined && /^(advertisement|sponsored)$/i.test(attribs['aria-label']);
}

const [isBlock, isUnseen, isCell] = [1, 2, 4];
/** What each name is, in one question instead of four. */
const kinds = new Map<string, number>([
  ...Array.from(blocks, (name) => [name, isBlock] as const),
  ...Array.from(unseen, (name) => [name, isUnseen] as const),
  ...Array.from(cells, (name) => [name, isCell] as const),
]);

/** Whether all white space in it is single spaces, as far as that is seen at once: nearly every line of a page. */
function isTight(line: string): boolean {
  let before = 0;
  for (let n = 0; n < line.length; n++) {
    const code = line.charCodeAt(n);
    if (code <= space ? code !== space || before === space : code >= firstBeyondAscii) return false;
    before = code;
  }
  return true;
}

const space = 0x20;
const firstBeyondAscii = 0x80;

function isBare(attributes: Element['attribs']): boolean {
  for (const _name in attributes) return false;
  return true;
}

/** `charactersMax`: whoever asks only whether there is so much text need not wait for the rest. */
export function visibleText(root: AnyNode, keepAdvertisements = true, charactersMax = Infinity): string {
  const lines: string[] = [];
  let line = '';
  let characters = 0;
  const endLine = () => {
    if (line === '') return;
    const text = (isTight(line) ? line : line.replace(/[\s\u00a0]+/g, ' ')).trim();
    if (text !== '') {
      lines.push(text);
      characters += text.length;
    }
    line = '';
  };
  walk(
    root,
    (node) => {
      if (characters >= charactersMax) return false;
      if (isText(node)) line += node.data;
      else if (isTag(node)) {
        const kind = kinds.get(node.name);
        if (kind === isUnseen && node !== root) return false;
        const plain = node === root || isBare(node.attribs);
        if (!plain && (hidden(node) || (!keepAdvertisements && isAdvertisement(node)))) return false;
        if (kind === isBlock) endLine();
        else if (kind === isCell) line += ' ';
        if (node.name === 'img' && node.attribs['alt']) line += ` ${node.attribs['alt']} `;
      }
      return true;
    },
    (node) => {
      if (!isTag(node)) return;
      const kind = kinds.get(node.name);
      if (kind === isBlock) endLine();
      else if (kind === isCell) line += ' ';
    },
  );
  endLine();
  return lines.join('\n');
}

/** Attributes that carry meaning for a reader; the rest is styling, scripting and tracking. */
const meaningful = new Set(
  (
    'href src srcset alt title value content name datetime action placeholder label cite colspan rowspan start type ' +
    'checked selected disabled lang dir download controls poster data'
  ).split(' '),
);

export type Attributes = 'meaning' | 'all' | 'none';

function openTag(element: Element, attributes: Attributes): string {
  let text = `<${element.name}`;
  if (attributes !== 'none') {
    // By name, so that a template that writes them in another order is no change.
    for (const name of Object.keys(element.attribs).sort()) {
      if (attributes === 'meaning' && !meaningful.has(name)) continue;
      text += ` ${name}="${element.attribs[name].replace(/&/g, '&amp;').replace(/"/g, '&quot;')}"`;
    }
  }
  return `${text}>`;
}

const unclosed = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));

/** Markup in a form that compares well: a line for each block's tag and each text, attributes in order, no comments. */
export function tidyMarkup(root: AnyNode, attributes: Attributes): string {
  const lines: string[] = [];
  let line = '';
  const endLine = () => {
    const text = line.replace(/[\s\u00a0]+/g, ' ').trim();
    if (text !== '') lines.push(text);
    line = '';
  };
  const dropped = (node: Element) =>
    attributes !== 'all' && (node.name === 'script' || node.name === 'style' || node.name === 'template');
  walk(
    root,
    (node) => {
      if (isComment(node)) return false;
      if (isText(node)) line += node.data.replace(/&/g, '&amp;').replace(/</g, '&lt;');
      else if (isTag(node)) {
        if (dropped(node)) return false;
        const block =
          blocks.has(node.name) || cells.has(node.name) || unclosed.has(node.name) || !inline.has(node.name);
        if (block) endLine();
        line += openTag(node, attributes);
        if (block) endLine();
      }
      return true;
    },
    (node) => {
      if (!isTag(node) || unclosed.has(node.name) || dropped(node)) return;
      const block = blocks.has(node.name) || cells.has(node.name) || !inline.has(node.name);
      if (block) endLine();
      line += `</${node.name}>`;
      if (block) endLine();
    },
  );
  endLine();
  return lines.join('\n');
}

const inline = new Set(
  'a abbr b bdi bdo cite code data del dfn em i ins kbd label mark q ruby rp rt s samp small span strong sub sup time u var'.split(
    ' ',
  ),
);
