/** Recorded traces in the data folder, `traces/NAME.csv` or `NAME.csv.gz`: put there by hand or through the API. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { readTrace } from './trace-file.ts';

export interface ShelvedTrace {
  readonly name: string;
  readonly bytes: number;
  readonly addedAtMs: number;
}

/** A name that is a file of this folder and of no other. */
export const traceName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,79}\.csv(\.gz)?$/;
/** Uploads are kept for comparing, not for archiving. */
const tracesMax = 100;
/** Of what was sent, unpacked: more is no trace but a mistake, or a bomb. */
const bytesMax = 500_000_000;

export type Shelved =
  | { readonly kind: 'kept'; readonly trace: ShelvedTrace; readonly pages: number; readonly changes: number }
  | { readonly kind: 'wrong'; readonly sentence: string };

export class TraceShelf {
  readonly #folder: string;

  constructor(dataFolder: string) {
    this.#folder = join(dataFolder, 'traces');
  }

  list(): readonly ShelvedTrace[] {
    let names: string[];
    try {
      names = readdirSync(this.#folder);
    } catch {
      return [];
    }
    return names.filter((name) => traceName.test(name)).flatMap((name) => this.#entry(name) ?? []);
  }

  #entry(name: string): ShelvedTrace | undefined {
    try {
      const { size, mtimeMs } = statSync(join(this.#folder, name));
      return { name, bytes: size, addedAtMs: mtimeMs };
    } catch {
      return undefined;
    }
  }

  /** Where the trace is; undefined when there is none of that name. */
  find(name: string): string | undefined {
    return this.list().some((trace) => trace.name === name) ? join(this.#folder, name) : undefined;
  }

  /** Keeps a trace that can be read; another of the same name is replaced. */
  async keep(name: string, bytes: Uint8Array): Promise<Shelved> {
    if (!traceName.test(name))
      return {
        kind: 'wrong',
        sentence: `name: ${JSON.stringify(name.slice(0, 80))} is not allowed; letters, digits, dots and dashes, ending in .csv or .csv.gz, are expected`,
      };
    if (this.list().length >= tracesMax && !this.find(name))
      return { kind: 'wrong', sentence: `name: ${tracesMax} traces are kept already; remove one first` };
    mkdirSync(this.#folder, { recursive: true });
    const file = join(this.#folder, name);
    const draft = join(this.#folder, `.${name}.${randomUUID()}.part`);
    writeFileSync(draft, bytes);
    const read = await readTrace(draft, { bytesMax });
    if (read.kind === 'wrong') {
      rmSync(draft, { force: true });
      return { kind: 'wrong', sentence: read.sentence.replaceAll(draft, name) };
    }
    renameSync(draft, file);
    const changes = read.value.times.reduce((sum, times) => sum + times.length, 0);
    return { kind: 'kept', trace: this.#entry(name)!, pages: read.value.names.length, changes };
  }

  remove(name: string): boolean {
    const file = this.find(name);
    if (file) rmSync(file, { force: true });
    return file !== undefined;
  }
}
