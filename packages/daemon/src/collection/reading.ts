/**
 * How a page was last read for the pages that it lists, as one short text: what kind of index it was, whether there was room for
 * all that it listed and whether all of it could be read, under which settings, and with which body. It is kept with the page's state, so that a body is read once,
 * also over restarts, and again when its root's settings ask for other pages.
 *
 *   kind (1)  room (1)  settings (8)  body (16)
 */
import { hash } from 'node:crypto';
import type { Revealed } from '../observe/discover/reveal.ts';

const kinds = { links: 'l', sitemap: 's', feed: 'f', nothing: 'n' } as const;
const settingsAt = 2;
const bodyAt = 10;
const bodyEnd = 26;

export interface Reading {
  readonly kind: Revealed['kind'];
  /** Some of what it listed found no place. */
  readonly cut: boolean;
  /** Some of it could not be read. */
  readonly misread: boolean;
}

/** By whether there was no room, and whether something could not be read. */
const rooms = { whole: ['w', 'm'], cut: ['c', 'd'] } as const;

/** As it would be said of a page that was read under these settings (`options.discover` of its root) with this body. */
export function readingText({ kind, cut, misread }: Reading, discover: unknown, body: Uint8Array): string {
  return `${kinds[kind]}${rooms[cut ? 'cut' : 'whole'][misread ? 1 : 0]}${settingsPrint(discover)}${bodyPrint(body)}`;
}

export const isOfLinks = (reading: string): boolean => reading.startsWith(kinds.links);
export const isCut = (reading: string): boolean => /^.[cd]/.test(reading);
export const isMisread = (reading: string): boolean => /^.[md]/.test(reading);

export function isUnder(reading: string | undefined, discover: unknown): boolean {
  return reading?.slice(settingsAt, bodyAt) === settingsPrint(discover);
}

export function isOfBody(reading: string, body: Uint8Array): boolean {
  return reading.slice(bodyAt) === bodyPrint(body);
}

/** Several ask for that of one body, and of a large one it takes ten milliseconds. */
const bodyPrints = new WeakMap<Uint8Array, string>();

/** A collision would leave one body of one page unread. */
function bodyPrint(body: Uint8Array): string {
  let print = bodyPrints.get(body);
  if (print === undefined) {
    print = hash('sha1', body, 'base64url').slice(0, bodyEnd - bodyAt);
    bodyPrints.set(body, print);
  }
  return print;
}

/** By the object that holds them: roots are few, and asked for at every look at what they found. */
const known = new WeakMap<object, string>();

function settingsPrint(discover: unknown): string {
  const held = typeof discover === 'object' && discover !== null ? discover : undefined;
  let print = held && known.get(held);
  if (print === undefined) {
    print = hash('sha1', JSON.stringify(discover) ?? '', 'base64url').slice(0, bodyAt - settingsAt);
    if (held) known.set(held, print);
  }
  return print;
}
