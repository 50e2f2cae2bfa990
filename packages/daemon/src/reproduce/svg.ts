/** Plots as plain SVG, drawn here so that a report needs nothing but itself. */
import type { Plot, Series } from './item.ts';

const size = { width: 460, height: 300, left: 58, right: 12, top: 30, bottom: 44 };
const colours = ['#1b6ca8', '#d1495b', '#2e8b57', '#e08e0b', '#6a4c93', '#555555', '#0fa3b1', '#8d5524'];

export const escape = (text: string): string => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** Round numbers that cover the range, four to seven of them. */
export function ticks(low: number, high: number): number[] {
  const raw = (high - low) / 5 || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= raw)!;
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) =>
    Number(((first + i) * step).toPrecision(12)),
  );
}

/** Round numbers for a logarithmic axis: 1, 2 and 5 of every decade, or the decades alone where there are many. */
export function logTicks(low: number, high: number): number[] {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const decades = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  const within = (factors: readonly number[]): number[] =>
    decades
      .flatMap((power) => factors.map((factor) => Number((factor * 10 ** power).toPrecision(12))))
      .filter((tick) => tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9));
  const round = within([1, 2, 5]);
  return round.length > 8 ? within([1]) : round;
}

/** Where values spread further than this, an axis of even steps shows only the largest of them. */
const decade = 10;

/** Whether a logarithmic axis shows these better; one from 0 has no place there. */
export function spansDecades(values: readonly number[]): boolean {
  const low = Math.min(...values);
  return low > 0 && Math.max(...values) > decade * low;
}

/** More values than these were measured, not chosen, and their axis is marked in round numbers. */
const chosenMax = 12;

/** As wide as digits of this size are drawn in the widest of usual fonts. */
const letterWidth = 7;
/** One round of colours for each: whole lines, dashes, dots. */
const dashes = ['', '6 3', '2 3'];

const label = (value: number): string =>
  Math.abs(value) >= 1e5 || (value !== 0 && Math.abs(value) < 1e-3) ? value.toExponential(0) : String(value);

/** What was measured is read off to three digits; what was counted is whole. */
const short = (value: number): number => (Number.isInteger(value) ? value : Number(value.toPrecision(3)));

const widthOf = (tick: number): number => letterWidth * label(tick).length;

/** Of values that were measured, those whose labels do not run into the one before. */
function apart(values: readonly number[], x: (value: number) => number): number[] {
  const kept: number[] = [];
  for (const value of values) {
    const before = kept.at(-1);
    if (before === undefined || x(value) - x(before) > (widthOf(value) + widthOf(before)) / 2 + letterWidth)
      kept.push(value);
  }
  return kept;
}

interface Scale {
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
  readonly xTicks: readonly number[];
  readonly yTicks: readonly number[];
}

function scaleOf(plot: Plot): Scale {
  const all = plot.series.flatMap((one) => one.points);
  const even = (value: number): number => value;
  const place = plot.logX ? Math.log10 : even;
  const rise = plot.logY ? Math.log10 : even;
  const xs = all.map(([x]) => x);
  const ys = all.map(([, y]) => y).filter(Number.isFinite);
  const [x0, x1] = plot.xRange ?? [Math.min(...xs), Math.max(...xs)];
  const yTop = plot.yMax ?? Math.max(...ys);
  const y0 = plot.logY ? Math.min(...ys) : Math.min(0, ...ys);
  const y1 = yTop > y0 ? yTop : y0 + 1;
  const { width, height, left, right, top, bottom } = size;
  const x = (value: number): number =>
    left + ((place(value) - place(x0)) / (place(x1) - place(x0) || 1)) * (width - left - right);
  const chosen = [...new Set(xs.map(short))].sort((a, b) => a - b);
  return {
    x,
    y: (value) => height - bottom - ((rise(value) - rise(y0)) / (rise(y1) - rise(y0))) * (height - top - bottom),
    xTicks: plot.logX ? apart(chosen.length > chosenMax ? logTicks(x0, x1) : chosen, x) : ticks(x0, x1),
    yTicks: plot.logY ? logTicks(y0, y1) : ticks(y0, y1),
  };
}

interface Stroke {
  readonly colour: string;
  readonly dash: string;
}

function strokeOf(i: number): Stroke {
  const dash = dashes[Math.floor(i / colours.length)] ?? '';
  return { colour: colours[i % colours.length]!, dash: dash === '' ? '' : ` stroke-dasharray="${dash}"` };
}

function drawn(series: Series, { colour, dash }: Stroke, { x, y }: Scale): string {
  const points = series.points.filter(([, value]) => Number.isFinite(value));
  if (series.draw === 'dots')
    return points
      .map(([a, b]) => `<circle cx="${x(a).toFixed(1)}" cy="${y(b).toFixed(1)}" r="1.3" fill="${colour}"/>`)
      .join('');
  const path = points.map(([a, b], i) => {
    const to = `${x(a).toFixed(1)} ${y(b).toFixed(1)}`;
    return i === 0 ? `M${to}` : series.draw === 'steps' ? `H${x(a).toFixed(1)}V${y(b).toFixed(1)}` : `L${to}`;
  });
  return `<path d="${path.join('')}" fill="none" stroke="${colour}" stroke-width="1.6"${dash}/>`;
}

/** Names under the plot, where they hide no line; one series needs none, and more than can be told apart have none. */
function legendOf(series: readonly Series[]): { readonly svg: string; readonly height: number } {
  if (series.length < 2 || series.length > colours.length * dashes.length) return { svg: '', height: 0 };
  const { width, height, left, right } = size;
  const longest = Math.max(...series.map(({ name }) => name.length));
  const columns = longest > 18 ? 2 : longest > 13 ? 3 : 4;
  const entries = series.map(({ name }, i) => {
    const x = left + (i % columns) * ((width - left - right) / columns);
    const y = height + 4 + 15 * Math.floor(i / columns);
    const { colour, dash } = strokeOf(i);
    const mark =
      dash === ''
        ? `<rect x="${x}" y="${y}" width="9" height="9" fill="${colour}"/>`
        : `<path d="M${x - 4} ${y + 5}h15" stroke="${colour}" stroke-width="2"${dash}/>`;
    return `${mark}<text x="${x + 13}" y="${y + 8}">${escape(name)}</text>`;
  });
  return { svg: entries.join(''), height: 6 + 15 * Math.ceil(series.length / columns) };
}

/** Longer names are cut off in the middle: what tells pages of one site apart stands at the end. */
const nameMax = 58;
const cutName = (name: string): string =>
  name.length > nameMax ? `${name.slice(0, nameMax / 2 - 1)}…${name.slice(-nameMax / 2)}` : name;

/** Rows are named where they are, over their dots. */
function rowsOf(names: readonly string[], { y }: Scale): string[] {
  const { width, left, right } = size;
  return names.map(
    (name, row) =>
      `<line x1="${left}" x2="${width - right}" y1="${y(row).toFixed(1)}" y2="${y(row).toFixed(1)}" stroke="#ddd"/><text x="${left + 4}" y="${(y(row + 1) + 11).toFixed(1)}" fill="#666">${escape(cutName(name))}</text>`,
  );
}

export function plotSvg(plot: Plot): string {
  const scale = scaleOf(plot);
  const { width, height, left, right, top, bottom } = size;
  const levels = scale.yTicks.map(
    (tick) =>
      `<line x1="${left}" x2="${width - right}" y1="${scale.y(tick).toFixed(1)}" y2="${scale.y(tick).toFixed(1)}" stroke="#ddd"/><text x="${left - 6}" y="${(scale.y(tick) + 4).toFixed(1)}" text-anchor="end">${label(tick)}</text>`,
  );
  const grid = plot.rowNames ? rowsOf(plot.rowNames, scale) : levels;
  const marks = scale.xTicks.map(
    (tick) =>
      `<text x="${Math.min(scale.x(tick), width - widthOf(tick) / 2).toFixed(1)}" y="${height - bottom + 16}" text-anchor="middle">${label(tick)}</text>`,
  );
  const lines = plot.series.map((one, i) => drawn(one, strokeOf(i), scale));
  const names = legendOf(plot.series);
  // What lies above the part that is shown is cut off at its edge.
  const clip = `c${Math.abs(Array.from(plot.title).reduce((hash, letter) => Math.imul(hash, 31) + letter.codePointAt(0)!, 7))}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height + names.height}" width="${width}" height="${height + names.height}" font-family="sans-serif" font-size="11" role="img" aria-label="${escape(plot.title)}"><clipPath id="${clip}"><rect x="${left}" y="${top}" width="${width - left - right}" height="${height - top - bottom}"/></clipPath><rect width="${width}" height="${height + names.height}" fill="#fff"/><text x="${left}" y="18" font-weight="bold">${escape(plot.title)}</text>${grid.join('')}${marks.join('')}<g clip-path="url(#${clip})">${lines.join('')}</g><line x1="${left}" x2="${width - right}" y1="${height - bottom}" y2="${height - bottom}" stroke="#333"/><line x1="${left}" x2="${left}" y1="${top}" y2="${height - bottom}" stroke="#333"/><text x="${(left + width - right) / 2}" y="${height - 8}" text-anchor="middle">${escape(plot.x)}</text><text transform="translate(14 ${(top + height - bottom) / 2}) rotate(-90)" text-anchor="middle">${escape(plot.y)}</text>${names.svg}</svg>`;
}
