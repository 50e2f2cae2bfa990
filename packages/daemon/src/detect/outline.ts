/**
 * A page as a list of its parts, each with a selector that finds it again: what a person chooses from when only a part of
 * a page is to be watched. Text only; nothing of the page's own markup is passed on.
 */
import { isTag, isText, type Element } from 'domhandler';
import { visibleText } from './text.ts';
import { type Tree, parseHtml, walk } from './tree.ts';

export interface OutlineNode {
  readonly depth: number;
  readonly tag: string;
  readonly selector: string;
  /** How many elements the selector matches. */
  readonly matches: number;
  readonly text: string;
}

/** A person does not choose from more. */
const nodesMax = 1_500;
const textCharactersMax = 240;
const skipped = new Set('script style noscript template svg head iframe object embed canvas video audio'.split(' '));
const transparent = new Set('html body span b i em strong small a font u s sup sub abbr time code br img'.split(' '));
/** Names that style sheets and scripts make up anew at each build say nothing tomorrow. */
const madeUp = /\d{3,}|[A-Za-z0-9]{16,}|^(css|sc|jsx|svelte)-|__|[^\w-]/;

export function outline(source: string): readonly OutlineNode[] {
  const tree = parseHtml(source);
  const counts = countNames(tree);
  const nodes: OutlineNode[] = [];
  const selectorOf = selectors(tree, counts);
  /** The boxes of the list that the walk is inside of. */
  const inside: Element[] = [];
  walk(
    tree,
    (node) => {
      if (!isTag(node)) return true;
      if (skipped.has(node.name) || nodes.length >= nodesMax) return false;
      const selector = selectorOf(node);
      if (transparent.has(node.name) && !node.attribs['id']) return true;
      const text = visibleText(node).replaceAll('\n', ' · ').slice(0, textCharactersMax);
      if (text === '') return true;
      // A box that holds nothing but another box is the same choice twice.
      const only = node.children.filter((child) => isTag(child) || (isText(child) && child.data.trim() !== ''));
      const inner = only[0];
      if (only.length === 1 && inner && isTag(inner) && !transparent.has(inner.name) && !node.attribs['id'])
        return true;
      nodes.push({
        depth: inside.length,
        tag: node.name,
        selector,
        matches: counts.get(selector) ?? 1,
        text,
      });
      inside.push(node);
      return true;
    },
    (node) => {
      if (inside.at(-1) === node) inside.pop();
    },
  );
  return nodes;
}

/** Gives each element of a tree its selector; parents are to be asked for before their children. */
export function selectors(tree: Tree, counts = countNames(tree)): (element: Element) => string {
  const known = new Map<Element, string>();
  return (element) => {
    const selector = shortest(element, counts, known);
    known.set(element, selector);
    return selector;
  };
}

function countNames(tree: Tree): Map<string, number> {
  const counts = new Map<string, number>();
  const count = (name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);
  walk(tree, (node) => {
    if (!isTag(node)) return true;
    count(node.name);
    const id = idOf(node);
    if (id) count(`#${id}`);
    for (const name of classesOf(node)) count(`${node.name}.${name}`);
    return true;
  });
  return counts;
}

const idOf = (element: Element): string | undefined => {
  const id = element.attribs['id'];
  return id && !madeUp.test(id) && /^[A-Za-z]/.test(id) ? id : undefined;
};

const classesOf = (element: Element): readonly string[] =>
  (element.attribs['class'] ?? '')
    .split(/\s+/)
    .filter((name) => name !== '' && /^[A-Za-z]/.test(name) && !madeUp.test(name));

/** The shortest name that means this element alone; else its place below its parent. */
function shortest(element: Element, counts: ReadonlyMap<string, number>, known: ReadonlyMap<Element, string>): string {
  const id = idOf(element);
  if (id && counts.get(`#${id}`) === 1) return `#${id}`;
  const own = classesOf(element).find((name) => counts.get(`${element.name}.${name}`) === 1);
  if (own) return `${element.name}.${own}`;
  if (counts.get(element.name) === 1) return element.name;
  const { parent } = element;
  if (!parent || !isTag(parent)) return element.name;
  const alike = parent.children.filter((child) => isTag(child) && child.name === element.name);
  const place = alike.length > 1 ? `:nth-of-type(${alike.indexOf(element) + 1})` : '';
  return `${known.get(parent) ?? parent.name} > ${element.name}${place}`;
}
