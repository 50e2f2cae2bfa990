/** Look at this URL at this time, on behalf of these pages: one request serves every page that shares the URL. */
export interface Probe {
  /** Unique for ever; an observation answers exactly one probe. */
  readonly id: string;
  readonly url: string;
  /** The pages' own URL, where that has moved for good and `url` is where it moved to. */
  readonly movedFrom?: string;
  readonly site: string;
  readonly pageIds: readonly string[];
  readonly atMs: number;
  /** How long after the last look the plan wanted this one; undefined where it was not the plan that wanted it. */
  readonly plannedMs?: number;
  /** A person asked for it: a look that somebody made before does not do. */
  readonly afresh?: true;
  /** Each request to its site is noted as it goes out: where none is, it had waited for its turn and asked for nothing. */
  readonly noted?: true;
  /** The server's own words from the last full answer, sent back unchanged; never our clock. */
  readonly validators: Validators;
  readonly headers?: Readonly<Record<string, string>>;
  readonly render?: boolean;
  /** Its page is a root of discovery: the observation says which sitemaps robots.txt names, and what it forbids where nobody else could know. */
  readonly discovers?: boolean;
}

export interface Validators {
  readonly etag?: string;
  readonly lastModified?: string;
  /** Who said so, when the answer came from another URL than the probe's; they are sent to nobody else. */
  readonly url?: string;
}
