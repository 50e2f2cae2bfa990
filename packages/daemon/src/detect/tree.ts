/**
 * One tree for every way of selecting: parse5 builds it as the specification of HTML says, in the form that css-select
 * reads; elements carry the few names more that XPath asks for.
 */
import { Element, isTag, isText, Text, type AnyNode, type Document } from 'domhandler';
import { parseFragment, type ParserOptions } from 'parse5';
import { adapter, type Htmlparser2TreeAdapterMap } from 'parse5-htmlparser2-tree-adapter';
import { parseDocument } from './tokenizer.ts';

const html = 'http://www.w3.org/1999/xhtml';

/** An element that XPath can name: HTML elements are in no namespace there, so that `//p` means what people write. */
export class NamedElement extends Element {
  get localName(): string {
    return this.name;
  }
  get namespaceURI(): string | null {
    return this.namespace === undefined || this.namespace === html ? null : this.namespace;
  }
}

/** An object without inherited names, for attributes that strangers name, yet as fast as a literal. */
const Bare = function Bare() {} as unknown as new () => Record<string, string>;
Bare.prototype = Object.create(null);

/**
 * Nodes as `domhandler` has them, each written in one step: its classes set their fields one by one through four constructors, which
 * took a fifth of the time that a changed page takes to be read.
 */
const PlainText = function (this: Text, data: string): void {
  this.parent = null;
  this.prev = null;
  this.next = null;
  this.startIndex = null;
  this.endIndex = null;
  this.data = data;
  this.type = aText.type;
} as unknown as new (data: string) => Text;
PlainText.prototype = Text.prototype;
const aText = new Text('');

const PlainElement = function (this: NamedElement, name: string, attribs: Element['attribs'], namespace: string): void {
  this.parent = null;
  this.prev = null;
  this.next = null;
  this.startIndex = null;
  this.endIndex = null;
  this.children = [];
  this.name = name;
  this.attribs = attribs;
  this.type = (name === 'script' ? aScript : name === 'style' ? aStyle : anElement).type;
  this.namespace = namespace;
} as unknown as new (name: string, attribs: Element['attribs'], namespace: string) => NamedElement;
PlainElement.prototype = NamedElement.prototype;
const [anElement, aScript, aStyle] = [new Element('p', {}), new Element('script', {}), new Element('style', {})];

const options: ParserOptions<Htmlparser2TreeAdapterMap> = {
  // Pages are read as a browser without scripts shows them: what stands in <noscript> is text of the page.
  scriptingEnabled: false,
  treeAdapter: {
    ...adapter,
    createElement(tagName, namespaceURI, attributes) {
      const values = new Bare();
      for (const attribute of attributes) values[attribute.name] = attribute.value;
      return new PlainElement(tagName, values, namespaceURI);
    },
    createTextNode: (data) => new PlainText(data),
    insertText(parent, text) {
      const last = parent.children[parent.children.length - 1];
      if (last && isText(last)) last.data += text;
      else adapter.appendChild(parent, new PlainText(text));
    },
    /** A second <html> or <body> brings more attributes. */
    adoptAttributes(element, attributes) {
      for (const { name, value } of attributes) element.attribs[name] ??= value;
    },
  },
};

export type Tree = Document;

export function parseHtml(source: string): Tree {
  return parseDocument(source, options);
}

export function parseHtmlPart(source: string): Tree {
  return parseFragment(source, options);
}

/** Walks in document order without recursion, so that a page nested a hundred thousand deep costs no stack. */
export function walk(root: AnyNode, enter: (node: AnyNode) => boolean | void, leave?: (node: AnyNode) => void): void {
  let node: AnyNode = root;
  for (;;) {
    const into = enter(node) !== false;
    const children = 'children' in node ? node.children : undefined;
    if (into && children && children.length > 0) {
      node = children[0];
      continue;
    }
    leave?.(node);
    while (node !== root && !node.next) {
      node = node.parent!;
      leave?.(node);
    }
    if (node === root) return;
    node = node.next!;
  }
}

/** The text inside a node, as it stands. */
export function textInside(node: AnyNode): string {
  let text = '';
  walk(node, (inner) => {
    if (isText(inner)) text += inner.data;
  });
  return text;
}

export function elementNamed(root: AnyNode, name: string): Element | undefined {
  let found: Element | undefined;
  walk(root, (node) => {
    if (found) return false;
    if (isTag(node) && node.name === name) found = node;
    return !found;
  });
  return found;
}

export function titleOf(root: AnyNode): string | undefined {
  const title = elementNamed(root, 'title');
  const text = title && textInside(title).replace(/\s+/g, ' ').trim();
  return text ? text.slice(0, 300) : undefined;
}
