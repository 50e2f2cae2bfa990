/**
 * The looks at one page that are coming, and why then. The first is the policy's own; the later ones follow from it: a look
 * comes when as many changes are expected since the look before as are expected at the first, at the pace of the hours of
 * the week between them; of a page that keeps to a moment of its cycle, whose look finds most of what a cycle brings, the later ones
 * come at the same moment of the next cycles. They are what would happen if nothing unusual were found meanwhile.
 */
import { type Belief, type UsualTime, expectedPerDay } from '@revisit/core';
import type { Wait } from './page-waits.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const weekHours = 168;
/** Looks further away than this are not worth a date. */
const horizonMs = 90 * dayMs;
/** An hour whose pace differs from the average by less is an hour like others. */
const paceApart = 0.2;
/** Behind its usual moment a page is looked at when it has most probably changed. */
const behindMoment = 4;
/** So many looks, of which nearly all found a change, show that looking more often finds only more. */
const restless = { looksMin: 20, share: 0.9 };

export interface ComingLook {
  readonly atMs: number;
  /** Changes expected since the look before. */
  readonly expected: number;
  /** The chance that it finds something new. */
  readonly chance: number;
  /** How fast the page is believed to change in that hour of the week, 1 on average. */
  readonly pace: number;
}

export interface Circumstances {
  readonly nowMs: number;
  readonly belief: Belief;
  /** When the policy wants the next look; Infinity while one is asked for. */
  readonly dueMs: number;
  /** The chance that its copy is still current at that moment, where it keeps times of its own. */
  readonly currentThen?: number | undefined;
  readonly lastLookMs: number | undefined;
  /** So far, and how many of them found a change. */
  readonly looks: number;
  readonly changes: number;
  /** By hour from Monday 00:00 UTC, 1 on average; undefined where hours are not told apart. */
  readonly week: readonly number[] | undefined;
  readonly weight: number;
  readonly spacingSeconds: number | undefined;
  /** What a look must save, in hours of waiting summed over changes by weight. */
  readonly priceHours: number | undefined;
  /** What puts the next look off. */
  readonly wait: Wait | undefined;
  readonly waiting: number;
  readonly looksPerSecond: number;
}

export interface Coming {
  readonly state: 'planned' | 'in line';
  readonly looks: readonly ComingLook[];
  /** In words, what counts most first. */
  readonly reasons: readonly string[];
}

/** The epoch began on a Thursday. */
export const hourOfWeek = (ms: number): number =>
  (((Math.floor(ms / hourMs) + 3 * 24) % weekHours) + weekHours) % weekHours;

const paceAt = (week: Circumstances['week'], ms: number): number => week?.[hourOfWeek(ms)] ?? 1;

/** Hours from one time to another, each counted by its pace. */
function pacedMs(week: Circumstances['week'], fromMs: number, toMs: number): number {
  if (!week) return toMs - fromMs;
  let sum = 0;
  for (let at = fromMs; at < toMs;) {
    const end = Math.min(toMs, (Math.floor(at / hourMs) + 1) * hourMs);
    sum += (end - at) * paceAt(week, at);
    at = end;
  }
  return sum;
}

/** When so many paced milliseconds have passed; undefined beyond the horizon. */
function afterPaced(week: Circumstances['week'], fromMs: number, wantedMs: number): number | undefined {
  if (!week) return wantedMs <= horizonMs ? fromMs + wantedMs : undefined;
  let left = wantedMs;
  for (let at = fromMs; at < fromMs + horizonMs;) {
    const end = (Math.floor(at / hourMs) + 1) * hourMs;
    const pace = paceAt(week, at);
    if (pace > 0 && left <= (end - at) * pace) return at + left / pace;
    left -= (end - at) * pace;
    at = end;
  }
  return undefined;
}

export function comingLooks(given: Circumstances, limit: number): Coming {
  const { nowMs, week, lastLookMs, belief } = given;
  const isWanted = !(given.dueMs < Infinity);
  const inLine = isWanted && !given.wait;
  const perDay = expectedPerDay(belief);
  const ratePerMs = Number.isFinite(perDay) ? perDay / dayMs : 0;
  const firstMs = Math.max(nowMs, isWanted ? nowMs : given.dueMs, given.wait?.untilMs ?? 0);
  const looks: ComingLook[] = [];
  const inTime = looksInTime(given, firstMs, limit);
  if (inTime)
    return { state: inLine ? 'in line' : 'planned', looks: inTime, reasons: reasonsFor(given, inTime[0]!, inLine) };
  const add = (atMs: number, sinceMs: number): void => {
    const expected = ratePerMs * pacedMs(week, sinceMs, atMs);
    looks.push({ atMs, expected, chance: 1 - Math.exp(-expected), pace: paceAt(week, atMs) });
  };
  add(firstMs, lastLookMs ?? firstMs);
  const gapMs = gapOf(given, firstMs);
  const spacingMs = (given.spacingSeconds ?? 0) * 1000;
  for (let lastMs = firstMs; looks.length < limit && gapMs !== undefined;) {
    const atMs = afterPaced(week, lastMs, gapMs);
    if (atMs === undefined) break;
    add(Math.max(atMs, lastMs + spacingMs), lastMs);
    lastMs = looks.at(-1)!.atMs;
  }
  return { state: inLine ? 'in line' : 'planned', looks, reasons: reasonsFor(given, looks[0]!, inLine) };
}

/** The looks at a page that keeps to a moment: the next as it is planned, the others behind that moment in as many cycles as it waits now. */
function looksInTime({ belief, currentThen, lastLookMs }: Circumstances, firstMs: number, limit: number) {
  const { usualTime } = belief;
  if (!usualTime || currentThen === undefined) return undefined;
  const everyMs = usualTime.everySeconds * 1000;
  const isBehind = 1 - currentThen >= usualTime.share / 2;
  const cycles = isBehind ? Math.max(1, Math.round((firstMs - (lastLookMs ?? firstMs)) / everyMs)) : 1;
  const momentMs = usualTime.at * 1000 + Math.ceil((firstMs - usualTime.at * 1000) / everyMs) * everyMs;
  const nextMs = isBehind ? firstMs + cycles * everyMs : momentMs + behindMoment * usualTime.withinSeconds * 1000;
  const first = { atMs: firstMs, ...found(currentThen), pace: 1 };
  const others = Array.from({ length: limit - 1 }, (_, i) => nextMs + i * cycles * everyMs)
    .filter((atMs) => atMs <= firstMs + horizonMs)
    .map((atMs) => ({ atMs, ...found((1 - usualTime.share) ** cycles), pace: 1 }));
  return [first, ...others];
}

/** What a look finds of a page whose copy is current with this chance. */
const found = (current: number) => ({ expected: -Math.log(Math.max(current, 1e-9)), chance: 1 - current });

/** The distance of looks, in paced milliseconds: as the policy has set it, or as the price asks where it has not yet. */
function gapOf({ lastLookMs, dueMs, week, priceHours, belief, weight }: Circumstances, firstMs: number) {
  if (lastLookMs !== undefined && dueMs < Infinity) return Math.max(1_000, pacedMs(week, lastLookMs, firstMs));
  // A steady page of rate r and weight w is looked at best every sqrt(2 price / (w r)).
  const perHour = expectedPerDay(belief) / 24;
  if (priceHours === undefined || !(priceHours > 0) || !(perHour > 0) || !Number.isFinite(perHour)) return undefined;
  return Math.max(1_000, Math.sqrt((2 * priceHours) / (weight * perHour)) * hourMs);
}

function reasonsFor(given: Circumstances, first: ComingLook, inLine: boolean): string[] {
  const { belief, lastLookMs, weight, spacingSeconds, priceHours, wait } = given;
  const reasons: string[] = [];
  if (wait) reasons.push(`It waits: ${wait.why} until then.`);
  if (lastLookMs === undefined) return [...reasons, 'It has not been read yet: the first look makes the copy.'];
  if (inLine) reasons.push(inLineReason(given));
  if (belief.usualTime) reasons.push(usualReason(belief.usualTime));
  const perDay = expectedPerDay(belief);
  if (Number.isFinite(perDay))
    reasons.push(
      `It is believed to change ${times(perDay)} a day from now on, so by then ${short(first.expected)} changes are expected since the last look: a chance of ${percent(first.chance)} to find something new.`,
    );
  const saved = (weight * first.expected * (first.atMs - lastLookMs)) / 2 / hourMs;
  if (priceHours !== undefined && priceHours > 0 && saved > 0)
    reasons.push(
      `Such a look ends about ${duration(saved)} of waiting${weight === 1 ? '' : ` (weight ${short(weight)} included)`}; the price of a look is ${duration(priceHours)} now.${likePrice(saved / priceHours)}`,
    );
  if (Math.abs(first.pace - 1) >= paceApart)
    reasons.push(
      first.pace > 1
        ? `At that hour of the week it changes ${short(first.pace)} times as often as on average.`
        : `At that hour of the week it changes only ${short(first.pace)} times as often as on average; what happened before it counts.`,
    );
  if (isRestless(given)) reasons.push(restlessReason(given, first.atMs - lastLookMs));
  if (spacingSeconds !== undefined && spacingSeconds > 0 && first.atMs - lastLookMs < spacingSeconds * 1010)
    reasons.push(`It is looked at no more often than every ${duration(spacingSeconds / 3600)}, as its settings say.`);
  return reasons;
}

// Looks that come right behind its usual moment find a change each time, and more of them would not.
const isRestless = ({ looks, changes, belief }: Circumstances): boolean =>
  !belief.usualTime && looks >= restless.looksMin && changes >= restless.share * (looks - 1);

const usualCycles = new Map([
  [604_800, 'week'],
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
]);

function usualReason({ everySeconds, at, withinSeconds, share }: UsualTime): string {
  const every = usualCycles.get(everySeconds) ?? duration(everySeconds / 3600);
  const when = new Date(1000 * at)
    .toISOString()
    .slice(0, everySeconds < 3600 ? 19 : 16)
    .replace('T', ' ');
  return `It usually changes once every ${every} (${percent(share)} of the times), next about ${when} UTC, half of the time within ${duration(withinSeconds / 3600)} of it: a look pays behind that moment.`;
}

/** A page with a clock or a token in it takes requests from all others, and nobody gains by them. */
function restlessReason({ looks, changes, looksPerSecond }: Circumstances, gapMs: number): string {
  const share = gapMs > 0 && looksPerSecond > 0 ? Math.min(1, 1000 / gapMs / looksPerSecond) : 0;
  const takes = share >= 0.01 ? ` So it takes about ${percent(share)} of all requests.` : '';
  return `Nearly every look found a change (${changes} of ${looks}): something in it may change at every request.${takes} Select the part that matters, or give it less weight.`;
}

/** What a look ends, against what it must: about as much where the plan and the belief agree. */
function likePrice(ratio: number): string {
  if (ratio > 3) return ' It is worth more than that: the budget has others before it.';
  if (ratio < 1 / 3) return ' It is worth less than that by the long-run rate: something seen lately speaks for it.';
  return ' Sooner, looks at other pages end more; later, changes here would wait.';
}

function inLineReason({ waiting, looksPerSecond }: Circumstances): string {
  const turn = looksPerSecond > 0 ? `the budget lets one go every ${duration(1 / looksPerSecond / 3600)}` : '';
  return `It is due, and waits until its site may be asked and the budget allows: ${waiting === 1 ? '1 page stands' : `${waiting} pages stand`} in line${turn === '' ? '' : `; ${turn}`}.`;
}

const short = (value: number): string => String(Number(value.toPrecision(2)));
const percent = (share: number): string => `${Math.round(share * 100)} %`;
const times = (perDay: number): string => (perDay === 1 ? 'once' : `${short(perDay)} times`);

/** Hours in the unit that fits. */
function duration(hours: number): string {
  if (hours < 1 / 60) return `${short(hours * 3600)} s`;
  if (hours < 1) return `${short(hours * 60)} min`;
  return hours < 48 ? `${short(hours)} h` : `${short(hours / 24)} days`;
}
