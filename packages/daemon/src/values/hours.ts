/**
 * Hours in which a site is visited, or left alone, in a time zone: "mon-fri 08:00-18:00 Europe/Berlin". A day that ends
 * before it begins runs past midnight; without days every day is meant, without a zone UTC.
 */

export interface Hours {
  /** Days on which the span begins, Monday is 0. */
  readonly days: readonly number[];
  readonly fromMinute: number;
  readonly toMinute: number;
  readonly zone: string;
}

export interface OpeningHours {
  /** Visited only within these, when there are any. */
  readonly only: readonly Hours[];
  /** Never visited within these. */
  readonly never: readonly Hours[];
}

const dayNames = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const dayMinutes = 1440;
const weekMinutes = 7 * dayMinutes;

export const hoursForm = 'hours such as "mon-fri 08:00-18:00 Europe/Berlin" or "22:00-06:00" are expected';

export function parseHours(text: string): Hours | undefined {
  const match =
    /^\s*(?:([a-z]{3}(?:-[a-z]{3})?(?:,[a-z]{3}(?:-[a-z]{3})?)*)\s+)?(\d\d?):(\d\d)\s*-\s*(\d\d?):(\d\d)(?:\s+([A-Za-z_+\-/0-9]+))?\s*$/i.exec(
      text,
    );
  if (!match) return undefined;
  const [, dayText, fromHour, fromRest, toHour, toRest, zone = 'UTC'] = match;
  const fromMinute = Number(fromHour) * 60 + Number(fromRest);
  const toMinute = Number(toHour) * 60 + Number(toRest);
  const days = dayText === undefined ? [0, 1, 2, 3, 4, 5, 6] : parseDays(dayText.toLowerCase());
  const sound =
    days && fromMinute < dayMinutes && toMinute <= dayMinutes && Number(fromRest) < 60 && Number(toRest) < 60;
  if (!sound || fromMinute === toMinute || !isZone(zone)) return undefined;
  return { days, fromMinute, toMinute, zone };
}

function parseDays(text: string): readonly number[] | undefined {
  const days = new Set<number>();
  for (const part of text.split(',')) {
    const [first, last = first] = part.split('-').map((name) => dayNames.indexOf(name));
    if (first === undefined || last === undefined || first < 0 || last < 0) return undefined;
    for (let day = first; ; day = (day + 1) % 7) {
      days.add(day);
      if (day === last) break;
    }
  }
  return [...days].sort((a, b) => a - b);
}

function isZone(zone: string): boolean {
  try {
    formatterOf(zone);
    return true;
  } catch {
    return false;
  }
}

const formatters = new Map<string, Intl.DateTimeFormat>();

function formatterOf(zone: string): Intl.DateTimeFormat {
  let formatter = formatters.get(zone);
  if (!formatter) {
    const options = { timeZone: zone, weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
    formatters.set(zone, (formatter = new Intl.DateTimeFormat('en-US', options)));
  }
  return formatter;
}

/** Minutes since Monday 00:00 in the zone. */
function minuteOfWeek(zone: string, atMs: number): number {
  const parts = Object.fromEntries(
    formatterOf(zone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, value]),
  );
  const day = dayNames.indexOf(parts['weekday']!.toLowerCase());
  return day * dayMinutes + Number(parts['hour']) * 60 + Number(parts['minute']);
}

/** Where the spans of the week begin and end. */
function spans(hours: Hours): readonly (readonly [from: number, to: number])[] {
  const length = (hours.toMinute - hours.fromMinute + dayMinutes) % dayMinutes || dayMinutes;
  return hours.days.map((day) => [day * dayMinutes + hours.fromMinute, day * dayMinutes + hours.fromMinute + length]);
}

/** Minutes until the span ends when we are in one, else minutes (below zero) until the next begins. */
function place(hours: Hours, atMs: number): number {
  const minute = minuteOfWeek(hours.zone, atMs);
  let next = Infinity;
  for (const [from, to] of spans(hours)) {
    const since = (minute - from + weekMinutes) % weekMinutes;
    if (since < to - from) return to - from - since;
    next = Math.min(next, weekMinutes - since);
  }
  return -next;
}

/** Hours that close where others open; more than any sensible week has. */
const triesMax = 50;
/** By how much clocks are set forward, in parts. */
const clockStepMs = 30 * 60_000;

/** When the site may be visited again; undefined while it may. */
export function closedUntilMs(hours: OpeningHours, nowMs: number): number | undefined {
  let atMs = nowMs;
  for (let attempt = 0; attempt < triesMax; attempt++) {
    const wait = closedMinutes(hours, atMs);
    if (wait === 0) return atMs === nowMs ? undefined : withoutLeap(hours, nowMs, atMs);
    // On to the next whole minute, where hours begin and end.
    atMs = (Math.floor(atMs / 60_000) + wait) * 60_000;
  }
  return atMs;
}

/** A clock set forward on the way made the wait too long; the hours begin where it is still open a step before. */
function withoutLeap(hours: OpeningHours, nowMs: number, openMs: number): number {
  let atMs = openMs;
  while (atMs - clockStepMs > nowMs && closedMinutes(hours, atMs - clockStepMs) === 0) atMs -= clockStepMs;
  return atMs;
}

/** Weeks of winter and of summer time: hours in several zones may leave a gap in one of them alone. */
const weeksTried = [Date.UTC(2026, 0, 5), Date.UTC(2026, 6, 6)];

/** Whether no minute of a week is left open. */
export function neverOpens(hours: OpeningHours): boolean {
  return weeksTried.every((mondayMs) => {
    for (let minute = 0; minute < weekMinutes;) {
      const wait = closedMinutes(hours, mondayMs + minute * 60_000);
      if (wait === 0) return false;
      minute += wait;
    }
    return true;
  });
}

function closedMinutes({ only, never }: OpeningHours, atMs: number): number {
  for (const hours of never) {
    const left = place(hours, atMs);
    if (left > 0) return left;
  }
  if (only.length === 0) return 0;
  const places = only.map((hours) => place(hours, atMs));
  return places.some((left) => left > 0) ? 0 : Math.min(...places.map((left) => -left));
}
