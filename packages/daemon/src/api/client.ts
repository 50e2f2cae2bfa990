/**
 * A typed client of the API. Written by generate-client.ts from the OpenAPI document; do not edit.
 */
/* oxlint-disable */

export type Problem = { readonly type: string; readonly title: string; readonly status: number; readonly detail: string };

export type Fault = { readonly code: string; readonly sentence: string };

export type PageInput = { readonly url: string; readonly title?: string | undefined; readonly tags?: readonly (string)[] | undefined; readonly weight?: number | undefined; readonly urgency?: string | { readonly kind: string } | undefined; readonly life?: string | { readonly kind: string } | undefined; readonly loss?: 'obsolescence' | 'staleness' | undefined; readonly importance?: number | { readonly breaks: readonly (number)[]; readonly values: readonly (number)[]; readonly period?: number | undefined } | undefined; readonly spacing?: string | undefined; readonly headers?: Readonly<Record<string, unknown>> | undefined; readonly render?: boolean | undefined; readonly paused?: boolean | undefined; readonly options?: Readonly<Record<string, unknown>> | undefined; readonly select?: string | Readonly<Record<string, unknown>> | undefined };

export type PageChange = { readonly url?: string | undefined; readonly title?: string | undefined; readonly tags?: readonly (string)[] | undefined; readonly weight?: number | undefined; readonly urgency?: string | { readonly kind: string } | undefined; readonly life?: string | { readonly kind: string } | undefined; readonly loss?: 'obsolescence' | 'staleness' | undefined; readonly importance?: number | { readonly breaks: readonly (number)[]; readonly values: readonly (number)[]; readonly period?: number | undefined } | undefined; readonly spacing?: string | undefined; readonly headers?: Readonly<Record<string, unknown>> | undefined; readonly render?: boolean | undefined; readonly paused?: boolean | undefined; readonly options?: Readonly<Record<string, unknown>> | undefined; readonly select?: string | Readonly<Record<string, unknown>> | undefined };

export type Page = { readonly id: string; readonly url: string; readonly site: string; readonly select: string; readonly title: string | null; readonly tags: readonly (string)[]; readonly weight: number; readonly paused: boolean; readonly options: Readonly<Record<string, unknown>>; readonly spacingSeconds?: number | undefined; readonly loss?: string | undefined; readonly render?: boolean | undefined; readonly urgency?: { readonly kind: string } | undefined; readonly life?: { readonly kind: string } | undefined; readonly importance?: number | { readonly breaks: readonly (number)[]; readonly values: readonly (number)[]; readonly period?: number | undefined } | undefined; readonly headers?: readonly (string)[] | undefined; readonly addedAt: string; readonly status: 'new' | 'present' | 'gone' | 'unreadable'; readonly version: number; readonly looks: number; readonly changes: number; readonly failures: number; readonly lastProbe: string | null; readonly lastSeen: string | null; readonly lastChange: string | null; readonly fault: Fault | null; readonly movedTo: string | null; readonly current: number | null; readonly rate: number | null; readonly rateInterval: readonly (number | null)[] | null; readonly usualTime: { readonly every: number; readonly next: string; readonly within: number; readonly share: number } | null; readonly nextProbe: string | null; readonly waits: { readonly why: string; readonly until: string } | null; readonly discovery?: { readonly pages: number; readonly limit: number; readonly leftOut: boolean; readonly misread?: string | undefined } | undefined; readonly activity?: string | undefined; readonly created?: boolean | undefined };

export type Change = { readonly cursor: string; readonly id: string; readonly pageId: string; readonly url: string; readonly site: string; readonly title?: string | undefined; readonly tags: readonly (string)[]; readonly kind: 'changed' | 'gone' | 'returned' | 'moved' | 'discovered' | 'trouble'; readonly at: string; readonly after: string | null; readonly fromVersion?: number | undefined; readonly toVersion?: number | undefined; readonly count: number; readonly summary: string; readonly seen?: boolean | undefined };

export type Version = { readonly number: number; readonly at: string; readonly hash: string; readonly format: string; readonly bytes: number; readonly raw: boolean };

export type Look = { readonly at: string; readonly kind: 'first' | 'changed' | 'unchanged' | 'gone' | 'unreadable' | 'refused' | 'failed'; readonly durationMs: number; readonly bytesReceived: number };

export type Difference = { readonly format: string; readonly blocks: readonly ({ readonly kind: 'same' | 'removed' | 'added' | 'changed'; readonly lines?: number | readonly (string)[] | undefined; readonly first?: readonly (string)[] | undefined; readonly last?: readonly (string)[] | undefined; readonly words?: readonly ({ readonly kind: 'same' | 'removed' | 'added'; readonly text: string })[] | undefined })[]; readonly linesAdded: number; readonly linesRemoved: number; readonly charactersAdded: number; readonly charactersRemoved: number; readonly places: number; readonly number?: { readonly from: number; readonly to: number } | undefined; readonly cut?: boolean | undefined };

export type Token = { readonly id: string; readonly name: string; readonly scope: 'read' | 'write' | 'admin'; readonly createdAt: string };

export type OutlineNode = { readonly depth: number; readonly tag: string; readonly selector: string; readonly matches: number; readonly text: string };

export type SubscriptionInput = { readonly deliver: string | { readonly kind: string }; readonly name?: string | undefined; readonly match?: string | undefined; readonly digest?: string | readonly (string)[] | undefined; readonly quiet?: string | undefined; readonly burstSeconds?: number | undefined; readonly zone?: string | undefined; readonly template?: { readonly title?: string | undefined; readonly body?: string | undefined } | undefined; readonly paused?: boolean | undefined };

export type SubscriptionChange = { readonly deliver?: string | { readonly kind: string } | undefined; readonly name?: string | null | undefined; readonly match?: string | null | undefined; readonly digest?: string | readonly (string)[] | null | undefined; readonly quiet?: string | null | undefined; readonly burstSeconds?: number | null | undefined; readonly zone?: string | null | undefined; readonly template?: { readonly title?: string | undefined; readonly body?: string | undefined } | null | undefined; readonly paused?: boolean | null | undefined };

export type Subscription = { readonly id: string; readonly name?: string | undefined; readonly quiet?: string | undefined; readonly match: string; readonly deliver: { readonly kind: string }; readonly zone: string; readonly paused: boolean; readonly createdAt: string };

export type Delivery = { readonly id: string; readonly subscriptionId: string; readonly status: 'open' | 'due' | 'sent' | 'dead'; readonly cursors: readonly (string)[]; readonly attempts: number; readonly planned: string; readonly due: string; readonly firstTried: string | null; readonly settled: string | null; readonly fault: Fault | null };

export type Noise = { readonly id: string; readonly kind: 'words' | 'lines' | 'field'; readonly pattern: readonly (string)[]; readonly example: string; readonly why: string; readonly since: string; readonly ignored: boolean };

export interface Calls {
  /** Metrics in the form Prometheus reads */
  readonly 'GET /metrics': { readonly answer: string };
  /** Watch a page, or a list of pages */
  readonly 'POST /api/pages': { readonly body: PageInput | readonly (PageInput)[]; readonly answer: Page | { readonly pages: readonly (Page)[] } };
  /** What is watched */
  readonly 'GET /api/pages': { readonly query?: { readonly site?: string | undefined; readonly tag?: string | undefined; readonly text?: string | undefined; readonly status?: 'new' | 'present' | 'gone' | 'unreadable' | 'paused' | 'trouble' | undefined; readonly limit?: number | undefined; readonly cursor?: string | undefined; readonly order?: 'added' | 'changed' | 'looked' | 'next' | 'current' | 'rate' | 'title' | 'trouble' | undefined; readonly skip?: number | undefined; readonly activity?: boolean | undefined }; readonly answer: { readonly pages: readonly (Page)[]; readonly next: string | null; readonly total?: number | undefined } };
  /** The tags in use, most used first */
  readonly 'GET /api/tags': { readonly answer: { readonly tags: readonly ({ readonly tag: string; readonly pages: number })[] } };
  /** Update, remove or look at many pages */
  readonly 'POST /api/pages/bulk': { readonly body: { readonly do: 'update' | 'remove' | 'probe'; readonly ids?: readonly (string)[] | undefined; readonly match?: { readonly site?: string | undefined; readonly tag?: string | undefined; readonly text?: string | undefined; readonly status?: 'new' | 'present' | 'gone' | 'unreadable' | 'paused' | 'trouble' | undefined } | undefined; readonly set?: PageChange | undefined; readonly addTags?: readonly (string)[] | undefined; readonly removeTags?: readonly (string)[] | undefined }; readonly answer: { readonly pages: number } };
  /** A page */
  readonly 'GET /api/pages/{id}': { readonly path: { readonly id: string }; readonly answer: Page };
  /** Change its settings */
  readonly 'PATCH /api/pages/{id}': { readonly path: { readonly id: string }; readonly header?: { readonly 'if-match'?: string | undefined }; readonly body: PageChange; readonly answer: Page };
  /** Stop watching it and forget its versions */
  readonly 'DELETE /api/pages/{id}': { readonly path: { readonly id: string }; readonly header?: { readonly 'if-match'?: string | undefined }; readonly answer: undefined };
  /** Look now, as soon as politeness allows */
  readonly 'POST /api/pages/{id}/probe': { readonly path: { readonly id: string }; readonly answer: { readonly id: string; readonly asked: boolean } };
  /** Look at a page before it is watched */
  readonly 'POST /api/preview': { readonly body: PageInput; readonly answer: { readonly url: string; readonly finalUrl: string; readonly title: string | null; readonly mediaType: string | null; readonly bytes: number; readonly text: string | null; readonly format: string | null; readonly fault: Fault | null; readonly outline: readonly (OutlineNode)[]; readonly picture: string | null } };
  /** A previewed page drawn without scripts and without asking for anything, to point at its parts */
  readonly 'GET /api/preview/{picture}': { readonly path: { readonly picture: string }; readonly answer: string };
  /** Its versions, oldest first */
  readonly 'GET /api/pages/{id}/versions': { readonly path: { readonly id: string }; readonly answer: { readonly versions: readonly (Version)[] } };
  /** One version, as text */
  readonly 'GET /api/pages/{id}/versions/{number}': { readonly path: { readonly id: string; readonly number: number }; readonly answer: string };
  /** The whole page as it came with one version, where it is kept (`options.keepRaw`) */
  readonly 'GET /api/pages/{id}/versions/{number}/raw': { readonly path: { readonly id: string; readonly number: number }; readonly answer: string };
  /** A number over time, where the page shows one */
  readonly 'GET /api/pages/{id}/numbers': { readonly path: { readonly id: string }; readonly answer: { readonly numbers: readonly ({ readonly at: string; readonly value: number })[] } };
  /** What differs between two versions; the last two unless said otherwise */
  readonly 'GET /api/pages/{id}/diff': { readonly path: { readonly id: string }; readonly query?: { readonly from?: number | undefined; readonly to?: number | undefined; readonly brief?: boolean | undefined; readonly noise?: boolean | undefined }; readonly answer: { readonly from: number; readonly to: number; readonly difference: Difference } };
  /** How it was observed: every look, newest first */
  readonly 'GET /api/pages/{id}/looks': { readonly path: { readonly id: string }; readonly query?: { readonly limit?: number | undefined }; readonly answer: { readonly looks: readonly (Look)[] } };
  /** When in the week it was looked at and changed, by hour from Monday 00:00 UTC */
  readonly 'GET /api/pages/{id}/week': { readonly path: { readonly id: string }; readonly answer: { readonly looks: readonly (number)[]; readonly changes: readonly (number)[]; readonly learned?: readonly (number)[] | undefined; readonly rate: number | null; readonly rateInterval: readonly (number | null)[] | null; readonly usualTime: { readonly every: number; readonly next: string; readonly within: number; readonly share: number } | null } };
  /** Its coming looks, and why then */
  readonly 'GET /api/pages/{id}/coming': { readonly path: { readonly id: string }; readonly query?: { readonly limit?: number | undefined }; readonly answer: { readonly state: 'planned' | 'in line' | 'none'; readonly looks: readonly ({ readonly at: string; readonly expected: number; readonly chance: number; readonly pace: number })[]; readonly reasons: readonly (string)[] } };
  /** What rules and conditions for telling would have done on the last versions */
  readonly 'POST /api/pages/{id}/try': { readonly path: { readonly id: string }; readonly body: { readonly options: Readonly<Record<string, unknown>> }; readonly answer: { readonly tried: readonly ({ readonly version: number; readonly at: string; readonly verdict: 'told' | 'kept quiet' | 'no change'; readonly why?: string | undefined })[] } };
  /** Every change once, in order, for ever resumable */
  readonly 'GET /api/changes': { readonly query?: { readonly after?: string | undefined; readonly before?: string | undefined; readonly order?: 'oldest' | 'newest' | undefined; readonly limit?: number | undefined; readonly page?: string | undefined; readonly site?: string | undefined; readonly tag?: string | undefined; readonly kind?: 'changed' | 'gone' | 'returned' | 'moved' | 'discovered' | 'trouble' | undefined; readonly text?: string | undefined; readonly unseen?: boolean | undefined }; readonly answer: { readonly changes: readonly (Change)[]; readonly next: string; readonly more: boolean; readonly last: number; readonly unseen: number } };
  /** Mark changes as seen, or as not */
  readonly 'POST /api/changes/seen': { readonly body: { readonly upTo?: string | undefined; readonly cursors?: readonly (string)[] | undefined; readonly seen: boolean }; readonly answer: undefined };
  /** The same as server-sent events; Last-Event-ID resumes with nothing lost */
  readonly 'GET /api/changes/stream': { readonly query?: { readonly after?: string | undefined }; readonly answer: string };
  /** Full text over the current copies, or over everything that ever came */
  readonly 'GET /api/search': { readonly query: { readonly q: string; readonly past?: boolean | undefined; readonly site?: string | undefined; readonly tag?: string | undefined; readonly from?: string | undefined; readonly to?: string | undefined; readonly limit?: number | undefined; readonly skip?: number | undefined }; readonly answer: { readonly hits: readonly ({ readonly pageId: string; readonly url: string; readonly site: string; readonly title?: string | undefined; readonly version: number; readonly at: string; readonly score: number; readonly snippet: readonly ({ readonly text: string; readonly hit: boolean })[] })[] } };
  /** Parts of the page that were found to be noise */
  readonly 'GET /api/pages/{id}/noise': { readonly path: { readonly id: string }; readonly answer: { readonly noise: readonly (Noise)[] } };
  /** Ignore a noisy part, or watch it after all */
  readonly 'PATCH /api/pages/{id}/noise/{part}': { readonly path: { readonly id: string; readonly part: string }; readonly body: { readonly ignored: boolean }; readonly answer: Noise };
  /** Tell somebody of changes that match */
  readonly 'POST /api/subscriptions': { readonly body: SubscriptionInput; readonly answer: Subscription };
  /** All subscriptions, oldest first */
  readonly 'GET /api/subscriptions': { readonly answer: { readonly subscriptions: readonly (Subscription)[] } };
  /** One subscription */
  readonly 'GET /api/subscriptions/{id}': { readonly path: { readonly id: string }; readonly answer: Subscription };
  /** Change a subscription; null takes a setting away */
  readonly 'PATCH /api/subscriptions/{id}': { readonly path: { readonly id: string }; readonly header?: { readonly 'if-match'?: string | undefined }; readonly body: SubscriptionChange; readonly answer: Subscription };
  /** Tell them no more; what still waits for them is dropped */
  readonly 'DELETE /api/subscriptions/{id}': { readonly path: { readonly id: string }; readonly answer: undefined };
  /** Send it a message about the newest change now, as a test */
  readonly 'POST /api/subscriptions/{id}/test': { readonly path: { readonly id: string }; readonly answer: { readonly taken: boolean; readonly fault: Fault | null } };
  /** What an expression would have matched of the last changes, before it is saved */
  readonly 'POST /api/subscriptions/try': { readonly body: { readonly match: string; readonly last?: number | undefined }; readonly answer: { readonly matched: number; readonly of: number; readonly sentence: string; readonly examples: readonly (Change)[] } };
  /** Messages on their way, sent and dead, newest first */
  readonly 'GET /api/deliveries': { readonly query?: { readonly status?: 'open' | 'due' | 'sent' | 'dead' | undefined; readonly subscription?: string | undefined; readonly before?: string | undefined; readonly limit?: number | undefined }; readonly answer: { readonly deliveries: readonly (Delivery)[] } };
  /** Send a dead message again, under the same id */
  readonly 'POST /api/deliveries/{id}/replay': { readonly path: { readonly id: string }; readonly answer: { readonly id: string } };
  /** The last changes of all pages, as Atom */
  readonly 'GET /feeds/changes.atom': { readonly answer: string };
  /** The last changes of all pages, as a JSON Feed */
  readonly 'GET /feeds/changes.json': { readonly answer: { readonly version: string; readonly title: string; readonly items: readonly (Readonly<Record<string, unknown>>)[] } };
  /** The last changes of one page, as ID.atom or ID.json */
  readonly 'GET /feeds/pages/{file}': { readonly path: { readonly file: string }; readonly answer: string };
  /** The coming looks, their price, and how far the plan can be from the best there is */
  readonly 'GET /api/plan': { readonly query?: { readonly limit?: number | undefined }; readonly answer: { readonly policy: string; readonly pages: number; readonly unseen: number; readonly budgetPerHour: number; readonly probes: readonly ({ readonly at: string; readonly pageId: string; readonly url: string; readonly site: string; readonly ratePerDay: number | null; readonly current: number | null })[]; readonly priceHours: number | null; readonly meanDelayHours: number | null; readonly meanDelayHoursBound: number | null; readonly gap: number | null; readonly policyDelayHours: number | null; readonly dearSites: readonly ({ readonly site: string; readonly priceHours: number | null })[]; readonly missing: number } };
  /** What one more look an hour is worth, and how long changes wait at other budgets */
  readonly 'GET /api/budget': { readonly answer: { readonly budgetPerHour: number; readonly now: { readonly probesPerHour: number; readonly meanDelayHours: number | null; readonly priceHours: number | null }; readonly oneMore: { readonly probesPerHour: number; readonly meanDelayHours: number | null; readonly priceHours: number | null; readonly soonerMinutes: number | null }; readonly curve: readonly ({ readonly probesPerHour: number; readonly meanDelayHours: number | null; readonly priceHours: number | null })[]; readonly missing: number } };
  /** The sites of the watched pages, those with most pages first */
  readonly 'GET /api/sites': { readonly answer: { readonly sites: readonly ({ readonly site: string; readonly pages: number; readonly paused: number; readonly looks: number; readonly changes: number; readonly inTrouble: number; readonly lastLook: string | null; readonly spacingSeconds: number | null; readonly leftAloneUntil: string | null; readonly failuresInRow: number })[]; readonly total: number } };
  /** One site: robots.txt as understood, and how it answers by hour of the week */
  readonly 'GET /api/sites/{site}': { readonly path: { readonly site: string }; readonly answer: { readonly site: { readonly site: string; readonly pages: number; readonly paused: number; readonly looks: number; readonly changes: number; readonly inTrouble: number; readonly lastLook: string | null; readonly spacingSeconds: number | null; readonly leftAloneUntil: string | null; readonly failuresInRow: number }; readonly robots: { readonly state: 'unread' | 'unreachable' | 'read' | 'elsewhere'; readonly crawlDelaySeconds: number | null; readonly sitemaps: readonly (string)[]; readonly rules: readonly ({ readonly allow: boolean; readonly path: string })[] }; readonly hours: readonly ({ readonly hour: number; readonly looks: number; readonly failures: number; readonly refused: number; readonly changes: number; readonly meanMs: number })[] } };
  /** Pool, indexing queue, starvation and overflow, seen and forecast */
  readonly 'GET /api/robots': { readonly answer: { readonly requestsMax: number; readonly requestsNow: number; readonly robots: number; readonly robotsNow: number; readonly inFlight: number; readonly waiting: number; readonly queued: number; readonly queueMax: number; readonly sent: number; readonly kept: number; readonly overflowed: number; readonly fetchPerSecond: number | null; readonly arrivalPerSecond: number | null; readonly servicePerSecond: number | null; readonly load: number | null; readonly seen: { readonly starvation: number | null; readonly loss: number | null }; readonly forecast: { readonly starvation: number | null; readonly loss: number | null }; readonly curve: readonly ({ readonly robots: number; readonly starvation: number; readonly loss: number })[]; readonly wanted: number; readonly there: number; readonly crew: readonly ({ readonly name: string; readonly process: string; readonly countedSince: string; readonly looks: number; readonly looksLastMinute: number; readonly handedBack: number; readonly there: boolean; readonly lastHeardAt: string })[] | null; readonly observers: readonly ({ readonly name: string; readonly state: 'there' | 'away' | 'disbelieved'; readonly lastHeardAt: string | null; readonly sites: readonly (string)[]; readonly places: number; readonly countedSince: string; readonly looks: number; readonly reports: number; readonly latencyMs: number | null; readonly linkBytes: number; readonly savedBytes: number })[]; readonly missing: number } };
  /** Put a trace on the shelf: rows of source,unix_seconds, packed with gzip or not */
  readonly 'PUT /api/lab/traces/{name}': { readonly path: { readonly name: string }; readonly answer: { readonly name: string; readonly bytes: number; readonly addedAt: string; readonly pages: number; readonly changes: number } };
  /** Take a trace off the shelf */
  readonly 'DELETE /api/lab/traces/{name}': { readonly path: { readonly name: string }; readonly answer: undefined };
  /** What can be tried, and what was */
  readonly 'GET /api/lab': { readonly answer: { readonly known: readonly (string)[]; readonly changes: number; readonly traces: readonly ({ readonly name: string; readonly bytes: number; readonly addedAt: string })[]; readonly runs: readonly ({ readonly id: string; readonly startedAt: string; readonly trace: string | null; readonly policies: readonly (string)[]; readonly budgets: readonly (number)[]; readonly state: 'running' | 'done' | 'failed'; readonly progress: number; readonly result?: { readonly pages: number; readonly changes: number; readonly testDays: number; readonly results: readonly ({ readonly policy: string; readonly looksPerPageDay: number; readonly allowed: number; readonly probes: number; readonly changes: number; readonly meanDelayHours: number; readonly freshness: number; readonly hitRate: number; readonly delayQuantiles: readonly (number)[] })[] } | undefined; readonly sentence?: string | undefined })[] } };
  /** Try policies on the own history or a trace, each with the same number of looks */
  readonly 'POST /api/lab': { readonly body: { readonly policies: readonly (string)[]; readonly trace?: string | undefined; readonly budgets: readonly (number)[]; readonly trainShare?: number | undefined; readonly spacingSeconds?: number | undefined }; readonly answer: { readonly id: string; readonly startedAt: string; readonly trace: string | null; readonly policies: readonly (string)[]; readonly budgets: readonly (number)[]; readonly state: 'running' | 'done' | 'failed'; readonly progress: number; readonly result?: { readonly pages: number; readonly changes: number; readonly testDays: number; readonly results: readonly ({ readonly policy: string; readonly looksPerPageDay: number; readonly allowed: number; readonly probes: number; readonly changes: number; readonly meanDelayHours: number; readonly freshness: number; readonly hitRate: number; readonly delayQuantiles: readonly (number)[] })[] } | undefined; readonly sentence?: string | undefined } };
  /** Stop what runs */
  readonly 'DELETE /api/lab': { readonly answer: undefined };
  /** One run */
  readonly 'GET /api/lab/{id}': { readonly path: { readonly id: string }; readonly answer: { readonly id: string; readonly startedAt: string; readonly trace: string | null; readonly policies: readonly (string)[]; readonly budgets: readonly (number)[]; readonly state: 'running' | 'done' | 'failed'; readonly progress: number; readonly result?: { readonly pages: number; readonly changes: number; readonly testDays: number; readonly results: readonly ({ readonly policy: string; readonly looksPerPageDay: number; readonly allowed: number; readonly probes: number; readonly changes: number; readonly meanDelayHours: number; readonly freshness: number; readonly hitRate: number; readonly delayQuantiles: readonly (number)[] })[] } | undefined; readonly sentence?: string | undefined } };
  /** How the daemon is set */
  readonly 'GET /api/settings': { readonly answer: { readonly budgetPerHour: number; readonly spacingSeconds: number; readonly robots: number; readonly queueMax: number; readonly policy: string; readonly quiet: readonly (string)[] } };
  /** Change the budget or the quiet hours */
  readonly 'PATCH /api/settings': { readonly header?: { readonly 'if-match'?: string | undefined }; readonly body: { readonly budget?: string | undefined; readonly quiet?: readonly (string)[] | undefined }; readonly answer: { readonly budgetPerHour: number; readonly spacingSeconds: number; readonly robots: number; readonly queueMax: number; readonly policy: string; readonly quiet: readonly (string)[] } };
  /** A consistent copy of everything, as one SQLite file, while all goes on */
  readonly 'GET /api/backup': { readonly answer: string };
  /** Start the demonstration: a living web on loopback, watched by a daemon of its own in fast time */
  readonly 'POST /api/demo': { readonly answer: { readonly url: string } };
  /** Look at what is due, or at every page, and wait until all of it is kept, but for pages whose sites are shut for long */
  readonly 'POST /api/check': { readonly body: null | { readonly all?: boolean | undefined }; readonly answer: { readonly looks: number; readonly requests: number; readonly changes: readonly (Change)[]; readonly missing: number; readonly later: readonly ({ readonly pages: number; readonly why: string; readonly until: string | null })[] } };
  /** Health: whether what is found can be kept, and the store answers within two seconds */
  readonly 'GET /healthz': { readonly answer: { readonly healthy: boolean; readonly running: boolean } };
  /** Readiness: whether the pages are loaded and the store answers within two seconds */
  readonly 'GET /readyz': { readonly answer: { readonly ready: boolean } };
  /** The collection and the daemon in numbers */
  readonly 'GET /api/status': { readonly answer: { readonly version: string; readonly now: string; readonly pages: number; readonly changes: number; readonly looks: number; readonly loop: { readonly sent: number; readonly sentLastHour: number; readonly kept: number; readonly overflowed: number; readonly inFlight: number; readonly queued: number; readonly waiting: number } | null; readonly budgetPerHour: number | null; readonly policy: string | null; readonly healthy: boolean; readonly linked: boolean; readonly missing: number } };
  /** Every page with its settings and what was learned of it */
  readonly 'GET /api/export': { readonly query?: { readonly cursor?: string | undefined; readonly limit?: number | undefined; readonly secrets?: boolean | undefined }; readonly answer: { readonly records: readonly (Readonly<Record<string, unknown>>)[]; readonly next: string | null } };
  /** Take in pages with their past; whole or not at all */
  readonly 'POST /api/import': { readonly body: { readonly records: readonly (Readonly<Record<string, unknown>>)[]; readonly import?: string | undefined }; readonly answer: { readonly pages: readonly ({ readonly id: string; readonly created: boolean; readonly versions: number })[] } };
  /** Take an import back */
  readonly 'DELETE /api/import': { readonly body: { readonly import: string }; readonly answer: { readonly removed: number } };
  /** End an import that came in parts: what it added stays */
  readonly 'POST /api/import/end': { readonly body: { readonly import: string }; readonly answer: undefined };
  /** The tokens, without their secrets */
  readonly 'GET /api/tokens': { readonly answer: { readonly tokens: readonly (Token)[] } };
  /** Make a token; its secret is shown this once */
  readonly 'POST /api/tokens': { readonly body: { readonly name: string; readonly scope: 'read' | 'write' | 'admin' }; readonly answer: Token & { readonly secret: string } };
  /** Revoke a token and end its sessions */
  readonly 'DELETE /api/tokens/{id}': { readonly path: { readonly id: string }; readonly answer: undefined };
  /** Who is asking, and what they may do */
  readonly 'GET /api/session': { readonly answer: { readonly name: string; readonly scope: 'read' | 'write' | 'admin'; readonly via: string } };
  /** Trade a token for a session of the dashboard */
  readonly 'POST /api/session': { readonly body: { readonly token: string }; readonly answer: { readonly name: string; readonly scope: 'read' | 'write' | 'admin' } };
  /** End the session */
  readonly 'DELETE /api/session': { readonly answer: undefined };
  /** The secret addresses of the feeds, for readers that cannot send a token */
  readonly 'GET /api/feeds': { readonly query?: { readonly page?: string | undefined }; readonly answer: { readonly changes: string; readonly page: string | null } };
  /** Make all feed addresses given out so far stop working */
  readonly 'POST /api/feeds/renew': { readonly answer: undefined };
}

type Input<Name extends keyof Calls> = Omit<Calls[Name], 'answer'>;
/** Calls that need nothing may be made without an input. */
type Given<Name extends keyof Calls> = {} extends Input<Name> ? [input?: Input<Name>] : [input: Input<Name>];

export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly header: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export type Ask = <Name extends keyof Calls>(name: Name, ...given: Given<Name>) => Promise<Calls[Name]['answer']>;

/** Turns calls into requests; how they are sent, and what becomes of a problem, is the sender's to say. */
export function createClient(send: (request: Sent) => Promise<unknown>): Ask {
  return (async (name: string, input: { path?: object; query?: object; header?: object; body?: unknown } = {}) => {
    const [method, pattern] = name.split(' ') as [string, string];
    const values = new Map(Object.entries(input.path ?? {}));
    const path = pattern.replace(/\{(\w+)\}/g, (_, part: string) => encodeURIComponent(String(values.get(part))));
    const given = (fields: object = {}) => Object.entries(fields).filter(([, value]) => value !== undefined && value !== '');
    const words = new URLSearchParams(given(input.query).map(([word, value]) => [word, String(value)])).toString();
    const header = Object.fromEntries(given(input.header)) as Record<string, string>;
    return send({ method, path: words === '' ? path : `${path}?${words}`, header, body: input.body });
  }) as Ask;
}
