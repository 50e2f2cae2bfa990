/** What a probe asks for on behalf of the pages that share it: where, with which validators, and with whose headers. */
import type { Collection, Entry } from '../collection/collection.ts';
import type { Probe } from '../values/probe.ts';

/**
 * Who is served by one request for the page: all who share its URL and way of asking, those who have moved for good to where it is
 * asked for, and those who are at home there. `hasHeaders` says of a site that something is sent with every request to its pages.
 */
export function sharingWith(
  collection: Collection,
  entry: Entry,
  hasHeaders: (site: string) => boolean,
): readonly Entry[] {
  const sharing = collection.sharing(entry).filter((other) => other === entry || !other.page.paused);
  if (!collection.hasMoved) return sharing;
  const place = placeOf(entry, sharing) ?? entry.page.url;
  const way = wayTo(place, entry.page);
  const isLike = ({ page, state }: Entry): boolean => {
    if (page.paused || (movedTo(state) ?? page.url) !== place || wayTo(place, page) !== way) return false;
    // What a site's pages are sent is for those of its own origins alone: others would be seen as somebody else sees them.
    return sameOrigin(page.url, entry.page.url) || !(hasHeaders(page.site) || hasHeaders(entry.page.site));
  };
  const known = new Set(sharing);
  const others = [...collection.withUrl(place), ...collection.movedTo(place)];
  const joining = others.filter((other) => !known.has(other) && isLike(other));
  return joining.length === 0 ? sharing : [...sharing, ...joining];
}

const wayTo = (place: string, page: Entry['page']): string =>
  JSON.stringify([headersAt(place, page), page.render === true]);

/** What is sent with a page's requests is for the origin of its own URL. */
const headersAt = (place: string, { url, headers }: Entry['page']): Entry['page']['headers'] =>
  headers && (place === url || sameOrigin(place, url)) ? headers : undefined;

/** Where the page is asked for, where that is not its own URL; those who share that must know the same. */
function placeOf({ page, state }: Entry, sharing: readonly Entry[]): string | undefined {
  const agree = sharing.every((other) => other.page.url !== page.url || other.state.movedTo === state.movedTo);
  return agree ? movedTo(state) : undefined;
}

/** For the page, and all who are served with it; `isUnread` says of one that its body is needed even if it is the same. */
export function errandFor(
  entry: Entry,
  sharing: readonly Entry[],
  isUnread: (entry: Entry) => boolean,
): Omit<Probe, 'id' | 'atMs'> {
  const { page, state } = entry;
  // A page that never had a full answer needs one, so validators go out only when all who share the request have a copy.
  const whole = sharing.some(
    (other) =>
      isUnread(other) ||
      other.state.status !== 'present' ||
      other.state.validators.etag !== state.validators.etag ||
      other.state.validators.lastModified !== state.validators.lastModified ||
      (other !== entry && issuerOf(other) !== issuerOf(entry)),
  );
  const moved = placeOf(entry, sharing);
  const headers = headersAt(moved ?? page.url, page);
  const errand = {
    url: moved ?? page.url,
    site: page.site,
    pageIds: sharing.length === 1 ? [page.id] : sharing.map((other) => other.page.id),
    validators: whole ? noValidators : state.validators,
  };
  const discovers = sharing.some((other) => other.page.options['discover']);
  if (moved === undefined && !headers && !page.render && !discovers) return errand;
  return {
    ...errand,
    ...(moved === undefined ? {} : { movedFrom: page.url }),
    ...(headers ? { headers } : {}),
    ...(page.render ? { render: true } : {}),
    ...(discovers ? { discovers: true } : {}),
  };
}

const issuerOf = ({ page, state }: Entry): string => state.validators.url ?? page.url;

const noValidators: Probe['validators'] = {};

/** A page that has moved for good is asked for where it went, and every so many looks where it was: it may have come back. */
const movedRecheckLooks = 50;

function movedTo(state: Entry['state']): string | undefined {
  const sound = state.status === 'present' && state.failures === 0;
  return sound && state.looks % movedRecheckLooks !== movedRecheckLooks - 1 ? state.movedTo : undefined;
}

const sameOrigin = (one: string, other: string): boolean => URL.parse(one)?.origin === URL.parse(other)?.origin;

/** Ids of two runs never meet: the start and a random number tell the runs apart. */
export class ProbeIds {
  readonly #run: string;
  #count = 0;

  constructor(startMs: number, random: () => number) {
    const luck = Math.floor(random() * 36 ** 4).toString(36);
    this.#run = `${startMs.toString(36)}${luck.padStart(4, '0')}`;
  }

  next(): string {
    return `${this.#run}-${(this.#count++).toString(36)}`;
  }
}
