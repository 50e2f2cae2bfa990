/**
 * What one answer says about one page: the same, a new version, or no copy of the page at all.
 *
 * In this order: the body's fingerprint (most looks end here), the projection, the states that are no copy (login, wall,
 * HTML where JSON was, nothing selected), comparison with the last version under the noise that is known, learning of new
 * noise, and, against the last version that was told, the conditions for telling.
 */
import { hash } from 'node:crypto';
import type { Detection, Projection } from '../values/change.ts';
import type { Fault } from '../values/fault.ts';
import type { Select } from '../values/page.ts';
import { decodeText } from '../values/text.ts';
import { difference, type Difference } from './difference.ts';
import { looksLikeFeed } from './feed.ts';
import { mediaKindOf } from './media.ts';
import { itemDifference, readItems, withoutFields } from './items.ts';
import {
  emptyNoise,
  fieldSightings,
  ignoredFields,
  learnNoise,
  masked,
  noiseLinesMin,
  secondLookMs,
  sightings,
  type Learned,
  type NoisePart,
} from './noise.ts';
import { comparable, comparesAsWritten } from './normalise.ts';
import { readOptions, type DetectOptions } from './options.ts';
import { project, treeOf, type Source } from './project.ts';
import { isCalm, readState, stateOfTrouble, writeState, type DetectState } from './state.ts';
import { looksLikeSitemap, unpacked } from './sitemap.ts';
import { summaryOf } from './summary.ts';
import { visibleText } from './text.ts';
import type { Tree } from './tree.ts';
import { readyFor, unmet } from './conditions.ts';
import { faceTextMax, hasPassword, isLogin, isWall, loginFault, notJsonFault, wallFault } from './walls.ts';

export interface DetectInput {
  readonly select: Select;
  /** The page's options; those of other stages are left alone. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly body: Uint8Array;
  readonly mediaType?: string | undefined;
  readonly charset?: string | undefined;
  /** Where the answer came from, after redirects. */
  readonly url: string;
  /** When the answer came. */
  readonly atMs: number;
  /** This look is the one that `again` of the last look asked for. */
  readonly second?: boolean | undefined;
  readonly previous?: Previous | undefined;
  /** What is noise, by somebody else's word: nothing more is taken for it then. */
  readonly noise?: readonly NoisePart[] | undefined;
}

/** What is known of the page from earlier looks. Texts are asked for only when they are needed. */
export interface Previous {
  /** What `detect` returned as `state` at the last look. */
  readonly state: string;
  /** When the last look that brought an answer was. */
  readonly lookedAtMs: number;
  /** The text of the last version; undefined while there is none. */
  readonly last: () => string | undefined | Promise<string | undefined>;
  /** The text of the last version that was told, or the first one, where that is not the last. */
  readonly told?: () => string | undefined | Promise<string | undefined>;
  /** Which versions these are, for whoever has the store at hand. */
  readonly versions?: { readonly pageId: string; readonly last: number; readonly told?: number };
}

export interface Detected {
  readonly detection: Detection;
  /** To be kept with the page in the same transaction; the very same text when nothing is to be written. */
  readonly state: string;
  /** Another look is wanted that soon, to confirm a change or to tell noise from news. */
  readonly again?: { readonly afterMs: number; readonly why: 'confirm' | 'noise' };
  /** The whole page, where it was asked to be kept beside the projection. */
  readonly raw?: string;
}

export async function detect(input: DetectInput): Promise<Detected> {
  const settings = settingsOf(input.select, input.options);
  const body = bodyOf(input.body);
  if (input.previous && isCalm(input.previous.state, settings, body)) return calm(input.previous.state);
  const known = input.previous && readState(input.previous.state);
  const state = known?.settings === settings ? known : undefined;
  const read = readOptions(input.options);
  if (read.kind === 'wrong') {
    const sentence = `The option ${read.field} is ${JSON.stringify(read.value)}; allowed is ${read.allowed}.`;
    return unreadable({ code: 'options-wrong', sentence }, settings, state, input);
  }
  if (state && state.body === body) return sameBody(input, read.options, state);

  const source = sourceOf(input, read.options, state);
  if ('code' in source) return unreadable(source, settings, state, input);
  const projected = await project(source);
  const trouble = troubleOf(source, state, projected.kind === 'projected' ? projected.projection : undefined);
  if (trouble) return unreadable(trouble, settings, state, input);
  if (projected.kind === 'fault') return unreadable(projected.fault, settings, state, input);
  const { projection } = projected;
  const raw = read.options.keepRaw ? { raw: source.text } : {};
  const next: DetectState = {
    settings,
    body,
    format: projection.format,
    media: source.media,
    password: source.media === 'html' && hasPassword(source.text),
    noise: input.noise ? { ...emptyNoise, parts: input.noise } : (state?.noise ?? emptyNoise),
  };
  // The markup of a sitemap and the items of one do not compare: it begins anew.
  const begins = source.media === 'sitemap' && (state?.format === 'items') !== (projection.format === 'items');
  const last = state && state.body !== '' && !begins ? await input.previous!.last() : undefined;
  if (!state || last === undefined)
    return { detection: { kind: 'first', projection }, state: writeState(next), ...raw };
  const compared = await compare(input, read.options, state, next, projection, last);
  return { ...compared, ...(compared.detection.kind === 'changed' ? raw : {}) };
}

/** The answer for a body that is byte for byte the last copy, when that is all there is to say; undefined otherwise. */
export function recognised(
  select: Select,
  options: DetectInput['options'],
  body: Uint8Array,
  state: string,
): Detected | undefined {
  return isCalm(state, settingsOf(select, options), bodyOf(body)) ? calm(state) : undefined;
}

const unchanged: Detection = { kind: 'unchanged' };
const calm = (state: string): Detected => ({ detection: unchanged, state });

/** Tells bodies of one page apart, at every look: SHA-1 takes half the time of SHA-256, and nobody gains by a collision. */
function bodyOf(body: Uint8Array): string {
  return hash('sha1', body, 'base64url').slice(0, 22);
}

/** What the text of a version depends on; conditions for telling may change without a new beginning. */
function settingsOf(select: Select, options: DetectInput['options']): string {
  let bySelect = knownSettings.get(options);
  if (!bySelect) knownSettings.set(options, (bySelect = new WeakMap()));
  let settings = bySelect.get(select);
  if (settings === undefined) {
    const { as, normalise, items } = options;
    settings = hash('sha256', JSON.stringify([select, [as, normalise, items]]), 'base64url').slice(0, 22);
    bySelect.set(select, settings);
  }
  return settings;
}

/** By options, most of which are none and one object: they are asked for at every look. */
const knownSettings = new WeakMap<DetectInput['options'], WeakMap<Select, string>>();

function sourceOf(input: DetectInput, options: DetectOptions, state: DetectState | undefined): Source | Fault {
  const read = documentOf(input);
  if ('code' in read) return read;
  let tree: Tree | undefined;
  if (options.normalise.remove.length > 0 && read.media === 'html') {
    const parsed = treeOf(read.text, options);
    if ('fault' in parsed) return parsed.fault;
    tree = parsed;
  }
  return {
    select: input.select,
    options,
    ...read,
    body: input.body,
    mediaType: input.mediaType,
    url: input.url,
    formatBefore: state?.format,
    tree: () => (tree ??= treeOf(read.text, { ...options, normalise: { ...options.normalise, remove: [] } }) as Tree),
  };
}

/** The body as text, and what kind of document that is. Sitemaps are often kept as .gz files and served as what they are. */
function documentOf({ body, mediaType, charset }: DetectInput): Pick<Source, 'text' | 'media'> | Fault {
  const inside = unpacked(body);
  if (inside && 'code' in inside) return inside;
  const sitemap = inside && decodeText(inside, 'application/xml', charset).text;
  if (sitemap !== undefined && looksLikeSitemap(sitemap)) return { text: sitemap, media: 'sitemap' };
  const { text } = decodeText(body, mediaType, charset);
  if (looksLikeSitemap(text)) return { text, media: 'sitemap' };
  return { text, media: mediaKindOf(mediaType, text, looksLikeFeed(mediaType, text)) };
}

/** An answer that is no copy of the page, looked for before a missing selector is blamed. */
function troubleOf(
  source: Source,
  state: DetectState | undefined,
  projection: Projection | undefined,
): Fault | undefined {
  if (source.media !== 'html') return undefined;
  const wasJson = state && (state.media === 'json' || state.format === 'json');
  const suspicious = (source.text.length < 200_000 || projection === undefined) && !saysMuch(source, projection);
  const visible = suspicious ? visibleText(source.tree(), true, faceTextMax) : undefined;
  if (visible !== undefined && isWall(source.text, visible)) return wallFault;
  // Without an earlier copy to hold it against, a page that gives what is selected is taken at its word.
  const had = state === undefined || state.body === '' ? projection !== undefined : state.password;
  if (visible !== undefined && isLogin(source.text, visible, source.url, had)) return loginFault;
  return wasJson ? notJsonFault : undefined;
}

/** Where all its text is watched, what was taken from the page shows that it says more than a form or a check for robots. */
function saysMuch({ select, options }: Source, projection: Projection | undefined): boolean {
  const isAll = select.kind === 'text' && options.normalise.replace.length === 0;
  return isAll && projection !== undefined && projection.text.length >= faceTextMax;
}

/** The answer for a body that nobody could read. */
export function unread(input: DetectInput, fault: Fault): Detected {
  const settings = settingsOf(input.select, input.options);
  const known = input.previous && readState(input.previous.state);
  return unreadable(fault, settings, known?.settings === settings ? known : undefined, input);
}

function unreadable(fault: Fault, settings: string, state: DetectState | undefined, input: DetectInput): Detected {
  const again = state?.fault === fault.code;
  const next = state ? { ...state, fault: fault.code } : stateOfTrouble(settings, fault.code);
  return {
    detection: { kind: 'unreadable', fault, again },
    state: again && input.previous ? input.previous.state : writeState(next),
  };
}

/** Byte for byte what the last copy was: nothing to read, but a change may wait to be confirmed. */
async function sameBody(input: DetectInput, options: DetectOptions, state: DetectState): Promise<Detected> {
  const { fault, ...sound } = state;
  const kept = fault === undefined ? input.previous!.state : writeState(sound);
  if (state.pendingSinceMs === undefined) return { detection: { kind: 'unchanged' }, state: kept };
  const last = await input.previous!.last();
  return settle(input, options, sound, last ?? '', { kind: 'unchanged' });
}

async function compare(
  input: DetectInput,
  options: DetectOptions,
  state: DetectState,
  next: DetectState,
  projection: Projection,
  last: string,
): Promise<Detected> {
  const pending = state.pendingSinceMs === undefined ? {} : { pendingSinceMs: state.pendingSinceMs };
  const carried: DetectState = { ...next, ...pending, ...(state.ready ? { ready: state.ready } : {}) };
  const { format, text } = projection;
  let view = viewOf(options, carried);
  if (view(text) === view(last)) return settle(input, options, carried, text, { kind: 'unchanged' });
  const learned = learn(input, options, carried, text, last);
  const wiser: DetectState = learned ? { ...carried, noise: learned.noise } : carried;
  view = viewOf(options, wiser);
  const again = learned?.secondLook ? { again: { afterMs: secondLookMs, why: 'noise' as const } } : {};
  // The body that is held back must be read again, even when it comes back the same.
  if (learned?.hold)
    return { detection: { kind: 'unchanged' }, state: writeState({ ...wiser, body: state.body }), ...again };
  if (view(text) === view(last)) return settle(input, options, wiser, text, { kind: 'unchanged' });
  const change = difference(view(last), view(text), differenceOptions(options, wiser));
  // Everything that differed is of a kind that is not told, such as entries that fell off the end of a feed.
  if (format === 'items' && countOf(change, options, wiser) === 0)
    return settle(input, options, wiser, text, { kind: 'unchanged' });
  const count = Math.max(1, countOf(change, options, wiser));
  const seen = { kind: 'changed' as const, projection, count, summary: summaryOf(told(change, options, wiser)) };
  return { ...again, ...(await settle(input, options, wiser, text, seen, { from: view(last), change })) };
}

/** The text as it is compared: what is noise or ruled equal made equal. */
function viewOf(options: DetectOptions, state: DetectState): (text: string) => string {
  const { normalise, noise } = options;
  const asWritten = comparesAsWritten(normalise);
  const quiet = noise === 'off' || state.noise.parts.length === 0;
  if (state.format === 'items')
    return quiet ? (text) => text : (text) => withoutFields(text, ignoredFields(state.noise));
  if (asWritten && quiet) return (text) => text;
  return (text) => {
    const lines = quiet ? text.split('\n') : masked(text.split('\n'), state.noise);
    return (asWritten ? lines : lines.map((line) => comparable(line, normalise))).join('\n');
  };
}

function learn(
  input: DetectInput,
  options: DetectOptions,
  state: DetectState,
  text: string,
  last: string,
): Learned | undefined {
  if (options.noise === 'off' || input.noise) return undefined;
  const time = { atMs: input.atMs, lookedAtMs: input.previous!.lookedAtMs, second: input.second === true };
  const view = viewOf(options, state);
  if (state.format === 'items') {
    const change = itemDifference(readItems(last), readItems(text), itemKey(options), ignoredFields(state.noise));
    return learnNoise(state.noise, fieldSightings(change), time);
  }
  const precise = !['whole', 'text', 'main', 'links'].includes(input.select.kind);
  const lines = view(text).split('\n');
  if (precise || lines.length < noiseLinesMin) return undefined;
  return learnNoise(state.noise, sightings(view(last).split('\n'), lines), time);
}

function itemKey(options: DetectOptions): string | undefined {
  return options.items === false ? undefined : options.items.key;
}

function differenceOptions(options: DetectOptions, state: DetectState) {
  const key = itemKey(options);
  return {
    format: state.format,
    ignoredFields: ignoredFields(state.noise),
    ...(key === undefined ? {} : { itemKey: key }),
  };
}

/** Entries fall off the end of a feed by themselves; from a list in JSON they are taken. */
function told(change: Difference, options: DetectOptions, state: DetectState): Difference {
  const removed = (options.items !== false && options.items.removed) ?? state.media !== 'feed';
  return change.items && !removed ? { ...change, items: { ...change.items, removed: [] } } : change;
}

function countOf(change: Difference, options: DetectOptions, state: DetectState): number {
  const { items } = told(change, options, state);
  return items ? items.added.length + items.changed.length + items.removed.length : 1;
}

type Seen = (Detection & { kind: 'changed' }) | { readonly kind: 'unchanged' };

/** Decides about telling, against the last told version, and about waiting for confirmation. */
async function settle(
  input: DetectInput,
  options: DetectOptions,
  state: DetectState,
  text: string,
  seen: Seen,
  /** The difference to the last version: where that is the one last told, it need not be made again. */
  known?: { readonly from: string; readonly change: Difference },
): Promise<Detected> {
  const { pendingSinceMs, ready, ...settled } = state;
  const waits = seen.kind === 'changed' || pendingSinceMs !== undefined;
  if (!waits) return { detection: seen, state: writeState({ ...settled, ...(ready ? { ready } : {}) }) };
  const view = viewOf(options, state);
  const { last, told: lastTold } = input.previous!;
  const before = known && !lastTold ? known.from : view((await (lastTold ?? last)()) ?? '');
  const now = view(text);
  const { why, change, again } = judged(options, state, before, now, known);
  const possible = [...new Set([...(ready ?? []), ...readyFor(options.tell, now)])];
  const waiting = { ...settled, ...(possible.length > 0 ? { ready: possible } : {}) };
  if (why !== undefined) {
    return { detection: seen.kind === 'changed' ? { ...seen, quiet: why } : seen, state: writeState(waiting) };
  }
  const confirmMs = (options.tell.confirmAfterSeconds ?? 0) * 1000;
  const sinceMs = pendingSinceMs ?? input.atMs;
  if (confirmMs > 0 && input.atMs - sinceMs < confirmMs) {
    const quiet = `told when a look after ${options.tell.confirmAfterSeconds} s still finds it`;
    return {
      detection: seen.kind === 'changed' ? { ...seen, quiet } : seen,
      state: writeState({ ...waiting, pendingSinceMs: sinceMs }),
      again: { afterMs: confirmMs - (input.atMs - sinceMs), why: 'confirm' },
    };
  }
  const summary = now === before && !known ? 'It is again as it was told before.' : summaryOf(change);
  const since = again ? { since: 'last' as const } : {};
  const detection: Detection =
    seen.kind === 'changed'
      ? { ...seen, ...since, summary }
      : { kind: 'unchanged', late: { count: Math.max(1, countOf(change, options, state)), summary, ...since } };
  return { detection, state: writeState(settled) };
}

interface Judged {
  /** Why it is not told. */
  readonly why: string | undefined;
  readonly change: Difference;
  /** It happened before, was told, and happened again: the difference is to the last version. */
  readonly again: boolean;
}

function judged(
  options: DetectOptions,
  state: DetectState,
  before: string,
  now: string,
  known: { readonly from: string; readonly change: Difference } | undefined,
): Judged {
  const whole = known?.from === before ? known.change : difference(before, now, differenceOptions(options, state));
  const change = told(whole, options, state);
  const why =
    now === before ? 'it is again as it was last told' : unmet(options.tell, before, now, state.format, change);
  if (why === undefined || !state.ready) return { why, change, again: false };
  const from = known?.from ?? before;
  const recent = known ? told(known.change, options, state) : change;
  const still = unmet(options.tell, from, now, state.format, recent, state.ready);
  return still === undefined && eventual(options)
    ? { why: still, change: recent, again: true }
    : { why, change, again: false };
}

/** Whether something must happen, and not only differ. */
function eventual({ tell }: DetectOptions): boolean {
  return (
    tell.appears !== undefined || tell.disappears !== undefined || tell.above !== undefined || tell.below !== undefined
  );
}
