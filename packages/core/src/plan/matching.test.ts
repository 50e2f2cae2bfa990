import { describe, expect, test } from 'vitest';
import { integer, random } from '../simulate/random.ts';
import { type Graph, matchingSize, maximizeMatching, SlotMatching } from './matching.ts';
import { oracleMatchingSize } from './matching.oracle.ts';

function graphOf(vertices: number, edges: readonly (readonly [number, number])[]): Graph {
  const near: number[][] = Array.from({ length: vertices }, () => []);
  for (const [a, b] of edges) {
    near[a]!.push(b);
    near[b]!.push(a);
  }
  const offsets = new Int32Array(vertices + 1);
  near.forEach((list, v) => (offsets[v + 1] = offsets[v]! + list.length));
  return { offsets, targets: Int32Array.from(near.flat()) };
}

function ours(vertices: number, edges: readonly (readonly [number, number])[]): Int32Array {
  const mates = new Int32Array(vertices).fill(-1);
  maximizeMatching(graphOf(vertices, edges), mates, vertices);
  return mates;
}

/** By trying every set of edges. */
function exhaustive(edges: readonly (readonly [number, number])[], used = 0, from = 0): number {
  let best = 0;
  for (let e = from; e < edges.length; e++) {
    const [a, b] = edges[e]!;
    const bits = (1 << a) | (1 << b);
    if ((used & bits) === 0) best = Math.max(best, 1 + exhaustive(edges, used | bits, e + 1));
  }
  return best;
}

function randomEdges(next: () => number, vertices: number, share: number): [number, number][] {
  const edges: [number, number][] = [];
  for (let a = 0; a < vertices; a++) for (let b = a + 1; b < vertices; b++) if (next() < share) edges.push([a, b]);
  return edges;
}

describe('any graph', () => {
  test('is as large as exhaustive search says, for small graphs', () => {
    const next = random(1);
    for (let trial = 0; trial < 400; trial++) {
      const vertices = 2 + integer(next, 7);
      const edges = randomEdges(next, vertices, next());
      expect(matchingSize(ours(vertices, edges), vertices)).toBe(exhaustive(edges));
      expect(oracleMatchingSize(vertices, edges)).toBe(exhaustive(edges));
    }
  });

  test('is as large as an independent blossom algorithm says, and a matching', () => {
    const next = random(2);
    for (let trial = 0; trial < 250; trial++) {
      const vertices = 8 + integer(next, 33);
      const edges = randomEdges(next, vertices, (0.5 + 3 * next()) / vertices);
      const mates = ours(vertices, edges);
      const present = new Set(edges.map(([a, b]) => `${a},${b}`));
      mates.forEach((mate, v) => {
        if (mate < 0) return;
        expect(mates[mate]).toBe(v);
        expect(present.has(`${Math.min(v, mate)},${Math.max(v, mate)}`)).toBe(true);
      });
      expect(matchingSize(mates, vertices)).toBe(oracleMatchingSize(vertices, edges));
    }
  });

  test('a chain of odd cycles', () => {
    // Triangles joined by single edges: every vertex can be matched.
    const edges: [number, number][] = [];
    for (let k = 0; k < 20; k++) {
      const v = 3 * k;
      edges.push([v, v + 1], [v + 1, v + 2], [v, v + 2]);
      if (k > 0) edges.push([v - 1, v]);
    }
    expect(matchingSize(ours(60, edges), 60)).toBe(30);
  });
});

describe('slots one by one', () => {
  test('as large as the general matching after every slot', () => {
    const next = random(3);
    for (let trial = 0; trial < 60; trial++) {
      const tasks = 1 + integer(next, 12);
      const slots = 1 + integer(next, 14);
      const share = next() * 0.6;
      const matching = new SlotMatching(tasks);
      const edges: [number, number][] = [];
      for (let slot = 0; slot < slots; slot++) {
        const fit = Array.from({ length: tasks }, (_, t) => t).filter(() => next() < share);
        edges.push(...fit.map((t): [number, number] => [t, tasks + slot]));
        matching.add(slot, fit);
        expect(matching.size).toBe(oracleMatchingSize(tasks + slots, edges));
      }
      const taken = [...matching.slotOf].filter((slot) => slot >= 0);
      expect(new Set(taken).size).toBe(matching.size);
    }
  });
});
