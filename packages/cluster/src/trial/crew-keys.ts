/** The keys of a crew whose NATS server lets nobody in without one, made by "revisit access" as a person makes them. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Ended, freshFolder, revisit } from '../../../daemon/src/trial/command.ts';
import type { Follower } from './followed.ts';

/** One for each robot that may be there, also while one that was told to leave finishes what it has. */
const robotNames = ['r1', 'r2', 'r3'] as const;
const readerName = 'reader';

export class CrewKeys {
  readonly reader: Omit<Follower, 'nats'>;
  readonly #folder: string;
  #robots = 0;

  private constructor(folder: string, reader: Ended) {
    this.#folder = folder;
    this.reader = { name: readerName, seedFile: reader.out.trim(), inbox: /_INBOX_U\w+/.exec(reader.err)![0] };
  }

  static async make(observers: readonly string[]): Promise<CrewKeys> {
    const folder = freshFolder();
    const add = (role: string, name: string): Promise<Ended> => access(folder, 'add', role, name);
    const [reader] = await Promise.all([
      add('reader', readerName),
      add('coordinator', 'home'),
      ...robotNames.map((name) => add('robot', name)),
      ...observers.map((name) => add('observer', name)),
    ]);
    return new CrewKeys(folder, reader);
  }

  /** The configuration of a server that listens there. */
  async config(listen: string): Promise<string> {
    return (await access(this.#folder, 'server', '--listen', listen)).out.trim();
  }

  /** The options with which it is let in. */
  of(name: string): readonly string[] {
    return ['--nats-key', join(this.#folder, `${name}.nk`)];
  }

  nextRobot(): readonly string[] {
    return this.of(robotNames[this.#robots++ % robotNames.length]!);
  }

  end(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function access(folder: string, ...words: readonly string[]): Promise<Ended> {
  const ended = await revisit(['access', ...words, '--folder', folder]);
  if (ended.code !== 0) throw new Error(ended.err);
  return ended;
}
