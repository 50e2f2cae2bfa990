/** XPath 3.1 on the tree of the page. */
import { isCDATA, isComment, isTag, isText, type AnyNode, type Element } from 'domhandler';
import fontoxpath, { type IDomFacade } from 'fontoxpath';
import { textInside } from './tree.ts';

interface AttributeNode {
  readonly nodeType: 2;
  readonly name: string;
  readonly nodeName: string;
  readonly localName: string;
  readonly namespaceURI: null;
  readonly prefix: string;
  readonly value: string;
  readonly ownerElement: Element;
}

function attributesOf(element: Element): AttributeNode[] {
  return Object.entries(element.attribs).map(([name, value]) => ({
    nodeType: 2,
    name,
    nodeName: name,
    localName: name,
    namespaceURI: null,
    prefix: '',
    value,
    ownerElement: element,
  }));
}

const isAttribute = (node: unknown): node is AttributeNode => (node as AttributeNode).nodeType === 2;
const visible = (node: AnyNode) => isTag(node) || isText(node) || isComment(node) || isCDATA(node);

function step(node: AnyNode, direction: 'next' | 'prev'): AnyNode | null {
  let other = node[direction];
  while (other && !visible(other)) other = other[direction];
  return other;
}

const facade = {
  getAllAttributes: (node: Element) => attributesOf(node),
  getAttribute: (node: Element, name: string) => node.attribs[name] ?? null,
  getChildNodes: (node: AnyNode) => ('children' in node ? node.children.filter(visible) : []),
  getData: (node: AnyNode | AttributeNode) => (isAttribute(node) ? node.value : 'data' in node ? node.data : ''),
  getFirstChild: (node: AnyNode) => ('children' in node && node.children.find(visible)) || null,
  getLastChild: (node: AnyNode) => ('children' in node && node.children.findLast(visible)) || null,
  getNextSibling: (node: AnyNode) => step(node, 'next'),
  getParentNode: (node: AnyNode | AttributeNode) => (isAttribute(node) ? node.ownerElement : node.parent),
  getPreviousSibling: (node: AnyNode) => step(node, 'prev'),
} as unknown as IDomFacade;

export type XPathResult = { readonly nodes: readonly (AnyNode | string)[] } | { readonly wrong: string };

export function xpath(root: AnyNode, expression: string): XPathResult {
  try {
    const found: unknown = fontoxpath.evaluateXPath(
      expression,
      root as never,
      facade,
      {},
      fontoxpath.evaluateXPath.ALL_RESULTS_TYPE,
    );
    const nodes = (found as unknown[]).map((item) => {
      if (item === null || typeof item !== 'object') return String(item);
      if (isAttribute(item)) return item.value;
      const node = item as AnyNode;
      return isTag(node) ? node : textInside(node);
    });
    return { nodes };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { wrong: message.split('\n').find((line) => /XP[SDT]|error|Error/.test(line)) ?? message.split('\n')[0] };
  }
}
