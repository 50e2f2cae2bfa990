/**
 * Pages by score, the least first, `tied` among equals. Mostly the first few are wanted of a million, so they are put in order
 * batch by batch, each four times the last.
 */
export function* leastFirst(
  pages: readonly number[],
  score: Float64Array,
  tied: (a: number, b: number) => number,
): Generator<number, void, void> {
  const levels = Float64Array.from(pages, (page) => score[page]).sort();
  for (let from = 0, to = 0, size = 1000; from < levels.length; from = to, size *= 4) {
    to = Math.min(levels.length, from + size);
    const high = levels[to - 1];
    while (to < levels.length && levels[to] === high) to++;
    const above = from === 0 ? -Infinity : levels[from - 1];
    const batch = pages.filter((page) => score[page] > above && score[page] <= high);
    yield* batch.sort((a, b) => score[a] - score[b] || tied(a, b));
  }
}
