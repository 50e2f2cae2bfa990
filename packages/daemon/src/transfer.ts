/**
 * Whole pages in and out: settings, past versions, and what was seen and learned. An import stands for looks that were made
 * before: versions are kept with their times, and nobody is told of them.
 */
import { textHash } from './detect/verdict.ts';
import type { Desk } from './desk.ts';
import type { PastVersion } from './import/found.ts';
import type { Added, Journal, Kept } from './store/port.ts';
import type { Look, PageState, WatchedPage } from './values/look.ts';
import type { NewPageSettings, Page } from './values/page.ts';
import type { Projection } from './values/change.ts';

export interface TransferRecord {
  readonly settings: NewPageSettings;
  readonly versions?: readonly PastVersion[];
  readonly state?: PageState;
  readonly addedAtMs?: number;
}

/** A page as `readPage` takes it again. Without `secrets`, request headers keep their names and lose their values. */
export function exportedPage(watched: WatchedPage, secrets: boolean): Record<string, unknown> {
  const { id: _id, site: _site, addedAtMs, spacingSeconds, headers, ...settings } = watched.page;
  const shown = headers && secrets ? { headers } : {};
  const page = {
    ...settings,
    ...(spacingSeconds === undefined ? {} : { spacing: `${spacingSeconds}s` }),
    ...shown,
  };
  const { model, ...state } = watched.state;
  return {
    page,
    addedAt: new Date(addedAtMs).toISOString(),
    ...(state.looks > 0
      ? { state: { ...state, ...(model ? { model: Buffer.from(model).toString('base64') } : {}) } }
      : {}),
  };
}

const statuses = ['new', 'present', 'gone', 'unreadable'];
const counts = ['version', 'toldVersion', 'failures', 'looks', 'changes'] as const;

/** A state from outside: taken when it is whole, left out when anything about it is not. */
export function readState(value: unknown): PageState | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { model, ...rest } = value as Record<string, unknown>;
  const sound =
    statuses.includes(rest['status'] as string) &&
    counts.every((name) => Number.isSafeInteger(rest[name]) && (rest[name] as number) >= 0) &&
    typeof rest['validators'] === 'object' &&
    ['lastLookMs', 'lastSeenMs', 'lastChangeMs'].every(
      (name) => rest[name] === undefined || Number.isFinite(rest[name]),
    ) &&
    ['hash', 'movedTo', 'seenTitle', 'detectState'].every(
      (name) => rest[name] === undefined || typeof rest[name] === 'string',
    );
  if (!sound) return undefined;
  const bytes = typeof model === 'string' ? new Uint8Array(Buffer.from(model, 'base64')) : undefined;
  return { ...(rest as unknown as PageState), ...(bytes && bytes.length <= 64 ? { model: bytes } : {}) };
}

/** The looks that would have left these versions behind. */
function looksOf(page: Page, before: PageState, record: TransferRecord): Look[] {
  const looks: Look[] = [];
  let state = before;
  const newer = (record.versions ?? []).filter((version) => version.atMs > (before.lastLookMs ?? -Infinity));
  for (const { atMs, text, format, number } of newer) {
    const version = Math.max(state.version + 1, number ?? 0);
    const first = state.version === 0;
    state = {
      ...state,
      status: 'present',
      version,
      toldVersion: version,
      hash: textHash(text),
      lastLookMs: atMs,
      lastSeenMs: atMs,
      looks: state.looks + 1,
      ...(first ? {} : { changes: state.changes + 1, lastChangeMs: atMs }),
    };
    looks.push(
      lookOf(page, atMs, first ? 'first' : 'changed', state, { text, format: format as Projection['format'] }),
    );
  }
  const given = record.state;
  if (given?.lastLookMs !== undefined && given.version === state.version && (before.looks === 0 || newer.length > 0))
    looks.push(
      lookOf(page, given.lastLookMs, looks.at(-1)?.atMs === given.lastLookMs ? looks.at(-1)!.kind : 'unchanged', given),
    );
  return looks;
}

function lookOf(page: Page, atMs: number, kind: Look['kind'], state: PageState, projection?: Projection): Look {
  return {
    pageId: page.id,
    probeId: `import-${page.id}-${state.version}`,
    atMs,
    endedAtMs: atMs,
    kind,
    bytesReceived: 0,
    state,
    ...(projection ? { projection } : {}),
  };
}

/** The past that each record brings; a page may have several. */
function pastsOf(added: readonly Added[], records: readonly TransferRecord[]): readonly (readonly Look[])[] {
  const latest = new Map<string, PageState>();
  return added.map(({ page: { page, state } }, i) => {
    const looks = looksOf(page, latest.get(page.id) ?? state, records[i]!);
    if (looks.length > 0) latest.set(page.id, looks.at(-1)!.state);
    return looks;
  });
}

export interface ImportedPage {
  readonly id: string;
  readonly created: boolean;
  /** Past versions that it did not have before. */
  readonly versions: number;
}

export async function importRecords(
  desk: Desk,
  records: readonly TransferRecord[],
  journal?: Journal,
): Promise<Kept<readonly ImportedPage[]>> {
  let past: readonly (readonly Look[])[] = [];
  const kept = await desk.add(
    records.map((record) => record.settings),
    records.map((record) => record.addedAtMs),
    journal,
    (added) => (past = pastsOf(added, records)).flat(),
  );
  if (kept.kind === 'failed') return kept;
  for (const [i, { page, created }] of kept.value.entries())
    if (!created && past[i]!.length > 0) desk.loop?.watch(page);
  return {
    kind: 'kept',
    value: kept.value.map(({ page, created }, i) => ({
      id: page.page.id,
      created,
      versions: past[i]!.filter(({ projection }) => projection).length,
    })),
  };
}
