/** A number over time for terminals: it holds from each moment until the next. */

export interface Moment {
  readonly atMs: number;
  readonly value: number;
}

/** Moments in order; the last value holds until `nowMs`. */
export function stepPlot(moments: readonly Moment[], nowMs: number, width = 64, height = 10): string {
  const values = moments.map(({ value }) => value);
  const [bottom, top] = [Math.min(...values), Math.max(...values)];
  const fromMs = moments[0]!.atMs;
  const row = (value: number): number => Math.round(((top - value) / (top - bottom || 1)) * (height - 1));
  const cells = Array.from({ length: height }, () => Array.from({ length: width }, () => ' '));
  for (let c = 0; c < width; c++) {
    const ms = fromMs + ((nowMs - fromMs) * c) / (width - 1);
    const held = moments.findLast(({ atMs }) => atMs <= ms) ?? moments[0]!;
    cells[row(held.value)]![c] = '─';
  }
  const labels = cells.map((_, r) => (r === 0 ? String(top) : r === height - 1 ? String(bottom) : ''));
  const margin = Math.max(...labels.map((text) => text.length));
  const lines = cells.map((line, r) => `${labels[r]!.padStart(margin)} │${line.join('').trimEnd()}`);
  const ends = [fromMs, nowMs].map((ms) => new Date(ms).toISOString().slice(0, 16).replace('T', ' '));
  const gap = ' '.repeat(Math.max(1, width - ends[0]!.length - ends[1]!.length));
  return [...lines, `${' '.repeat(margin)} └${'─'.repeat(width)}`, `${' '.repeat(margin)}  ${ends.join(gap)}`].join(
    '\n',
  );
}
