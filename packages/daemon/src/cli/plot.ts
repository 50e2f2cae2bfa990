/** A curve for terminals: both axes by factors, a mark where we are. */

export interface PlotPoint {
  readonly x: number;
  readonly y: number;
}

export interface PlotOptions {
  readonly width: number;
  readonly height: number;
  readonly mark: PlotPoint;
  readonly x: (value: number) => string;
  readonly y: (value: number) => string;
}

/** Points with x and y above 0, ascending in x; between them the curve is drawn straight, in logarithms. */
export function plot(points: readonly PlotPoint[], options: PlotOptions): string {
  const { width, height, mark } = options;
  const logs = points.map(({ x, y }) => ({ x: Math.log(x), y: Math.log(y) }));
  const [left, right] = [logs[0]!.x, logs[logs.length - 1]!.x];
  const bottom = Math.min(...logs.map(({ y }) => y));
  const top = Math.max(...logs.map(({ y }) => y));
  const column = (x: number): number => Math.round(((Math.log(x) - left) / (right - left || 1)) * (width - 1));
  const row = (y: number): number => Math.round(((top - y) / (top - bottom || 1)) * (height - 1));
  const cells = Array.from({ length: height }, () => Array.from({ length: width }, () => ' '));
  for (let c = 0; c < width; c++) {
    const x = left + ((right - left) * c) / (width - 1);
    const i = Math.max(
      0,
      logs.findLastIndex((point, n) => point.x <= x && n + 1 < logs.length),
    );
    const [a, b] = [logs[i]!, logs[i + 1] ?? logs[i]!];
    const y = a.y + ((b.y - a.y) * (x - a.x)) / (b.x - a.x || 1);
    cells[row(y)]![c] = '·';
  }
  const [markRow, markColumn] = [row(Math.log(mark.y)), column(mark.x)];
  if (cells[markRow]?.[markColumn] !== undefined) cells[markRow][markColumn] = '●';
  const label = (r: number): string => {
    if (r === 0) return options.y(Math.exp(top));
    if (r === height - 1) return options.y(Math.exp(bottom));
    return r === markRow ? options.y(mark.y) : '';
  };
  const labels = cells.map((_, r) => label(r));
  const margin = Math.max(...labels.map((text) => text.length));
  const lines = cells.map((line, r) => `${labels[r]!.padStart(margin)} │${line.join('').trimEnd()}`);
  const ends = [options.x(Math.exp(left)), options.x(Math.exp(right))];
  const gap = Math.max(1, width - ends[0]!.length - ends[1]!.length);
  return [
    ...lines,
    `${' '.repeat(margin)} └${'─'.repeat(width)}`,
    `${' '.repeat(margin)}  ${ends[0]}${' '.repeat(gap)}${ends[1]}`,
  ].join('\n');
}
