import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { axisTimes } from '../format.ts';

export interface Line {
  readonly label: string;
  readonly colour: string;
  readonly values: readonly (number | null)[];
  readonly points?: boolean;
  readonly dashed?: boolean;
}

interface Props {
  readonly x: readonly number[];
  readonly lines: readonly Line[];
  readonly label: string;
  readonly time?: boolean;
  readonly logX?: boolean;
  readonly logY?: boolean;
  readonly xLabel: string;
  readonly yLabel: string;
  readonly height?: number;
}

const colourOf = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The day where one begins, else the hour; by days only where the ticks are days apart. */
function timeLabels(_plot: uPlot, ticks: readonly number[]): string[] {
  const apart = (ticks[1] ?? 0) - (ticks[0] ?? 0);
  const times = axisTimes(ticks.map((tick) => tick * 1000));
  return ticks.map((tick, i) => {
    const date = new Date(tick * 1000);
    const day = `${date.getDate()} ${months[date.getMonth()]}`;
    if (apart >= 86_400) return apart > 86_400 * 300 ? String(date.getFullYear()) : day;
    const isDay = date.getHours() + date.getMinutes() + date.getSeconds() === 0;
    return i === 0 || isDay ? `${times[i]}\n${day}` : times[i]!;
  });
}

const tickFont = '11px system-ui, sans-serif';

/** Six digits that mean something, however small: three decimals would make a 0 of the lowest tick of a logarithmic axis. */
const numberLabels = (_plot: uPlot, ticks: readonly (number | null)[]): string[] =>
  ticks.map((tick) => (tick === null ? '' : tick.toLocaleString('en', { maximumSignificantDigits: 6 })));

function widest(plot: uPlot, labels: readonly string[]): number {
  plot.ctx.save();
  plot.ctx.font = tickFont;
  const width = Math.max(0, ...labels.map((text) => plot.ctx.measureText(text).width));
  plot.ctx.restore();
  return Math.ceil(width);
}

/** As wide as the longest of its labels. */
const sideSize = (plot: uPlot, labels: readonly string[] | null): number =>
  Math.max(28, widest(plot, labels ?? []) + 18);

/** Half of the last label of the lower axis stands beyond its end. */
const endSize = (plot: uPlot): number => widest(plot, numberLabels(plot, [plot.scales['x']!.max ?? null])) / 2 + 4;

/** Lines over time or over numbers. The legend and the values under the cursor come with it. */
export function Plot({
  x,
  lines,
  label,
  time = false,
  logX = false,
  logY = false,
  xLabel,
  yLabel,
  height = 240,
}: Props) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const box = place.current!;
    const ink = colourOf('--soft');
    const axis = (text: string): uPlot.Axis => ({
      ...(text === '' ? {} : { label: text, labelSize: 18, labelGap: -2 }),
      font: tickFont,
      labelFont: tickFont,
      stroke: ink,
      grid: { stroke: colourOf('--line'), width: 1 },
      ticks: { stroke: colourOf('--line'), width: 1 },
    });
    const draw = (): uPlot =>
      new uPlot(
        {
          width: Math.max(200, box.clientWidth),
          height,
          ...(time ? {} : { padding: [null, endSize, null, null] }),
          scales: { x: { time, distr: logX ? 3 : 1 }, y: { distr: logY ? 3 : 1 } },
          axes: [
            { ...axis(xLabel), ...(time ? { values: timeLabels, space: 70 } : { values: numberLabels }) },
            { ...axis(yLabel), values: numberLabels, size: sideSize },
          ],
          legend: { show: false },
          cursor: { points: { size: 6 } },
          series: [
            {},
            ...lines.map((line) => ({
              label: line.label,
              stroke: line.colour.startsWith('--') ? colourOf(line.colour) : line.colour,
              width: 1.5,
              ...(line.dashed ? { dash: [4, 4] } : {}),
              points: {
                show: line.points ?? false,
                size: line.values.length > 60 ? 4 : 8,
                fill: line.colour.startsWith('--') ? colourOf(line.colour) : line.colour,
              },
              spanGaps: true,
            })),
          ],
        },
        [Array.from(x), ...lines.map((line) => Array.from(line.values))] as uPlot.AlignedData,
        box,
      );
    let plot = draw();
    const resized = new ResizeObserver(() => plot.setSize({ width: Math.max(200, box.clientWidth), height }));
    resized.observe(box);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const again = (): void => {
      plot.destroy();
      plot = draw();
    };
    scheme.addEventListener('change', again);
    return () => {
      scheme.removeEventListener('change', again);
      resized.disconnect();
      plot.destroy();
    };
  }, [x, lines, height]);
  return (
    <figure class="plot" aria-label={label}>
      <div ref={place} role="img" aria-label={label} />
      <figcaption class="legend">
        {lines.map((line) => (
          <span key={line.label}>
            <svg viewBox="0 0 10 10" aria-hidden="true">
              <rect
                width="10"
                height="10"
                rx="2"
                fill={line.colour.startsWith('--') ? `var(${line.colour})` : line.colour}
              />
            </svg>
            {line.label}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}
