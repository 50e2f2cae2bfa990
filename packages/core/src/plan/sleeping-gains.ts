/**
 * The gains of pages that change with one probability: u ← u·f + a from look to look, so u after d instants is
 * a·(1 − f^d) ⁄ (1 − f), and it is known beforehand when it reaches a level. Pages below the level sleep in a calendar until
 * then and cost nothing; the awake are few when looks are few.
 *
 * Invariant: every page that sleeps has u below `floor`. The level is chosen by a sample so that about a dozen times C
 * pages stay awake; when the C-th greatest gain falls to it, all pages are woken and put to sleep anew (`all`, `settle`).
 * Waking all costs O(pages), so it should happen once in dozens of instants: a share of the C-th gain would not do, since
 * gains that saturate crowd together just below it.
 */
import type { Running } from './running-gains.ts';

/** How many pages stay awake for each that is looked at in an instant. */
const awakePerLook = 12;
/** Enough to place the floor within a few per cent of the wanted number of pages. */
const sampleSize = 4096;

export function sleepingGains(pages: Int32Array, factor: Float64Array, add: Float64Array, instants: number): Running {
  const size = pages.length;
  const value = new Float64Array(size);
  /** The instant of the last look. */
  const since = new Int32Array(size);
  /** Pages by the instant at which they wake, in chains. */
  const first = new Int32Array(instants + 2).fill(-1);
  const chain = new Int32Array(size);
  const up = new Uint8Array(size).fill(1);
  const list = Int32Array.from({ length: size }, (_, i) => i);
  let now = 0;

  const after = (i: number, steps: number): number => {
    const loss = 1 - factor[i];
    // Through logarithms: a factor next to 1 must not cost the digits that decide ties.
    return loss === 0 ? add[i] * steps : (add[i] * -Math.expm1(steps * Math.log1p(-loss))) / loss;
  };

  /** The first number of instants after which the gain is at least the level. */
  const stepsTo = (i: number, level: number): number => {
    if (add[i] >= level) return 1;
    if (factor[i] === 1) return add[i] > 0 ? Math.floor(level / add[i]) : Infinity;
    const share = (level * (1 - factor[i])) / add[i];
    // One instant early at most: rounding must not let a page oversleep.
    return share < 1 ? Math.max(1, Math.floor(Math.log1p(-share) / Math.log(factor[i])) - 1) : Infinity;
  };

  const sleep = (i: number): void => {
    up[i] = 0;
    const wake = since[i] + stepsTo(i, awake.floor);
    // Later than the epoch, or never: it stays down until all are woken.
    if (wake > instants) return;
    chain[i] = first[Math.max(wake, now + 1)];
    first[Math.max(wake, now + 1)] = i;
  };

  /** The level above which about so many gains are, all of them awake. */
  const levelOf = (wanted: number): number => {
    const sample = new Float64Array(sampleSize);
    for (let n = 0; n < sampleSize; n++) sample[n] = value[Math.floor((n * size) / sampleSize)];
    return sample.sort()[Math.max(0, sampleSize - 1 - Math.ceil((wanted / size) * sampleSize))];
  };

  const awake = {
    list,
    count: size,
    floor: 0,
    all: () => {
      first.fill(-1);
      for (let i = 0; i < size; i++) {
        list[i] = i;
        if (!up[i]) value[i] = after(i, now - since[i]);
      }
      up.fill(1);
      awake.count = size;
      awake.floor = 0;
    },
    settle: (last: number, capacity: number) => {
      const wanted = Math.max(sampleSize, awakePerLook * capacity);
      if (last <= 0 || awake.count < 2 * wanted) return;
      if (awake.floor > 0) awake.all();
      awake.floor = Math.min(levelOf(wanted), last);
      let kept = 0;
      for (let n = 0; n < awake.count; n++) {
        const i = list[n];
        if (value[i] < awake.floor) sleep(i);
        else list[kept++] = i;
      }
      awake.count = kept;
    },
  };

  return {
    pages,
    value,
    awake,
    advance: () => {
      now++;
      let kept = 0;
      for (let n = 0; n < awake.count; n++) {
        const i = list[n];
        if (since[i] === now - 1 && awake.floor > 0 && stepsTo(i, awake.floor) > 1) {
          // Looked at in the last instant: down until it is worth something again.
          sleep(i);
          continue;
        }
        value[i] = value[i] * factor[i] + add[i];
        list[kept++] = i;
      }
      awake.count = kept;
      for (let i = first[now]; i >= 0; i = chain[i]) {
        up[i] = 1;
        value[i] = after(i, now - since[i]);
        list[awake.count++] = i;
      }
    },
    change: () => {},
    look: (i) => {
      value[i] = 0;
      since[i] = now;
    },
  };
}
