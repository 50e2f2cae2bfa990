/**
 * What an observer has found and its coordinators do not have yet, kept on disk so that nothing it promised dies with it.
 *
 * One file, only ever appended to, a line a record: a checksum, then what was found, or which finding is let go of. A record
 * is on the disk before anybody hears of what it says. A line without its end or with another checksum is where a process
 * was killed; it promised nothing. When nothing is left the file is cut to nothing, and when most of it is let go of it is
 * written anew beside the old one and takes its place. `alive` stamps the file, so that whoever comes next knows how long
 * ago this one may have asked a site.
 */
import { readFileSync } from 'node:fs';
import { type FileHandle, open, readFile, rename, stat } from 'node:fs/promises';
import { uptime } from 'node:os';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { makeFolder, type Observation, steadyClock } from 'revisit/ports';
import { packObservation, unpackObservation } from '../dispatch/wire.ts';
import type { ObservedPage } from './errand.ts';

/** Thousands of changed pages; an observer that is away for so long that this is full keeps the rest in memory only. */
const bytesMax = 64 * 2 ** 20;
/** Less than this is not worth writing anew. */
const wasteBytesMin = 2 ** 20;

export interface Finding {
  readonly observation: Observation;
  readonly atMs: number;
  readonly pages: readonly ObservedPage[];
  /** What coordinators know it by. */
  readonly name: string;
  /** Under which giving of the site it was found; undefined where that was only tried. */
  readonly given?: string | undefined;
}

/** A moment by what nobody sets: how long the machine has run, and since which start of it; and by the process's own clock. */
export interface Moment {
  readonly boot: string;
  readonly upMs: number;
  readonly nowMs: number;
}

interface FoundRecord {
  readonly found: number;
  readonly atMs: number;
  readonly pages: readonly ObservedPage[];
  readonly name: string;
  readonly given?: string | undefined;
  /** When it was found by the time that the machine has run: its clock may be put right before the next process reads this. */
  readonly boot?: string;
  readonly upMs?: number;
  readonly packed: string;
}

type JournalRecord = FoundRecord | { readonly letGo: number };

interface Live {
  readonly finding: Finding;
  readonly line: string;
}

export class Journal {
  readonly #file: string;
  #handle: FileHandle;
  /** By number, oldest first. */
  readonly #live: Map<number, Live>;
  #bytes: number;
  #liveBytes: number;
  #next: number;
  /** Writes one after the other. */
  #last: Promise<unknown> = Promise.resolve();
  /** When the process before this one was alive at last, by this machine's clock; undefined when there was none. */
  readonly aliveMs: number | undefined;

  readonly #moment: () => Moment;

  private constructor(
    file: string,
    handle: FileHandle,
    lines: readonly string[],
    aliveMs: number | undefined,
    moment: () => Moment,
  ) {
    this.#file = file;
    this.#handle = handle;
    this.#moment = moment;
    this.#live = replayed(lines, moment());
    this.#next = Math.max(0, ...this.#live.keys()) + 1;
    this.#bytes = this.#liveBytes = sizeOf(this.#live.values());
    this.aliveMs = aliveMs;
  }

  static async open(file: string, moment: () => Moment = momentNow): Promise<Journal> {
    makeFolder(dirname(file));
    const text = await readFile(file, 'utf8').catch(() => undefined);
    const aliveMs = text === undefined ? undefined : (await stat(file)).mtimeMs;
    const journal = new Journal(file, await open(file, 'a'), text?.split('\n') ?? [], aliveMs, moment);
    // What follows a torn line would be torn with it.
    await journal.#anew();
    return journal;
  }

  /** Oldest first. */
  findings(): readonly { readonly id: number; readonly finding: Finding }[] {
    return [...this.#live].map(([id, { finding }]) => ({ id, finding }));
  }

  /** Its number when it is on the disk; undefined when there is no room for it. Fails where the disk does. */
  keep(finding: Finding): Promise<number | undefined> {
    return this.#inTurn(async () => {
      const id = this.#next++;
      const { atMs, pages, name, given } = finding;
      const { boot, upMs, nowMs } = this.#moment();
      const packed = Buffer.concat(packObservation(finding.observation)).toString('base64');
      const line = lineOf({ found: id, atMs, pages, name, given, boot, upMs: upMs - (nowMs - atMs), packed });
      if (this.#liveBytes + line.length > bytesMax) return undefined;
      if (this.#bytes + line.length > bytesMax) await this.#anew();
      await this.#append(line);
      this.#live.set(id, { finding, line });
      this.#liveBytes += line.length;
      return id;
    });
  }

  letGo(id: number): Promise<void> {
    return this.#inTurn(async () => {
      const live = this.#live.get(id);
      if (!live) return;
      this.#live.delete(id);
      this.#liveBytes -= live.line.length;
      if (this.#live.size === 0) await this.#empty();
      else if (this.#bytes > 2 * this.#liveBytes + wasteBytesMin) await this.#anew();
      else await this.#append(lineOf({ letGo: id }));
    });
  }

  alive(nowMs: number): Promise<void> {
    return this.#inTurn(() => this.#handle.utimes(nowMs / 1000, nowMs / 1000));
  }

  close(): Promise<void> {
    return this.#inTurn(() => this.#handle.close());
  }

  #inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const turn = this.#last.then(work, work);
    this.#last = turn;
    return turn;
  }

  async #append(line: string): Promise<void> {
    await this.#handle.appendFile(line);
    await this.#handle.datasync();
    this.#bytes += line.length;
  }

  async #empty(): Promise<void> {
    await this.#handle.truncate(0);
    await this.#handle.datasync();
    this.#bytes = 0;
  }

  async #anew(): Promise<void> {
    const beside = `${this.#file}.new`;
    const fresh = await open(beside, 'w');
    for (const { line } of this.#live.values()) await fresh.appendFile(line);
    await fresh.datasync();
    await fresh.close();
    await rename(beside, this.#file);
    await this.#handle.close();
    this.#handle = await open(this.#file, 'a');
    const folder = await open(dirname(this.#file), 'r');
    await folder.sync();
    await folder.close();
    this.#bytes = this.#liveBytes;
  }
}

/** Where the machine does not say which start this is, its clock is all there is to go by. */
const boot = ((): string => {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return `${process.pid}-${performance.timeOrigin}`;
  }
})();

function momentNow(): Moment {
  return { boot, upMs: Math.round(1000 * uptime()), nowMs: steadyClock.nowMs() };
}

function lineOf(record: JournalRecord): string {
  const text = JSON.stringify(record);
  return `${crc32(text).toString(16).padStart(8, '0')} ${text}\n`;
}

function sizeOf(live: Iterable<Live>): number {
  return [...live].reduce((sum, { line }) => sum + line.length, 0);
}

/** What was found and not let go of, up to the first line that is not whole. */
function replayed(lines: readonly string[], now: Moment): Map<number, Live> {
  const live = new Map<number, Live>();
  for (const line of lines) {
    const [sum, text] = [line.slice(0, 8), line.slice(9)];
    if (sum !== crc32(text).toString(16).padStart(8, '0')) break;
    const record = JSON.parse(text) as JournalRecord;
    if ('letGo' in record) live.delete(record.letGo);
    else {
      const observation = unpackObservation([Buffer.from(record.packed, 'base64')]);
      const { pages, name, given, boot, upMs } = record;
      const atMs = boot === now.boot && upMs !== undefined ? now.nowMs - (now.upMs - upMs) : record.atMs;
      const finding = { observation: observation!, atMs, pages, name, ...(given === undefined ? {} : { given }) };
      if (observation) live.set(record.found, { finding, line: `${line}\n` });
    }
  }
  return live;
}
