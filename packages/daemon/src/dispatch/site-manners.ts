/** What politeness knows of a site: how it is spaced, whether it is left alone, and what its robots.txt says. */
import type { LoopParts, Manners } from '../loop-parts.ts';
import type { SiteDoors } from './site-doors.ts';

export function mannersOf(
  { clock, observer, siteRules }: Pick<LoopParts, 'clock' | 'observer' | 'siteRules'>,
  doors: SiteDoors,
  /** Of sites that nobody said anything of. */
  usualSpacingMs: number,
  site: string,
  /** One of its pages, whose origin has the robots.txt. */
  pageUrl: string,
): Manners {
  const robots = observer.robotsOf?.(new URL(pageUrl).origin) ?? {
    state: 'elsewhere',
    crawlDelayMs: doors.crawlDelayMs(site),
    sitemaps: [],
  };
  const standing = observer.standing?.(site);
  const closedUntilMs = Math.max(doors.heldUntil(site), standing?.closedUntilMs ?? 0);
  return {
    spacingMs: Math.max(siteRules?.(site)?.spacingMs ?? usualSpacingMs, robots.crawlDelayMs ?? 0),
    leftAloneUntilMs: closedUntilMs > clock.nowMs() ? closedUntilMs : undefined,
    sharedServer: doors.sharedServer(site),
    failures: standing?.failures ?? 0,
    robots,
  };
}
