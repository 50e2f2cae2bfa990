/** Times, numbers and foreign text as a person reads them. */

const steps: readonly (readonly [number, string])[] = [
  [60, 's'],
  [60, 'min'],
  [24, 'h'],
  [14, 'd'],
  [8, 'w'],
];

/** A span in its largest fitting unit: "3 min", "2 h", "5 d". */
export function span(ms: number): string {
  let value = Math.abs(ms) / 1000;
  for (const [size, unit] of steps) {
    if (value < size * 1.5 || unit === 'w') {
      if (unit === 'w' && value >= 12) return `${(value / 4.345).toFixed(0)} mo`;
      return `${value < 10 && unit !== 's' ? Math.round(value * 10) / 10 : Math.round(value)} ${unit}`;
    }
    value /= unit === 'd' ? 7 : size;
  }
  return `${Math.round(value)} w`;
}

export const ago = (time: string | null, now: number): string =>
  time === null ? 'never' : now - Date.parse(time) < 1_500 ? 'now' : `${span(now - Date.parse(time))} ago`;

export function until(time: string | null, now: number): string {
  if (time === null) return '–';
  const left = Date.parse(time) - now;
  return left <= 500 ? 'due' : `in ${span(left)}`;
}

export const percent = (share: number | null | undefined, digits = 0): string =>
  share === null || share === undefined ? '–' : `${(share * 100).toFixed(digits)} %`;

export function number(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  const places = Math.max(0, Math.min(6, digits - 1 - Math.floor(Math.log10(Math.abs(value) || 1))));
  return value.toLocaleString('en', { maximumFractionDigits: Math.abs(value) >= 1000 ? 0 : places });
}

/** So many of a thing: "1 look", "2 looks". */
export const many = (count: number, what: string): string => `${number(count, 9)} ${what}${count === 1 ? '' : 's'}`;

/** How long an answer took. */
export const milliseconds = (ms: number): string => (ms < 1_500 ? `${Math.round(ms)} ms` : span(ms));

/** Hours in words. */
export const hours = (value: number | null | undefined): string =>
  value === null || value === undefined || !Number.isFinite(value) ? '–' : milliseconds(value * 3_600_000);

/** A rate in the unit that makes it readable. */
export function rate(perDay: number | null): string {
  if (perDay === null) return '–';
  if (perDay >= 48) return `${number(perDay / 24, 2)}/h`;
  if (perDay >= 0.5) return `${number(perDay, 2)}/day`;
  if (perDay >= 0.07) return `${number(perDay * 7, 2)}/week`;
  return `${number(perDay * 30.4, 2)}/month`;
}

export function bytes(count: number): string {
  if (count < 1_000) return `${count} B`;
  return count < 1_000_000 ? `${(count / 1_000).toFixed(1)} kB` : `${(count / 1_000_000).toFixed(1)} MB`;
}

const two = (value: number): string => String(value).padStart(2, '0');

export function clockTime(time: string): string {
  const date = new Date(time);
  return `${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** The times of an axis: with seconds where several would fall into one minute. */
export function axisTimes(times: readonly number[]): string[] {
  const crowded = times.some((ms, i) => i > 0 && ms - times[i - 1]! < 60_000);
  return times.map(
    (ms) => `${clockTime(new Date(ms).toISOString())}${crowded ? `:${two(new Date(ms).getSeconds())}` : ''}`,
  );
}

const dayNames = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

export function weekDay(time: string): string {
  return `${dayNames[new Date(time).getDay()]} ${clockTime(time)}`;
}

const usualCycles = new Map([
  [604_800, 'week'],
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
]);

/** When a page usually changes, where it keeps to a moment: "every day about 06:03". */
export function usually(usual: { readonly every: number; readonly next: string; readonly share: number }): string {
  const { every, next, share } = usual;
  const cycle = usualCycles.get(every) ?? span(every * 1000);
  const seconds = every < 3_600 ? `:${two(new Date(next).getSeconds())}` : '';
  const at = every === 604_800 ? weekDay(next) : `${clockTime(next)}${seconds}`;
  const when = every >= 86_400 ? `about ${at}` : `next about ${at}`;
  return `every ${cycle}, ${when}${share < 0.9 ? ` (${percent(share)} of them)` : ''}`;
}

/** What keeps a page from being looked at, and until when. */
export const waits = ({ waits: wait }: { readonly waits: { why: string; until: string } | null }): string | undefined =>
  wait ? `waits: ${wait.why} until ${weekDay(wait.until)}` : undefined;

/** What a page with `discover` has found, and whether there is room for more. */
export interface FoundPages {
  readonly pages: number;
  readonly limit: number;
  readonly leftOut: boolean;
  readonly misread?: string | undefined;
}

export function foundPages({ pages, limit, leftOut, misread }: FoundPages): string {
  const found = `This page has found ${number(pages, 9)} others, of ${number(limit, 9)} at most.`;
  const more = leftOut ? ` It lists more, which are left out: a larger "pages" in its "discover" makes room.` : '';
  return misread === undefined ? found + more : `${found}${more} Not all of ${misread} can be read: it has mistakes.`;
}

export function dayOf(time: string): string {
  return new Date(time).toLocaleDateString('en', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
}

export function dateTime(time: string): string {
  const date = new Date(time);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${clockTime(time)}:${two(date.getSeconds())}`;
}

/** What steers a terminal, or turns the direction of the text around it, is shown as a sign of its own. */
// eslint-disable-next-line no-control-regex -- those are what is looked for
const steering = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufeff]/g;
export const harmless = (text: string): string => text.replace(steering, '\ufffd');

/** Only what leads to the web. */
export const webHref = (url: string): string | undefined => (/^https?:\/\//i.test(url) ? url : undefined);

export const bare = (url: string): string => url.replace(/^https?:\/\//, '');
