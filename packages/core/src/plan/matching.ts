/**
 * Maximum matching: in any graph by Edmonds' blossoms, and slot by slot in a bipartite graph that grows.
 *
 * General graphs: phases of a breadth-first forest grown from all unmatched vertices at once; an edge between two trees
 * is an augmenting path and retires both trees for the phase, an edge within a tree is a blossom, contracted by union-find.
 * Invariant: a phase that augments nothing has built a complete Hungarian forest, so by Berge the matching is maximum. Cost:
 * O(E·α) a phase; few phases when started from a good matching.
 *
 * Growing bipartite graphs: the alternating tree of a slot that finds no free task is closed, for later slots too, so its
 * tasks are never visited again; all failures together cost O(E).
 */

/** Neighbours of vertex v are `targets[offsets[v]] … targets[offsets[v + 1] − 1]`. */
export interface Graph {
  readonly offsets: Int32Array;
  readonly targets: Int32Array;
}

/**
 * Raises a matching (`mates[v]`, −1 where unmatched) of the first `vertices` vertices in place, to a maximum one or to one of
 * `enough` edges; returns its size.
 */
export function maximizeMatching(graph: Graph, mates: Int32Array, vertices: number, enough = Infinity): number {
  const forest = new Forest(graph, mates, vertices);
  let size = matchingSize(mates, vertices);
  while (size < enough) {
    const gained = forest.phase(enough - size);
    if (gained === 0) break;
    size += gained;
  }
  return size;
}

export function matchingSize(mates: Int32Array, vertices: number): number {
  let ends = 0;
  for (let v = 0; v < vertices; v++) if (mates[v]! >= 0) ends++;
  return ends / 2;
}

const outer = 1;
const inner = 2;

class Forest {
  readonly #graph: Graph;
  readonly #mates: Int32Array;
  readonly #vertices: number;
  readonly #label: Uint8Array;
  readonly #before: Int32Array;
  readonly #base: Int32Array;
  readonly #root: Int32Array;
  readonly #retired: Uint8Array;
  readonly #mark: Int32Array;
  readonly #queue: Int32Array;
  #queued = 0;
  #tick = 0;

  constructor(graph: Graph, mates: Int32Array, vertices: number) {
    this.#graph = graph;
    this.#mates = mates;
    this.#vertices = vertices;
    this.#label = new Uint8Array(vertices);
    this.#before = new Int32Array(vertices);
    this.#base = new Int32Array(vertices);
    this.#root = new Int32Array(vertices);
    this.#retired = new Uint8Array(vertices);
    this.#mark = new Int32Array(vertices);
    this.#queue = new Int32Array(vertices);
  }

  /** Grows the forest once; how many augmenting paths it found, at most `wanted`. */
  phase(wanted: number): number {
    this.#plantRoots();
    let found = 0;
    for (let head = 0; head < this.#queued && found < wanted; head++) {
      const u = this.#queue[head]!;
      if (this.#retired[this.#root[u]!]) continue;
      if (this.#scan(u)) found++;
    }
    return found;
  }

  #plantRoots(): void {
    this.#label.fill(0);
    this.#retired.fill(0);
    this.#queued = 0;
    for (let v = 0; v < this.#vertices; v++) {
      this.#base[v] = v;
      this.#before[v] = -1;
      if (this.#mates[v]! >= 0) continue;
      this.#label[v] = outer;
      this.#root[v] = v;
      this.#queue[this.#queued++] = v;
    }
  }

  /** Looks at the edges of an outer vertex; true when one of them completed an augmenting path. */
  #scan(u: number): boolean {
    const { offsets, targets } = this.#graph;
    for (let e = offsets[u]!; e < offsets[u + 1]!; e++) {
      const v = targets[e]!;
      if (v >= this.#vertices) continue;
      if (this.#label[v] === 0) this.#grow(u, v);
      else if (this.#label[v] === outer && !this.#retired[this.#root[v]!]) {
        if (this.#root[v] !== this.#root[u]) {
          this.#augment(u, v);
          return true;
        }
        if (this.#find(u) !== this.#find(v)) this.#contract(u, v);
      }
    }
    return false;
  }

  #grow(u: number, v: number): void {
    const w = this.#mates[v]!;
    this.#label[v] = inner;
    this.#label[w] = outer;
    this.#before[v] = u;
    this.#root[v] = this.#root[w] = this.#root[u]!;
    this.#queue[this.#queued++] = w;
  }

  #augment(u: number, v: number): void {
    this.#retired[this.#root[u]!] = 1;
    this.#retired[this.#root[v]!] = 1;
    this.#flip(u);
    this.#flip(v);
    this.#mates[u] = v;
    this.#mates[v] = u;
  }

  /** Frees an outer vertex by exchanging matched and unmatched edges on its way to the root. */
  #flip(u: number): void {
    let x = this.#mates[u]!;
    while (x >= 0) {
      const w = this.#before[x]!;
      const next = this.#mates[w]!;
      this.#mates[x] = w;
      this.#mates[w] = x;
      x = next;
    }
  }

  #contract(u: number, v: number): void {
    const base = this.#commonBase(u, v);
    this.#shrink(u, v, base);
    this.#shrink(v, u, base);
  }

  #shrink(from: number, across: number, base: number): void {
    let [x, y] = [from, across];
    while (this.#find(x) !== base) {
      this.#before[x] = y;
      y = this.#mates[x]!;
      if (this.#label[y] === inner) {
        this.#label[y] = outer;
        this.#queue[this.#queued++] = y;
      }
      if (this.#find(x) === x) this.#base[x] = base;
      if (this.#find(y) === y) this.#base[y] = base;
      x = this.#before[y]!;
    }
  }

  #commonBase(u: number, v: number): number {
    this.#tick++;
    let [x, y] = [u, v];
    for (;;) {
      if (x >= 0) {
        x = this.#find(x);
        if (this.#mark[x] === this.#tick) return x;
        this.#mark[x] = this.#tick;
        const mate = this.#mates[x]!;
        x = mate >= 0 ? this.#before[mate]! : -1;
      }
      [x, y] = [y, x];
    }
  }

  #find(v: number): number {
    let x = v;
    while (this.#base[x] !== x) {
      this.#base[x] = this.#base[this.#base[x]!]!;
      x = this.#base[x]!;
    }
    return x;
  }
}

/** A maximum matching of tasks with slots that are added one by one. */
export class SlotMatching {
  /** The slot of each task, −1 where it has none. */
  readonly slotOf: Int32Array;
  size = 0;
  readonly #tasksOf = new Map<number, readonly number[]>();
  readonly #closed: Uint8Array;
  readonly #seen: Int32Array;
  readonly #from: Int32Array;
  #tick = 0;

  constructor(tasks: number) {
    this.slotOf = new Int32Array(tasks).fill(-1);
    this.#closed = new Uint8Array(tasks);
    this.#seen = new Int32Array(tasks);
    this.#from = new Int32Array(tasks);
  }

  /** Adds a slot and the tasks that fit it; true when the matching grew. */
  add(slot: number, tasks: readonly number[]): boolean {
    this.#tasksOf.set(slot, tasks);
    this.#tick++;
    const slots = [slot];
    const visited: number[] = [];
    for (let head = 0; head < slots.length; head++) {
      const here = slots[head]!;
      for (const task of this.#tasksOf.get(here)!) {
        if (this.#closed[task] || this.#seen[task] === this.#tick) continue;
        this.#seen[task] = this.#tick;
        this.#from[task] = here;
        visited.push(task);
        if (this.slotOf[task]! < 0) {
          this.#take(task, slot);
          return true;
        }
        slots.push(this.slotOf[task]!);
      }
    }
    for (const task of visited) this.#closed[task] = 1;
    return false;
  }

  #take(last: number, first: number): void {
    const taskOf = new Map<number, number>();
    for (let task = 0; task < this.slotOf.length; task++) {
      if (this.slotOf[task]! >= 0 && this.#seen[task] === this.#tick) taskOf.set(this.slotOf[task]!, task);
    }
    let task = last;
    for (;;) {
      const slot = this.#from[task]!;
      this.slotOf[task] = slot;
      if (slot === first) break;
      task = taskOf.get(slot)!;
    }
    this.size++;
  }
}
