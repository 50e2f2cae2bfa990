/** What the configuration says of single sites, in the form the wire and the plan use. */
import { type OpeningHours, closedUntilMs, neverOpens, parseHours } from '../values/hours.ts';
import { siteOf } from '../values/url.ts';
import type { ConfigSite } from './file-form.ts';
import type { Mistake } from './file-mistake.ts';
import { readHeaders } from './page-input.ts';
import { refused } from './refused.ts';
import { durationMs, rateParts } from './units.ts';

export interface SiteSettings {
  readonly spacingMs?: number;
  readonly connections?: number;
  readonly cap?: { readonly count: number; readonly periodMs: number };
  readonly quietUntilMs?: (nowMs: number) => number | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The first rule that would hold for nothing, or that no request could keep, with the place of what is wrong about it. */
export function siteMistake(sites: Readonly<Record<string, ConfigSite>>): Mistake | undefined {
  for (const [key, { headers, hours, quiet }] of Object.entries(sites)) {
    const meant = siteMeant(key);
    if (meant !== key.toLowerCase()) {
      const hint = meant === undefined ? 'such as example.org' : `here ${meant}`;
      const sentence = `sites.${key}: rules are for a whole site; its registrable domain is expected, ${hint}`;
      return { path: ['sites', key], sentence };
    }
    const read = headers && readHeaders(headers);
    if (read?.kind === 'wrong') return { path: ['sites', key, 'headers'], sentence: `sites.${key}.${read.sentence}` };
    const shut = quietMistake(['sites', key, 'quiet'], quiet, hours);
    if (shut) return shut;
  }
  return undefined;
}

/** Quiet hours outside which no minute of the week is left, of those in which anything is visited at all. */
export function quietMistake(
  path: readonly string[],
  quiet: readonly string[] = [],
  hours: readonly string[] = [],
): Mistake | undefined {
  if (!neverOpens(openingOf(hours, quiet))) return undefined;
  const within = hours.length > 0 ? `, within the hours ${JSON.stringify(hours)},` : '';
  return { path, ...refused(path.join('.'), quiet, `a minute of the week outside them${within} is expected`) };
}

const openingOf = (hours: readonly string[], quiet: readonly string[]): OpeningHours => ({
  only: hours.map((text) => parseHours(text)!),
  never: quiet.map((text) => parseHours(text)!),
});

/** The site that somebody means who writes an address, a host, a port or a star before it. */
function siteMeant(key: string): string | undefined {
  const bare = key.trim().replace(/^\*\./, '');
  const isAddress6 = /^[\da-f:.]*:[\da-f.]*:[\da-f:.]*$/i.test(bare);
  const url = URL.parse(bare.includes('://') ? bare : `http://${isAddress6 ? `[${bare}]` : bare}`);
  return url && /^[^*]+$/.test(url.hostname) ? siteOf(url.hostname) : undefined;
}

/** A look-up by site. The texts were checked when the file was read. */
export function siteSettings(sites: Readonly<Record<string, ConfigSite>>): (site: string) => SiteSettings | undefined {
  const known = new Map(Object.entries(sites).map(([site, given]) => [site.toLowerCase(), settingsOf(given)]));
  return (site) => known.get(site);
}

function settingsOf({ spacing, connections, atMost, hours = [], quiet = [], headers }: ConfigSite): SiteSettings {
  const opening = openingOf(hours, quiet);
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
