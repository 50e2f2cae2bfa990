/** What a probe asks for on behalf of the pages that share it: where, with which validators, and with whose headers. */
import type { Entry } from './collection.ts';
import type { Probe } from './values/probe.ts';

/** For the page, and all who share its URL and way of asking; `isUnread` says of one that its body is needed even if it is the same. */
export function errandFor(
  { page, state }: Entry,
  sharing: readonly Entry[],
  isUnread: (entry: Entry) => boolean,
): Omit<Probe, 'id' | 'atMs'> {
  // A page that never had a full answer needs one, so validators go out only when all who share the request have a copy.
  const whole = sharing.some(
    (other) =>
      isUnread(other) ||
      other.state.status !== 'present' ||
      other.state.validators.etag !== state.validators.etag ||
      other.state.validators.lastModified !== state.validators.lastModified,
  );
  const moved = sharing.every((other) => other.state.movedTo === state.movedTo) ? movedTo(state) : undefined;
  // What is sent with a page's requests is for the origin of its own URL.
  const headers = moved === undefined || sameOrigin(moved, page.url) ? page.headers : undefined;
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
