/** What the configuration says of single sites, in the form the wire and the plan use. */
import { closedUntilMs, parseHours } from '../values/hours.ts';
import type { ConfigSite } from './file-form.ts';
import { durationMs, rateParts } from './units.ts';

export interface SiteSettings {
  readonly spacingMs?: number;
  readonly connections?: number;
  readonly cap?: { readonly count: number; readonly periodMs: number };
  readonly quietUntilMs?: (nowMs: number) => number | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A look-up by site. The texts were checked when the file was read. */
export function siteSettings(sites: Readonly<Record<string, ConfigSite>>): (site: string) => SiteSettings | undefined {
  const known = new Map(Object.entries(sites).map(([site, given]) => [site.toLowerCase(), settingsOf(given)]));
  return (site) => known.get(site);
}

function settingsOf({ spacing, connections, atMost, hours = [], quiet = [], headers }: ConfigSite): SiteSettings {
  const opening = { only: hours.map((text) => parseHours(text)!), never: quiet.map((text) => parseHours(text)!) };
  const cap = atMost === undefined ? undefined : rateParts(atMost)!;
  return {
    ...(spacing === undefined ? {} : { spacingMs: durationMs(spacing)! }),
    ...(connections === undefined ? {} : { connections }),
    // Below one request a period, the period is stretched instead: half a request an hour is one in two hours.
    ...(cap
      ? {
          cap: {
            count: Math.max(1, Math.floor(cap.count)),
            periodMs: cap.count < 1 ? cap.periodMs / cap.count : cap.periodMs,
          },
        }
      : {}),
    ...(hours.length + quiet.length > 0 ? { quietUntilMs: (nowMs: number) => closedUntilMs(opening, nowMs) } : {}),
    ...(headers ? { headers } : {}),
  };
}
