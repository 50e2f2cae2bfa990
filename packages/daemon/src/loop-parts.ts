/** What the loop is made of and told, and what it tells of itself. */
import type { Policy, Random, RobotPoolState } from '@revisit/core';
import type { CollectionRules } from './config/collections.ts';
import type { ReadAs, Revealed } from './observe/discover/reveal.ts';
import type { Store } from './store/port.ts';
import type { SweepOrder } from './dispatch/sweep.ts';
import type { ChangedTexts } from './tell/match.ts';
import type { Detection } from './values/change.ts';
import type { Clock } from './values/clock.ts';
import type { Look, WatchedPage } from './values/look.ts';
import type { Observer, Outcome, RobotsUnderstood, SiteServer } from './values/observation.ts';
import type { PlannedDelivery } from './values/outbox.ts';
import type { Page } from './values/page.ts';
import type { WebSub } from './websub.ts';

export interface LoopSettings {
  readonly looksPerSecond: number;
  /** What is not used of the budget gathers for so long; an hour unless given. */
  readonly budgetSeconds?: number;
  /** The least milliseconds between two requests to one site. */
  readonly spacingMs: number;
  /** The most requests that may be under way at once; how many do follows the indexing queue. */
  readonly robots: number;
  /** How many may always be, however full the queue is; none unless given. */
  readonly robotsMin?: number;
  /** How many observations may wait for detection; what comes on top is dropped and stays due. */
  readonly queueMax: number;
  /** Hours in which nothing is asked for, as texts such as "22:00-06:00 Europe/Berlin". */
  readonly quiet?: readonly string[];
}

export type Fetched = Extract<Outcome, { kind: 'fetched' }>;

/** What else is to be read from a large body, by whoever reads it beside the loop. */
export interface AlsoWanted {
  /** What it lists: in any case, or where the page has changed. */
  readonly reveals?: 'always' | 'news' | undefined;
  readonly as?: ReadAs | undefined;
}

export interface DetectedAt {
  readonly url: string;
  readonly ms: number;
  /** This look was asked for by the last one. */
  readonly second: boolean;
  /** Looks between the last one and this that found nothing new. */
  readonly unchangedLooks: number;
  readonly wanted?: AlsoWanted;
}

export interface Detected {
  readonly detection: Detection;
  readonly state?: string;
  /** Another look is wanted that soon. */
  readonly again?: { readonly afterMs: number };
  /** The whole page, where it is kept beside the projection. */
  readonly raw?: string;
  /** What its body lists, and what came and went, where that was read beside the loop. */
  readonly revealed?: Revealed;
  readonly words?: ChangedTexts;
}

/** What the operator set for a site, as far as the plan must know it. */
export interface SiteLimits {
  readonly spacingMs?: number;
  readonly connections?: number;
  /** The most requests in a period. */
  readonly cap?: { readonly count: number; readonly periodMs: number };
  /** What is sent with each request to its pages. */
  readonly headers?: Readonly<Record<string, string>>;
  /** When the site may be asked again, where it may not be now. */
  readonly quietUntilMs?: (nowMs: number) => number | undefined;
}

export interface LoopParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  readonly observer: Observer;
  readonly policy: Policy;
  /** Sites whose pages this loop looks after; all of them unless it shares the work. */
  readonly accepts?: (site: string) => boolean;
  /** Answers at once what there is to say of a body that is what it was, where that is known. */
  readonly detect: (watched: WatchedPage, fetched: Fetched, at: DetectedAt) => Detected | Promise<Detected>;
  /** Lets go of what detection has beside the loop. */
  readonly detectEnds?: () => Promise<void>;
  /** In which order the pages of a sweep leave; as planned from access times unless given. */
  readonly sweepOrder?: SweepOrder;
  /** What the operator set for single sites. */
  readonly siteRules?: (site: string) => SiteLimits | undefined;
  /** The collection a page belongs to, and what it says for pages that do not say it themselves. */
  readonly collectionOf?: (page: Page) => CollectionRules;
  /** What the subscriptions ask of the plan for a page; what its user set comes first. */
  readonly needs?: (page: Page) => Pick<Page, 'life' | 'urgency'>;
  /** Who is to be told of what a look found; kept with it. */
  readonly planned?: (look: Look, words?: ChangedTexts) => Promise<readonly PlannedDelivery[]>;
  /** Hubs that tell of changes, where this daemon can be reached by them. */
  readonly websub?: Pick<WebSub, 'found' | 'looked' | 'released' | 'until'>;
  /** Who sends forms to hubs, where that is not who looks. */
  readonly forms?: Pick<Observer, 'submit' | 'close'>;
  readonly log: (level: 'debug' | 'info' | 'warn' | 'error', message: string, fields?: Record<string, unknown>) => void;
}

export interface LoopCounts {
  /** Probes that went out. */
  readonly sent: number;
  readonly sentLastHour: number;
  /** Requests that were made for them: robots.txt and each redirect count. */
  readonly requests: number;
  readonly kept: number;
  readonly overflowed: number;
  readonly inFlight: number;
  readonly queued: number;
  readonly waiting: number;
  /** The pool between dispatch and the indexing queue: robots that may run, starvation, measured times. */
  readonly pool: RobotPoolState;
}

export interface Manners {
  readonly spacingMs: number;
  readonly leftAloneUntilMs: number | undefined;
  readonly sharedServer: SiteServer | undefined;
  readonly failures: number;
  readonly robots: RobotsUnderstood;
}
