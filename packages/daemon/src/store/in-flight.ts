/**
 * Probes that were asked for and have no look yet, in a file beside the database: it is appended to before a request goes out,
 * whatever the database's one writer is busy with. In the database, robots stood idle while it kept the looks before.
 *
 * A line is a probe, or the id of one that ended without a look. One that ended with a look needs no line: the state of its page
 * says so, in the transaction that keeps the look. A process that is killed leaves a file that is read as it stands; half a
 * line at its end is a probe that never went out.
 */
import {
  closeSync,
  constants,
  existsSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';
import type Database from 'better-sqlite3';
import type { Probe } from '../values/probe.ts';

/** A file that has grown by this since it was last written whole is written anew, with what is still under way. */
const growthBytesMax = 4 * 2 ** 20;

export class InFlight {
  /** Undefined keeps them in memory alone. */
  readonly #file: string | undefined;
  readonly #lines = new Map<string, string>();
  #descriptor: number | undefined;
  #bytes = 0;
  #rewriteAtBytes = 0;

  /** `lastLookMs` is Infinity for a page that is not there, and for one never looked at, which is due at once in any case. */
  constructor(file: string | undefined, lastLookMs: (pageId: string) => number) {
    this.#file = file;
    const ended = ({ pageIds, atMs }: Probe) => pageIds.length > 0 && pageIds.every((id) => lastLookMs(id) >= atMs);
    if (file === undefined || !existsSync(file)) return;
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      const probe = probeOf(line);
      if (!probe) this.#lines.delete(line);
      else if (!ended(probe)) this.#lines.set(probe.id, line);
    }
  }

  /** As they were added. */
  probes(): Probe[] {
    return Array.from(this.#lines.values(), (line) => JSON.parse(line) as Probe);
  }

  /** Throws what the disk says. */
  add(probes: readonly Probe[]): void {
    const lines = probes.map((probe) => JSON.stringify(probe));
    this.#append(`${lines.join('\n')}\n`);
    for (let n = 0; n < probes.length; n++) this.#lines.set(probes[n]!.id, lines[n]!);
  }

  /** Ended with looks that are kept. */
  looked(ids: Iterable<string>): void {
    for (const id of ids) this.#lines.delete(id);
  }

  /** Ended without a look. Throws what the disk says. */
  end(ids: readonly string[]): void {
    const known = ids.filter((id) => this.#lines.has(id));
    if (known.length > 0) this.#append(`${known.join('\n')}\n`);
    for (const id of known) this.#lines.delete(id);
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #append(text: string): void {
    if (this.#file === undefined) return;
    if (this.#descriptor === undefined || this.#bytes > this.#rewriteAtBytes) this.#rewrite(this.#file);
    try {
      this.#bytes += write(this.#descriptor!, text);
    } catch (error) {
      // Half a line must not be continued by the next one.
      ftruncateSync(this.#descriptor!, this.#bytes);
      throw error;
    }
  }

  /** What is under way, in a file of its own that takes the place of the old one. */
  #rewrite(file: string): void {
    const { O_WRONLY, O_CREAT, O_TRUNC, O_APPEND } = constants;
    const next = openSync(`${file}-next`, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
    let bytes: number;
    try {
      bytes = write(next, [...this.#lines.values(), ''].join('\n'));
      renameSync(`${file}-next`, file);
    } catch (error) {
      closeSync(next);
      throw error;
    }
    this.close();
    this.#descriptor = next;
    this.#bytes = bytes;
    this.#rewriteAtBytes = bytes + growthBytesMax;
  }
}

/** The file of a database, and what it says of its pages' looks. */
export function inFlightBeside(db: Database.Database): InFlight {
  const lastLook = db.prepare('SELECT last_look AS at FROM states WHERE pk = (SELECT pk FROM pages WHERE id = ?)');
  return new InFlight(
    db.memory ? undefined : `${db.name}-in-flight`,
    (id) => (lastLook.get(id) as { at: number | null } | undefined)?.at ?? Infinity,
  );
}

/** Undefined when the line is an id, or was not written to its end. */
function probeOf(line: string): Probe | undefined {
  try {
    return line.startsWith('{') ? (JSON.parse(line) as Probe) : undefined;
  } catch {
    return undefined;
  }
}

function write(descriptor: number, text: string): number {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; done += writeSync(descriptor, bytes, done));
  return bytes.length;
}
