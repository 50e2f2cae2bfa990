/**
 * A recorded trace: when each source changed. Times are seconds since the epoch, ascending, unique within a source.
 */

export interface Trace {
  readonly names: readonly string[];
  /** One ascending list a source. */
  readonly times: readonly Float64Array[];
}

export type TraceOutcome =
  | { readonly kind: 'read'; readonly trace: Trace }
  | { readonly kind: 'refused'; readonly sentence: string };

/** Gathers events in any order into a trace; equal times of one source count once. */
export function traceOf(events: Iterable<readonly [source: string, seconds: number]>): Trace {
  const lists = new Map<string, number[]>();
  for (const [source, seconds] of events) {
    const list = lists.get(source);
    if (list) list.push(seconds);
    else lists.set(source, [seconds]);
  }
  return { names: [...lists.keys()], times: [...lists.values()].map(ascendingUnique) };
}

function ascendingUnique(list: number[]): Float64Array {
  const sorted = Float64Array.from(list).sort();
  let kept = 0;
  for (let i = 0; i < sorted.length; i++) {
    if (kept === 0 || sorted[i] !== sorted[kept - 1]) sorted[kept++] = sorted[i]!;
  }
  return sorted.slice(0, kept);
}

/** Reads `source,unix_seconds` with or without that header; a source's name may hold commas when it is quoted. */
export function readTraceCsv(text: string): TraceOutcome {
  const events: [string, number][] = [];
  let start = 0;
  let row = 0;
  while (start < text.length) {
    let end = text.indexOf('\n', start);
    if (end < 0) end = text.length;
    const line = text.slice(start, text.charCodeAt(end - 1) === 13 ? end - 1 : end);
    start = end + 1;
    row++;
    if (line === '') continue;
    const comma = line.lastIndexOf(',');
    const time = comma < 0 ? '' : line.slice(comma + 1).trim();
    const seconds = time === '' ? Number.NaN : Number(time);
    if (!Number.isFinite(seconds)) {
      if (row === 1 && comma > 0 && /^[a-z_ ]+$/i.test(time)) continue;
      return { kind: 'refused', sentence: `trace row ${row}: "${line.slice(0, 60)}" is not source,unix_seconds` };
    }
    events.push([unquoted(line.slice(0, comma)), seconds]);
  }
  if (events.length === 0)
    return { kind: 'refused', sentence: 'trace: it holds no events; rows source,unix_seconds are expected' };
  return { kind: 'read', trace: traceOf(events) };
}

function unquoted(field: string): string {
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
  const events: [string, number][] = [];
  const lines = text.split('\n');
  for (const [row, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const [id, offset, list] = line.replace(/\r$/, '').split('\t');
    const history = list === undefined ? undefined : lookList(list);
    const from = Number(offset);
    if (id === undefined || !history || !Number.isFinite(from)) {
      if (row === 0 && !line.includes('[[')) continue;
      return {
        kind: 'refused',
        sentence: `history row ${row + 1}: "${line.slice(0, 60)}" is not id, offset and [[gap_days, changed], …] between tabs`,
      };
    }
    let days = from;
    events.push([id, start + Math.round(days * 86_400)]);
    for (const [gap, changed] of history) {
      days += gap;
      if (changed) events.push([id, start + Math.round(days * 86_400)]);
    }
  }
  if (events.length === 0) return { kind: 'refused', sentence: 'history: it holds no pages' };
  return { kind: 'read', trace: traceOf(events) };
}

function lookList(text: string): readonly (readonly [number, number | boolean])[] | undefined {
  try {
    const list: unknown = JSON.parse(text.toLowerCase());
    const good =
      Array.isArray(list) && list.every((pair) => Array.isArray(pair) && pair.length === 2 && Number.isFinite(pair[0]));
    return good ? (list as [number, number | boolean][]) : undefined;
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
