/**
 * g(last look, now) of many pages, kept up to date from instant to instant (WIC §3.2: "can be computed in constant time
 * from its value in the previous instant"). Pages that are updated by the same rule live together in one `Running` with
 * typed arrays; each instant is `advance()` and then `change(local, π)` for every page that may change at it.
 *
 *   rule        for                                                       a page and instant    state
 *   constant    one π, no memory of counts, factor urgency                O(1) while awake      36 bytes
 *   table       one π, anything else that depends on the gap alone        O(1), no call         12 bytes + a shared table
 *   factor      varying π, append or overwrite, factor urgency            O(1) while above 0    30 bytes
 *   window      varying π, append or overwrite, cut off at a delay        O(1)                  24 (width + 1) bytes
 *   count       varying or one π, `changes` life, factor urgency          O(count)              8 count bytes
 *   rows        varying π, free-form urgency or sparse windows            O(live changes)       8 (count + 1) a live change
 *
 * Numerically delicate: `window` subtracts what leaves, so an empty window is set to exactly 0; all others only add and
 * multiply numbers that are not negative.
 */
import {
  type Collected,
  type InstantUrgency,
  changesToForget,
  cutoffOf,
  decayOf,
  gainsFrom,
  momentsOf,
  oneMoreChange,
  urgencyAfter,
} from '../loss/capture.ts';
import type { Life } from '../loss/utility.ts';
import { sleepingGains } from './sleeping-gains.ts';

export interface Running {
  /** The page of each local index, ascending. */
  readonly pages: Int32Array;
  readonly value: Float64Array;
  /** What a unit of `value` is worth now; 1 where it is not said. */
  readonly unit?: number;
  advance(): void;
  change(local: number, chance: number): void;
  look(local: number): void;
  /** Where only some pages can matter: their locals, in no order. The others are below `floor`, or 0. */
  readonly awake?: Awake;
}

export interface Awake {
  readonly list: Int32Array;
  readonly count: number;
  readonly floor: number;
  /** Afterwards all pages whose value is above 0 are awake. */
  all(): void;
  /** The C-th greatest value of the instant, and C: pages far below it may sleep. */
  settle(last: number, capacity: number): void;
}

/** What a look at the page is worth now. */
export function worthOf({ value, unit = 1 }: Running, local: number): number {
  return value[local] * unit;
}

export interface Valued {
  readonly weight: number;
  readonly life: Life;
  readonly urgency: InstantUrgency;
}

export type Rule = 'constant' | 'table' | 'factor' | 'window' | 'count' | 'rows';

export type Feed = 'constant' | 'sparse' | 'dense';

export function ruleOf(page: Valued, feed: Feed): Rule {
  const factor = decayOf(page.urgency) !== undefined;
  const forget = changesToForget(page.life);
  const simple = forget === 1 || forget === Infinity;
  const cut = cutoffOf(page) < Infinity;
  if (factor && !simple && !cut) return 'count';
  if (feed === 'constant') return factor && simple ? 'constant' : 'table';
  if (factor && simple) return cut ? (feed === 'sparse' ? 'rows' : 'window') : 'factor';
  return 'rows';
}

/** u ← u·f + a, until the window is full. Without windows most pages sleep: see sleeping-gains.ts. */
export function constantGains(pages: Int32Array, all: readonly Collected[], instants: number): Running {
  const size = pages.length;
  const factor = new Float64Array(size);
  const add = new Float64Array(size);
  let cut = false;
  for (let i = 0; i < size; i++) {
    const page = all[pages[i]];
    const chance = page.change as number;
    factor[i] = (decayOf(page.urgency) ?? 1) * (changesToForget(page.life) === 1 ? 1 - chance : 1);
    add[i] = page.weight * chance;
    cut ||= cutoffOf(page) < Infinity;
  }
  if (!cut) return sleepingGains(pages, factor, add, instants);
  const value = new Float64Array(size);
  const width = Float64Array.from(pages, (page) => cutoffOf(all[page]) + 1);
  const left = width.slice();
  return {
    pages,
    value,
    advance: () => {
      for (let i = 0; i < size; i++) {
        if (left[i]-- > 0) value[i] = value[i] * factor[i] + add[i];
      }
    },
    change: () => {},
    look: (i) => {
      value[i] = 0;
      left[i] = width[i];
    },
  };
}

/** The gain is a function of the gap; pages of one law share its table. */
export function tableGains(pages: Int32Array, all: readonly Collected[], instants: number): Running {
  const value = new Float64Array(pages.length);
  const scale = new Float64Array(pages.length);
  const gap = new Int32Array(pages.length);
  const tables = new Map<string, Float64Array>();
  const custom = new Map<unknown, number>();
  const table = Array.from(pages, (id, i) => {
    const page = all[id];
    const chance = page.change as number;
    // Without wiping, the table is proportional to π and one serves all rates.
    const wiped = changesToForget(page.life) < Infinity;
    scale[i] = page.weight * (wiped ? 1 : chance);
    let law = JSON.stringify([wiped ? chance : 1, page.life, page.urgency]);
    if (page.urgency.kind === 'custom') {
      if (!custom.has(page.urgency.at)) custom.set(page.urgency.at, custom.size);
      law += custom.get(page.urgency.at);
    }
    const known = tables.get(law);
    if (known) return known;
    const made = new Float64Array(instants + 1);
    gainsFrom({ ...page, weight: 1 }, momentsOf(wiped ? chance : 1, instants), 0, made);
    tables.set(law, made);
    return made;
  });
  return {
    pages,
    value,
    advance: () => {
      for (let i = 0; i < value.length; i++) value[i] = scale[i] * table[i][++gap[i]];
    },
    change: () => {},
    look: (i) => {
      value[i] = 0;
      gap[i] = 0;
    },
  };
}

// Of a page's weight: less is as good as nothing.
const nothing = 1e-70;

export function factorGains(pages: Int32Array, all: readonly Valued[]): Running {
  const common = pages.length > 0 ? (decayOf(all[pages[0]].urgency) ?? 1) : 0;
  const isCommon = common > 0 && pages.every((page) => decayOf(all[page].urgency) === common);
  return isCommon ? commonFactorGains(pages, all, common) : ownFactorGains(pages, all);
}

/**
 * One factor for all: every value fades alike, so it is the unit that fades, and an instant costs only the pages that change. When
 * the unit has become small all values are brought back to it, which they lose no digit by.
 */
function commonFactorGains(pages: Int32Array, all: readonly Valued[], decay: number): Running {
  const value = new Float64Array(pages.length);
  const weight = Float64Array.from(pages, (page) => all[page].weight);
  const wipe = Uint8Array.from(pages, (page) => (changesToForget(all[page].life) === 1 ? 1 : 0));
  // Only pages with something to capture are gone through.
  const listed = new Uint8Array(pages.length);
  const awake = { list: new Int32Array(pages.length), count: 0, floor: 0, all: () => {}, settle: () => {} };
  const running = { pages, value, awake, unit: 1, advance, change, look };
  function advance(): void {
    running.unit *= decay;
    if (running.unit >= nothing) return;
    let kept = 0;
    for (let n = 0; n < awake.count; n++) {
      const i = awake.list[n];
      const now = value[i] * running.unit;
      value[i] = now < nothing * weight[i] ? 0 : now;
      if (value[i] > 0) awake.list[kept++] = i;
      else listed[i] = 0;
    }
    awake.count = kept;
    running.unit = 1;
  }
  function change(i: number, chance: number): void {
    value[i] = (wipe[i] ? value[i] * (1 - chance) : value[i]) + (weight[i] * chance) / running.unit;
    if (listed[i]) return;
    listed[i] = 1;
    awake.list[awake.count++] = i;
  }
  function look(i: number): void {
    value[i] = 0;
  }
  return running;
}

function ownFactorGains(pages: Int32Array, all: readonly Valued[]): Running {
  const value = new Float64Array(pages.length);
  const decay = Float64Array.from(pages, (page) => decayOf(all[page].urgency) ?? 1);
  const weight = Float64Array.from(pages, (page) => all[page].weight);
  const wipe = Uint8Array.from(pages, (page) => (changesToForget(all[page].life) === 1 ? 1 : 0));
  // Only pages with something to capture are gone through.
  const listed = new Uint8Array(pages.length);
  const awake = { list: new Int32Array(pages.length), count: 0, floor: 0, all: () => {}, settle: () => {} };
  return {
    pages,
    value,
    awake,
    advance: () => {
      const { list } = awake;
      let kept = 0;
      for (let n = 0; n < awake.count; n++) {
        const i = list[n];
        const now = value[i] * decay[i];
        // What is left of a change after so long is worth nothing to anybody, and a page without anything costs nothing.
        value[i] = now < nothing * weight[i] ? 0 : now;
        if (value[i] > 0) list[kept++] = i;
        else listed[i] = 0;
      }
      awake.count = kept;
    },
    change: (i, chance) => {
      value[i] = (wipe[i] ? value[i] * (1 - chance) : value[i]) + weight[i] * chance;
      if (listed[i]) return;
      listed[i] = 1;
      awake.list[awake.count++] = i;
    },
    look: (i) => {
      value[i] = 0;
    },
  };
}

/** Cut off at a delay: what came in `width + 1` instants ago leaves, times what has happened to it since. */
export function windowGains(pages: Int32Array, all: readonly Valued[], instantsMax: number): Running {
  const size = pages.length;
  const value = new Float64Array(size);
  const rings = Array.from(pages, (id) => {
    const page = all[id];
    const width = Math.min(cutoffOf(page), instantsMax);
    return {
      decay: decayOf(page.urgency) ?? 1,
      weight: page.weight,
      wipe: changesToForget(page.life) === 1,
      leaving: (decayOf(page.urgency) ?? 1) ** (width + 1),
      came: new Float64Array(width + 1),
      /** log of the product of (1 − π) up to and including each instant; certain changes are counted apart. */
      logKept: new Float64Array(width + 1),
      certain: new Int32Array(width + 1),
      log: 0,
      wiped: 0,
      live: 0,
    };
  });
  let now = 0;
  return {
    pages,
    value,
    advance: () => {
      now++;
      for (let i = 0; i < size; i++) {
        const ring = rings[i];
        const slot = now % ring.came.length;
        value[i] *= ring.decay;
        if (ring.came[slot] > 0) {
          ring.live--;
          if (ring.certain[slot] === ring.wiped) {
            const kept = ring.wipe ? Math.exp(ring.log - ring.logKept[slot]) : 1;
            value[i] = Math.max(0, value[i] - ring.weight * ring.came[slot] * ring.leaving * kept);
          }
        }
        if (ring.live === 0) value[i] = 0;
        ring.came[slot] = 0;
        ring.logKept[slot] = ring.log;
        ring.certain[slot] = ring.wiped;
      }
    },
    change: (i, chance) => {
      const ring = rings[i];
      const slot = now % ring.came.length;
      value[i] = (ring.wipe ? value[i] * (1 - chance) : value[i]) + ring.weight * chance;
      if (ring.wipe && chance === 1) ring.wiped++;
      else if (ring.wipe) ring.log += Math.log1p(-chance);
      ring.came[slot] = chance;
      ring.logKept[slot] = ring.log;
      ring.certain[slot] = ring.wiped;
      ring.live++;
    },
    look: (i) => {
      value[i] = 0;
      rings[i].came.fill(0);
      rings[i].live = 0;
    },
  };
}

/** Information by the number of changes since: a Poisson-binomial step for each change. */
export function countGains(pages: Int32Array, all: readonly Valued[]): Running {
  const size = pages.length;
  const value = new Float64Array(size);
  const weight = Float64Array.from(pages, (page) => all[page].weight);
  const decay = Float64Array.from(pages, (page) => decayOf(all[page].urgency) ?? 1);
  const start = new Int32Array(size + 1);
  for (let i = 0; i < size; i++) start[i + 1] = start[i] + changesToForget(all[pages[i]].life);
  const mass = new Float64Array(start[size]);
  const owner = new Int32Array(start[size]);
  for (let i = 0; i < size; i++) owner.fill(i, start[i], start[i + 1]);
  const still = decay.every((factor) => factor === 1);
  return {
    pages,
    value,
    advance: () => {
      if (still) return;
      for (let m = 0; m < mass.length; m++) mass[m] *= decay[owner[m]];
      for (let i = 0; i < size; i++) value[i] *= decay[i];
    },
    change: (i, chance) => {
      const first = start[i];
      let sum = 0;
      for (let m = start[i + 1] - 1; m > first; m--) {
        mass[m] = mass[m] * (1 - chance) + mass[m - 1] * chance;
        sum += mass[m];
      }
      mass[first] = mass[first] * (1 - chance) + weight[i] * chance;
      value[i] = sum + mass[first];
    },
    look: (i) => {
      value[i] = 0;
      mass.fill(0, start[i], start[i + 1]);
    },
  };
}

interface Row {
  readonly at: number;
  readonly worth: number;
  /** Probability of q later changes, q below the number that wipes out. */
  readonly alive: Float64Array;
  shown: number;
}

/** Every live change by itself, for laws that no recurrence covers. */
export function rowGains(pages: Int32Array, all: readonly Valued[], instantsMax: number): Running {
  const value = new Float64Array(pages.length);
  const rows: Row[][] = Array.from(pages, () => []);
  let now = 0;
  const sum = (i: number) => {
    const { urgency } = all[pages[i]];
    let total = 0;
    for (const row of rows[i]) total += row.worth * row.shown * urgencyAfter(urgency, now - row.at);
    return total;
  };
  return {
    pages,
    value,
    advance: () => {
      now++;
      for (let i = 0; i < value.length; i++) {
        const list = rows[i];
        if (list.length === 0) continue;
        const oldest = now - cutoffOf(all[pages[i]]);
        while (list.length > 0 && list[0].at < oldest) list.shift();
        value[i] = sum(i);
      }
    },
    change: (i, chance) => {
      const page = all[pages[i]];
      const forget = changesToForget(page.life);
      if (forget < Infinity) for (const row of rows[i]) row.shown = oneMoreChange(row.alive, chance);
      const alive = new Float64Array(forget === Infinity ? 1 : Math.min(forget, instantsMax));
      alive[0] = 1;
      rows[i].push({ at: now, worth: page.weight * chance, alive, shown: 1 });
      value[i] = sum(i);
    },
    look: (i) => {
      value[i] = 0;
      rows[i].length = 0;
    },
  };
}
