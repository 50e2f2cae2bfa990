/**
 * A recorded trace: when each source changed. Times are seconds since the epoch, ascending, unique within a source.
 */

export interface Trace {
  readonly names: readonly string[];
  /** One ascending list a source. */
  readonly times: readonly Float64Array[];
  /** Where it has no dates: the second that stands for its day 0. */
  readonly dayZero?: number;
}

export type TraceOutcome =
  | { readonly kind: 'read'; readonly trace: Trace }
  | { readonly kind: 'refused'; readonly sentence: string };

/** A trace that is read row by row: what is wrong with one ends it. */
export interface TraceRows {
  /** Undefined, or what is wrong with the row, in a sentence. */
  readonly add: (row: string) => string | undefined;
  readonly end: () => TraceOutcome;
}

/** Gathers events in any order into a trace; equal times of one source count once. */
export function traceOf(events: Iterable<readonly [source: string, seconds: number]>): Trace {
  const gathered = new Gathered();
  for (const [source, seconds] of events) gathered.listOf(source).push(seconds);
  return gathered.trace();
}

class Gathered {
  readonly #lists = new Map<string, number[]>();

  get isEmpty(): boolean {
    return this.#lists.size === 0;
  }

  listOf(source: string): number[] {
    let list = this.#lists.get(source);
    // A name that is a part of the text it was read from would keep all of that text.
    if (!list) this.#lists.set(Array.from(source).join(''), (list = []));
    return list;
  }

  trace(): Trace {
    return { names: [...this.#lists.keys()], times: [...this.#lists.values()].map(ascendingUnique) };
  }
}

function ascendingUnique(list: number[]): Float64Array {
  const sorted = Float64Array.from(list).sort();
  let kept = 0;
  for (let i = 0; i < sorted.length; i++) {
    if (kept === 0 || sorted[i] !== sorted[kept - 1]) sorted[kept++] = sorted[i]!;
  }
  return sorted.slice(0, kept);
}

/** The end of the year 9999, beyond which dates are not written; milliseconds are, and were meant to be seconds. */
const lastSecond = 253_402_300_799;
/** One field in quotes, and not several. */
const wholeQuoted = /^"(?:[^"]|"")*"$/;

/** Reads `source,unix_seconds` with or without that header; a source's name may hold commas when it is quoted. */
export function readTraceCsv(text: string): TraceOutcome {
  return readRows(text, traceRows());
}

/** The same row by row. */
export function traceRows(): TraceRows {
  const gathered = new Gathered();
  let row = 0;
  return {
    add(text) {
      const line = withoutReturn(text);
      row++;
      if (line === '') return undefined;
      const comma = line.lastIndexOf(',');
      const time = comma < 0 ? '' : line.slice(comma + 1).trim();
      const seconds = time === '' ? Number.NaN : Number(time);
      if (!Number.isFinite(seconds)) {
        if (row === 1 && comma > 0 && /^[a-z_ ]+$/i.test(time)) return undefined;
        return `trace row ${row}: "${line.slice(0, 60)}" is not source,unix_seconds`;
      }
      if (!(seconds >= 0 && seconds <= lastSecond))
        return `trace row ${row}: "${line.slice(0, 60)}" has a time outside of the years 1970 to 9999; seconds from 0 to ${lastSecond} are expected`;
      const source = line.slice(0, comma);
      if (source.includes(',') && !wholeQuoted.test(source))
        return `trace row ${row}: "${line.slice(0, 60)}" has more than two columns; source,unix_seconds is expected, a source that holds commas in quotes`;
      gathered.listOf(unquoted(source)).push(seconds);
      return undefined;
    },
    end: () =>
      gathered.isEmpty
        ? { kind: 'refused', sentence: 'trace: it holds no events; rows source,unix_seconds are expected' }
        : { kind: 'read', trace: gathered.trace() },
  };
}

function readRows(text: string, rows: TraceRows): TraceOutcome {
  for (let start = 0; start < text.length;) {
    const found = text.indexOf('\n', start);
    const end = found < 0 ? text.length : found;
    const sentence = rows.add(text.slice(start, end));
    if (sentence !== undefined) return { kind: 'refused', sentence };
    start = end + 1;
  }
  return rows.end();
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

/** A name as it is meant: quotes around it are the file's. */
export function unquoted(field: string): string {
  return field.length >= 2 && field.startsWith('"') && field.endsWith('"')
    ? field.slice(1, -1).replaceAll('""', '"')
    : field;
}

/**
 * Reads the published 14-week crawl's history: tab-separated `url id, offset in days, [[gap_days, changed], …]`. A page is
 * born at its offset; a look that found a change becomes an event of that moment, the first at which it was seen. Days
 * count from `start`, for the set carries no dates.
 */
export function readCrawlHistory(text: string, start: number): TraceOutcome {
  return readRows(text, historyRows(start));
}

/** The same row by row. */
export function historyRows(start: number): TraceRows {
  const gathered = new Gathered();
  let row = 0;
  return {
    add(text) {
      const line = withoutReturn(text);
      row++;
      if (line.trim() === '') return undefined;
      const [id, offset, list] = line.split('\t');
      const history = list === undefined ? undefined : lookList(list);
      const from = offset?.trim() ? Number(offset) : Number.NaN;
      if (id === undefined || !history || !Number.isFinite(from)) {
        if (row === 1 && !line.includes('[[')) return undefined;
        return `history row ${row}: "${line.slice(0, 60)}" is not id, offset and [[gap_days, changed], …] between tabs`;
      }
      const wrong = history.findIndex((look) => !isLook(look));
      if (wrong >= 0)
        return `history row ${row}: look ${wrong + 1} is ${JSON.stringify(history[wrong])}; [gap_days, changed] with a gap of at least 0 and 0 or 1 (False or True) is expected`;
      const times = gathered.listOf(id);
      let days = from;
      times.push(start + Math.round(days * 86_400));
      for (const [gap, changed] of history as readonly Look[]) {
        days += gap;
        if (changed) times.push(start + Math.round(days * 86_400));
      }
      return undefined;
    },
    end: () =>
      gathered.isEmpty
        ? { kind: 'refused', sentence: 'history: it holds no pages' }
        : { kind: 'read', trace: { ...gathered.trace(), dayZero: start } },
  };
}

type Look = readonly [gapDays: number, changed: 0 | 1 | boolean];

function isLook(value: unknown): value is Look {
  if (!Array.isArray(value) || value.length !== 2) return false;
  const [gap, changed] = value as unknown[];
  return Number.isFinite(gap) && (gap as number) >= 0 && [0, 1, false, true].some((word) => word === changed);
}

function lookList(text: string): readonly unknown[] | undefined {
  try {
    const list: unknown = JSON.parse(text.toLowerCase());
    return Array.isArray(list) ? list : undefined;
  } catch {
    return undefined;
  }
}

/** The last event of all; -Infinity for an empty trace. */
export function lastEvent(trace: Trace): number {
  let last = -Infinity;
  for (const times of trace.times) if (times.length > 0) last = Math.max(last, times[times.length - 1]!);
  return last;
}

export function firstEvent(trace: Trace): number {
  let first = Infinity;
  for (const times of trace.times) if (times.length > 0) first = Math.min(first, times[0]!);
  return first;
}

/** How many of the ascending times are at or before `limit`. */
export function countUpTo(times: Float64Array, limit: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle]! <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
