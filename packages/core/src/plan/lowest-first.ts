/**
 * Pages that are alike may exchange their plans and nothing changes on the whole. So that an answer does not depend on who came
 * first in a search, the lowest page of each kind takes the first of its kind's plans, the next the second, and so on.
 */

/** For each page whose plan it takes; `compare` puts the plans of two pages in order. */
export function lowestFirst(kindOf: Int32Array, kinds: number, compare: (a: number, b: number) => number): Int32Array {
  const takes = Int32Array.from(kindOf.keys());
  const start = new Int32Array(kinds + 1);
  for (const kind of kindOf) start[kind + 1]++;
  for (let kind = 0; kind < kinds; kind++) start[kind + 1] += start[kind];
  const members = new Int32Array(kindOf.length);
  const filled = start.slice(0, kinds);
  kindOf.forEach((kind, page) => (members[filled[kind]++] = page));
  for (let kind = 0; kind < kinds; kind++) {
    const own = members.subarray(start[kind], start[kind + 1]);
    if (own.length === 1) continue;
    const sorted = own.slice().sort((a, b) => compare(a, b) || a - b);
    own.forEach((page, n) => (takes[page] = sorted[n]));
  }
  return takes;
}
