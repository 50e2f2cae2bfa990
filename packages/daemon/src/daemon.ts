/** Puts the parts of a running daemon together and takes them apart again in order. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { random } from '@revisit/core';
import type { FastifyInstance } from 'fastify';
import type { AsideDetected, AsideInput } from './indexing/aside-worker.ts';
import { Aside } from './indexing/aside.ts';
import { namesLoopback } from './api/access/guard.ts';
import { answer, hubsElsewhere } from './api/parts.ts';
import { createApi } from './api/server.ts';
import { followSettings } from './api/settings.ts';
import { websubRoutes } from './api/websub.ts';
import { collectionsOf } from './config/collections.ts';
import type { Config, Read } from './config/config.ts';
import { readPage } from './config/page-input.ts';
import { readRetention } from './config/retention.ts';
import { siteSettings } from './config/site-rules.ts';
import { detect, type Previous } from './detect/detect.ts';
import { Desk } from './desk.ts';
import { type Opening, openFolder } from './folder.ts';
import { LargeBodies } from './indexing/large-bodies.ts';
import { createLog } from './log.ts';
import { Loop } from './loop.ts';
import type { DetectedAt, Fetched, LoopParts } from './loop-parts.ts';
import { type ObserverOptions, createObserver } from './observe/observe.ts';
import { receiverConnector } from './receiver-connector.ts';
import type { Store } from './store/port.ts';
import { settingsWrong } from './settings-wrong.ts';
import { Telling } from './telling.ts';
import { silenceMs, takeBack } from './unfinished-import.ts';
import { type Clock, systemClock } from './values/clock.ts';
import type { Elsewhere } from './values/elsewhere.ts';
import { StoreFailed } from './values/fault.ts';
import type { Observer } from './values/observation.ts';
import type { PageState } from './values/look.ts';
import type { ObserverReport } from './values/observer-report.ts';
import type { RobotReport } from './values/robot-report.ts';
import type { NewPageSettings, Page } from './values/page.ts';
import { userAgentOf } from './version.ts';
import { WebSub, type WebSubParts } from './websub.ts';

/** What a daemon lives in where that is not this machine's time and the internet. */
export interface World {
  readonly clock?: Clock;
  /** How far the clock was set since the daemon that went before. */
  readonly clockSetByMs?: number;
  readonly observer?: Partial<ObserverOptions>;
  /** Where state is kept, instead of the data folder. */
  readonly opening?: Opening;
  /** Whoever carries the probes out, instead of this process. */
  readonly carrier?: Observer;
  /** Sites that this daemon looks after, where it is not alone. */
  readonly accepts?: (site: string) => boolean;
  /** Work that goes on beside the loop until it has ended. `follow` is called now and then: others may have changed subscriptions and settings. */
  readonly beside?: (loop: Loop, signal: AbortSignal, follow: () => Promise<void>) => Promise<void>;
  readonly elsewhere?: Elsewhere;
  /** Whether robots can be asked, where they are processes elsewhere. */
  readonly linked?: () => boolean;
  /** Observers elsewhere, where there are any. */
  readonly observers?: () => readonly ObserverReport[];
  /** Robots elsewhere; undefined where this process is its own. */
  readonly robots?: () => readonly RobotReport[] | undefined;
  /** Routes beside the API's own. */
  readonly routes?: (app: FastifyInstance, desk: Desk) => void;
}

/** The loop over a store, looking at the real web. What the configuration says of policies has been checked. */
export function createLoop(
  config: Config,
  store: Store,
  log: LoopParts['log'],
  world: World = {},
  telling?: Telling,
  websub?: WebSub,
): Loop {
  const clock = world.clock ?? systemClock;
  const read = collectionsOf(config);
  if (read.kind === 'wrong') throw new Error(read.sentence);
  const collections = read.value;
  // The one place where the daemon takes its randomness from outside.
  const luck = random(Math.floor(Math.random() * 2 ** 52));
  const siteRules = siteSettings(config.sites);
  const aside = new Aside(store.file);
  const ownObserver = () =>
    createObserver({
      clock,
      random: luck,
      userAgent: userAgentOf(config.contact),
      allowNetworks: config.allowNetwork,
      spacingMs: config.spacingMs,
      siteRules,
      ...(config.proxy === undefined ? {} : { proxy: config.proxy }),
      chromium: config.chromium,
      ...world.observer,
    });
  // Pages say it too, each by itself and only once it is looked at.
  if (!world.carrier && config.chromium !== undefined && !existsSync(config.chromium))
    log('warn', 'chromium is not where the configuration says; no page that needs it is seen until it is', {
      chromium: config.chromium,
    });
  const observer = world.carrier ?? ownObserver();
  // Robots look and say nothing; what is said to hubs is said from here.
  const forms = websub && world.carrier && ownObserver();
  const { looksPerSecond, budgetSeconds, spacingMs, robots, robotsMin, queueMax, quiet } = config;
  return new Loop(
    {
      clock,
      random: luck,
      store,
      observer,
      policy: collections.policy,
      ...(collections.of ? { collectionOf: collections.of } : {}),
      detect: detector(store, ({ wanted, ...input }) =>
        aside.detect(wanted ? { ...input, wanted: { ...wanted, words: telling?.subscribers.needTexts } } : input),
      ),
      detectEnds: () => aside.close(),
      log,
      siteRules,
      ...(telling
        ? { planned: (look, words) => telling.planned(look, words), needs: (page) => telling.subscribers.needs(page) }
        : {}),
      ...(websub ? { websub } : {}),
      ...(forms ? { forms } : {}),
      ...(world.accepts ? { accepts: world.accepts } : {}),
    },
    { looksPerSecond, budgetSeconds, spacingMs, robots, robotsMin, queueMax, quiet },
  );
}

/** Telling over the real wires. */
export async function createTelling(
  config: Config,
  store: Store,
  log: LoopParts['log'],
  clock: Clock = systemClock,
): Promise<Telling> {
  const { createSend } = await import('./tell/send.ts');
  const { smtp, mailFrom, allowCommands, contact } = config;
  const connect = receiverConnector(config.allowNetwork);
  const send = createSend({ smtp, mailFrom, allowCommands, userAgent: userAgentOf(contact), connect });
  const large = new LargeBodies(store.file);
  const telling = new Telling(store, clock, send, log, (question) => large.words(question));
  await telling.subscribers.load();
  return telling;
}

/** Detection with the texts it asks for read from the store. */
export function detector(
  store: Store,
  detecting: (input: AsideInput) => AsideDetected | Promise<AsideDetected> = detect,
): LoopParts['detect'] {
  const reads = (page: Page, state: PageState, fetched: Fetched, at: DetectedAt) =>
    detecting({
      select: page.select,
      options: page.options,
      body: fetched.body,
      mediaType: fetched.mediaType,
      charset: fetched.charset,
      url: at.url,
      atMs: at.ms,
      second: at.second,
      previous: previousOf(store, page.id, state, at),
      ...(at.wanted ? { wanted: at.wanted } : {}),
    });
  return ({ page, state }, fetched, at) => {
    if (state.detectState !== undefined || state.looks === 0) return reads(page, state, fetched, at);
    // A page not looked at since the start: what detection remembers of it is in the store.
    return store.page(page.id).then((kept) => reads(page, kept?.state ?? state, fetched, at));
  };
}

function previousOf(store: Store, pageId: string, known: PageState, at: DetectedAt): Previous | undefined {
  const { detectState: state, version, toldVersion } = known;
  if (state === undefined || known.lastLookMs === undefined) return undefined;
  // What differs now stood still at the looks between.
  const lookedAtMs = at.unchangedLooks > 0 ? at.ms : known.lastLookMs;
  const last = () => store.versionText(pageId, version);
  if (toldVersion === version) return { state, lookedAtMs, last, versions: { pageId, last: version } };
  const told = () => store.versionText(pageId, toldVersion);
  return { state, lookedAtMs, last, told, versions: { pageId, last: version, told: toldVersion } };
}

/** Hubs can tell of changes where they can reach this daemon. */
function createWebSub(
  config: Config,
  store: Store,
  log: LoopParts['log'],
  clock: Clock,
  submit: WebSubParts['submit'],
): WebSub | undefined {
  const { publicUrl } = config;
  if (publicUrl === undefined) return undefined;
  const secret = () => randomBytes(32).toString('base64url');
  return new WebSub({ clock, random: Math.random, secret, publicUrl, submit, store, log });
}

export interface Daemon {
  readonly url: string;
  readonly app: FastifyInstance;
  readonly loop: Loop;
  /** Ends when the signal given to `startDaemon` is aborted and all is put away. */
  readonly ended: Promise<void>;
}

export type Started =
  | { readonly kind: 'started'; readonly daemon: Daemon }
  | { readonly kind: 'wrong'; readonly sentence: string };

/** The pages that the configuration names. */
export async function configuredPages(config: Config): Promise<Read<readonly NewPageSettings[]>> {
  const pages: NewPageSettings[] = [];
  for (const [i, input] of config.pages.entries()) {
    const page = readPage(input);
    if (page.kind === 'wrong') return { kind: 'wrong', sentence: `pages.${i}: ${page.sentence}` };
    const wrong = await settingsWrong(page.value);
    if (wrong !== undefined) return { kind: 'wrong', sentence: `pages.${i}: ${wrong}` };
    pages.push(page.value);
  }
  return { kind: 'read', value: pages };
}

export async function startDaemon(config: Config, signal: AbortSignal, world: World = {}): Promise<Started> {
  const pages = await configuredPages(config);
  if (pages.kind === 'wrong') return pages;
  const collections = collectionsOf(config);
  if (collections.kind === 'wrong') return collections;
  const folder = world.opening ?? openFolder(config.data);
  if (folder.kind !== 'opened') return { kind: 'wrong', sentence: folder.sentence };
  const log = createLog(config.logLevel);
  const clock = world.clock ?? systemClock;
  const telling = await createTelling(config, folder.store, log, clock);
  const websub = createWebSub(config, folder.store, log, clock, (url, form) => loop.submit(url, form));
  const loop = createLoop(config, folder.store, log, world, telling, websub);
  loop.onKept(() => telling.courier.nudge());
  telling.subscribers.onChanged((asksOther) => loop.renew(asksOther));
  loop.onKept((changes) => {
    for (const { kind, url, summary } of changes) log('info', kind, { url, summary });
  });
  const desk = new Desk(folder.store, clock, log, loop, telling, folder.folder);
  if (world.observers) desk.observers = world.observers;
  if (world.robots) desk.robots = world.robots;
  if (world.linked) desk.linked = world.linked;
  desk.elsewhere = world.elsewhere;
  desk.websub = websub;
  world.elsewhere?.answerWith((question) => answer(desk, question));
  const beyondLoopback = !namesLoopback(config.host.includes(':') ? `[${config.host}]` : config.host);
  const localKey = randomBytes(32).toString('base64url');
  const app = createApi(desk, { beyondLoopback, localKey });
  if (websub) websubRoutes(app, websub);
  world.routes?.(app, desk);
  try {
    await loop.load(world.clockSetByMs);
    if (websub) {
      websub.noticed = (id) => desk.hubTold(id);
      websub.watches = (id) => loop.collection.byId(id) !== undefined;
      if (world.elsewhere) websub.others = hubsElsewhere(world.elsewhere);
      await websub.load();
    }
    // A store of one's own can have no sender at work; in a shared one, only silence tells.
    const undone = await takeBack(desk, world.opening ? { unheardMs: silenceMs } : {});
    if (undone > 0) log('warn', 'an import that was cut off is taken back', { pages: undone });
    await followSettings(desk, config);
    await desk.add(pages.value);
    await app.listen({ host: config.host, port: config.port });
  } catch (error) {
    await app.close();
    await folder.close();
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'EADDRINUSE')
      return {
        kind: 'wrong',
        sentence: `--port ${config.port}: something else listens there already; choose another, or 0 for any free one`,
      };
    if (code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
      return { kind: 'wrong', sentence: `--host ${config.host} --port ${config.port}: cannot listen there (${code})` };
    throw error;
  }
  const address = app.server.address();
  const port = typeof address === 'object' && address ? address.port : config.port;
  const url = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`;
  folder.announce(reachable(url), localKey);
  // One of several takes its part up after this; the store has them all.
  const pageCount = world.elsewhere ? (await folder.store.counts()).pages : loop.collection.size;
  log('info', 'watching', { url, pages: pageCount, policy: collections.value.policy.name });
  const follow = async (): Promise<void> => {
    await telling.subscribers.refresh();
    await followSettings(desk, config);
  };
  const running = [
    loop.run(signal),
    telling.courier.run(signal),
    tidy(folder.store, config, log, clock, signal),
    ...(websub ? [websub.run(signal)] : []),
    ...(world.beside ? [world.beside(loop, signal, follow)] : []),
  ];
  const ended = Promise.all(running).then(async () => {
    await loop.close();
    await app.close();
    await folder.close();
  });
  return { kind: 'started', daemon: { url, app, loop, ended } };
}

/** "All addresses" is where to listen, not where to go. */
const reachable = (url: string): string => url.replace('//0.0.0.0', '//127.0.0.1').replace('//[::]', '//[::1]');
/** Once a day, and soon after the start, what the rules no longer keep is let go. */
async function tidy(
  store: Pick<Store, 'retain' | 'outbox'>,
  config: Config,
  log: LoopParts['log'],
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  for (let waitMs = 60_000; ; waitMs = 86_400_000) {
    await clock.sleep(waitMs, signal);
    if (signal.aborted) return;
    await letGo(store, config, log, clock);
  }
}

/** Lets go what the rules of the configuration and of single pages no longer keep, and messages that ended long ago. */
export async function letGo(
  store: Pick<Store, 'retain' | 'outbox'>,
  config: Config,
  log: LoopParts['log'],
  clock: Clock = systemClock,
): Promise<void> {
  const kept = await store.retain(config.keep, clock.nowMs(), (keep) => {
    const read = readRetention(keep, 'options.keep');
    return read.kind === 'read' ? read.value : undefined;
  });
  if (kept.kind === 'failed') log('warn', 'versions could not be let go', { why: kept.fault.sentence });
  else if (kept.value > 0) log('info', 'versions let go', { versions: kept.value });
  try {
    const messages = await store.outbox.forget(clock.nowMs() - config.settledMsMax);
    if (messages > 0) log('info', 'messages forgotten', { messages });
  } catch (error) {
    if (!(error instanceof StoreFailed)) throw error;
    log('warn', 'messages could not be forgotten', { why: error.fault.sentence });
  }
}
