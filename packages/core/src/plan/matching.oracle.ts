/**
 * A second, independent maximum matching for tests: one root at a time, blossoms as an explicit base for every vertex, all
 * bases relabelled at each contraction. O(V⁴), written for clarity.
 */
export function oracleMatchingSize(vertices: number, edges: readonly (readonly [number, number])[]): number {
  const near: number[][] = Array.from({ length: vertices }, () => []);
  for (const [a, b] of edges) {
    near[a]!.push(b);
    near[b]!.push(a);
  }
  const mate: (number | undefined)[] = Array.from({ length: vertices });
  let size = 0;
  for (let root = 0; root < vertices; root++) {
    if (mate[root] !== undefined) continue;
    const path = findPath(root, near, mate);
    if (!path) continue;
    size++;
    for (let k = 0; k < path.length; k += 2) {
      mate[path[k]!] = path[k + 1]!;
      mate[path[k + 1]!] = path[k]!;
    }
  }
  return size;
}

/** An augmenting path from a root as a list of vertices, by walking even vertices and shrinking odd cycles. */
function findPath(
  root: number,
  near: readonly number[][],
  mate: readonly (number | undefined)[],
): number[] | undefined {
  const base = near.map((_, v) => v);
  // For every even vertex, one alternating path of even length from the root to it.
  const even = new Map<number, number[]>([[root, [root]]]);
  const queue = [root];
  const odd = new Set<number>();
  for (const u of queue) {
    for (const v of near[u]!) {
      if (base[u] === base[v] || mate[u] === v) continue;
      const toU = even.get(u)!;
      if (even.has(v)) {
        shrink(toU, even.get(v)!, { base, even, queue });
        continue;
      }
      if (odd.has(v)) continue;
      const w = mate[v];
      if (w === undefined) return [...toU, v];
      odd.add(v);
      even.set(w, [...toU, v, w]);
      queue.push(w);
    }
  }
  return undefined;
}

function shrink(
  left: readonly number[],
  right: readonly number[],
  state: { base: number[]; even: Map<number, number[]>; queue: number[] },
): void {
  const { base, even, queue } = state;
  const leftBases = left.map((v) => base[v]!);
  // The last base the two paths share, at an even place of both.
  let stem = 0;
  for (let k = 0; k < right.length; k += 2) if (leftBases.includes(base[right[k]!]!)) stem = base[right[k]!]!;
  const inBlossom = (path: readonly number[]) => path.slice(path.findLastIndex((v) => base[v] === stem) + 1);
  const [leftPart, rightPart] = [inBlossom(left), inBlossom(right)];
  const open = (path: readonly number[], part: readonly number[], across: readonly number[]) => {
    part.forEach((v) => {
      if (even.has(v)) return;
      const place = path.indexOf(v);
      // Around the cycle the other way: along the other path, over the bridge, back down to v.
      even.set(v, [...across, ...path.slice(place).reverse()]);
      queue.push(v);
    });
  };
  open(left, leftPart, right);
  open(right, rightPart, left);
  const inside = new Set([...leftPart, ...rightPart].map((v) => base[v]!));
  inside.add(stem);
  for (let v = 0; v < base.length; v++) if (inside.has(base[v]!)) base[v] = stem;
}
