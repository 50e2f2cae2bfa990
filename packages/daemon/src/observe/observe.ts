/**
 * The robots: a Probe goes in, an Observation comes out, whatever the server does.
 *
 * One look is wrapped from the inside out: the request itself, the validators, the site's turn, robots.txt, and redirects
 * round it all, so that every hop is asked for, waited for and judged like a first request.
 */
import { isIP } from 'node:net';
import { Agent, Client, Pool, ProxyAgent } from 'undici';
import type { Dispatcher } from 'undici';
import type { Clock } from '../values/clock.ts';
import type { Observation, Observer, Outcome, RobotsUnderstood } from '../values/observation.ts';
import type { Probe, Validators } from '../values/probe.ts';
import type { Network } from '../values/network.ts';
import { judgeAddress, networkOf, serverOf } from '../values/network.ts';
import { siteOf } from '../values/url.ts';
import type { Answer, Meter, Visit } from './ask.ts';
import { sureOf, withConditional } from './conditional.ts';
import { guardedConnector, withAddressGuard } from './connect.ts';
import { type FetchOptions, createFetch } from './fetch.ts';
import type { SiteRules } from './gate.ts';
import { KnownNames } from './known-names.ts';
import type { Limits } from './limits.ts';
import { defaultLimits } from './limits.ts';
import { LookupPlaces } from './lookup-places.ts';
import { Manners } from './manners.ts';
import { outcomeOf } from './outcome.ts';
import { throughHttpProxy } from './proxy.ts';
import { withRedirects } from './redirects.ts';
import type { RenderLimits } from './render.ts';
import { createRenderer } from './render.ts';
import type { Resolve } from './resolve.ts';
import { isAnsweredFor, systemPlaces, systemResolve } from './resolve.ts';
import { RobotsMemory, withRobots } from './robots.ts';
import type { SiteGateOptions, SiteStanding } from './site-gate.ts';
import { SiteGates, withSiteGate } from './site-gate.ts';
import type { SocksProxy } from './socks.ts';

export interface ObserverOptions {
  readonly clock: Clock;
  /** In [0, 1); spreads what would otherwise come back at the same moment. */
  readonly random: () => number;
  /** Names the project and how to reach the operator; its first word is the name robots.txt is asked for. */
  readonly userAgent: string;
  /** Address ranges (CIDR) visited although they are not public. */
  readonly allowNetworks: readonly string[];
  readonly limits?: Partial<Limits>;
  /** Least time between two requests to a site. */
  readonly spacingMs: number;
  /** Requests under way at one site; one unless the site's owner agrees to more. */
  readonly connectionsPerSite?: number;
  /** What the operator set for a single site: spacing, connections, cap, quiet hours, headers. */
  readonly siteRules?: (site: string) => (Partial<SiteRules> & SiteHeaders) | undefined;
  /** Least time between two requests to one public address that several sites share; private addresses count as one site. */
  readonly addressSpacingMs?: number;
  /** Longest wait for a site's turn before a probe is handed back with a time to come again. */
  readonly patienceMs?: number;
  /** http://, https://, socks5:// or socks5h://, with user name and password where the proxy wants them. */
  readonly proxy?: string;
  readonly authorities?: readonly string[];
  readonly resolve?: Resolve;
  /** The browser for pages that need one; looked for in the usual places when not given. */
  readonly chromium?: string | undefined;
  readonly renderLimits?: Partial<RenderLimits>;
  /** What was known of sites before a restart. */
  readonly standings?: Iterable<SiteStanding>;
  readonly isDrowsy?: FetchOptions['isDrowsy'];
  /** Another web: the simulated one. */
  readonly fetchPage?: Visit;
}

export interface SiteHeaders {
  /** Sent to the site's own pages, never across origins. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The observer of the real web, and what it knows of sites. */
export interface WebObserver extends Observer {
  /** What politeness knows of a site: for the plan, and to be kept over a restart. */
  standing(site: string): SiteStanding | undefined;
  /** Crawl-delay and sitemaps that an origin's robots.txt names, as far as it was read. */
  robotsOf(origin: string): RobotsUnderstood;
}

export function createObserver(options: ObserverOptions): WebObserver {
  const { clock } = options;
  const limits: Limits = { ...defaultLimits, ...options.limits };
  const allowNetworks = options.allowNetworks.map(networkOf);
  const names = knownNames(options);
  const { resolve } = names;
  const proxy = options.proxy === undefined ? undefined : new URL(options.proxy);
  const dispatcher = options.fetchPage ? undefined : createDispatcher(options, limits, allowNetworks, resolve);
  const direct =
    options.fetchPage ??
    createFetch({
      dispatcher: dispatcher!,
      clock,
      limits,
      userAgent: options.userAgent,
      isDrowsy: options.isDrowsy,
    });

  const behind = (visit: Visit): Visit => (isHttp(proxy) ? throughHttpProxy(proxy, visit) : visit);
  const fetchPage = options.proxy === undefined ? direct : withAddressGuard(allowNetworks, resolve, behind(direct));

  const gateOptions = siteGateOptions(options, resolve);
  const gates = new SiteGates(gateOptions);
  for (const standing of options.standings ?? []) gates.restore(standing);
  const memory = new RobotsMemory();
  const manners = new Manners(clock, memory, gates);
  const robotsOptions = {
    clock,
    random: options.random,
    productToken: /^[A-Za-z_-]+/.exec(options.userAgent)?.[0] ?? 'Revisit',
    redirectsMax: limits.robotsRedirectsMax,
    chainMs: limits.chainMs,
    bytesMax: limits.robotsBytesMax,
    wasRead: () => gates.robotsRead(),
  };

  const polite = withSiteGate(gates, gateOptions, withConditional(fetchPage));
  const look = withRedirects(limits, withRobots(memory, robotsOptions, polite));

  const { chromium, renderLimits } = options;
  const renderer = createRenderer({ visit: look, clock, userAgent: options.userAgent, chromium, limits: renderLimits });

  return {
    observe: async (probe, signal, mayAsk) => {
      const startedAtMs = clock.nowMs();
      const url = URL.parse(probe.url);
      if (!url) throw new Error(`probe ${probe.id} has no valid URL`);
      const headers = headersFor(probe, url, options.siteRules?.(probe.site)?.headers);
      const meter: Meter = { requests: 0, lastAtMs: startedAtMs, wireMs: 0, heldMs: 0, waiting: 0, servers: undefined };
      const validators = issuedBy(probe.movedFrom ?? url.href, sureOf(probe.validators));
      const { noted } = probe;
      const ask = { url, headers, validators, purpose: 'page', signal, mayAsk, noted, meter } as const;
      const answer = await (probe.render ? renderer.render(ask) : look(ask));
      // What is known is known of the last request, not of when the probe began to wait for its turn.
      const server = meter.servers?.get(probe.site);
      const seen = observation(probe, answer, meter, clock.nowMs(), outcomeOf(answer, probe, validators));
      const sitemaps = probe.discovers ? memory.sitemapsOf(url.origin) : noSitemaps;
      const said = sitemaps.length > 0 ? { ...seen, sitemaps } : seen;
      return server ? { ...said, server, heldMs: meter.heldMs } : said;
    },
    standing: (site) => gates.standing(site),
    submit: async (text, form) => {
      const url = URL.parse(text);
      if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined;
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      const answer = await polite({ url, headers, form, purpose: 'form' });
      return answer.kind === 'answered' ? answer.status : undefined;
    },
    save: (ifPressing) => manners.save(ifPressing),
    restore: (saved, clockSetByMs) => {
      manners.restore(saved, clockSetByMs);
      const delays = new Map<string, number>();
      for (const { origin, delayMs } of memory.crawlDelays()) {
        const site = siteOf(new URL(origin).hostname);
        delays.set(site, Math.max(delayMs, delays.get(site) ?? 0));
      }
      return delays;
    },
    leaveAlone: (closed) => gates.leaveAlone(closed),
    askedUntil: (atMs) => gates.askedUntil(atMs),
    countIn: (book) => gates.countIn(book),
    robotsOf: (origin) => ({
      crawlDelayMs: memory.crawlDelayMsOf(origin),
      sitemaps: memory.sitemapsOf(origin),
      ...memory.understood(origin),
    }),
    allows: (url) => memory.allows(new URL(url)),
    close: async () => {
      gates.close();
      names.close();
      await renderer.close();
      await dispatcher?.destroy();
    },
  };
}

/** Who looks names up in another way than this machine does takes none of its threads. */
function knownNames({ resolve, clock }: ObserverOptions): KnownNames {
  return resolve
    ? new KnownNames(resolve, clock, new LookupPlaces(ownPlaces))
    : new KnownNames(systemResolve, clock, systemPlaces, isAnsweredFor);
}

/** They are nobody's threads: enough that names do not wait for each other. */
const ownPlaces = 8;

/** Validators that do not say who issued them are of the page's own URL, and go to no place that it redirects to. */
function issuedBy(url: string, validators: Validators): Validators {
  if (validators.etag === undefined && validators.lastModified === undefined) return noValidators;
  return validators.url === undefined ? { ...validators, url } : validators;
}

const noSitemaps: readonly string[] = [];
const noValidators: Validators = {};
const noHeaders: Readonly<Record<string, string>> = {};

/**
 * What the operator gave for a page and its site goes to the origin of the page's own URL. Where the page moved to was said by
 * somebody else, who is told nothing, and whose choice of a URL is not asked for with what another site was given either.
 */
function headersFor(probe: Probe, url: URL, ofSite: SiteHeaders['headers']): Readonly<Record<string, string>> {
  if (!ofSite && !probe.headers) return noHeaders;
  if (probe.movedFrom !== undefined && URL.parse(probe.movedFrom)?.origin !== url.origin) return noHeaders;
  return { ...lower(ofSite), ...lower(probe.headers) };
}

/** Written out for the usual answer: objects put together from parts cost a look more than what is in them. */
function observation(
  probe: Probe,
  answer: Answer,
  { lastAtMs: startedAtMs, requests }: Meter,
  endedAtMs: number,
  outcome: Outcome,
): Observation {
  const { bytesReceived } = answer;
  if (answer.kind !== 'answered') return { probe, startedAtMs, endedAtMs, requests, outcome, bytesReceived };
  const finalUrl = answer.url.href;
  const { crawlDelayMs, movedTo } = answer;
  const latencyMs = answer.answeredAtMs - answer.askedAtMs;
  const plain = { probe, startedAtMs, endedAtMs, requests, outcome, bytesReceived, latencyMs };
  if (finalUrl === probe.url && crawlDelayMs === undefined && movedTo === undefined) return plain;
  return {
    ...plain,
    ...(finalUrl === probe.url ? {} : { finalUrl }),
    ...(crawlDelayMs === undefined ? {} : { crawlDelayMs }),
    ...(movedTo === undefined ? {} : { movedTo }),
  };
}

function lower(headers: Readonly<Record<string, string>> | undefined): Record<string, string> {
  if (!headers) return {};
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Servers close idle connections after five seconds and more; one that is closed while we ask costs the page its look. */
const keepAliveMs = 4_000;

const isHttp = (proxy: URL | undefined): proxy is URL =>
  proxy !== undefined && (proxy.protocol === 'http:' || proxy.protocol === 'https:');

function createDispatcher(
  options: ObserverOptions,
  limits: Limits,
  allowNetworks: readonly Network[],
  resolve: Resolve,
): Dispatcher {
  const proxy = options.proxy === undefined ? undefined : new URL(options.proxy);
  const common = {
    allowH2: true,
    pipelining: 1,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    maxHeaderSize: limits.headerBytesMax,
    // The exchange keeps time itself, from asking to the last byte.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  if (isHttp(proxy)) {
    return new ProxyAgent({
      ...common,
      uri: proxy.href,
      ...(options.authorities ? { requestTls: { ca: [...options.authorities] } } : {}),
    });
  }
  const connect = guardedConnector({
    judge: (address) => judgeAddress(address, allowNetworks),
    resolve,
    connectMs: limits.connectMs,
    authorities: options.authorities,
    socks: proxy && socksOf(proxy),
  });
  const connectionsOf = ({ hostname }: URL) => rulesOf(options, siteOf(hostname)).connections;
  const factory = (origin: string | URL, given: object): Dispatcher => {
    const connections = connectionsOf(new URL(origin));
    return connections === 1 ? new Client(origin, given) : new Pool(origin, { ...given, connections });
  };
  return new Agent({ ...common, connect, factory });
}

function rulesOf(options: ObserverOptions, site: string): SiteRules {
  const { spacingMs, connectionsPerSite: connections = 1 } = options;
  return { spacingMs, connections, ...options.siteRules?.(site) };
}

function socksOf(proxy: URL): SocksProxy {
  return {
    host: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: Number(proxy.port) || 1080,
    namesAtProxy: proxy.protocol === 'socks5h:',
    ...(proxy.username === '' ? {} : { user: decodeURIComponent(proxy.username) }),
    ...(proxy.password === '' ? {} : { password: decodeURIComponent(proxy.password) }),
  };
}

function siteGateOptions(options: ObserverOptions, resolve: Resolve): SiteGateOptions {
  const { spacingMs } = options;
  // Many sites of a content network share one public address: four requests a second to it all are unnoticeable.
  const publicAddress: SiteRules = { spacingMs: options.addressSpacingMs ?? Math.min(spacingMs, 250), connections: 8 };
  // A simulated web has no addresses of its own, and a proxy connects for us.
  const nowhere = (options.fetchPage !== undefined && !options.resolve) || options.proxy !== undefined;
  const found = async (hostname: string) => {
    const first = (await resolve(hostname).catch(() => []))[0];
    if (!first) return undefined;
    const address = serverOf(first.address);
    const isPublic = judgeAddress(address, []).kind === 'allowed';
    const rules = isPublic ? { ...publicAddress, ...options.siteRules?.(address) } : rulesOf(options, address);
    return { address, rules };
  };
  return {
    clock: options.clock,
    random: options.random,
    rulesOf: (site) => rulesOf(options, site),
    // A literal address is its own site.
    addressOf: (host) => (nowhere || isIP(host.replace(/^\[|\]$/g, '')) !== 0 ? undefined : found(host)),
    patienceMs: options.patienceMs ?? Math.max(30_000, 2 * spacingMs),
  };
}
