/**
 * How long a site takes to answer, by hour of the week: what the fetch order is planned with.
 *
 * Three means on top of each other: the hour of the week leans on the same hour of all days, that on the site as a whole,
 * and a site nobody knows on all sites together. Each mean counts as so many looks as it has seen, up to a limit, so old
 * looks fade; what it leans on counts as `lean` looks.
 *
 * Cost: O(1) a look and a question (an hour of the day sums seven cells); 168 cells of six bytes a site.
 */
import { secondOfWeek, utc } from '../time/week.ts';

const hours = 168;
/** Looks after which a cell forgets as much as it learns. */
const memory = 32;
/** How many looks what a mean leans on is worth. */
const lean = 3;
/** One hanging answer must not make an hour look hopeless. */
const secondsMost = 120;
/** A site nobody has ever asked. */
const secondsUnknown = 0.5;

interface SiteTimes {
  readonly means: Float32Array;
  readonly counts: Uint16Array;
  mean: number;
  count: number;
}

export class AccessTimes {
  readonly #sites = new Map<string, SiteTimes>();
  #mean = secondsUnknown;
  #count = 0;

  /** An answer of the site that was asked for at this time took so long. */
  learn(site: string, atSeconds: number, tookSeconds: number): void {
    const took = Math.min(secondsMost, Math.max(0, tookSeconds));
    let times = this.#sites.get(site);
    if (!times) {
      times = { means: new Float32Array(hours), counts: new Uint16Array(hours), mean: 0, count: 0 };
      this.#sites.set(site, times);
    }
    const hour = hourOfWeek(atSeconds);
    times.counts[hour] = Math.min(memory, times.counts[hour]! + 1);
    times.means[hour]! += (took - times.means[hour]!) / times.counts[hour]!;
    times.count = Math.min(hours, times.count + 1);
    times.mean += (took - times.mean) / times.count;
    this.#count = Math.min(10 * hours, this.#count + 1);
    this.#mean += (took - this.#mean) / this.#count;
  }

  /** The time an answer is expected to take. */
  expected(site: string, atSeconds: number): number {
    const times = this.#sites.get(site);
    if (!times) return this.#mean;
    const hour = hourOfWeek(atSeconds);
    let [sum, count] = [0, 0];
    for (let cell = hour % 24; cell < hours; cell += 24) {
      sum += times.counts[cell]! * times.means[cell]!;
      count += times.counts[cell]!;
    }
    const whole = leaning(times.mean, times.count, this.#mean);
    const daily = leaning(count > 0 ? sum / count : 0, count, whole);
    return leaning(times.means[hour]!, times.counts[hour]!, daily);
  }

  /** What is expected at each of the next hours, from the hour in which the time lies. */
  hourly(site: string, fromSeconds: number, count: number): number[] {
    return Array.from({ length: count }, (_, k) => this.expected(site, fromSeconds + 3600 * k));
  }

  get sites(): IterableIterator<string> {
    return this.#sites.keys();
  }

  forget(site: string): void {
    this.#sites.delete(site);
  }

  save(): Uint8Array {
    const size = [...this.#sites.keys()].reduce((sum, name) => sum + 2 + 2 * name.length + siteBytes, 12);
    const view = new DataView(new ArrayBuffer(size));
    view.setFloat64(0, this.#mean);
    view.setUint32(8, this.#count);
    let at = 12;
    for (const [name, times] of this.#sites) {
      view.setUint16(at, name.length);
      for (let i = 0; i < name.length; i++) view.setUint16(at + 2 + 2 * i, name.charCodeAt(i));
      at += 2 + 2 * name.length;
      view.setFloat32(at, times.mean);
      view.setUint16(at + 4, times.count);
      for (let hour = 0; hour < hours; hour++) {
        view.setFloat32(at + 6 + 6 * hour, times.means[hour]!);
        view.setUint16(at + 10 + 6 * hour, times.counts[hour]!);
      }
      at += siteBytes;
    }
    return new Uint8Array(view.buffer);
  }

  /** Takes back what `save` gave; what is not of that form is left alone. */
  restore(saved: Uint8Array): void {
    const view = new DataView(saved.buffer, saved.byteOffset, saved.byteLength);
    if (view.byteLength < 12) return;
    this.#mean = view.getFloat64(0);
    this.#count = view.getUint32(8);
    let at = 12;
    while (at + 2 <= view.byteLength) {
      const length = view.getUint16(at);
      if (at + 2 + 2 * length + siteBytes > view.byteLength) return;
      let name = '';
      for (let i = 0; i < length; i++) name += String.fromCharCode(view.getUint16(at + 2 + 2 * i));
      at += 2 + 2 * length;
      const times: SiteTimes = {
        means: Float32Array.from({ length: hours }, (_, hour) => view.getFloat32(at + 6 + 6 * hour)),
        counts: Uint16Array.from({ length: hours }, (_, hour) => view.getUint16(at + 10 + 6 * hour)),
        mean: view.getFloat32(at),
        count: view.getUint16(at + 4),
      };
      this.#sites.set(name, times);
      at += siteBytes;
    }
  }
}

const siteBytes = 6 + 6 * hours;

function leaning(mean: number, count: number, on: number): number {
  return (count * mean + lean * on) / (count + lean);
}

function hourOfWeek(atSeconds: number): number {
  return Math.floor(secondOfWeek(utc, atSeconds) / 3600);
}
