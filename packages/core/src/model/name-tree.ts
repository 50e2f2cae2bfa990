/**
 * Pages whose names begin alike, within a folder: people go through lists of pages in the order of their names, and what
 * belongs together is often named alike, with or without a joint in the name.
 *
 * A tree of beginnings (a radix tree): a leaf holds up to `narrow` pages and is split by the letter in which they differ
 * when one more comes. A page has two groups here, the leaf it is in and the widest beginning shared by at most `wide` pages; a group that
 * would hold the whole folder is left out, as folders are groups of their own (kin.ts).
 * Cost: O(letters of the name) a page; a page changes its groups a few times while its folder grows, never when it shrinks.
 */

/** Sizes at which what pages of a sweep through a list have in common is still told apart from chance. */
const narrow = 16;
const wide = 128;

const ended = -1;

type Leaf = number[];

/** Pages whose names agree in the first `depth` letters and part there. */
interface Branch {
  readonly depth: number;
  count: number;
  readonly children: Map<number, Node>;
}

/** A page alone takes no list. */
type Node = number | Leaf | Branch;

export class NameTree {
  readonly #nameOf: (page: number) => string;
  readonly #folders = new Map<string, Node>();

  /** `nameOf` gives the whole name of any page that was added, and always the same. */
  constructor(nameOf: (page: number) => string) {
    this.#nameOf = nameOf;
  }

  /** Takes the page in; returns the pages that have other groups now, this one not among them. */
  add(page: number): readonly number[] {
    const moved: number[] = [];
    const name = this.#nameOf(page);
    const folder = folderOf(name);
    this.#folders.set(folder, this.#with(this.#folders.get(folder), page, name, folder.length, moved));
    return moved;
  }

  remove(page: number): void {
    const name = this.#nameOf(page);
    const folder = folderOf(name);
    const left = without(this.#folders.get(folder), page, name);
    if (left === undefined) this.#folders.delete(folder);
    else this.#folders.set(folder, left);
  }

  /** Keys of the page's groups, the narrow one first. */
  alike(page: number): readonly string[] {
    const name = this.#nameOf(page);
    const folder = folderOf(name);
    let node = this.#folders.get(folder);
    let place = rootOf(folder);
    while (isBranch(node)) {
      place = below(node, place, name);
      node = node.children.get(letter(name, node.depth));
    }
    return keysAt(place, name);
  }

  /** The same for all pages, those of a leaf together. */
  everyLeaf(visit: (pages: readonly number[], alike: readonly string[]) => void): void {
    const walk = (node: Node, place: Place): void => {
      if (typeof node === 'number') visit([node], keysAt(place, this.#nameOf(node)));
      else if (Array.isArray(node)) visit(node, keysAt(place, this.#nameOf(node[0]!)));
      else {
        const next = below(node, place, this.#nameOf(somePage(node)));
        for (const child of node.children.values()) walk(child, next);
      }
    };
    for (const [folder, node] of this.#folders) walk(node, rootOf(folder));
  }

  #with(node: Node | undefined, page: number, name: string, depth: number, moved: number[]): Node {
    if (node === undefined) return page;
    if (typeof node === 'number') return [node, page];
    if (Array.isArray(node)) {
      node.push(page);
      // The same name many times has nothing to part by.
      const stuck = node.length > narrow + 1 && this.#nameOf(node[0]!) === name;
      return node.length > narrow && !stuck ? this.#split(node, page, depth, moved) : node;
    }
    const parts = this.#parting(node, name, depth);
    if (parts < node.depth) {
      // The name parts from the others earlier than they do from each other.
      const other = this.#nameOf(somePage(node));
      const above: Branch = { depth: parts, count: node.count + 1, children: new Map() };
      above.children.set(letter(other, parts), node).set(letter(name, parts), page);
      if (node.count <= wide) gather(node, moved);
      return above;
    }
    node.count++;
    if (node.count === wide + 1) gather(node, moved);
    const next = letter(name, node.depth);
    node.children.set(next, this.#with(node.children.get(next), page, name, node.depth + 1, moved));
    return node;
  }

  /** How far the name agrees with a branch's, from `depth` on. */
  #parting(branch: Branch, name: string, depth: number): number {
    const other = this.#nameOf(somePage(branch));
    let at = depth;
    while (at < branch.depth && letter(name, at) === letter(other, at)) at++;
    return at;
  }

  #split(leaf: Leaf, page: number, depth: number, moved: number[]): Node {
    const names = leaf.map(this.#nameOf);
    let at = depth;
    while (at < names[0]!.length && names.every((name) => letter(name, at) === letter(names[0]!, at))) at++;
    if (names.every((name) => letter(name, at) === ended)) return leaf;
    const branch: Branch = { depth: at, count: leaf.length, children: new Map() };
    leaf.forEach((member, i) => {
      const next = letter(names[i]!, at);
      const known = branch.children.get(next);
      if (known === undefined) branch.children.set(next, member);
      else if (typeof known === 'number') branch.children.set(next, [known, member]);
      else (known as Leaf).push(member);
      if (member !== page) moved.push(member);
    });
    return branch;
  }
}

/** A place in the tree: the letters that lead there, and the widest beginning so far that is a group. */
interface Place {
  readonly isRoot: boolean;
  readonly letters: number;
  /** Undefined while more pages than `wide` share the beginning; empty where that is the whole folder. */
  readonly widest: string | undefined;
}

const rootOf = (folder: string): Place => ({ isRoot: true, letters: folder.length, widest: undefined });

/** The place of a child of the branch; `name` is that of any page in the branch. */
function below(branch: Branch, place: Place, name: string): Place {
  const group = branch.count > wide ? undefined : place.isRoot ? '' : name.slice(0, branch.depth);
  return { isRoot: false, letters: branch.depth + 1, widest: place.widest ?? group };
}

function keysAt({ isRoot, letters, widest }: Place, name: string): readonly string[] {
  const keys = isRoot ? [] : [`few like ${name.slice(0, letters)}`];
  if (widest) keys.push(`like ${widest}`);
  return keys;
}

function folderOf(name: string): string {
  return name.slice(0, name.lastIndexOf('/', name.length - 2) + 1);
}

/** A name that ends here parts from all that go on. */
function letter(name: string, at: number): number {
  return at < name.length ? name.charCodeAt(at) : ended;
}

function isBranch(node: Node | undefined): node is Branch {
  return typeof node === 'object' && !Array.isArray(node);
}

function somePage(branch: Branch): number {
  let node: Node = branch;
  while (isBranch(node)) node = node.children.values().next().value!;
  return typeof node === 'number' ? node : node[0]!;
}

function gather(node: Node, into: number[]): void {
  if (typeof node === 'number') into.push(node);
  else if (Array.isArray(node)) for (const page of node) into.push(page);
  else for (const child of node.children.values()) gather(child, into);
}

function without(node: Node | undefined, page: number, name: string): Node | undefined {
  if (node === undefined || typeof node === 'number') return node === page ? undefined : node;
  if (Array.isArray(node)) {
    const left = node.filter((other) => other !== page);
    return left.length > 1 ? left : left[0];
  }
  const next = letter(name, node.depth);
  const left = without(node.children.get(next), page, name);
  if (left === undefined) node.children.delete(next);
  else node.children.set(next, left);
  node.count--;
  return node.children.size > 0 ? node : undefined;
}
