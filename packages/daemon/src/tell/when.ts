/** When a change reaches a subscription: at once, with a burst, in a digest, or after the quiet hours. */
import { Temporal } from 'temporal-polyfill';
import type { PlannedDelivery } from '../values/outbox.ts';
import type { Digest, QuietHours, Subscription } from '../values/subscription.ts';

const hourMs = 3_600_000;

/** "07:30" as minutes of the day; undefined when it is none. */
export function minutesOf(time: string): number | undefined {
  const found = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(time);
  return found ? Number(found[1]) * 60 + Number(found[2]) : undefined;
}

export function isZone(zone: string): boolean {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone);
    return true;
  } catch {
    return false;
  }
}

/** The next moment that the clock on the wall shows that time; a time that a change of clocks skips comes after the gap. */
function nextAt(nowMs: number, minutes: number, zone: string): number {
  const now = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(zone);
  for (let day = 0; ; day++) {
    const date = now.toPlainDate().add({ days: day });
    const time = new Temporal.PlainTime(Math.floor(minutes / 60), minutes % 60);
    const moment = date.toZonedDateTime({ timeZone: zone, plainTime: time }).epochMilliseconds;
    if (moment > nowMs) return moment;
  }
}

function digestDue(digest: Digest, nowMs: number, zone: string): number {
  if (digest.kind === 'hourly') return (Math.floor(nowMs / hourMs) + 1) * hourMs;
  return Math.min(...digest.at.map((time) => nextAt(nowMs, minutesOf(time)!, zone)));
}

/** When the quiet hours that hold now end; undefined outside them. */
export function quietUntil(quiet: QuietHours, nowMs: number, zone: string): number | undefined {
  const now = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(zone);
  const minutes = now.hour * 60 + now.minute;
  const from = minutesOf(quiet.from)!;
  const until = minutesOf(quiet.until)!;
  const within = from <= until ? minutes >= from && minutes < until : minutes >= from || minutes < until;
  return within ? nextAt(nowMs, until, zone) : undefined;
}

export function plannedFor(subscription: Subscription, atMs: number): PlannedDelivery {
  const nowMs = Math.ceil(atMs);
  const { id: subscriptionId, digest, quiet, burstSeconds, zone } = subscription;
  let dueMs = nowMs;
  let bundle: string | undefined;
  if (digest) {
    dueMs = digestDue(digest, nowMs, zone);
    bundle = `digest ${dueMs}`;
  } else if (burstSeconds !== undefined && burstSeconds > 0) {
    dueMs = nowMs + burstSeconds * 1000;
    bundle = 'burst';
  }
  const wakes = quiet && quietUntil(quiet, dueMs, zone);
  if (wakes !== undefined) return { subscriptionId, dueMs: wakes, bundle: `quiet ${wakes}` };
  return { subscriptionId, dueMs, ...(bundle === undefined ? {} : { bundle }) };
}
