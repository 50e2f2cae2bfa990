/**
 * Looks as rows, flat: texts and numbers one after the other, and all models in one piece. As objects, they took the thread
 * that writes and the one that gives it its work longer than the writing of a look without news.
 */
import { lookKinds, type Look } from '../values/look.ts';
import { stateColumns, stateValues } from './rows.ts';

type Cell = string | number | null;

export interface LookRows {
  /** For each look what `RowOfLook` has, then its state as `stateColumns` has it, with the model's length in the model's place. */
  readonly cells: readonly Cell[];
  readonly models: Uint8Array;
  /** Looks with more to keep than a row, in their order. */
  readonly news: readonly News[];
}

export type RowOfLook = readonly [pageId: string, atMs: number, kind: number, durationMs: number, bytes: number];

export interface News extends Pick<Look, 'probeId' | 'endedAtMs' | 'projection' | 'raw' | 'change' | 'deliveries'> {
  /** Which of the looks. */
  readonly n: number;
}

const rowCells = 5;
const width = rowCells + stateColumns.length;
const modelCell = rowCells + stateColumns.indexOf('model');

export function rowsOf(looks: readonly Look[]): LookRows {
  const cells: Cell[] = [];
  const models: Uint8Array[] = [];
  const news: News[] = [];
  for (const [n, look] of looks.entries()) {
    const { pageId, atMs, endedAtMs, kind, bytesReceived, state, projection, change } = look;
    cells.push(pageId, atMs, lookKinds.indexOf(kind), endedAtMs - atMs, bytesReceived);
    for (const value of stateValues(state)) {
      if (value instanceof Uint8Array) models.push(value);
      cells.push(value instanceof Uint8Array ? value.length : value);
    }
    if (!projection && !change) continue;
    const { probeId, raw, deliveries } = look;
    news.push({
      n,
      probeId,
      endedAtMs,
      ...(projection ? { projection } : {}),
      ...(raw === undefined ? {} : { raw }),
      ...(change ? { change } : {}),
      ...(deliveries ? { deliveries } : {}),
    });
  }
  return { cells, models: Buffer.concat(models), news };
}

export interface ReadRow {
  readonly look: RowOfLook;
  readonly state: readonly (Cell | Uint8Array)[];
  readonly news: News | undefined;
}

export function* readRows({ cells, models, news }: LookRows): Generator<ReadRow> {
  let modelFrom = 0;
  let told = 0;
  for (let n = 0, at = 0; at < cells.length; n++, at += width) {
    const state: (Cell | Uint8Array)[] = cells.slice(at + rowCells, at + width);
    const modelBytes = cells[at + modelCell];
    if (typeof modelBytes === 'number')
      state[modelCell - rowCells] = models.subarray(modelFrom, (modelFrom += modelBytes));
    yield {
      look: cells.slice(at, at + rowCells) as unknown as RowOfLook,
      state,
      news: news[told]?.n === n ? news[told++] : undefined,
    };
  }
}
