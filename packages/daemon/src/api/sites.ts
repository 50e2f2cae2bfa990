/** How sites are treated and how they answer. */
import { Type } from '@sinclair/typebox';
import type { Desk } from '../desk.ts';
import type { Manners } from '../loop-parts.ts';
import type { WatchedPage } from '../values/look.ts';
import { timeText } from './bodies.ts';
import { type Api, operation } from './operation.ts';
import { type AskedSite, mannersOf } from './parts.ts';
import { problem } from './problem.ts';
import { Nullable, OneOf, Time } from './schemas.ts';

const sitesMax = 10_000;
/** Four weeks: each hour of the week has been met several times. */
const hoursSinceMs = 28 * 86_400_000;

const Site = Type.Object({
  site: Type.String(),
  pages: Type.Integer(),
  paused: Type.Integer(),
  looks: Type.Integer(),
  changes: Type.Integer(),
  inTrouble: Type.Integer({ description: 'Pages whose last look went wrong.' }),
  lastLook: Nullable(Time),
  spacingSeconds: Nullable(Type.Number()),
  leftAloneUntil: Nullable(Time),
  failuresInRow: Type.Integer(),
});

const Robots = Type.Object(
  {
    state: OneOf(['unread', 'unreachable', 'read', 'elsewhere']),
    crawlDelaySeconds: Nullable(Type.Number()),
    sitemaps: Type.Array(Type.String()),
    rules: Type.Array(Type.Object({ allow: Type.Boolean(), path: Type.String() })),
  },
  { description: 'Robots of a cluster read it by themselves (state elsewhere) and tell only of its Crawl-delay.' },
);

interface Tally {
  site: string;
  pages: number;
  paused: number;
  looks: number;
  changes: number;
  inTrouble: number;
  lastLookMs: number | undefined;
  pageId: string;
  pageUrl: string;
}

async function tallies(desk: Desk): Promise<Map<string, Tally>> {
  const all = new Map<string, Tally>();
  for await (const batch of desk.everyPage()) for (const watched of batch) tallyUp(all, watched);
  return all;
}

function tallyUp(all: Map<string, Tally>, { page, state }: WatchedPage): void {
  let tally = all.get(page.site);
  if (!tally) {
    const nothing = { pages: 0, paused: 0, looks: 0, changes: 0, inTrouble: 0, lastLookMs: undefined };
    all.set(page.site, (tally = { site: page.site, ...nothing, pageId: page.id, pageUrl: page.url }));
  }
  tally.pages++;
  if (page.paused) tally.paused++;
  tally.looks += state.looks;
  tally.changes += state.changes;
  if (state.fault) tally.inTrouble++;
  if (state.lastLookMs !== undefined) tally.lastLookMs = Math.max(tally.lastLookMs ?? 0, state.lastLookMs);
}

function siteBody({ pageId: _id, pageUrl: _url, lastLookMs, ...tally }: Tally, manners: Manners | undefined) {
  return {
    ...tally,
    lastLook: lastLookMs === undefined ? null : timeText(lastLookMs),
    spacingSeconds: manners ? manners.spacingMs / 1000 : null,
    leftAloneUntil: manners?.leftAloneUntilMs === undefined ? null : timeText(manners.leftAloneUntilMs),
    failuresInRow: manners?.failures ?? 0,
  };
}

const asked = ({ site, pageId, pageUrl }: Tally): AskedSite => ({ site, pageId, pageUrl });

function robotsBody(manners: Manners | undefined) {
  const robots = manners?.robots;
  return {
    state: robots?.state ?? ('unread' as const),
    crawlDelaySeconds: robots?.crawlDelayMs === undefined ? null : robots.crawlDelayMs / 1000,
    sitemaps: [...(robots?.sitemaps ?? [])],
    rules: [...(robots?.rules ?? [])],
  };
}

export function siteRoutes(app: Api, desk: Desk): void {
  const list = operation({
    tag: 'sites',
    summary: 'The sites of the watched pages, those with most pages first',
    answers: { 200: Type.Object({ sites: Type.Array(Site), total: Type.Integer() }) },
  });
  app.get('/api/sites', { schema: list }, async () => {
    const all = [...(await tallies(desk)).values()].sort((a, b) => b.pages - a.pages || (a.site < b.site ? -1 : 1));
    const shown = all.slice(0, sitesMax);
    const manners = await mannersOf(desk, shown.map(asked));
    return { sites: shown.map((tally) => siteBody(tally, manners.get(tally.site))), total: all.length };
  });

  const one = operation({
    tag: 'sites',
    summary: 'One site: robots.txt as understood, and how it answers by hour of the week',
    params: Type.Object({ site: Type.String({ minLength: 1, maxLength: 300 }) }),
    answers: {
      200: Type.Object({
        site: Site,
        robots: Robots,
        hours: Type.Array(
          Type.Object({
            hour: Type.Integer({ description: 'From Monday 00:00 UTC.' }),
            looks: Type.Integer(),
            failures: Type.Integer(),
            refused: Type.Integer({ description: 'By robots.txt, or by a site that asked to be left alone.' }),
            changes: Type.Integer(),
            meanMs: Type.Number(),
          }),
        ),
      }),
    },
  });
  app.get('/api/sites/:site', { schema: one }, async (request, reply) => {
    const { site } = request.params;
    const tally = (await tallies(desk)).get(site);
    if (!tally) return problem(reply, 404, 'site-unknown', `No watched page belongs to the site ${site}.`);
    const manners = (await mannersOf(desk, [asked(tally)])).get(site);
    return {
      site: siteBody(tally, manners),
      robots: robotsBody(manners),
      hours: [...(await desk.store.siteHours(site, desk.clock.nowMs() - hoursSinceMs))],
    };
  });
}
