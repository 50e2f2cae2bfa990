/** A week by the hour (168, UTC, from Monday 00:00 on): how much more than average happens in each, and its integral at hand. */

const hour = 3600;
export const hoursInWeek = 168;
/** The epoch was a Thursday; the first Monday 00:00 came this many seconds later. */
const firstMonday = 4 * 86_400;

export class DrawnWeek {
  /** Relative intensity of each hour; averages 1. */
  readonly values = new Float64Array(hoursInWeek).fill(1);
  /** Integral of the shape from the week's start to each hour, in seconds. */
  private readonly sums = Float64Array.from({ length: hoursInWeek + 1 }, (_, i) => i * hour);
  /** The busiest hour over the quietest. */
  contrast = 1;
  /** Counts the times the shape was drawn: plans made from it end there. */
  edition = 0;

  at(t: number): number {
    return this.values[hourOfWeek(t)]!;
  }

  /** Integral of the shape from a to b, seconds. */
  between(a: number, b: number): number {
    return this.until(b) - this.until(a);
  }

  private until(t: number): number {
    const into = (t - firstMonday) / hour;
    const weeks = Math.floor(into / hoursInWeek);
    const inWeek = into - weeks * hoursInWeek;
    const whole = Math.min(hoursInWeek - 1, Math.floor(inWeek));
    return weeks * this.sums[hoursInWeek]! + this.sums[whole]! + (inWeek - whole) * hour * this.values[whole]!;
  }

  /** Takes these relative intensities for the shape, whatever their mean. */
  draw(intensityOf: (hourOfWeek: number) => number): void {
    let sum = 0;
    for (let i = 0; i < hoursInWeek; i++) {
      this.values[i] = intensityOf(i);
      sum += this.values[i]!;
    }
    for (let i = 0; i < hoursInWeek; i++) {
      this.values[i]! *= hoursInWeek / sum;
      this.sums[i + 1] = this.sums[i]! + this.values[i]! * hour;
    }
    this.contrast = Math.max(...this.values) / Math.min(...this.values);
    this.edition++;
  }
}

export function hourOfWeek(t: number): number {
  const hours = Math.floor((t - firstMonday) / hour) % hoursInWeek;
  return hours < 0 ? hours + hoursInWeek : hours;
}
