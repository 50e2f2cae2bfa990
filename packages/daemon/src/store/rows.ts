/** Rows of the SQLite tables and how they map to the daemon's values. A row never leaves the store. */
import type { PageState, PageStatus, WatchedPage } from '../values/look.ts';
import { serverOf } from '../values/network.ts';
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
  readonly revealed: string | null;
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

/** Most pages have the same settings but for their URL: they are read once, and held once. */
const settingsKnown = new Map<string, Omit<PageSettings, 'url'>>();
const settingsKnownMax = 1_000;

function settingsOf(text: string): Omit<PageSettings, 'url'> {
  let settings = settingsKnown.get(text);
  if (!settings) {
    settings = JSON.parse(text) as Omit<PageSettings, 'url'>;
    if (settingsKnown.size >= settingsKnownMax) settingsKnown.clear();
    settingsKnown.set(text, settings);
  }
  return settings;
}

export function pageOf(row: PageRow): Page {
  return { ...settingsOf(row.settings), url: row.url, id: row.id, site: serverOf(row.site), addedAtMs: row.added_at };
}

const statuses: readonly PageStatus[] = ['new', 'present', 'gone', 'unreadable'];

/** Ours, not the text that came from the file: one for all pages. */
const statusOf = (text: string): PageStatus => statuses.find((status) => status === text)!;

type Writable<Value> = { -readonly [Key in keyof Value]: Value[Key] };

/** Written out field by field: a million of them are read at the start of a large collection. */
export function stateOf(row: StateRow): PageState {
  const validators: Writable<PageState['validators']> = {};
  if (row.etag !== null) validators.etag = row.etag;
  if (row.last_modified !== null) validators.lastModified = row.last_modified;
  if (row.validators_url !== null) validators.url = row.validators_url;
  const state: Writable<PageState> = {
    status: statusOf(row.status),
    version: row.version,
    toldVersion: row.told_version,
    validators,
    failures: row.failures,
    looks: row.looks,
    changes: row.changes,
  };
  if (row.hash !== null) state.hash = row.hash;
  if (row.last_look !== null) state.lastLookMs = row.last_look;
  if (row.last_seen !== null) state.lastSeenMs = row.last_seen;
  if (row.last_change !== null) state.lastChangeMs = row.last_change;
  if (row.fault_code !== null) state.fault = { code: row.fault_code, sentence: row.fault_sentence ?? '' };
  if (row.moved_to !== null) state.movedTo = row.moved_to;
  if (row.seen_title !== null) state.seenTitle = row.seen_title;
  if (row.model !== null) state.model = row.model;
  if (row.detect_state !== null) state.detectState = row.detect_state;
  if (row.revealed !== null) state.revealed = row.revealed;
  return state;
}

export function watchedOf(row: PageRow & StateRow): WatchedPage {
  return { page: pageOf(row), state: stateOf(row) };
}

/** The columns of a state after `pk`. */
export const stateColumns: readonly (keyof StateRow)[] = [
  'status',
  'version',
  'told_version',
  'hash',
  'etag',
  'last_modified',
  'last_look',
  'last_seen',
  'last_change',
  'fault_code',
  'fault_sentence',
  'failures',
  'looks',
  'changes',
  'moved_to',
  'seen_title',
  'model',
  'detect_state',
  'validators_url',
  'revealed',
];

export type StateValue = string | number | Uint8Array | null;

/** The values of a state in the order of its columns. */
export function stateValues(state: PageState): StateValue[] {
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
    state.revealed ?? null,
  ];
}

export const createdIds = (
  added: readonly { readonly page: WatchedPage; readonly created: boolean }[],
): readonly string[] => added.filter(({ created }) => created).map(({ page }) => page.page.id);

/** What a plan needs of a page and its state: without its hash and what detection remembers. */
export const plannedColumns =
  'pk, id, url, site, settings, added_at, status, version, told_version, etag, last_modified, last_look, last_seen, ' +
  'last_change, fault_code, fault_sentence, failures, looks, changes, moved_to, seen_title, model, validators_url, revealed';

/** A row of `plannedColumns` as an array: giving names to each of a million rows takes longer than reading them. */
export type PlannedRow = readonly [
  ...[pk: number, id: string, url: string, site: string, settings: string, addedAt: number],
  ...[status: string, version: number, toldVersion: number, etag: string | null, lastModified: string | null],
  ...[lastLook: number | null, lastSeen: number | null, lastChange: number | null],
  ...[faultCode: string | null, faultSentence: string | null, failures: number, looks: number, changes: number],
  ...[movedTo: string | null, seenTitle: string | null, model: Uint8Array | null, validatorsUrl: string | null],
  revealed: string | null,
];

export function plannedOf(row: PlannedRow): WatchedPage {
  const state = stateOf({
    status: row[6],
    version: row[7],
    told_version: row[8],
    hash: null,
    etag: row[9],
    last_modified: row[10],
    last_look: row[11],
    last_seen: row[12],
    last_change: row[13],
    fault_code: row[14],
    fault_sentence: row[15],
    failures: row[16],
    looks: row[17],
    changes: row[18],
    moved_to: row[19],
    seen_title: row[20],
    model: row[21],
    detect_state: null,
    validators_url: row[22],
    revealed: row[23],
  });
  return { page: { ...settingsOf(row[4]), url: row[2], id: row[1], site: serverOf(row[3]), addedAtMs: row[5] }, state };
}
