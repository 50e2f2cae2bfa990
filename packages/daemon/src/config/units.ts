/** Durations ("90s", "5m", "2h", "1d", "1w") and rates ("600/hour") as people write them. */

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

const perMs: Readonly<Record<string, number>> = {
  second: 1_000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
};

/** Milliseconds, or undefined when the text is no duration. A bare 0 is one too. */
export function durationMs(text: string): number | undefined {
  if (/^\s*0\s*$/.test(text)) return 0;
  const match = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)\s*$/.exec(text);
  return match ? Number(match[1]) * unitMs[match[2]!]! : undefined;
}

/** Per second, or undefined when the text is no rate. */
export function ratePerSecond(text: string): number | undefined {
  const rate = rateParts(text);
  return rate && (rate.count * 1_000) / rate.periodMs;
}

/** So many in such a period, or undefined when the text is no rate. */
export function rateParts(text: string): { readonly count: number; readonly periodMs: number } | undefined {
  const match = /^\s*(\d+(?:\.\d+)?)\s*\/\s*(second|minute|hour|day|week|s|m|h|d|w)\s*$/.exec(text);
  return match ? { count: Number(match[1]), periodMs: perMs[match[2]!] ?? unitMs[match[2]!]! } : undefined;
}

export const durationForm = 'a duration such as 90s, 5m, 2h or 1d is expected';
export const rateForm = 'a rate such as 600/hour, 2/second or 10000/day, above 0, is expected';

/** The shortest text that reads back as the same duration. */
export function durationText(ms: number): string {
  for (const unit of ['w', 'd', 'h', 'm', 's'] as const) {
    if (ms >= unitMs[unit]! && ms % unitMs[unit]! === 0) return `${ms / unitMs[unit]!}${unit}`;
  }
  return `${ms}ms`;
}
