/** Why a page that is wanted is not looked at, other than that it is not its turn: hours, a site's cap, a site that is left alone. */
import type { SiteLimits } from '../loop-parts.ts';
import type { SiteServer } from '../values/observation.ts';

export interface Wait {
  /** Such as "quiet hours of example.org"; "until" and a time make it whole. */
  readonly why: string;
  readonly untilMs: number;
}

/** Until when a site is left alone, and whether that is by our own limits. */
export interface Hold {
  readonly untilMs: number;
  readonly byLimits: boolean;
}

interface SiteRest {
  readonly site: string;
  /** The server that it shares with others, where it does. */
  readonly server: SiteServer | undefined;
  readonly rulesOf: (site: string) => SiteLimits | undefined;
  readonly hold: Hold | undefined;
  /** When quiet hours of all pages end, where it is in them. */
  readonly quietUntilMs: number | undefined;
}

/** What keeps the site from being asked at that time: of several things the one that lasts longest. */
export function waitAt(atMs: number, { site, server, rulesOf, hold, quietUntilMs }: SiteRest): Wait | undefined {
  const found: Wait[] = [];
  if (quietUntilMs !== undefined) found.push({ why: 'quiet hours', untilMs: quietUntilMs });
  for (const name of server ? [site, server.address] : [site]) {
    const untilMs = rulesOf(name)?.quietUntilMs?.(atMs);
    if (untilMs !== undefined) found.push({ why: `quiet hours of ${name}`, untilMs });
  }
  if (hold && hold.untilMs > atMs)
    found.push({ why: holdText(site, hold, rulesOf(site)?.cap ?? server?.cap), untilMs: hold.untilMs });
  return found.reduce<Wait | undefined>((a, b) => (a && a.untilMs >= b.untilMs ? a : b), undefined);
}

function holdText(site: string, { byLimits }: Hold, cap: SiteLimits['cap']): string {
  if (!byLimits) return `${site} is left alone, as it asked for or keeps failing,`;
  return cap ? `cap of ${site} (${cap.count} in ${spanText(cap.periodMs)})` : `spacing of ${site}`;
}

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

function spanText(ms: number): string {
  const [unit, unitMs] = units.find(([, each]) => ms % each === 0) ?? units.at(-1)!;
  const count = ms / unitMs;
  return count === 1 ? `${unit === 'hour' ? 'an' : 'a'} ${unit}` : `${Number(count.toPrecision(3))} ${unit}s`;
}
