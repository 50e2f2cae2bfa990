/** Rows of the SQLite tables and how they map to the daemon's values. A row never leaves the store. */
import type { PageState, PageStatus, WatchedPage } from '../values/look.ts';
import type { Page, PageSettings, Select } from '../values/page.ts';

export interface PageRow {
  readonly pk: number;
  readonly id: string;
  readonly url: string;
  readonly selection: string;
  readonly site: string;
  readonly settings: string;
  readonly added_at: number;
}

export interface StateRow {
  readonly status: string;
  readonly version: number;
  readonly told_version: number;
  readonly hash: string | null;
  readonly etag: string | null;
  readonly last_modified: string | null;
  readonly last_look: number | null;
  readonly last_seen: number | null;
  readonly last_change: number | null;
  readonly fault_code: string | null;
  readonly fault_sentence: string | null;
  readonly failures: number;
  readonly looks: number;
  readonly changes: number;
  readonly moved_to: string | null;
  readonly seen_title: string | null;
  readonly model: Uint8Array | null;
  readonly detect_state: string | null;
  readonly validators_url: string | null;
}

export const freshState: PageState = {
  status: 'new',
  version: 0,
  toldVersion: 0,
  validators: {},
  failures: 0,
  looks: 0,
  changes: 0,
};

/** One text for one selection, whatever the order in which its fields were given. */
export function selectionText(select: Select): string {
  return 'expression' in select ? `${select.kind}:${select.expression}` : select.kind;
}

/** URL, selection and site have columns of their own; the rest of the settings is one JSON text. */
export function settingsText(settings: PageSettings): string {
  const { url: _url, ...rest } = settings;
  return JSON.stringify(rest);
}

export function pageOf(row: PageRow): Page {
  const settings = JSON.parse(row.settings) as Omit<PageSettings, 'url'>;
  return { ...settings, url: row.url, id: row.id, site: row.site, addedAtMs: row.added_at };
}

function present<Key extends string, Value>(key: Key, value: Value | null): { [K in Key]?: Value } {
  return value === null ? {} : ({ [key]: value } as { [K in Key]?: Value });
}

export function stateOf(row: StateRow): PageState {
  return {
    status: row.status as PageStatus,
    version: row.version,
    toldVersion: row.told_version,
    validators: {
      ...present('etag', row.etag),
      ...present('lastModified', row.last_modified),
      ...present('url', row.validators_url),
    },
    failures: row.failures,
    looks: row.looks,
    changes: row.changes,
    ...present('hash', row.hash),
    ...present('lastLookMs', row.last_look),
    ...present('lastSeenMs', row.last_seen),
    ...present('lastChangeMs', row.last_change),
    ...(row.fault_code === null ? {} : { fault: { code: row.fault_code, sentence: row.fault_sentence ?? '' } }),
    ...present('movedTo', row.moved_to),
    ...present('seenTitle', row.seen_title),
    ...present('model', row.model),
    ...present('detectState', row.detect_state),
  };
}

export function watchedOf(row: PageRow & StateRow): WatchedPage {
  return { page: pageOf(row), state: stateOf(row) };
}

/** The values of a state in the order of the columns after `pk`. */
export function stateValues(state: PageState): (string | number | Uint8Array | null)[] {
  return [
    state.status,
    state.version,
    state.toldVersion,
    state.hash ?? null,
    state.validators.etag ?? null,
    state.validators.lastModified ?? null,
    state.lastLookMs ?? null,
    state.lastSeenMs ?? null,
    state.lastChangeMs ?? null,
    state.fault?.code ?? null,
    state.fault?.sentence ?? null,
    state.failures,
    state.looks,
    state.changes,
    state.movedTo ?? null,
    state.seenTitle ?? null,
    state.model ?? null,
    state.detectState ?? null,
    state.validators.url ?? null,
  ];
}
