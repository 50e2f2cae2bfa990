/**
 * Looks as rows, flat: numbers in one piece, all models in another. As objects, they took the thread that writes and the one that
 * gives it its work longer than the writing of a look without news.
 */
import { lookKinds, type Look, type PageState } from '../values/look.ts';
import { type StateValue, stateValues } from './rows.ts';

export interface LookRows {
  readonly pageIds: readonly string[];
  /** For each look the times, sizes and counts that a `ReadRow` has, in that order, with the length of its model at the end. */
  readonly numbers: Float64Array;
  readonly models: Uint8Array;
  /** Looks with more to keep than that, in their order. */
  readonly more: readonly More[];
}

/** What looks bring that few have. */
interface More {
  /** Which of the looks. */
  readonly n: number;
  /** Where it is not as before: as `stateColumns` has it, the model apart. */
  readonly state?: readonly StateValue[];
  readonly news?: News;
}

export type News = Pick<Look, 'probeId' | 'cause' | 'endedAtMs' | 'projection' | 'raw' | 'change' | 'deliveries'>;

export interface ReadRow {
  readonly pageId: string;
  readonly atMs: number;
  /** As a line of the page's history: kind, duration, bytes. */
  readonly line: readonly [kind: number, durationMs: number, bytes: number];
  readonly lastLookMs: number | null;
  readonly lastSeenMs: number | null;
  readonly looks: number;
  readonly model: Uint8Array | null;
  readonly state: More['state'] | undefined;
  readonly news: News | undefined;
}

const width = 8;

export function rowsOf(looks: readonly Look[]): LookRows {
  const numbers = new Float64Array(width * looks.length);
  const models: Uint8Array[] = [];
  const more: More[] = [];
  for (let n = 0; n < looks.length; n++) {
    const look = looks[n]!;
    const { atMs, endedAtMs, state } = look;
    const { model } = state;
    const at = width * n;
    numbers[at] = atMs;
    numbers[at + 1] = lookKinds.indexOf(look.kind);
    numbers[at + 2] = endedAtMs - atMs;
    numbers[at + 3] = look.bytesReceived;
    numbers[at + 4] = state.lastLookMs ?? Number.NaN;
    numbers[at + 5] = state.lastSeenMs ?? Number.NaN;
    numbers[at + 6] = state.looks;
    numbers[at + 7] = model?.length ?? Number.NaN;
    if (model) models.push(model);
    const news = look.projection || look.change ? newsOf(look) : undefined;
    if (news || !look.asBefore)
      more.push({ n, ...(look.asBefore ? {} : { state: modelless(state) }), ...(news ? { news } : {}) });
  }
  return { pageIds: looks.map(({ pageId }) => pageId), numbers, models: Buffer.concat(models), more };
}

function modelless({ model: _model, ...rest }: PageState): readonly StateValue[] {
  return stateValues(rest);
}

function newsOf({ probeId, cause, endedAtMs, projection, raw, change, deliveries }: Look): News {
  return {
    probeId,
    endedAtMs,
    ...(cause === undefined ? {} : { cause }),
    ...(projection ? { projection } : {}),
    ...(raw === undefined ? {} : { raw }),
    ...(change ? { change } : {}),
    ...(deliveries ? { deliveries } : {}),
  };
}

export function readRows({ pageIds, numbers, models, more }: LookRows, each: (row: ReadRow) => void): void {
  let modelFrom = 0;
  let read = 0;
  for (let n = 0; n < pageIds.length; n++) {
    const at = width * n;
    const modelBytes = orNull(numbers[at + 7]!);
    const { state, news } = more[read]?.n === n ? more[read++]! : nothingMore;
    each({
      pageId: pageIds[n]!,
      atMs: numbers[at]!,
      line: [numbers[at + 1]!, numbers[at + 2]!, numbers[at + 3]!],
      lastLookMs: orNull(numbers[at + 4]!),
      lastSeenMs: orNull(numbers[at + 5]!),
      looks: numbers[at + 6]!,
      model: modelBytes === null ? null : models.subarray(modelFrom, (modelFrom += modelBytes)),
      state,
      news,
    });
  }
}

const orNull = (value: number): number | null => (Number.isNaN(value) ? null : value);
const nothingMore: Pick<More, 'state' | 'news'> = {};
